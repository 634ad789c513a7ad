//! The loggers of a run.

use super::{Logger, LoggerError, Picture, Scalars};
use bcl_report::result::Phase;
use std::sync::{Arc, Mutex, PoisonError};

/// Loggers that receive the same points. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Loggers(Vec<Arc<Mutex<dyn Logger>>>);

impl Loggers {
    /// Adds a logger.
    #[must_use]
    pub fn with(mut self, logger: impl Logger + 'static) -> Self {
        self.0.push(Arc::new(Mutex::new(logger)));
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As [`Logger::begin`].
    ///
    /// # Errors
    /// Returns the first error of a logger; the loggers behind it receive nothing.
    pub fn begin(&self, phase: Phase, step: usize) -> Result<(), LoggerError> {
        self.each(|logger| logger.begin(phase, step))
    }

    /// As [`Logger::scalars`].
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn scalars(&self, step: usize, scalars: &Scalars) -> Result<(), LoggerError> {
        self.each(|logger| logger.scalars(step, scalars))
    }

    /// As [`Logger::image`].
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn image(&self, step: usize, tag: &str, picture: &Picture) -> Result<(), LoggerError> {
        self.each(|logger| logger.image(step, tag, picture))
    }

    /// As [`Logger::text`].
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn text(&self, step: usize, tag: &str, markdown: &str) -> Result<(), LoggerError> {
        self.each(|logger| logger.text(step, tag, markdown))
    }

    /// As [`Logger::flush`].
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn flush(&self) -> Result<(), LoggerError> {
        self.each(Logger::flush)
    }

    fn each(&self, mut call: impl FnMut(&mut (dyn Logger + 'static)) -> Result<(), LoggerError>) -> Result<(), LoggerError> {
        self.0
            .iter()
            .try_for_each(|logger| call(&mut *logger.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
