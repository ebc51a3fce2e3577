//! What a catalogue of planted bugs has shown of the search, as a table and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

/// What was measured.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The most cases of a campaign.
    pub most: u64,
    /// The bugs.
    pub bugs: Vec<Bug>,
    /// Their correct twins.
    pub twins: Vec<Twin>,
}

/// A planted bug.
#[derive(Clone, Debug)]
pub struct Bug {
    /// The name of its scenario.
    pub name: String,
    /// The invariant that it breaks.
    pub invariant: String,
    /// The campaigns of each strategy, the one that counts first.
    pub searches: Vec<Campaigns>,
    /// What each find of the first strategy shrank to.
    pub shrunk: Vec<Shrunk>,
    /// How often another invariant was the first to break.
    pub others: u64,
}

/// Campaigns with a strategy.
#[derive(Clone, Debug)]
pub struct Campaigns {
    /// Its name.
    pub strategy: String,
    /// How many cases each campaign ran until it found the bug; none where it did not.
    pub seeds: Vec<Option<u64>>,
}

/// A failure made small.
#[derive(Clone, Copy, Debug)]
pub struct Shrunk {
    /// Its faults.
    pub faults: usize,
    /// Its delays of single messages.
    pub delays: usize,
    /// Its records.
    pub records: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// A correct twin.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The name of its scenario.
    pub name: String,
    /// How many seeds were run.
    pub seeds: u64,
    /// The first alarm, which is false: its seed, and what was said to be broken.
    pub alarm: Option<(u64, String)>,
}

impl Campaigns {
    /// How many campaigns found the bug.
    pub fn found(&self) -> usize {
        self.seeds.iter().flatten().count()
    }

    /// The number of cases below which this share of the campaigns (in percent) found it; none where
    /// fewer did.
    pub fn quantile(&self, percent: usize) -> Option<u64> {
        let mut seeds: Vec<u64> = self.seeds.iter().map(|seeds| seeds.unwrap_or(u64::MAX)).collect();
        seeds.sort_unstable();
        let at = (seeds.len() * percent).div_ceil(100).saturating_sub(1);
        seeds.get(at).copied().filter(|seeds| *seeds < u64::MAX)
    }
}

impl Catalogue {
    /// Whether every campaign of the first strategy found its bug, and no twin raised an alarm.
    pub fn is_good(&self) -> bool {
        let found = |bug: &Bug| bug.searches.first().is_some_and(|first| first.found() == first.seeds.len());
        self.bugs.iter().all(found) && self.twins.iter().all(|twin| twin.alarm.is_none())
    }

