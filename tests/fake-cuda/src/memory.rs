//! Device memory and pinned host memory, as mappings of host memory.

use crate::status::{Answer, Refusal, Status, refuse};
use std::{
    collections::{BTreeMap, VecDeque},
    ptr::{self, NonNull},
};

/// Memory of all devices, and the host memory that programs got from the driver.
pub(crate) struct Memory {
    limit: u64,
    used: Vec<u64>,
    peak: u64,
    allocations: BTreeMap<u64, Allocation>,
    freed: VecDeque<Mapping>,
    pinned: BTreeMap<u64, Mapping>,
}

/// An allocation on a device.
struct Allocation {
    mapping: Mapping,
    device: usize,
    charge: u64,
    /// Addresses where results of kernels begin (true) and end (false).
    results: BTreeMap<u64, bool>,
}

/// Allocations count as multiples of this size.
const GRANULE: u64 = 512;

/// So many freed allocations keep their addresses, which are not given out again, so that a use after free is recognised.
const FREED_KEPT: usize = 4096;

impl Memory {
    pub(crate) fn new(devices: usize, limit: u64) -> Self {
        Self {
            limit,
            used: vec![0; devices],
            peak: 0,
            allocations: BTreeMap::new(),
            freed: VecDeque::new(),
            pinned: BTreeMap::new(),
        }
    }

    /// Allocates zeros on a device.
    pub(crate) fn allocate(&mut self, device: usize, bytes: u64) -> Answer<u64> {
        if bytes == 0 {
            return refuse(Status::InvalidValue, "an allocation of zero bytes")?;
        }
        let charge = bytes.checked_next_multiple_of(GRANULE).ok_or(Status::OutOfMemory)?;
        if charge > self.limit - self.used[device] {
            return Err(Status::OutOfMemory.into());
        }
        let mapping = Mapping::new(bytes).ok_or(Status::OutOfMemory)?;
        self.used[device] += charge;
        self.peak = self.peak.max(self.used.iter().sum());
        let address = mapping.address();
        self.allocations.insert(
            address,
            Allocation {
                mapping,
                device,
                charge,
                results: BTreeMap::new(),
            },
        );
        Ok(address)
    }

    /// Gives an allocation back.
    pub(crate) fn free(&mut self, address: u64) -> Result<(), Refusal> {
        let Some(allocation) = self.allocations.remove(&address) else {
            return refuse(
                Status::InvalidValue,
                format!("{}, so it cannot be freed", self.describe(address)),
            );
        };
        self.used[allocation.device] -= allocation.charge;
        allocation.mapping.close();
        self.freed.push_back(allocation.mapping);
        if self.freed.len() > FREED_KEPT {
            self.freed.pop_front();
        }
        Ok(())
    }

    /// Free and total bytes of a device.
    pub(crate) fn info(&self, device: usize) -> (u64, u64) {
        (self.limit - self.used[device], self.limit)
    }

    /// Bytes in use at the peak, on all devices together.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// Finds the device and the bytes from an address to the end of its allocation. The end itself is a valid address, of an empty range.
    ///
    /// # Errors
    ///
    /// What the address is instead, for a sentence that begins with it.
    pub(crate) fn find(&self, address: u64) -> Result<(usize, u64), String> {
        let allocation = self.allocations.range(..=address).next_back();
        let found = allocation.filter(|(start, allocation)| address - *start <= allocation.mapping.bytes);
        found
            .map(|(start, allocation)| (allocation.device, allocation.mapping.bytes - (address - start)))
            .ok_or_else(|| self.describe(address))
    }

    /// Checks that a range lies within one allocation.
    pub(crate) fn check(&self, address: u64, bytes: u64) -> Result<(), Refusal> {
        match self.find(address) {
            Ok((_, left)) if bytes <= left => Ok(()),
            Ok((_, left)) => refuse(
                Status::InvalidValue,
                format!("{bytes} bytes at {address:#x}, where an allocation has {left} left"),
            ),
            Err(what) => refuse(Status::InvalidValue, what),
        }
    }

    fn describe(&self, address: u64) -> String {
        let contains = |mapping: &&Mapping| (mapping.address()..=mapping.address() + mapping.bytes).contains(&address);
        let what = if self.freed.iter().any(|mapping| contains(&mapping)) {
            "was freed"
        } else if self
            .allocations
            .range(..=address)
            .next_back()
            .is_some_and(|(_, of)| contains(&&of.mapping))
        {
            "is inside an allocation"
        } else {
            "is not device memory"
        };
        format!("{address:#x} {what}")
    }

    /// Notes that a kernel writes its results to an address. How many bytes it writes, only the kernel knows.
    pub(crate) fn set_result(&mut self, address: u64) {
        if let Some(allocation) = self.around_mut(address) {
            allocation.results.insert(address, true);
        }
    }

    /// Notes that the contents of a range are known again, because they were uploaded or set.
    pub(crate) fn set_known(&mut self, address: u64, bytes: u64) {
        if let Some(allocation) = self.around_mut(address) {
            allocation.set_known(address, address + bytes);
        }
    }

    /// Whether a kernel would have written what is at an address.
    pub(crate) fn is_result(&self, address: u64) -> bool {
        self.around(address).is_some_and(|allocation| allocation.is_result(address))
    }

