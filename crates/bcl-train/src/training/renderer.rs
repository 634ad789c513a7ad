//! The progress of training: one line with a bar over all epochs where a program shows [bars](show_bars), otherwise one line per epoch and one every
//! ten seconds, on stderr.

use super::live_metrics;
use bcl_files::{
    about,
    notice::{self, Working, working_with_updates},
};
use burn::train::{
    logger::{EvaluationProgressLogger, TrainingProgressLogger},
    metric::MetricDefinition,
    renderer::{EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation, MetricsRendererTraining},
};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::OnceLock,
    time::{Duration, Instant},
};

/// A progress bar with a text before it and one behind it.
pub trait Bar: Debug + Send + Sync {
    /// Sets the text before the bar, and how many of so many items are done.
    fn begin(&self, before: String, done: u64, all: u64);

    /// Sets how many items are done, and the text behind the bar.
    fn update(&self, done: u64, behind: String);

    /// Removes the bar.
    fn clear(&self);
}

/// Makes the bar of a run.
type MakeBar = fn() -> Box<dyn Bar>;

static BARS: OnceLock<MakeBar> = OnceLock::new();

/// Shows a bar for each run that trains from now on. A program on a terminal calls this once.
pub fn show_bars(make: MakeBar) {
    let _ = BARS.set(make);
}

/// Renders a training run.
#[derive(Debug)]
pub struct Renderer {
    bar: Option<Box<dyn Bar>>,
    /// Prints lines within an epoch; `None` if there is a bar.
    plain: Option<Working>,
    /// Name of the metric that selects the epoch, such as `ndcg@20`.
    selected_name: String,
    label: String,
    total_epochs: usize,
    epoch: usize,
    first_epoch: usize,
    items_per_epoch: u64,
    /// Items of the current epoch so far.
    within: u64,
    steps_per_epoch: usize,
    /// Time and number of items at the end of this process's first step.
    origin: Option<(Instant, u64)>,
    metrics: Vec<MetricDefinition>,
    values: BTreeMap<String, String>,
}

impl Renderer {
    /// Creates a renderer for a run that begins with the given epoch, from 1. With `quiet`, it shows nothing.
    pub fn new(quiet: bool, selected_name: &str, first_epoch: usize, steps_per_epoch: usize) -> Self {
        let bar = BARS.get().filter(|_| !quiet).map(|make| make());
        Self {
            plain: (bar.is_none() && !quiet).then(|| working_with_updates("starting to train")),
            bar,
            selected_name: selected_name.to_owned(),
            label: String::new(),
            total_epochs: 0,
            epoch: first_epoch,
            first_epoch,
            items_per_epoch: 0,
            within: 0,
            steps_per_epoch,
            origin: None,
            metrics: Vec::new(),
            values: BTreeMap::new(),
        }
    }

    /// The status line of an epoch: the figures, and the time left.
    fn status(&self) -> String {
        self.figures().chain(self.time_left()).collect::<Vec<_>>().join("  ")
    }

    /// The status line behind the bar. A narrow terminal cuts it off at its end.
    fn behind_bar(&self) -> String {
        let rate = self.rate().map(|rate| format!("{}/s", rounded(rate)));
        let parts = rate.into_iter().chain(self.time_left()).chain(self.figures());
        parts.collect::<Vec<_>>().join("  ")
    }

    /// Loss, selecting metric, α̂, effective sample size, share of floored anchors, and the detection that the epoch trained with.
    fn figures(&self) -> impl Iterator<Item = String> {
        let show = |key: &str, name: &str| self.values.get(key).map(|value| format!("{name} {value}"));
        let parts = [
            show(live_metrics::LOSS, "loss"),
            show(live_metrics::SELECTED, &self.selected_name),
            show(live_metrics::ALPHA_HAT, "α̂"),
            show(live_metrics::EFFECTIVE_SAMPLE_SIZE, "ess"),
            show(live_metrics::FLOORED, "floored"),
            show(live_metrics::CLUSTERS, "clusters"),
            show(live_metrics::STABILITY, "stability"),
            show(live_metrics::STRENGTH, "strength"),
            show(live_metrics::DETECTED, "pairs"),
        ];
        parts.into_iter().flatten()
    }

    /// Upper bound on the time left; early stopping usually ends sooner.
    fn time_left(&self) -> Option<String> {
        let seconds = self.all().saturating_sub(self.done()) as f64 / self.rate()?;
        let left = Duration::try_from_secs_f64(seconds).ok()?;
        Some(format!("≤{} left", about(left)))
    }

    /// Items of all epochs from this process's first on.
    fn all(&self) -> u64 {
        (self.total_epochs + 1).saturating_sub(self.first_epoch) as u64 * self.items_per_epoch.max(1)
    }

    /// Items since the beginning of this process's first epoch.
    fn done(&self) -> u64 {
        (self.epoch - self.first_epoch) as u64 * self.items_per_epoch.max(1) + self.within
    }

