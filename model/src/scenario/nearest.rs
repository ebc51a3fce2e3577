//! The nearest known name to one that is not known: "did you mean".

/// The candidate that is most like `name`, ignoring case; `None` where nothing is near.
///
/// Near means that at most a third of the letters differ (Damerau-Levenshtein): a bad guess is
/// worse than none. Of candidates that are equally near, the first one.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let length = lower.chars().count();
    if length > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= length.max(candidate.chars().count()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Longer texts are not names; the distance takes time with the product of the lengths.
const LONGEST: usize = 100;

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_keys_is_found() {
        assert_eq!(nearest("ordrs", ["totals", "orders"]), Some("orders"));
        assert_eq!(nearest("partitoins", ["partitions", "cleanup"]), Some("partitions"));
    }

    #[test]
    fn case_does_not_count() {
        assert_eq!(nearest("compact", ["Delete", "Compact"]), Some("Compact"));
    }

    #[test]
    fn nothing_is_better_than_a_bad_guess() {
        assert_eq!(nearest("ledger", ["orders", "totals"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest("orders", []), None);
    }
}
