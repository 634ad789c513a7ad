//! Ranking with the users dealt to the processes of a [`Collective`].

use super::evaluator::{RankingEvaluator, Totals, UserRanking};
use super::user_metrics::UserMetrics;
use super::{RankingError, Scorer};
use bcl_collective::Collective;
use bcl_report::result::Metrics;

impl RankingEvaluator {
    /// As [`evaluate`](Self::evaluate), with the users dealt to processes that have the same scorer. Figures are added in the order of the users, so
    /// all processes get the bits of one process.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), on all processes if on one.
    ///
    /// # Panics
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_on_processes(&self, scorer: &dyn Scorer, processes: &dyn Collective) -> Result<Metrics, RankingError> {
        if processes.size() == 1 {
            return self.evaluate(scorer);
        }
        let mut own = Message::default();
        let users = &self.users()[processes.share(self.num_evaluated_users())];
        let outcome = self.rank_users(scorer, users, |ranking| own.push(&ranking));
        agreed(outcome, processes)?;
        let all = Message {
            figures: processes.all_gather_values(&own.figures),
            lengths: processes.all_gather_values(&own.lengths),
            items: processes.all_gather_values(&own.items),
        };
        let mut totals = Totals::new(self);
        all.read(self.num_cutoffs(), |items, metrics| totals.add(items, metrics));
        Ok(totals.metrics(self))
    }
}

/// The lists of some users and their metrics.
#[derive(Debug, Default)]
struct Message {
    /// Of each user at each cutoff.
    figures: Vec<f64>,
    /// Number of items of each list.
    lengths: Vec<u32>,
    /// The items of one list after the other, best first.
    items: Vec<u32>,
}

impl Message {
    fn push(&mut self, ranking: &UserRanking) {
        self.figures.extend(ranking.metrics.iter().flatten());
        self.lengths.push(ranking.list.len() as u32);
        self.items.extend(ranking.list.iter().map(|ranked| ranked.item));
    }

    fn read(&self, num_cutoffs: usize, mut each: impl FnMut(&[u32], &[UserMetrics])) {
        let (figures, _): (&[UserMetrics], _) = self.figures.as_chunks();
        let mut items = self.items.as_slice();
        for (&length, metrics) in self.lengths.iter().zip(figures.chunks(num_cutoffs)) {
            let (list, others) = items.split_at(length as usize);
            each(list, metrics);
            items = others;
        }
    }
}

/// The first error of any process, on all processes.
fn agreed(own: Result<(), RankingError>, processes: &dyn Collective) -> Result<(), RankingError> {
    const FINE: [u32; 3] = [0; 3];
    const INTERRUPTED: u32 = 1;
    const NOTHING: u32 = 2;
    const NOT_A_NUMBER: u32 = 3;
    let status = match own {
        Ok(()) => FINE,
        Err(RankingError::Interrupted) => [INTERRUPTED, 0, 0],
        Err(RankingError::NothingHeldOut) => [NOTHING, 0, 0],
        Err(RankingError::NotANumber { user, item }) => [NOT_A_NUMBER, user, item],
    };
    let all = processes.all_gather_values(&status);
    match all.chunks(FINE.len()).find(|status| **status != FINE) {
        None => Ok(()),
        Some(&[NOT_A_NUMBER, user, item]) => Err(RankingError::NotANumber { user, item }),
        Some(&[NOTHING, ..]) => Err(RankingError::NothingHeldOut),
        Some(_) => Err(RankingError::Interrupted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_collective::{Checked, Threads};
    use bcl_data::Interactions;
    use std::sync::Arc;

    #[derive(Debug)]
    struct Waves {
        /// The user whose scores are no numbers.
        broken: Option<u32>,
    }

    impl Scorer for Waves {
        fn num_items(&self) -> usize {
            30
        }

        fn score(&self, users: &[u32], out: &mut Vec<f32>) {
            out.clear();
            for &user in users {
                let score = |item: u32| match self.broken {
                    Some(broken) if broken == user => f32::NAN,
                    _ => (1.3 * (user * 7 + item) as f32).sin(),
                };
                out.extend((0..30).map(score));
            }
        }
    }

    fn evaluator() -> RankingEvaluator {
        let pairs = |step: u32| (0..23_u32).flat_map(move |user| (0..4).map(move |i| (user, (user * step + i * 5) % 30)));
        let [train, held_out] = [3, 11].map(|step| Interactions::from_pairs(23, 30, pairs(step)));
        RankingEvaluator::new(&[3, 10, 40], &train, &held_out)
    }

    #[test]
    fn any_number_of_processes_gives_the_bits_of_one() {
        let scorer = Waves { broken: None };
        let expected = evaluator().evaluate(&scorer).unwrap();
        for size in [2, 3, 5, 30] {
            let of_processes = Threads::run(size, |processes| {
                let processes = Arc::new(Checked::new(processes));
                evaluator().evaluate_on_processes(&scorer, &*processes).unwrap()
            });
            assert!(of_processes.iter().all(|metrics| *metrics == expected), "{size} processes");
        }
    }

    #[test]
    fn an_error_of_one_process_is_that_of_all() {
        let scorer = Waves { broken: Some(20) };
        let expected = evaluator().evaluate(&scorer).unwrap_err();
        let of_processes = Threads::run(3, |processes| {
            evaluator().evaluate_on_processes(&scorer, &*processes).unwrap_err()
        });
        assert_eq!(of_processes, vec![expected; 3]);
        let of_processes = Threads::run(3, |processes| {
            let stops = processes.index() == 1;
            let evaluator = evaluator().with_interrupt(move || stops);
            evaluator
                .evaluate_on_processes(&Waves { broken: None }, &*processes)
                .unwrap_err()
        });
        assert_eq!(of_processes, vec![RankingError::Interrupted; 3]);
    }
}
