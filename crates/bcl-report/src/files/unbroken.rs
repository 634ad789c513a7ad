//! Work that the end of the process must not cut in two, such as writing a checkpoint.

use std::sync::{Condvar, Mutex, PoisonError};

/// Counts such work until it is closed.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    under_way: usize,
    closed: bool,
}

/// One for the process, like the files it protects.
static GATE: Gate = Gate::new();

/// Keeps [`close`] waiting while it lives.
#[derive(Debug)]
#[must_use = "the work is protected only while this lives"]
pub struct Unbroken(&'static Gate);

/// Begins work that must not be cut in two. May be nested. Once [`close`] has returned, it never returns: the process is about to end.
pub fn unbroken() -> Unbroken {
    GATE.enter();
    Unbroken(&GATE)
}

/// Waits until no such work is under way, and lets none begin. The caller ends the process next.
pub fn close() {
    GATE.close();
}

impl Gate {
    const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                under_way: 0,
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn enter(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.changed.wait_while(state, |state| state.closed);
        open.unwrap_or_else(PoisonError::into_inner).under_way += 1;
    }

    fn leave(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).under_way -= 1;
        self.changed.notify_all();
    }

    fn close(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = self.changed.wait_while(state, |state| state.under_way > 0);
        idle.unwrap_or_else(PoisonError::into_inner).closed = true;
    }
}

impl Drop for Unbroken {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    #[test]
    fn a_gate_closes_after_nested_work_and_lets_nothing_in_afterwards() {
        static GATE: Gate = Gate::new();
        static DONE: AtomicBool = AtomicBool::new(false);
        static ENTERED: AtomicBool = AtomicBool::new(false);
        GATE.enter();
        let closing = thread::spawn(|| {
            GATE.close();
            assert!(DONE.load(Ordering::SeqCst), "it closed while work was under way");
        });
        GATE.enter();
        GATE.leave();
        DONE.store(true, Ordering::SeqCst);
        GATE.leave();
        closing.join().unwrap();
        // This thread stays at the gate until the test program ends.
        thread::spawn(|| {
            GATE.enter();
            ENTERED.store(true, Ordering::SeqCst);
        });
        assert!(!ENTERED.load(Ordering::SeqCst));
    }
}
