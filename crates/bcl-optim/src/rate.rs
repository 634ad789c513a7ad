//! Learning rate schedules: a linear warm-up, then a constant rate or cosine decay.

use burn::{
    lr_scheduler::{LrScheduler, LrSchedulerRecord},
    optim::LearningRate,
};
use std::f64::consts::PI;

/// The learning rate after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decay {
    /// Constant.
    Constant,
    /// Cosine decay towards 0 at the end of training.
    Cosine,
}

/// A learning rate schedule with any positive finite peak. Burn's own schedulers refuse peaks above 1, which SGD and LARS need.
///
/// With `n` steps in total, `w` of them warm-up, and peak γ, step `i` (from 0) has the learning rate
///
/// ```text
/// i < w:              γ - (γ - γ/w) / w · (w - i)        γ/w at first, rising linearly
/// i ≥ w, constant:    γ
/// i ≥ w, cosine:      γ/2 · (1 + cos(π (i - w) / (n - w)))
/// ```
///
/// For peaks up to 1, these are bit by bit the rates of Burn's linear scheduler followed by its cosine scheduler.
///
/// ```
/// use bcl_optim::{Decay, RateSchedule};
///
/// let schedule = RateSchedule::new(4.8, 10, 110, Decay::Cosine);
/// assert_eq!(schedule.rate(10), 4.8);
/// assert!((schedule.rate(60) - 2.4).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct RateSchedule {
    peak: f64,
    warmup: usize,
    /// Steps after the warm-up, at least 1.
    rest: usize,
    decay: Decay,
    /// Steps taken.
    step: usize,
}

impl RateSchedule {
    /// Creates a schedule of `steps` in total, of which the first `warmup` rise to the peak.
    pub fn new(peak: f64, warmup: usize, steps: usize, decay: Decay) -> Self {
        Self {
            peak,
            warmup,
            rest: steps.saturating_sub(warmup).max(1),
            decay,
            step: 0,
        }
    }

    /// The learning rate of a step, counted from 0.
    pub fn rate(&self, step: usize) -> f64 {
        if step < self.warmup {
            let first = self.peak / self.warmup as f64;
            let rise = (self.peak - first) / self.warmup as f64;
            return self.peak - rise * (self.warmup - step) as f64;
        }
        match self.decay {
            Decay::Constant => self.peak,
            Decay::Cosine => {
                let share = ((step - self.warmup) as f64 / self.rest as f64).min(1.0);
                0.5 * self.peak * (1.0 + (share * PI).cos())
            }
        }
    }
}

/// Key of the number of steps in a checkpoint.
const STEP: &str = "step";

impl LrScheduler for RateSchedule {
    fn step(&mut self) -> LearningRate {
        let rate = self.rate(self.step);
        self.step += 1;
        rate
    }

    fn to_record(&self) -> LrSchedulerRecord {
        LrSchedulerRecord::new().with_scalar(STEP, self.step as u64)
    }

    fn load_record(&mut self, record: LrSchedulerRecord) {
        if let Some(step) = record.scalar::<u64>(STEP) {
            self.step = step as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::lr_scheduler::{
        LrSchedulerConfig, cosine::CosineAnnealingLrSchedulerConfig, linear::LinearLrSchedulerConfig,
        sequential::SequentialLrSchedulerConfig,
    };

    fn near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-12 * expected.abs().max(1.0),
            "{found} is not {expected}"
        );
    }

    #[test]
    fn rates_at_start_end_of_warmup_middle_and_end() {
        for peak in [1e-3, 1.0, 4.8, 100.0] {
            let cosine = RateSchedule::new(peak, 10, 110, Decay::Cosine);
            near(cosine.rate(0), peak / 10.0);
            near(cosine.rate(5), peak * 0.55);
            near(cosine.rate(9), peak * 0.91);
            assert_eq!(cosine.rate(10), peak);
            near(cosine.rate(60), peak / 2.0);
            near(cosine.rate(109), peak * 0.5 * (1.0 + (0.99 * PI).cos()));
            assert!(cosine.rate(109) > 0.0, "the last step has a positive rate");
            near(cosine.rate(110), 0.0);
            near(cosine.rate(200), 0.0);

            let constant = RateSchedule::new(peak, 4, 100, Decay::Constant);
            assert_eq!([constant.rate(4), constant.rate(50), constant.rate(99)], [peak; 3]);

            let without = RateSchedule::new(peak, 0, 8, Decay::Cosine);
            assert_eq!(without.rate(0), peak);
            near(without.rate(4), peak / 2.0);
        }
    }

    #[test]
    fn peaks_up_to_one_have_the_bits_of_burns_schedulers() {
        for (peak, warmup, steps) in [(1e-3, 8, 80), (0.3, 3, 47), (1.0, 1, 9), (0.07, 0, 13)] {
            let rest = steps - warmup;
            for (decay, after) in [
                (
                    Decay::Cosine,
                    LrSchedulerConfig::from(CosineAnnealingLrSchedulerConfig::new(peak, rest)),
                ),
                (Decay::Constant, LinearLrSchedulerConfig::new(peak, peak, rest).into()),
            ] {
                let rise = LinearLrSchedulerConfig::new(peak / warmup.max(1) as f64, peak, warmup);
                let (schedulers, milestones) = match warmup {
                    0 => (vec![after], vec![]),
                    _ => (vec![rise.into(), after], vec![warmup]),
                };
                let mut burns = SequentialLrSchedulerConfig::new(schedulers, milestones).init().unwrap();
                let ours = RateSchedule::new(peak, warmup, steps, decay);
                for step in 0..steps {
                    assert_eq!(ours.rate(step), burns.step().base(), "{decay:?}, step {step} of {steps}");
                }
            }
        }
    }

    #[test]
    fn a_restored_schedule_continues_where_it_stopped() {
        let mut straight = RateSchedule::new(4.8, 3, 20, Decay::Cosine);
        for _ in 0..7 {
            straight.step();
        }
        let mut restored = RateSchedule::new(4.8, 3, 20, Decay::Cosine);
        let bytes = straight.to_record().into_bytes().unwrap();
        restored.load_record(LrSchedulerRecord::from_bytes(bytes).unwrap());
        for _ in 7..20 {
            assert_eq!(restored.step(), straight.step());
        }
    }
}
