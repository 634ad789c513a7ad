//! A check that all processes make the same calls.

use crate::Collective;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Compares each call between processes before it is made, and ends all processes if they differ.
///
/// Without it, processes that make different calls wait for ever or receive bytes that were meant for something else. It costs two small
/// messages per call, so it is for tests and for finding such an error.
#[derive(Debug)]
pub struct Checked {
    inner: Arc<dyn Collective>,
    calls: AtomicU64,
}

impl Checked {
    /// Checks the calls to `inner`.
    pub fn new(inner: Arc<dyn Collective>) -> Self {
        let calls = AtomicU64::new(0);
        Self { inner, calls }
    }

    fn compare(&self, call: &str) {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let all = self.inner.gather_each(format!("{call} as call {number}").into_bytes());
        if all.iter().all(|other| *other == all[0]) {
            return;
        }
        if self.inner.is_first() {
            let calls = all
                .iter()
                .enumerate()
                .map(|(process, call)| format!("process {process}: {}", String::from_utf8_lossy(call)));
            eprintln!(
                "error: the processes make different calls: {}",
                calls.collect::<Vec<_>>().join(", ")
            );
        }
        // The other processes must not end everything before process 0 has printed.
        self.inner.barrier();
        self.inner.abort(1)
    }
}

impl Collective for Checked {
    fn index(&self) -> usize {
        self.inner.index()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn all_gather(&self, mine: Vec<u8>) -> Vec<u8> {
        self.compare("all_gather");
        self.inner.all_gather(mine)
    }

    fn all_to_all(&self, mine: Vec<u8>, lengths: &[usize]) -> Vec<u8> {
        self.compare("all_to_all");
        self.inner.all_to_all(mine, lengths)
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.compare("broadcast");
        self.inner.broadcast(bytes)
    }

    fn barrier(&self) {
        self.compare("barrier");
        self.inner.barrier();
    }

    fn abort(&self, code: i32) -> ! {
        self.inner.abort(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;
    use std::panic::catch_unwind;

    #[test]
    fn equal_calls_pass_and_different_calls_end_all_processes() {
        let run = |odd_process_differs: bool| {
            Threads::run(3, |collective| {
                let collective: Arc<dyn Collective> = Arc::new(Checked::new(collective));
                assert_eq!(collective.all_gather(vec![collective.index() as u8]), [0, 1, 2]);
                if odd_process_differs && collective.index() == 1 {
                    collective.broadcast(Vec::new())
                } else {
                    collective.all_gather(Vec::new())
                }
            })
        };
        assert_eq!(run(false), [[0; 0]; 3]);
        let panic = catch_unwind(|| run(true)).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains("abort(1)"), "{message}");
    }
}
