//! Random numbers of one row.

use crate::Seed;
use crate::seed::{GOLDEN, mix};

/// `SplitMix64` (Steele, Lea and Flood 2014): output `i` is a hash of `start + i · γ`.
///
/// Outputs do not depend on each other, so the CPU computes several at once, and starting a stream costs nothing.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of a seed.
    pub(crate) fn new(seed: Seed) -> Self {
        Self { state: seed.0 }
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let bits = mix(self.state);
        self.state = self.state.wrapping_add(GOLDEN);
        bits
    }

    /// A number below `bound`, uniform to within 2^-32, and 32 further random bits that are independent of it.
    ///
    /// The high half of the 128-bit product is the number; the bits below it are the remaining randomness.
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> (u32, u32) {
        let product = u128::from(self.next()) * u128::from(bound);
        ((product >> 64) as u32, (product >> 32) as u32)
    }
}
