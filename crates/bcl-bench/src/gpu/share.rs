//! Divides the remaining time among the parts.

use std::time::{Duration, Instant};

/// Time shared by weight. What one part does not use goes to the later ones.
#[derive(Debug)]
pub(super) struct Shares {
    end: Instant,
    weights_to_come: f64,
}

impl Shares {
    /// Shares the time until `end` among weights that sum to `weights`.
    pub(super) fn new(end: Instant, weights: f64) -> Self {
        let weights_to_come = weights;
        Self { end, weights_to_come }
    }

    /// Returns the deadline of the next part, which has the given weight.
    pub(super) fn next(&mut self, now: Instant, weight: f64) -> Instant {
        let left = self.end.saturating_duration_since(now);
        let share = if self.weights_to_come > weight {
            left.mul_f64(weight / self.weights_to_come)
        } else {
            left
        };
        self.weights_to_come -= weight;
        now + share
    }
}

/// Seconds from now until the deadline, for progress messages.
pub(super) fn seconds_until(deadline: Instant) -> f64 {
    deadline
        .saturating_duration_since(Instant::now())
        .max(Duration::ZERO)
        .as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn time_is_shared_by_weight() {
        let start = Instant::now();
        let mut shares = Shares::new(start + 60 * SECOND, 6.0);
        let first = shares.next(start, 1.0);
        assert_eq!(first, start + 10 * SECOND);
        // On time, the next one gets two of the five weights left.
        let second = shares.next(first, 2.0);
        assert_eq!(second, start + 30 * SECOND);
        assert_eq!(shares.next(second, 3.0), start + 60 * SECOND);
    }

    #[test]
    fn unused_time_goes_to_the_later_parts() {
        let start = Instant::now();
        let mut shares = Shares::new(start + 60 * SECOND, 3.0);
        shares.next(start, 1.0);
        assert_eq!(shares.next(start + 2 * SECOND, 1.0), start + 31 * SECOND);
    }

    #[test]
    fn no_part_gets_time_after_the_end() {
        let start = Instant::now();
        let mut shares = Shares::new(start + SECOND, 2.0);
        let late = start + 5 * SECOND;
        assert_eq!(shares.next(late, 1.0), late);
        assert_eq!(shares.next(late, 1.0), late);
    }
}
