//! Shows the progress of a build on one line.

use super::{output::status, shown};
use bcl_files::notice;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    path::Path,
    time::{Duration, Instant},
};

/// Without a terminal, a line is printed this often.
const INTERVAL: Duration = Duration::from_secs(30);

/// Progress of a build: crates compiled so far, the total if known, and the current crate.
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
    printed: Instant,
    prints: bool,
}

impl Progress {
    /// Announces that a build begins.
    pub(super) fn begin(what: &str, folder: &Path, log: &Path, crates: Option<u64>, quiet: bool) -> Self {
        let now = Instant::now();
        let bar = match (quiet, crates) {
            (true, _) => ProgressBar::hidden(),
            (false, Some(crates)) => ProgressBar::new(crates),
            (false, None) => ProgressBar::no_length(),
        };
        let of = if crates.is_some() { " of {len}" } else { "" };
        let template = format!("{{spinner}} {{elapsed}}, crate {{pos}}{of}: {{wide_msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        if !quiet {
            let (folder, log) = (shown(folder), shown(log));
            notice::line(format_args!(
                "{what} is not in this build: building it once, in {}; the compiler's output goes to {}",
                folder.display(),
                log.display()
            ));
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self {
            bar,
            started: now,
            printed: now,
            prints: !quiet && !stderr().is_terminal(),
        }
    }

    /// Reads a line of cargo's output.
    pub(super) fn note(&mut self, line: &str) {
        let Some((action, what)) = status(line).filter(|(action, _)| *action != "Finished") else {
            return;
        };
        if action == "Compiling" {
            self.bar.inc(1);
            self.bar.set_message(what.to_owned());
        } else {
            self.bar.set_message(format!("{} {what}", action.to_lowercase()));
        }
        if self.prints && self.printed.elapsed() >= INTERVAL {
            self.printed = Instant::now();
            notice::line(format_args!(
                "  {:.0} s, crate {}: {what}",
                self.started.elapsed().as_secs_f64(),
                self.bar.position()
            ));
        }
    }

    /// Announces that the build is done.
    pub(super) fn end(self, what: &str, quiet: bool) {
        self.bar.finish_and_clear();
        if !quiet {
            let seconds = self.started.elapsed().as_secs_f64();
            notice::line(format_args!(
                "{what} was built in {seconds:.0} s; from now on it starts immediately"
            ));
        }
    }
}
