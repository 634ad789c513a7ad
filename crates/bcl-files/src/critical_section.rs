//! Delays the end of the process until critical work, such as writing a checkpoint, is complete.

use std::sync::{Condvar, Mutex, PoisonError};

/// Counts running critical sections; once closed, none can start.
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

/// The gate of this process.
static GATE: Gate = Gate::new();

/// A critical section, which ends on drop. [`finish_critical_sections`] waits for it.
#[derive(Debug)]
#[must_use = "the work is protected only while this lives"]
pub struct CriticalSection(&'static Gate);

/// Starts a critical section, which the end of the process must not interrupt. Sections may be nested.
///
/// Blocks forever once [`finish_critical_sections`] has returned, because the process is about to end.
pub fn critical_section() -> CriticalSection {
    GATE.enter();
    CriticalSection(&GATE)
}

/// Waits until no critical section is running and prevents new ones. The caller must end the process next.
pub fn finish_critical_sections() {
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

impl Drop for CriticalSection {
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
            assert!(DONE.load(Ordering::SeqCst), "it closed during a critical section");
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
