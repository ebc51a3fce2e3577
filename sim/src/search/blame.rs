//! How likely a failure has become after each event: the run is taken up again from many points of its
//! history, each time with fresh draws.
//!
//! Where the share of failing continuations jumps, something has gone wrong; from where on all of them
//! fail there was no return. The idea is that of Antithesis' causal analysis; since a run is a function
//! of its draws, going back to a point needs no snapshot: the prefix is run again.

use super::Forkable;
use super::certificate::Share;
use super::shrink::Diagnose;
use crate::time::Instant;
use crate::world::Fork;

/// In how many continuations from each of these times the run still fails with the symptom.
pub fn blame<E>(
    experiment: &E,
    seed: u64,
    plan: &E::Plan,
    symptom: &E::Symptom,
    times: &[Instant],
    schedules: u32,
) -> Vec<Share>
where
    E: Diagnose + Forkable,
{
    let fails = |fork| {
        let outcome = experiment.fork(seed, plan, fork);
        experiment.symptoms(&outcome).contains(symptom)
    };
    times
        .iter()
        .map(|at| {
            let failing = (1..=u64::from(schedules)).filter(|salt| fails(Fork { at: *at, salt: *salt }));
            Share { failing: failing.count() as u32, of: schedules }
        })
        .collect()
}

/// From which point on every continuation fails; none where the last one still lets some pass.
pub fn no_return(shares: &[Share]) -> Option<usize> {
    let certain = shares.iter().rev().take_while(|share| share.failing == share.of).count();
    (certain > 0).then(|| shares.len() - certain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_return_from_where_all_fail_until_the_end() {
        let shares = |failing: &[u32]| -> Vec<Share> {
            failing.iter().map(|failing| Share { failing: *failing, of: 10 }).collect()
        };
        assert_eq!(no_return(&shares(&[1, 4, 10, 10])), Some(2));
        assert_eq!(no_return(&shares(&[10, 9, 10])), Some(2));
        assert_eq!(no_return(&shares(&[10, 9])), None);
        assert_eq!(no_return(&[]), None);
    }
}
