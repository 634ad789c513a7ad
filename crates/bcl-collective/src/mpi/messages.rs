//! Messages of any length, in pieces that MPI can count.

use mpi::{
    Count,
    datatype::{Partition, PartitionMut},
    topology::SimpleCommunicator,
    traits::{Communicator, CommunicatorCollectives, Root},
};

/// The calls of one communicator, with messages of at most `largest` bytes each.
///
/// Lengths may differ by process, so each call first exchanges them. All processes then know alike into how many pieces it is cut.
pub(super) struct Messages<'a> {
    pub(super) world: &'a SimpleCommunicator,
    pub(super) largest: usize,
}

impl Messages<'_> {
    fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// The bytes that each process may contribute to one message among all.
    fn piece(&self) -> usize {
        (self.largest / self.size()).max(1)
    }

    pub(super) fn all_gather(&self, mine: &[u8]) -> Vec<u8> {
        let mut lengths = vec![0_u64; self.size()];
        self.world.all_gather_into(&(mine.len() as u64), &mut lengths[..]);
        let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
        let begins = begins(&lengths);
        let mut all = buffer(lengths.iter().sum());
        if all.len() <= self.largest {
            let mut parts = PartitionMut::new(&mut all[..], counts(&lengths), counts(&begins));
            self.world.all_gather_varcount_into(at_an_address(mine), &mut parts);
            return all;
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        for begin in (0..longest).step_by(self.piece()) {
            let pieces = self.pieces(&lengths, begin);
            let mut received = buffer(pieces.iter().sum());
            let own = piece_of(mine, begin, self.piece());
            let mut parts = PartitionMut::new(&mut received[..], counts(&pieces), counts(&self::begins(&pieces)));
            self.world.all_gather_varcount_into(at_an_address(own), &mut parts);
            place(&received, &pieces, &mut all, &begins, begin);
        }
        all
    }

    pub(super) fn all_to_all(&self, mine: &[u8], lengths: &[usize]) -> Vec<u8> {
        // Each process tells every other process the length of its part, and the length of the longest part that it sends.
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let told: Vec<u64> = lengths.iter().flat_map(|&length| [length as u64, longest as u64]).collect();
        let mut heard = vec![0_u64; told.len()];
        self.world.all_to_all_into(&told[..], &mut heard[..]);
        let (heard, _) = heard.as_chunks::<2>();
        let incoming: Vec<usize> = heard.iter().map(|[length, _]| *length as usize).collect();
        let longest = heard.iter().map(|[_, longest]| *longest as usize).max().unwrap_or(0);

        let (sent_from, received_at) = (begins(lengths), begins(&incoming));
        let mut all = buffer(incoming.iter().sum());
        if longest <= self.piece() {
            let parts = Partition::new(at_an_address(mine), counts(lengths), counts(&sent_from));
            let mut into = PartitionMut::new(&mut all[..], counts(&incoming), counts(&received_at));
            self.world.all_to_all_varcount_into(&parts, &mut into);
            return all;
        }
        for begin in (0..longest).step_by(self.piece()) {
            let pieces = self.pieces(lengths, begin);
            let parts: Vec<&[u8]> = (0..self.size())
                .map(|process| piece_of(&mine[sent_from[process]..][..lengths[process]], begin, self.piece()))
                .collect();
            let sent = parts.concat();
            let parts = Partition::new(at_an_address(&sent), counts(&pieces), counts(&begins(&pieces)));
            let pieces = self.pieces(&incoming, begin);
            let mut received = buffer(pieces.iter().sum());
            let mut into = PartitionMut::new(&mut received[..], counts(&pieces), counts(&begins(&pieces)));
            self.world.all_to_all_varcount_into(&parts, &mut into);
            place(&received, &pieces, &mut all, &received_at, begin);
        }
        all
    }

    pub(super) fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let first = self.world.process_at_rank(0);
        let mut length = bytes.len() as u64;
        first.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        for piece in bytes.chunks_mut(self.largest) {
            first.broadcast_into(piece);
        }
        bytes
    }

    /// The lengths of the pieces from `begin` on, of parts with these lengths.
    fn pieces(&self, lengths: &[usize], begin: usize) -> Vec<usize> {
        let piece = self.piece();
        lengths.iter().map(|length| length.saturating_sub(begin).min(piece)).collect()
    }
}

/// Zeros to receive into, at an address even if there are none; see [`at_an_address`].
fn buffer(length: usize) -> Vec<u8> {
    let mut zeros = vec![0; length.max(1)];
    zeros.truncate(length);
    zeros
}

/// The same bytes. An empty `Vec<u8>` has the pointer 1, which Open MPI reads as `MPI_IN_PLACE`, so this points at a real byte.
fn at_an_address(bytes: &[u8]) -> &[u8] {
    static EMPTY: [u8; 1] = [0];
    if bytes.is_empty() { &EMPTY[..0] } else { bytes }
}

/// At most `length` bytes of a part from `begin` on; none if it is shorter.
fn piece_of(part: &[u8], begin: usize, length: usize) -> &[u8] {
    let begin = begin.min(part.len());
    &part[begin..part.len().min(begin + length)]
}

/// Copies received pieces to `begin` within their parts of `all`.
fn place(received: &[u8], pieces: &[usize], all: &mut [u8], parts: &[usize], begin: usize) {
    let mut rest = received;
    for (&length, &part) in pieces.iter().zip(parts) {
        let (piece, others) = rest.split_at(length);
        rest = others;
        if length > 0 {
            all[part + begin..][..length].copy_from_slice(piece);
        }
    }
}

/// Where each part begins, if they lie one after the other.
fn begins(lengths: &[usize]) -> Vec<usize> {
    let mut end = 0;
    let begin = |length: &usize| {
        end += length;
        end - length
    };
    lengths.iter().map(begin).collect()
}

/// Lengths as MPI counts them. They fit, because they are at most the largest message.
fn counts(lengths: &[usize]) -> Vec<Count> {
    lengths
        .iter()
        .map(|&length| Count::try_from(length).expect("at most i32::MAX bytes"))
        .collect()
}
