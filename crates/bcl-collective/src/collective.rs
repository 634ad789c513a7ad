//! What a transport between processes has to do.

use std::fmt::Debug;

/// A group of `size` processes that call the same operations together.
///
/// **All processes make the same calls in the same order.** Each call returns on a process once that process has received all it needs, so a process
/// that leaves a call out makes the others wait, or get bytes of another call. [`Checked`](crate::Checked) finds such errors. A process that
/// fails alone must call [`abort`](Self::abort): the others would wait for ever.
///
/// Calls from several threads of one process run one after the other; the processes must agree on their order.
pub trait Collective: Debug + Send + Sync {
    /// The index of this process, from 0 to `size - 1`.
    fn index(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// Gathers the bytes of all processes on all processes, in the order of processes. Lengths may differ by process.
    fn all_gather(&self, mine: Vec<u8>) -> Vec<u8>;

    /// Sends to each process its part of `mine`, and returns what all processes sent to this one, in the order of processes.
    ///
    /// The parts lie one after the other in `mine`, in the order of processes; `lengths` are their sizes in bytes.
    ///
    /// # Panics
    /// Panics unless there is one length per process, and they add up to the length of `mine`.
    fn all_to_all(&self, mine: Vec<u8>, lengths: &[usize]) -> Vec<u8>;

    /// Returns the bytes of process 0. What other processes pass is dropped.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8>;

    /// Returns once all processes have called it.
    fn barrier(&self);

    /// Ends all processes with an exit code, without waiting for them.
    fn abort(&self, code: i32) -> !;
}

/// Panics unless `lengths` divide `mine` into one part per process.
pub(crate) fn check_parts(size: usize, mine: &[u8], lengths: &[usize]) {
    assert_eq!(lengths.len(), size, "one length per process");
    assert_eq!(
        lengths.iter().sum::<usize>(),
        mine.len(),
        "the lengths of all parts add up to the length of the message"
    );
}
