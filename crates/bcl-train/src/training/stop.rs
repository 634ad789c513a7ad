//! A flag, shared by its clones, that asks training to stop.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// A handle that asks all runs of a command to stop; its clones share one request.
///
/// Training checks it after every step and writes a checkpoint before it ends. It registers this with [`register`](Self::register): a signal
/// gives registered work some time to save, and ends all other work at once (see [`stop_on_signals`](super::stop_on_signals)).
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requested: AtomicBool,
    registered: AtomicUsize,
    advice: Mutex<Option<String>>,
}

impl Stop {
    /// Creates a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work of all clones to stop.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Registers that the caller checks the flag regularly and saves its work when asked to stop.
    pub fn register(&self) -> Registration {
        self.0.registered.fetch_add(1, Ordering::SeqCst);
        Registration(self.clone())
    }

    /// Whether any work is registered.
    pub fn has_registered_work(&self) -> bool {
        self.0.registered.load(Ordering::SeqCst) > 0
    }

    /// Sets the advice to print if the process ends now, such as "continue with: bcl-train --resume runs/a-0".
    pub fn advise(&self, advice: Option<String>) {
        *self.0.advice.lock().unwrap_or_else(PoisonError::into_inner) = advice;
    }

    /// The advice that [`advise`](Self::advise) set last.
    pub fn advice(&self) -> Option<String> {
        self.0.advice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Guard that registers work with its [`Stop`] until it is dropped.
#[derive(Debug)]
pub struct Registration(Stop);

impl Drop for Registration {
    fn drop(&mut self) {
        self.0.0.registered.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_request_registrations_and_advice() {
        let (stop, other) = (Stop::new(), Stop::new());
        let clone = stop.clone();
        let registered = clone.register();
        clone.request();
        clone.advise(Some("go on".to_owned()));
        assert!(stop.is_requested() && stop.has_registered_work());
        assert_eq!(stop.advice().as_deref(), Some("go on"));
        drop(registered);
        assert!(!stop.has_registered_work());
        assert!(!other.is_requested() && other.advice().is_none());
    }
}
