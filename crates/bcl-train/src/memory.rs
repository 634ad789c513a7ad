//! Estimates the memory of a run before it starts.
//!
//! Every estimate is a lower bound: it only counts what certainly exists at the same time, such as weights, gradients and
//! optimizer state during a step. A refused run could not have finished; an accepted run may still need more. On a GPU with memory of its own,
//! the parts that are there are compared with that memory, and the others with main memory.

use bcl_backend::{DeviceInfo, DeviceKind};
use bcl_data::memory::available;
use bcl_files::bytes;
use std::fmt;

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
    place: Place,
}

/// The memory that holds a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    /// The memory of the device that computes: main memory on the CPU.
    Device,
}

/// The error for a run that does not fit into memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this run needs at least {} of {memory}, but {}: {} for {what}; lower {keys}, or use a {} with more memory",
    bytes(*needed), memory.there(*free), bytes(*of_largest), memory.machine()
)]
pub struct TooLittleMemory {
    /// The memory that is too small.
    pub memory: Memory,
    /// Memory needed at least, in bytes.
    pub needed: u64,
    /// Free memory, or all memory of a GPU, in bytes.
    pub free: u64,
    /// The largest part.
    pub what: String,
    /// Size of the largest part in bytes.
    pub of_largest: u64,
    /// The recipe keys that its size depends on.
    pub keys: &'static str,
}

/// A memory, as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// Main memory.
    Main,
    /// The memory of the GPU with this name.
    Gpu(String),
}

impl Memory {
    fn there(&self, bytes: u64) -> String {
        let bytes = bcl_files::bytes(bytes);
        match self {
            Self::Main => format!("{bytes} are free"),
            Self::Gpu(_) => format!("it has {bytes}"),
        }
    }

    fn machine(&self) -> &'static str {
        match self {
            Self::Main => "machine",
            Self::Gpu(_) => "GPU",
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("memory"),
            Self::Gpu(name) => write!(f, "memory on the GPU {name}"),
        }
    }
}

impl Estimate {
    /// Adds bytes on the device that exist at the same time as the others.
    pub(crate) fn with(mut self, what: impl Into<String>, keys: &'static str, bytes: u64) -> Self {
        self.parts.push(Part {
            what: what.into(),
            keys,
            bytes,
            place: Place::Device,
        });
        self
    }

    /// Adds bytes in main memory, whatever device computes, that exist at the same time as the others.
    pub(crate) fn with_in_main(self, what: impl Into<String>, keys: &'static str, bytes: u64) -> Self {
        let mut estimate = self.with(what, keys, bytes);
        estimate.parts.iter_mut().next_back().expect("one was added").place = Place::Main;
        estimate
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

    /// Compares the estimate with the free main memory, if the system reports it.
    ///
    /// # Errors
    /// Returns an error with the largest part and the keys to lower if too little memory is free.
    pub fn check(&self) -> Result<(), TooLittleMemory> {
        available().map_or(Ok(()), |free| self.check_with(free))
    }

    /// Compares the estimate with the memory of a device and with main memory, as far as they are known.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_on(&self, device: &DeviceInfo) -> Result<(), TooLittleMemory> {
        // Other devices share main memory, or do not say what they have.
        let (DeviceKind::DiscreteGpu | DeviceKind::VirtualGpu, Some(of_gpu)) = (device.kind, device.memory_bytes) else {
            return self.check();
        };
        self.at(Place::Device).compare(of_gpu, Memory::Gpu(device.name.clone()))?;
        self.at(Place::Main).check()
    }

    fn at(&self, place: Place) -> Self {
        let there = self.parts.iter().filter(|part| part.place == place);
        Self {
            parts: there.cloned().collect(),
        }
    }

    pub(crate) fn check_with(&self, free: u64) -> Result<(), TooLittleMemory> {
        self.compare(free, Memory::Main)
    }

    fn compare(&self, free: u64, memory: Memory) -> Result<(), TooLittleMemory> {
        let needed = self.bytes();
        match self.parts.iter().max_by_key(|part| part.bytes) {
            Some(largest) if needed > free => Err(TooLittleMemory {
                memory,
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
    fn a_gpu_is_compared_with_what_it_holds() {
        let device = |kind, memory_bytes| DeviceInfo {
            backend: "cuda",
            index: 0,
            name: "a card".to_owned(),
            kind,
            memory_bytes,
            driver: None,
            precisions: vec!["f32"],
        };
        let estimate = Estimate::default()
            .with("weights", "encoder.dim", 3 << 30)
            .with_in_main("views", "views.side", 1 << 20);
        estimate.check_on(&device(DeviceKind::DiscreteGpu, Some(3 << 30))).unwrap();
        let small = device(DeviceKind::DiscreteGpu, Some((3 << 30) - 1));
        assert_eq!(
            estimate.check_on(&small).unwrap_err().to_string(),
            "this run needs at least 3.00 GiB of memory on the GPU a card, but it has 3.00 GiB: 3.00 GiB for weights; lower encoder.dim, or use a \
             GPU with more memory"
        );
        // Nothing is known of it, and main memory is enough.
        estimate.check_on(&device(DeviceKind::DiscreteGpu, None)).unwrap();
        let shared = Estimate::default().with("weights", "encoder.dim", u64::MAX);
        let message = shared
            .check_on(&device(DeviceKind::IntegratedGpu, Some(u64::MAX)))
            .unwrap_err();
        assert_eq!(message.memory, Memory::Main);
    }

    #[test]
    fn of_two_phases_the_larger_counts() {
        let part = |bytes| Estimate::default().with("", "", bytes);
        assert_eq!(part(1).with_larger(part(5), part(3)).bytes(), 6);
        assert_eq!(part(u64::MAX).with_larger(part(5), part(3)).bytes(), u64::MAX);
    }
}
