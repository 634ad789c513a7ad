//! What a transport between ranks has to do.

use std::fmt::Debug;

/// A group of `size` ranks that call the same operations together.
///
/// **All ranks make the same calls in the same order.** Each call returns on a rank once that rank has received all it needs, so a rank
/// that leaves a call out makes the others wait, or get bytes of another call. [`Checked`](crate::Checked) finds such errors. A rank that
/// fails alone must call [`abort`](Self::abort): the others would wait for ever.
///
/// Calls from several threads of one rank run one after the other; the ranks must agree on their order.
pub trait Collective: Debug + Send + Sync {
    /// The number of this rank, from 0 to `size - 1`.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Gathers the bytes of all ranks on all ranks, in the order of ranks. Lengths may differ by rank.
    fn all_gather(&self, mine: Vec<u8>) -> Vec<u8>;

    /// Sends to each rank its part of `mine`, and returns what all ranks sent to this one, in the order of ranks.
    ///
    /// The parts lie one after the other in `mine`, in the order of ranks; `lengths` are their sizes in bytes.
    ///
    /// # Panics
    /// Panics unless there is one length per rank, and they add up to the length of `mine`.
    fn all_to_all(&self, mine: Vec<u8>, lengths: &[usize]) -> Vec<u8>;

    /// Returns the bytes of rank 0. What other ranks pass is dropped.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8>;

    /// Returns once all ranks have called it.
    fn barrier(&self);

    /// Ends all ranks with an exit code, without waiting for them.
    fn abort(&self, code: i32) -> !;
}

/// Panics unless `lengths` divide `mine` into one part per rank.
pub(crate) fn check_parts(size: usize, mine: &[u8], lengths: &[usize]) {
    assert_eq!(lengths.len(), size, "one length per rank");
    assert_eq!(
        lengths.iter().sum::<usize>(),
        mine.len(),
        "the lengths of all parts add up to the length of the message"
    );
}
