//! Logging to stderr with virtual time in front: the time that an event names in its field `t`.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Begins to log what the filter lets through.
///
/// # Errors
/// Where the filter makes no sense.
pub(crate) fn begin(filter: &str) -> Result<(), String> {
    let filter = EnvFilter::builder().parse(filter).map_err(|error| error.to_string())?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    log.event_format(VirtualTime).try_init().map_err(|error| error.to_string())
}

/// `1.5s DEBUG crash  node=broker-0`.
struct VirtualTime;

/// The fields of an event, in the order in which they are printed.
#[derive(Default)]
struct Fields {
    time: String,
    message: String,
    rest: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "t" => write!(self.time, "{value:?}"),
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.rest, "  {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl<S, N> FormatEvent<S, N> for VirtualTime
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level();
        writeln!(out, "{:>12} {level:<5} {}{}", fields.time, fields.message, fields.rest)
    }
}
