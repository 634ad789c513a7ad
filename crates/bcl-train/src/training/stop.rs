//! The request to stop, which whoever holds a handle can make and check.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// A handle that asks all runs of a command to stop; its clones share one request.
///
/// Training checks it after every step and writes a checkpoint before it ends. Such a check is announced by
/// [`attend`](Self::attend): a signal gives attended work some time to reach it, and ends everything else at once (see
/// [`stop_on_signals`](crate::commands::stop_on_signals)).
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requested: AtomicBool,
    attended: AtomicUsize,
    advice: Mutex<Option<String>>,
}

impl Stop {
    /// A handle nobody has asked to stop yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all holders to stop.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked to stop.
    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Announces that the caller checks the handle again and again, and saves its work when asked to stop.
    pub fn attend(&self) -> Attended {
        self.0.attended.fetch_add(1, Ordering::SeqCst);
        Attended(self.clone())
    }

    /// Whether some work is attended.
    pub fn is_attended(&self) -> bool {
        self.0.attended.load(Ordering::SeqCst) > 0
    }

    /// Sets how the user goes on if the process ends now, such as "go on with: bcl-train --resume runs/a-0".
    pub fn advise(&self, advice: Option<String>) {
        *self.0.advice.lock().unwrap_or_else(PoisonError::into_inner) = advice;
    }

    /// What [`advise`](Self::advise) set last.
    pub fn advice(&self) -> Option<String> {
        self.0.advice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Work that checks its [`Stop`], while it lives.
#[derive(Debug)]
pub struct Attended(Stop);

impl Drop for Attended {
    fn drop(&mut self) {
        self.0.0.attended.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_request_attention_and_advice() {
        let (stop, other) = (Stop::new(), Stop::new());
        let clone = stop.clone();
        let attended = clone.attend();
        clone.request();
        clone.advise(Some("go on".to_owned()));
        assert!(stop.is_requested() && stop.is_attended());
        assert_eq!(stop.advice().as_deref(), Some("go on"));
        drop(attended);
        assert!(!stop.is_attended());
        assert!(!other.is_requested() && other.advice().is_none());
    }
}
