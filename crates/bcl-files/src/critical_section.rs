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
        sync::mpsc::{Receiver, RecvTimeoutError, channel},
        thread,
        time::Duration,
    };

    /// Runs work in a thread, and sends when it is done.
    fn started(work: impl FnOnce() + Send + 'static) -> Receiver<()> {
        let (sender, done) = channel();
        thread::spawn(move || {
            work();
            let _ = sender.send(());
        });
        done
    }

    fn assert_waits(done: &Receiver<()>) {
        let found = done.recv_timeout(Duration::from_millis(100));
        assert_eq!(found, Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn a_gate_closes_after_nested_work_and_lets_nothing_in_afterwards() {
        static GATE: Gate = Gate::new();
        GATE.enter();
        let closed = started(|| GATE.close());
        GATE.enter();
        GATE.leave();
        assert_waits(&closed);
        GATE.leave();
        closed.recv().unwrap();
        // This thread stays at the gate until the test program ends.
        assert_waits(&started(|| GATE.enter()));
    }
}
