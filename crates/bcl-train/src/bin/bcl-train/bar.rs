//! Progress bars of trainings on a terminal.

use bcl_train::training::Bar;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

#[derive(Debug)]
struct OfTraining(ProgressBar);

/// A bar on stderr.
pub(crate) fn of_training() -> Box<dyn Bar> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{prefix} {bar:14} {wide_msg}").expect("a valid template");
    Box::new(OfTraining(bar.with_style(style)))
}

impl Bar for OfTraining {
    fn begin(&self, before: String, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
        self.0.set_prefix(before);
    }

    fn update(&self, done: u64, behind: String) {
        self.0.set_position(done);
        self.0.set_message(behind);
    }

    fn clear(&self) {
        self.0.finish_and_clear();
    }
}
