//! The progress display on stderr: a progress bar on a terminal, otherwise one line per epoch and one every ten seconds.

use super::live_metrics;
use bcl_report::notice::{Working, working_with_updates};
use burn::train::{
    logger::{EvaluationProgressLogger, TrainingProgressLogger},
    metric::MetricDefinition,
    renderer::{EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation, MetricsRendererTraining},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    collections::BTreeMap,
    io::IsTerminal,
    time::{Duration, Instant},
};

/// Renders a training run.
#[derive(Debug)]
pub struct Renderer {
    bar: ProgressBar,
    /// Prints lines within an epoch; `None` if there is a bar.
    plain: Option<Working>,
    /// Name of the metric that selects the epoch, such as `ndcg@20`.
    selected_name: String,
    label: String,
    total_epochs: usize,
    epoch: usize,
    first_epoch: usize,
    items_per_epoch: u64,
    steps_per_epoch: usize,
    /// Time and number of items at the end of this process's first step.
    origin: Option<(Instant, u64)>,
    metrics: Vec<MetricDefinition>,
    values: BTreeMap<String, String>,
}

impl Renderer {
    /// Creates a renderer for a run that begins with the given epoch, from 1. With `quiet`, it shows nothing.
    pub fn new(quiet: bool, selected_name: &str, first_epoch: usize, steps_per_epoch: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if terminal && !quiet {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        bar.set_style(ProgressStyle::with_template("{prefix} {bar:24} {msg}").expect("a valid template"));
        Self {
            bar,
            plain: (!terminal && !quiet).then(|| working_with_updates("starting to train")),
            selected_name: selected_name.to_owned(),
            label: String::new(),
            total_epochs: 0,
            epoch: first_epoch,
            first_epoch,
            items_per_epoch: 0,
            steps_per_epoch,
            origin: None,
            metrics: Vec::new(),
            values: BTreeMap::new(),
        }
    }

    /// The status line: loss, selecting metric, α̂, effective sample size, share of floored anchors, time left.
    fn status(&self) -> String {
        let show = |key: &str, name: &str| self.values.get(key).map(|value| format!("{name} {value}"));
        let parts = [
            show(live_metrics::LOSS, "loss"),
            show(live_metrics::SELECTED, &self.selected_name),
            show(live_metrics::ALPHA_HAT, "α̂"),
            show(live_metrics::EFFECTIVE_SAMPLE_SIZE, "ess"),
            show(live_metrics::FLOORED, "floored"),
            self.time_left(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
    }

    /// Upper bound on the time left; early stopping usually ends sooner.
    fn time_left(&self) -> Option<String> {
        let all = (self.total_epochs + 1 - self.first_epoch) as u64 * self.items_per_epoch.max(1);
        let seconds = all.saturating_sub(self.done()) as f64 / self.rate()?;
        let left = Duration::try_from_secs_f64(seconds).ok()?;
        Some(format!("≤{} left", indicatif::HumanDuration(left)))
    }

    /// Items since the beginning of this process's first epoch.
    fn done(&self) -> u64 {
        (self.epoch - self.first_epoch) as u64 * self.items_per_epoch.max(1) + self.bar.position()
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
        let step = (self.bar.position() * steps).div_ceil(self.items_per_epoch.max(1));
        let rate = self.rate().map(|rate| format!("{rate:.0}/s  ")).unwrap_or_default();
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
            self.bar.set_length(total_items as u64);
            self.bar.set_position(0);
            self.bar
                .set_prefix(format!("{} {:>3}/{}", self.label, self.epoch, self.total_epochs));
        }
    }

    fn update_split(&mut self, items_processed: usize) {
        // An evaluation reports a single item here, which must not reset the bar.
        self.bar.set_position(self.bar.position().max(items_processed as u64));
        self.origin.get_or_insert_with(|| (Instant::now(), self.bar.position()));
        if !self.bar.is_hidden() {
            self.bar.set_message(self.status());
        }
        if let Some(plain) = &self.plain {
            plain.update(self.within_epoch());
        }
    }

    fn end_split(&mut self) {}

    fn update_epoch(&mut self, epoch: usize) {
        if let Some(plain) = &self.plain {
            eprintln!("{} {epoch:>3}/{}  {}", self.label, self.total_epochs, self.status());
            plain.said();
        }
        self.epoch = epoch + 1;
    }

    fn end(&mut self) {
        self.bar.finish_and_clear();
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