    /// A table, and a line that sums it up.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let width = self.bugs.iter().map(|bug| bug.name.chars().count()).max().unwrap_or(0).max(3);
        let invariants = self.bugs.iter().map(|bug| bug.invariant.len()).max().unwrap_or(0).max(9);
        let (bug, invariant) = ("bug", "invariant");
        let _ = writeln!(
            text,
            "{bug:<width$}  {invariant:<invariants$}  found  median    p90  faults  delays  records   shrinking"
        );
        for bug in &self.bugs {
            let Some(first) = bug.searches.first() else { continue };
            let found = format!("{}/{}", first.found(), first.seeds.len());
            let (median, p90) = (seeds(first.quantile(50)), seeds(first.quantile(90)));
            let [faults, delays, records] =
                [|it: &Shrunk| it.faults, |it: &Shrunk| it.delays, |it: &Shrunk| it.records]
                    .map(|of| worst(&bug.shrunk, of));
            let time = longest(&bug.shrunk);
            let (name, invariant) = (&bug.name, &bug.invariant);
            let _ = writeln!(
                text,
                "{name:<width$}  {invariant:<invariants$}  {found:>5}  {median:>6} {p90:>6}  {faults:>6}  {delays:>6}  {records:>7}  {time:>7} ms"
            );
        }
        self.by_strategy(&mut text, width);
        for twin in &self.twins {
            if let Some((seed, cause)) = &twin.alarm {
                let _ = writeln!(text, "FALSE ALARM  {}  seed {seed}: {cause}", twin.name);
            }
        }
        let _ = writeln!(text, "{}", self.summary());
        text
    }

    /// The medians of each strategy, where there are several.
    fn by_strategy(&self, text: &mut String, width: usize) {
        let Some(first) = self.bugs.first().filter(|bug| bug.searches.len() > 1) else { return };
        let names = first.searches.iter().map(|search| format!("{:>11}", search.strategy));
        let _ = writeln!(text, "\n{:<width$}{}", "median by strategy", names.collect::<String>());
        for bug in &self.bugs {
            let medians = bug.searches.iter().map(|search| format!("{:>11}", seeds(search.quantile(50))));
            let _ = writeln!(text, "{:<width$}{}", bug.name, medians.collect::<String>());
        }
        let sums = (0..first.searches.len()).map(|at| {
            let found = self.bugs.iter().filter(|bug| bug.searches[at].quantile(50).is_some()).count();
            format!("{:>11}", format!("{found}/{}", self.bugs.len()))
        });
        let _ = writeln!(text, "{:<width$}{}\n", "found in half", sums.collect::<String>());
    }

    /// One line, for a dashboard.
    pub fn summary(&self) -> String {
        let firsts: Vec<&Campaigns> = self.bugs.iter().filter_map(|bug| bug.searches.first()).collect();
        let strategy = firsts.first().map_or("", |first| first.strategy.as_str());
        let found = firsts.iter().filter(|first| first.found() == first.seeds.len()).count();
        let mut medians: Vec<u64> = firsts.iter().filter_map(|first| first.quantile(50)).collect();
        medians.sort_unstable();
        let middle = medians.get(medians.len() / 2).copied();
        let worst_median = medians.last().copied();
        let longest_search = firsts.iter().flat_map(|first| first.seeds.iter().flatten()).max().copied();
        let shrunk: Vec<Shrunk> = self.bugs.iter().flat_map(|bug| bug.shrunk.iter().copied()).collect();
        let alarms = self.twins.iter().filter(|twin| twin.alarm.is_some()).count();
        let twin_seeds: u64 = self.twins.iter().map(|twin| twin.seeds).sum();
        format!(
            "{found} of {} bugs found by {strategy} from every start within {} cases: median {}, largest median {}, longest {}; \
             shrunk to at most {} faults, {} delays and {} records in at most {} ms; {alarms} false alarms in {twin_seeds} runs of {} twins",
            self.bugs.len(),
            self.most,
            seeds(middle),
            seeds(worst_median),
            seeds(longest_search),
            worst(&shrunk, |it| it.faults),
            worst(&shrunk, |it| it.delays),
            worst(&shrunk, |it| it.records),
            longest(&shrunk),
            self.twins.len(),
        )
    }

    /// Everything, as one JSON document.
    pub fn json(&self) -> String {
        let bugs: Vec<Value> = self.bugs.iter().map(bug).collect();
        let twins = self.twins.iter().map(|twin| {
            let alarm = twin.alarm.as_ref().map(|(seed, cause)| json!({ "seed": seed, "invariant": cause }));
            json!({ "name": twin.name, "seeds": twin.seeds, "alarm": alarm })
        });
        let twins: Vec<Value> = twins.collect();
        let all = json!({
            "format": 1, "most": self.most, "good": self.is_good(), "summary": self.summary(),
            "bugs": bugs, "twins": twins,
        });
        format!("{all}\n")
    }
}

fn bug(bug: &Bug) -> Value {
    let searches: Vec<Value> = bug
        .searches
        .iter()
        .map(|search| {
            json!({
                "strategy": search.strategy, "found": search.found(), "seeds": search.seeds,
                "median": search.quantile(50), "p90": search.quantile(90),
            })
        })
        .collect();
    let shrunk: Vec<Value> = bug
        .shrunk
        .iter()
        .map(|it| json!({ "faults": it.faults, "delays": it.delays, "records": it.records, "ms": it.elapsed.as_millis() as u64 }))
        .collect();
    json!({
        "name": bug.name, "invariant": bug.invariant, "searches": searches, "shrunk": shrunk, "others": bug.others,
    })
}

fn worst(shrunk: &[Shrunk], of: impl Fn(&Shrunk) -> usize) -> String {
    shrunk.iter().map(of).max().map_or_else(|| "-".to_owned(), |most| most.to_string())
}

fn longest(shrunk: &[Shrunk]) -> String {
    let longest = shrunk.iter().map(|it| it.elapsed.as_millis()).max();
    longest.map_or_else(|| "-".to_owned(), |longest| longest.to_string())
}

fn seeds(seeds: Option<u64>) -> String {
    seeds.map_or_else(|| "-".to_owned(), |seeds| seeds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaigns(seeds: &[u64]) -> Campaigns {
        let seeds = seeds.iter().map(|seeds| Some(*seeds).filter(|seeds| *seeds > 0)).collect();
        Campaigns { strategy: "mix".into(), seeds }
    }

    #[test]
    fn quantiles_count_what_was_not_found() {
        let all = campaigns(&[9, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((all.quantile(50), all.quantile(90)), (Some(5), Some(9)));
        let some = campaigns(&[1, 2, 3, 4, 5, 6, 7, 0, 0]);
        assert_eq!((some.quantile(50), some.quantile(90)), (Some(5), None));
        assert_eq!(campaigns(&[0, 0, 1]).quantile(50), None);
    }
}
