//! The page of runs under way.

use crate::chart::{Axis, LineChart, Series, Shape};
use crate::html::figure::{self, Figure};
use crate::html::table::{Cells, head, row, table};
use crate::markup::{breakable, escape};
use crate::result::{EpochRecord, Phase};
use crate::units::duration;
use std::collections::BTreeSet;

/// Seconds between two reloads without a script.
const RELOAD: u32 = 5;
const SCRIPT: &str = include_str!("live.js");

/// What is known of a run before it is over.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRun {
    /// Its folder, or its name and seed.
    pub name: String,
    /// Whether its result is there.
    pub finished: bool,
    /// The most epochs that a phase may have.
    pub epochs: usize,
    /// The metric that selects the epoch; empty if none does.
    pub metric: String,
    /// The epochs so far.
    pub records: Vec<EpochRecord>,
    /// Steps and losses within the epochs of the current phase, if they are logged.
    pub steps: Vec<(usize, f64)>,
}

impl LiveRun {
    fn last(&self) -> Option<&EpochRecord> {
        self.records.last()
    }

    /// What it does now, in words.
    pub fn state(&self) -> String {
        match self.last() {
            _ if self.finished => "finished".to_owned(),
            None => "in its first epoch".to_owned(),
            Some(last) => format!("{}, {} of at most {} epochs", name_of(last.phase), last.epoch, self.epochs),
        }
    }

    /// Upper bound on the time until the current phase ends, in seconds.
    fn seconds_left(&self) -> Option<f64> {
        let last = self.last().filter(|_| !self.finished)?;
        let of_phase = || self.records.iter().filter(|record| record.phase == last.phase);
        let seconds: f64 = of_phase()
            .map(|record| record.train_seconds + record.evaluation_seconds)
            .sum();
        Some(seconds / of_phase().count() as f64 * self.epochs.saturating_sub(last.epoch) as f64)
    }

    /// The last value of the metric.
    fn figure(&self) -> Option<f64> {
        let mut latest = self.records.iter().rev();
        latest.find_map(|record| measured(record, &self.metric))
    }
}

fn measured(record: &EpochRecord, metric: &str) -> Option<f64> {
    let figures = record.validation.as_ref().or(record.test.as_ref())?;
    figures.get(metric).copied()
}

fn name_of(phase: Phase) -> &'static str {
    match phase {
        Phase::Selection => "selection",
        Phase::Refit => "refit",
        Phase::Training => "training",
    }
}

/// The whole page. It asks the server of `data.json` for new content, and reloads itself where scripts are off.
pub fn page(runs: &[LiveRun]) -> String {
    let title = match runs {
        [run] => breakable(&run.name),
        _ => format!("{} runs", runs.len()),
    };
    let body = format!(
        "<noscript><meta http-equiv=\"refresh\" content=\"{RELOAD}\"></noscript>\n<p class=\"intro\" id=\"live\" role=\"status\">Live: follows the run as long as \
         <code>bcl-train watch</code> does.</p>\n<div id=\"content\">\n{}</div>\n<script>\n{SCRIPT}</script>\n",
        content(runs)
    );
    crate::html::document("bcl-train watch", &title, "", &body)
}

/// The part of the page that changes: a table of the runs, and curves.
pub fn content(runs: &[LiveRun]) -> String {
    if runs.is_empty() {
        return "<p class=\"headline\">No runs yet.</p>\n".to_owned();
    }
    let legend = match runs {
        [_] => String::new(),
        _ => figure::legend(runs.iter().enumerate().map(|(colour, run)| (colour, run.name.as_str()))),
    };
    overview(runs) + &figure::section("Training", "", &legend, figures(runs))
}

fn overview(runs: &[LiveRun]) -> String {
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let rows: String = runs
        .iter()
        .map(|run| {
            let metric = run
                .figure()
                .map_or("–".to_owned(), |value| format!("{} {value:.4}", escape(&run.metric)));
            let seconds = run.last().map_or("–".to_owned(), |last| {
                duration(last.train_seconds + last.evaluation_seconds)
            });
            let left = run
                .seconds_left()
                .map_or("–".to_owned(), |left| format!("≤{}", duration(left)));
            let cells = [run.state(), number(run.last().map(|last| last.loss)), metric, seconds, left];
            row(&breakable(&run.name), cells)
        })
        .collect();
    let columns = ["run", "state", "loss", "selecting metric", "last epoch took", "left"];
    table("Runs", Cells::Text, &head(columns.map(str::to_owned)), &rows)
}