    /// The last allocation that begins at an address or before.
    fn around(&self, address: u64) -> Option<&Allocation> {
        self.allocations
            .range(..=address)
            .next_back()
            .map(|(_, allocation)| allocation)
    }

    fn around_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        self.allocations
            .range_mut(..=address)
            .next_back()
            .map(|(_, allocation)| allocation)
    }

    /// Allocates pinned host memory.
    pub(crate) fn allocate_pinned(&mut self, bytes: u64) -> Answer<u64> {
        let mapping = Mapping::new(bytes.max(1)).ok_or(Status::OutOfMemory)?;
        let address = mapping.address();
        self.pinned.insert(address, mapping);
        Ok(address)
    }

    /// Gives pinned host memory back.
    pub(crate) fn free_pinned(&mut self, address: u64) -> Result<(), Refusal> {
        match self.pinned.remove(&address) {
            Some(_) => Ok(()),
            None => refuse(Status::InvalidValue, format!("{address:#x} is not pinned memory")),
        }
    }

    /// Whether a range is pinned host memory.
    pub(crate) fn is_pinned(&self, address: u64, bytes: u64) -> bool {
        let mapping = self.pinned.range(..=address).next_back();
        mapping.is_some_and(|(start, mapping)| address - start + bytes <= mapping.bytes)
    }
}

impl Allocation {
    fn is_result(&self, address: u64) -> bool {
        let last = self.results.range(..=address).next_back();
        last.is_some_and(|(_, begins)| *begins)
    }

    fn set_known(&mut self, start: u64, end: u64) {
        let goes_on = self.is_result(end);
        self.results.extract_if(start..end, |_, _| true).for_each(drop);
        // Only where something changes.
        if self.is_result(start) {
            self.results.insert(start, false);
        }
        if goes_on {
            self.results.insert(end, true);
        }
    }
}

/// Pages of zeros, which take up memory once they are written. A page without access follows them.
struct Mapping {
    start: NonNull<libc::c_void>,
    bytes: u64,
    len: usize,
}

// SAFETY: the pages belong to nobody else, and every access is under the lock of the driver.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(bytes: u64) -> Option<Self> {
        // SAFETY: it only reads a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let usable = usize::try_from(bytes).ok()?.checked_next_multiple_of(page)?;
        let len = usable.checked_add(page)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of the program.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        let start = NonNull::new(start).filter(|start| start.as_ptr() != libc::MAP_FAILED)?;
        // SAFETY: the last page of the mapping above.
        unsafe { libc::mprotect(start.as_ptr().byte_add(usable), page, libc::PROT_NONE) };
        Some(Self { start, bytes, len })
    }

    fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// Gives the pages back and keeps the addresses, which can no longer be accessed.
    fn close(&self) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: it replaces our own mapping, to which no reference exists.
        unsafe { libc::mmap(self.start.as_ptr(), self.len, libc::PROT_NONE, flags, -1, 0) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping, to which no reference exists.
        unsafe { libc::munmap(self.start.as_ptr(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_within_and_at_the_end_of_an_allocation_are_found() {
        let mut memory = Memory::new(2, 1 << 20);
        let start = memory.allocate(1, 1000).expect("it fits");
        assert_eq!(memory.find(start), Ok((1, 1000)));
        assert_eq!(memory.find(start + 1000), Ok((1, 0)));
        assert!(memory.find(start + 1001).unwrap_err().contains("is not device memory"));
        assert!(memory.find(start - 1).is_err());
    }

    #[test]
    fn freed_addresses_are_not_given_out_again() {
        let mut memory = Memory::new(1, 1 << 20);
        let first = memory.allocate(0, 4096).expect("it fits");
        memory.free(first).expect("it is allocated");
        let others: Vec<u64> = (0..100).map(|_| memory.allocate(0, 4096).expect("it fits")).collect();
        assert!(!others.contains(&first));
        assert!(memory.find(first).unwrap_err().contains("was freed"));
        assert!(memory.free(first).unwrap_err().reason.contains("was freed"));
        assert!(
            memory
                .free(others[0] + 512)
                .unwrap_err()
                .reason
                .contains("is inside an allocation")
        );
    }

    #[test]
    fn results_of_kernels_reach_up_to_what_was_uploaded() {
        let mut memory = Memory::new(1, 1 << 20);
        let start = memory.allocate(0, 4096).expect("it fits");
        memory.set_result(start + 512);
        memory.set_known(start + 1024, 256);
        let kinds = [0, 512, 1000, 1024, 1279, 1280].map(|offset| memory.is_result(start + offset));
        assert_eq!(kinds, [false, true, true, false, false, true]);
        memory.set_known(start, 4096);
        assert!((0..4096).all(|offset| !memory.is_result(start + offset)));
        memory.set_result(start);
        memory.free(start).expect("it is allocated");
        assert!(!memory.is_result(start));
    }

    #[test]
    fn pinned_memory_is_no_device_memory() {
        let mut memory = Memory::new(1, 1 << 20);
        let pinned = memory.allocate_pinned(100).expect("it fits");
        assert!(memory.is_pinned(pinned + 50, 50) && !memory.is_pinned(pinned + 50, 51));
        assert!(memory.find(pinned).is_err());
        assert_eq!(memory.info(0), (1 << 20, 1 << 20));
        memory.free_pinned(pinned).expect("it is allocated");
        assert!(memory.free_pinned(pinned).is_err());
    }
}
