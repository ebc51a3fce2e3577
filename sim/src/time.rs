//! Virtual time: instants, spans and rates, as integers, with the text form that people write.
//!
//! The text form is used in scenario files, plans, reports and on the command line: a number and a
//! unit (`ns`, `us`, `ms`, `s`, `m`, `h`), such as `250ms` or `1.5s`. Text is read and printed
//! exactly: what is printed reads back as the same number of nanoseconds.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point of virtual time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of virtual time in nanoseconds, at most [`Span::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// A signed length of virtual time in nanoseconds: how far a clock is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shift(i64);

const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any instant that a run can reach.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span since the start of the run.
    pub const fn since_start(self) -> Span {
        Span(self.0)
    }

    /// The span from `earlier` to this instant, zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// One nanosecond.
    pub const NANO: Self = Self(1);
    /// The longest span that text may state: 1,000 hours.
    pub const MAX: Self = Self(1_000 * 3_600_000_000_000);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// The length in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whether the span is empty.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The span `factor` times as long, at most `u64::MAX` nanoseconds.
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// The span less `other`, zero where `other` is longer.
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Shift {
    /// No shift.
    pub const ZERO: Self = Self(0);

    /// A shift of `nanos` nanoseconds, backwards where negative.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A shift of `millis` milliseconds, backwards where negative.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis * 1_000_000)
    }

    /// The shift in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Instant> for Instant {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Why a text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// No number, no unit, or an unknown unit.
    #[error("`{0}` is not a time: write a number and one of ns, us, ms, s, m, h, such as `250ms` or `1.5s`")]
    Form(String),
    /// Finer than a nanosecond.
    #[error("`{0}` is finer than a nanosecond")]
    TooFine(String),
    /// Longer than [`Span::MAX`].
    #[error("`{0}` is too long: the longest time is 1000h")]
    TooLong(String),
    /// A sign where none belongs.
    #[error("`{0}` is negative: this time runs forward only")]
    Negative(String),
}

fn parse_magnitude(text: &str, whole_text: &str) -> Result<u64, TimeError> {
    let form = || TimeError::Form(whole_text.to_owned());
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(form)?;
    let (number, unit) = text.split_at(unit_at);
    let number = number.trim_end();
    let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(form)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.chars().all(|c| c.is_ascii_digit() || c == '_');
    if whole.is_empty() || !digits(whole) || !digits(fraction) || number.ends_with('.') {
        return Err(form());
    }
    let too_long = || TimeError::TooLong(whole_text.to_owned());
    let whole: u64 = whole.replace('_', "").parse().map_err(|_| too_long())?;
    let mut nanos = whole.checked_mul(*scale).ok_or_else(too_long)?;
    let mut place = *scale;
    for digit in fraction.bytes().filter(u8::is_ascii_digit) {
        let value = u64::from(digit - b'0');
        if !place.is_multiple_of(10) {
            // Minutes and hours have few factors of ten: go on in exact integers where possible.
            return Err(TimeError::TooFine(whole_text.to_owned()));
        }
        place /= 10;
        nanos = nanos.checked_add(value * place).ok_or_else(too_long)?;
    }
    if nanos > Span::MAX.0 {
        return Err(too_long());
    }
    Ok(nanos)
}

fn write_magnitude(f: &mut fmt::Formatter<'_>, nanos: u64) -> fmt::Result {
    if nanos == 0 {
        return f.write_str("0s");
    }
    for (unit, scale) in UNITS {
        let whole = nanos / scale;
        let rest = nanos % scale;
        // Minutes and hours are printed only where they are whole.
        if whole == 0 || (rest != 0 && scale > 1_000_000_000) {
            continue;
        }
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let width = scale.ilog10() as usize;
        let fraction = format!("{rest:0width$}");
        return write!(f, "{whole}.{}{unit}", fraction.trim_end_matches('0'));
    }
    Ok(())
}

impl FromStr for Span {
    type Err = TimeError;
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(TimeError::Negative(text.to_owned()));
        }
        parse_magnitude(trimmed, text).map(Self)
    }
}

impl FromStr for Shift {
    type Err = TimeError;
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let trimmed = text.trim();
        let (sign, magnitude) = match trimmed.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let nanos = parse_magnitude(magnitude, text)?;
        // Span::MAX fits an i64, so this never wraps.
        Ok(Self(sign * nanos as i64))
    }
}

impl FromStr for Instant {
    type Err = TimeError;
    fn from_str(text: &str) -> Result<Self, TimeError> {
        text.parse::<Span>().map(|span| Self(span.0))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_magnitude(f, self.0)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_magnitude(f, self.0)
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            f.write_str("-")?;
        }
        write_magnitude(f, self.0.unsigned_abs())
    }
}

