//! Estimates the memory of a run before it starts.
//!
//! Every estimate is a lower bound: it only counts what certainly exists at the same time, such as weights, gradients and
//! optimizer state during a step. A refused run could not have finished; an accepted run may still need more. Only main memory
//! is checked: runs on a GPU are never refused.

use bcl_data::memory::available;
use indicatif::HumanBytes;

/// Bytes of a 32-bit number.
pub(crate) const F32: u64 = 4;

/// A lower bound of the memory that something needs, part by part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Estimate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    what: String,
    keys: &'static str,
    bytes: u64,
}

/// The error for a run that does not fit into memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this run needs at least {} of memory, but {} are free: {} for {what}; lower {keys}, or use a machine with more memory",
    HumanBytes(*needed), HumanBytes(*free), HumanBytes(*of_largest)
)]
pub struct TooLittleMemory {
    /// Memory needed at least, in bytes.
    pub needed: u64,
    /// Free memory in bytes.
    pub free: u64,
    /// The largest part.
    pub what: String,
    /// Size of the largest part in bytes.
    pub of_largest: u64,
    /// The recipe keys that its size depends on.
    pub keys: &'static str,
}

impl Estimate {
    /// Adds bytes that exist at the same time as the others.
    pub(crate) fn with(mut self, what: impl Into<String>, keys: &'static str, bytes: u64) -> Self {
        let what = what.into();
        self.parts.push(Part { what, keys, bytes });
        self
    }

    /// Adds the larger of two estimates that do not exist at the same time.
    pub(crate) fn with_larger(mut self, one: Self, other: Self) -> Self {
        let larger = if one.bytes() >= other.bytes() { one } else { other };
        self.parts.extend(larger.parts);
        self
    }

    /// The sum of all parts.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes))
    }

    /// Compares the estimate with the free memory, if the system reports it.
    ///
    /// # Errors
    /// Returns an error with the largest part and the keys to lower if too little memory is free.
    pub fn check(&self) -> Result<(), TooLittleMemory> {
        available().map_or(Ok(()), |free| self.check_with(free))
    }

    pub(crate) fn check_with(&self, free: u64) -> Result<(), TooLittleMemory> {
        let needed = self.bytes();
        match self.parts.iter().max_by_key(|part| part.bytes) {
            Some(largest) if needed > free => Err(TooLittleMemory {
                needed,
                free,
                what: largest.what.clone(),
                of_largest: largest.bytes,
                keys: largest.keys,
            }),
            _ => Ok(()),
        }
    }
}

/// The product of sizes, at most `u64::MAX`.
pub(crate) fn product<const N: usize>(sizes: [u64; N]) -> u64 {
    sizes.into_iter().fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_does_not_fit_is_refused_with_both_sizes_and_the_key() {
        let estimate =
            Estimate::default()
                .with("weights", "encoder.dim", 3 << 30)
                .with("a batch", "training.batch_size", 1 << 30);
        estimate.check_with(4 << 30).unwrap();
        let message = estimate.check_with((4 << 30) - 1).unwrap_err().to_string();
        for words in [
            "at least 4.00 GiB",
            "4.00 GiB are free",
            "3.00 GiB for weights",
            "lower encoder.dim",
        ] {
            assert!(message.contains(words), "{words}: {message}");
        }
    }

    #[test]
    fn of_two_phases_the_larger_counts() {
        let part = |bytes| Estimate::default().with("", "", bytes);
        assert_eq!(part(1).with_larger(part(5), part(3)).bytes(), 6);
        assert_eq!(part(u64::MAX).with_larger(part(5), part(3)).bytes(), u64::MAX);
    }
}