    /// Items per second after the first step, which is slower than the others.
    fn rate(&self) -> Option<f64> {
        let (started, before) = self.origin?;
        let done = self.done().checked_sub(before).filter(|&done| done > 0)?;
        Some(done as f64 / started.elapsed().as_secs_f64())
    }

    /// The status line within an epoch.
    fn within_epoch(&self) -> String {
        let steps = self.steps_per_epoch as u64;
        let step = (self.within * steps).div_ceil(self.items_per_epoch.max(1));
        let rate = self.rate().map(|rate| format!("{}/s  ", rounded(rate))).unwrap_or_default();
        let (label, epoch, epochs) = (&self.label, self.epoch, self.total_epochs);
        format!("{label} {epoch:>3}/{epochs}, step {step}/{steps}  {rate}{}", self.status())
    }

    fn keep(&mut self, state: MetricState) {
        let (MetricState::Generic(entry) | MetricState::Numeric(entry, _)) = state;
        let definition = self.metrics.iter().find(|definition| definition.metric_id == entry.metric_id);
        if let Some(definition) = definition
            && !entry.serialized_entry.is_not_available()
        {
            self.values
                .insert(definition.name.to_string(), entry.serialized_entry.formatted);
        }
    }
}

/// A rate with two digits at least: slow runs have a few items per second.
fn rounded(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.0}")
    }
}

impl MetricsRendererTraining for Renderer {
    fn update_train(&mut self, state: MetricState) {
        self.keep(state);
    }

    fn update_valid(&mut self, state: MetricState) {
        self.keep(state);
    }
}

impl TrainingProgressLogger for Renderer {
    fn start(&mut self, total_epochs: usize, _: usize, _: Option<usize>, label: Option<&str>) {
        label.unwrap_or("training").clone_into(&mut self.label);
        self.total_epochs = total_epochs;
    }

    fn start_split(&mut self, split: &str, total_items: usize) {
        if split.eq_ignore_ascii_case("train") {
            self.items_per_epoch = total_items as u64;
            self.within = 0;
            if let Some(bar) = &self.bar {
                let before = format!("{} {:>3}/{}", self.label, self.epoch, self.total_epochs);
                bar.begin(before, self.done(), self.all());
            }
        }
    }

    fn update_split(&mut self, items_processed: usize) {
        // An evaluation reports a single item here, which must not reset the bar.
        self.within = self.within.max(items_processed as u64);
        let done = self.done();
        self.origin.get_or_insert_with(|| (Instant::now(), done));
        if let Some(bar) = &self.bar {
            bar.update(done, self.behind_bar());
        }
        if let Some(plain) = &self.plain {
            plain.update(self.within_epoch());
        }
    }

    fn end_split(&mut self) {}

    fn update_epoch(&mut self, epoch: usize) {
        if let Some(plain) = &self.plain {
            notice::line(format_args!(
                "{} {epoch:>3}/{}  {}",
                self.label,
                self.total_epochs,
                self.status()
            ));
            plain.said();
        }
        self.epoch = epoch + 1;
    }

    fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }

    // Burn logs every iteration here; the bar shows them already.
    fn log_event_training(&mut self, _: String) {}
}

// Burn's trait demands these; its `Evaluator` is not used here.
impl MetricsRendererEvaluation for Renderer {
    fn update_test(&mut self, _: EvaluationName, _: MetricState) {}
}

impl EvaluationProgressLogger for Renderer {
    fn start_global_progress(&mut self, _: usize) {}
    fn start_test(&mut self, _: &str, _: usize) {}
    fn update_test_progress(&mut self, _: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _: String) {}
}

impl MetricsRenderer for Renderer {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, definition: MetricDefinition) {
        self.metrics.push(definition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the second of four epochs of 100 items, 10 seconds after the first step.
    fn renderer() -> Renderer {
        let mut renderer = Renderer::new(true, "ndcg@20", 1, 10);
        renderer.start(4, 0, None, Some("run"));
        renderer.start_split("train", 100);
        renderer.origin = Instant::now()
            .checked_sub(Duration::from_secs(10))
            .map(|started| (started, 0));
        renderer.update_epoch(1);
        renderer.start_split("Train", 100);
        renderer.update_split(50);
        renderer.values.insert(live_metrics::LOSS.to_owned(), "1.5".to_owned());
        renderer
    }

    #[test]
    fn the_line_has_rate_time_left_and_loss_and_the_bar_counts_all_epochs() {
        let mut renderer = renderer();
        assert_eq!((renderer.done(), renderer.all()), (150, 400));
        assert_eq!(renderer.behind_bar(), "15/s  ≤17 seconds left  loss 1.5");
        assert_eq!(renderer.status(), "loss 1.5  ≤17 seconds left");
        // The evaluation reports a single item, which does not move the bar back.
        renderer.start_split("valid", 1);
        renderer.update_split(1);
        assert_eq!(renderer.done(), 150);
        assert!(renderer.within_epoch().starts_with("run   2/4, step 5/10  15/s  loss 1.5"));
    }

    #[test]
    fn slow_rates_keep_a_digit() {
        assert_eq!([0.25, 9.5, 12.4].map(rounded), ["0.2", "9.5", "12"]);
    }
}