/// A share of cases as a ratio of integers, from `0` (never) to `1` (always), written `1/100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Odds {
    hits: u32,
    of: u32,
}

impl Odds {
    /// Never.
    pub const NEVER: Self = Self { hits: 0, of: 1 };
    /// Always.
    pub const ALWAYS: Self = Self { hits: 1, of: 1 };

    /// `hits` of `of` cases; none where that is no share (`of` is zero, or `hits` exceeds it).
    pub const fn new(hits: u32, of: u32) -> Option<Self> {
        if of == 0 || hits > of { None } else { Some(Self { hits, of }) }
    }

    /// Whether no case is a hit.
    pub const fn is_never(self) -> bool {
        self.hits == 0
    }

    /// How many of [`Odds::of`] cases are hits.
    pub const fn hits(self) -> u32 {
        self.hits
    }

    /// The number of cases that [`Odds::hits`] counts.
    pub const fn of(self) -> u32 {
        self.of
    }
}

impl Default for Odds {
    fn default() -> Self {
        Self::NEVER
    }
}

/// A text that is no share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a share: write a ratio from 0 to 1, such as `1/100`")]
pub struct OddsError(String);

impl FromStr for Odds {
    type Err = OddsError;
    fn from_str(text: &str) -> Result<Self, OddsError> {
        let error = || OddsError(text.to_owned());
        let (hits, of) = text.split_once('/').unwrap_or((text, "1"));
        let hits = hits.trim().parse().map_err(|_| error())?;
        let of = of.trim().parse().map_err(|_| error())?;
        Self::new(hits, of).ok_or_else(error)
    }
}

impl fmt::Display for Odds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of == 1 { write!(f, "{}", self.hits) } else { write!(f, "{}/{}", self.hits, self.of) }
    }
}

/// Serde and schema through the text form: one place for all types that have one.
macro_rules! as_text {
    ($type:ty, $name:literal, $about:literal, $pattern:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $name, "description": $about, "pattern": $pattern })
            }
        }
    };
}

as_text!(
    Span,
    "time",
    "A length of time, such as \"250ms\" or \"1.5s\"; units ns, us, ms, s, m, h.",
    "^[0-9_]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$"
);
as_text!(
    Instant,
    "instant",
    "A time since the start of the run, such as \"4.2s\".",
    "^[0-9_]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$"
);
as_text!(
    Shift,
    "shift",
    "A signed length of time, such as \"-2s\".",
    "^[+-]?[0-9_]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$"
);
as_text!(Odds, "share", "A share of cases as a ratio, such as \"1/100\".", "^[0-9]+(/[0-9]+)?$");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_read_in_every_unit() {
        for (text, nanos) in [
            ("7ns", 7),
            ("2us", 2_000),
            ("12.5ms", 12_500_000),
            ("1.5s", 1_500_000_000),
            ("2m", 120_000_000_000),
            ("1.5m", 90_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1_000ms", 1_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Span::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn bad_text_says_what_is_wrong() {
        assert!(matches!("5".parse::<Span>(), Err(TimeError::Form(_))));
        assert!(matches!("5 sec".parse::<Span>(), Err(TimeError::Form(_))));
        assert!(matches!(".5s".parse::<Span>(), Err(TimeError::Form(_))));
        assert!(matches!("-5s".parse::<Span>(), Err(TimeError::Negative(_))));
        assert!(matches!("0.5ns".parse::<Span>(), Err(TimeError::TooFine(_))));
        assert!(matches!("99999999h".parse::<Span>(), Err(TimeError::TooLong(_))));
        assert!(matches!("99999999999999999999999s".parse::<Span>(), Err(TimeError::TooLong(_))));
    }

    #[test]
    fn odds_are_shares_only() {
        assert_eq!("1/100".parse(), Ok(Odds { hits: 1, of: 100 }));
        assert_eq!("0".parse(), Ok(Odds::NEVER));
        assert!("3/2".parse::<Odds>().is_err());
        assert!("1/0".parse::<Odds>().is_err());
        assert!("0.5".parse::<Odds>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(nanos in 0..=Span::MAX.as_nanos()) {
            let span = Span::from_nanos(nanos);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn shifts_read_back_with_their_sign(nanos in -1_000_000_000_000i64..1_000_000_000_000) {
            let shift = Shift::from_nanos(nanos);
            prop_assert_eq!(shift.to_string().parse(), Ok(shift));
        }

        #[test]
        fn no_text_panics(text in ".{0,12}") {
            let _ = text.parse::<Span>();
            let _ = text.parse::<Shift>();
            let _ = text.parse::<Odds>();
        }
    }
}