fn figures(runs: &[LiveRun]) -> impl Iterator<Item = Figure> {
    let mut figures = Vec::new();
    let within = chart("Loss within epochs", "step", runs, |run| {
        run.steps.iter().map(|&(step, loss)| (step as f64, loss)).collect()
    });
    figures.extend(within.map(|svg| Figure::new("Loss within epochs", svg, "Of single batches of the current phase.")));
    for phase in [Phase::Training, Phase::Refit, Phase::Selection] {
        let title = format!("Training loss, {}", name_of(phase));
        let svg = chart(&title, "epoch", runs, |run| over(run, phase, |record| Some(record.loss)));
        figures.extend(svg.map(|svg| Figure::new(&title, svg, "Mean of each epoch, in nats.")));
    }
    let metrics: BTreeSet<&str> = runs.iter().map(|run| run.metric.as_str()).collect();
    for metric in metrics {
        for (phase, on) in [
            (Phase::Selection, "held-out data"),
            (Phase::Refit, "test data"),
            (Phase::Training, "test data"),
        ] {
            let title = format!("{metric} on {on}, {}", name_of(phase));
            let svg = chart(&title, "epoch", runs, |run| {
                over(run, phase, |record| measured(record, metric))
            });
            figures.extend(svg.map(|svg| Figure::new(&title, svg, "After each epoch in which it was measured.")));
        }
    }
    figures.into_iter()
}

fn over(run: &LiveRun, phase: Phase, value: impl Fn(&EpochRecord) -> Option<f64>) -> Vec<(f64, f64)> {
    let of_phase = run.records.iter().filter(|record| record.phase == phase);
    of_phase
        .filter_map(|record| Some((record.epoch as f64, value(record)?)))
        .collect()
}

/// A chart with one line per run; `None` without points.
fn chart(title: &str, axis: &str, runs: &[LiveRun], points: impl Fn(&LiveRun) -> Vec<(f64, f64)>) -> Option<String> {
    let series = runs
        .iter()
        .enumerate()
        .map(|(colour, run)| Series::new(&run.name, Shape::Line, points(run)).with_colour(colour));
    let chart = LineChart::new(title, "One line per run.", Axis::counting(axis), Axis::linear(""));
    let id: String = title
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char } else { '-' })
        .collect();
    chart.with_decimals(4).with_series(series).to_svg(&id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn run(name: &str, epochs: usize) -> LiveRun {
        let mut records = sample::run("ml/mf", "bayesian", 0).1;
        records.truncate(epochs);
        LiveRun {
            name: name.to_owned(),
            finished: false,
            epochs: 40,
            metric: "ndcg@20".to_owned(),
            records,
            steps: vec![(10, 1.0), (20, 0.5)],
        }
    }

    #[test]
    fn a_page_has_the_state_the_curves_and_a_way_without_script() {
        let page = page(&[run("ml/mf-0", 3)]);
        for part in [
            "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>",
            "selection, 3 of at most 40 epochs",
            "ndcg@20 0.",
            "≤",
            "Loss within epochs",
            "Training loss, selection",
            "ndcg@20 on held-out data, selection",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains("refit"), "a phase that has not begun has no chart");
    }

    #[test]
    fn several_runs_have_a_legend_and_a_name_cannot_become_markup() {
        let runs = [run("<b>a</b>", 2), run("b", 0)];
        let content = content(&runs);
        assert!(content.contains("class=\"legend\"") && content.contains("in its first epoch"));
        assert!(!content.contains("<b>a"), "{content}");
        assert!(super::content(&[]).contains("No runs yet"));
    }

    #[test]
    fn a_finished_run_has_no_time_left() {
        let finished = LiveRun {
            finished: true,
            ..run("a", 3)
        };
        assert_eq!((finished.state(), finished.seconds_left()), ("finished".to_owned(), None));
    }
}
