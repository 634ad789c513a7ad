//! Where the curves of a run go beside `metrics.jsonl`: a file of steps, event files of TensorBoard, or a [`Logger`] of your own.
//!
//! `[logging]` of a recipe adds the first two. [`Surroundings::loggers`](crate::kinds::Surroundings::loggers) takes any others:
//!
//! ```
//! use bcl_report::result::Phase;
//! use bcl_train::logging::{Logger, LoggerError, Loggers, Scalars};
//! use std::sync::mpsc::{Sender, channel};
//!
//! /// Sends each loss to another thread.
//! #[derive(Debug)]
//! struct Losses(Sender<(usize, f64)>);
//!
//! impl Logger for Losses {
//!     fn begin(&mut self, _: Phase, _: usize) -> Result<(), LoggerError> {
//!         Ok(())
//!     }
//!
//!     fn scalars(&mut self, step: usize, scalars: &Scalars) -> Result<(), LoggerError> {
//!         match scalars.get("epoch/loss") {
//!             Some(&loss) => self.0.send((step, loss)).map_err(|error| LoggerError::other("losses", error)),
//!             None => Ok(()),
//!         }
//!     }
//! }
//!
//! let (sender, receiver) = channel();
//! let loggers = Loggers::default().with(Losses(sender));
//! loggers.scalars(40, &Scalars::from([("epoch/loss".to_owned(), 0.5)]))?;
//! assert_eq!(receiver.recv(), Ok((40, 0.5)));
//! # Ok::<(), LoggerError>(())
//! ```

mod error;
mod loggers;
mod picture;
mod steps_file;
pub mod tensorboard;

pub use error::LoggerError;
pub use loggers::Loggers;
pub use picture::Picture;
pub use steps_file::{StepRecord, StepsFile, read_steps};
pub use tensorboard::TensorBoard;

use bcl_report::result::Phase;
use std::{collections::BTreeMap, fmt::Debug};

/// Values by tag, such as `step/loss` or `validation/ndcg@20`.
pub type Scalars = BTreeMap<String, f64>;

/// Receives the curves of a run.
///
/// A step is the number of batches trained on in the current phase. Each method may be called from another thread than the last one, but
/// never from two at once. An error ends the run: return one only if losing the log is worse than that. The run can be resumed from its last
/// checkpoint.
pub trait Logger: Debug + Send {
    /// Begins a phase. `step` is 0, or the step of the checkpoint from which an interrupted phase continues. All later points of the phase will
    /// come again, so drop them if they were logged before.
    ///
    /// # Errors
    /// Returns an error if nothing can be logged.
    fn begin(&mut self, phase: Phase, step: usize) -> Result<(), LoggerError>;

    /// Logs values after a step.
    ///
    /// # Errors
    /// Returns an error if they cannot be logged.
    fn scalars(&mut self, step: usize, scalars: &Scalars) -> Result<(), LoggerError>;

    /// Logs a picture, such as the views of the first images. By default it is dropped.
    ///
    /// # Errors
    /// Returns an error if it cannot be logged.
    fn image(&mut self, _step: usize, _tag: &str, _picture: &Picture) -> Result<(), LoggerError> {
        Ok(())
    }

    /// Logs a text in Markdown, such as the recipe with all its settings. By default it is dropped.
    ///
    /// # Errors
    /// Returns an error if it cannot be logged.
    fn text(&mut self, _step: usize, _tag: &str, _markdown: &str) -> Result<(), LoggerError> {
        Ok(())
    }

    /// Makes everything logged so far visible to readers. Called after each epoch.
    ///
    /// # Errors
    /// Returns an error if something is lost.
    fn flush(&mut self) -> Result<(), LoggerError> {
        Ok(())
    }
}

/// Name of the folder of a phase.
pub(crate) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Selection => "selection",
        Phase::Refit => "refit",
        Phase::Training => "training",
    }
}
