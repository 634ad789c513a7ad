//! Copies and fills of memory.

use crate::{
    log::ProcessLog,
    memory::Memory,
    status::{Refusal, Status, refuse},
};
use std::sync::Arc;

/// One end of a copy.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// An address on a device.
    Device(u64),
    /// An address of the host.
    Host(u64),
    /// Bytes of the host that were read when the copy became part of a graph.
    Staged(Arc<[u8]>),
}

/// A copy of `height` rows of `width` bytes, whose starts are a pitch apart.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) from: Place,
    pub(crate) from_pitch: u64,
    pub(crate) to: Place,
    pub(crate) to_pitch: u64,
    pub(crate) width: u64,
    pub(crate) height: u64,
}

/// A fill of device memory with one byte.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    pub(crate) to: u64,
    pub(crate) byte: u8,
    pub(crate) bytes: u64,
}

/// What copies of one byte and of four bytes to the host give if they are zeros. The crate's documentation says why.
const INSTEAD_OF_FALSE: u8 = 1;
const INSTEAD_OF_ZERO: f32 = 2.0;

impl Place {
    /// Where row `row` begins, as an address that can be read.
    fn row(&self, row: u64, pitch: u64) -> u64 {
        let start = match self {
            Self::Device(address) | Self::Host(address) => *address,
            Self::Staged(bytes) => bytes.as_ptr() as u64,
        };
        start + row * pitch
    }
}

impl Copy {
    /// A copy of contiguous bytes.
    pub(crate) fn linear(from: Place, to: Place, bytes: u64) -> Self {
        Self {
            from,
            from_pitch: bytes,
            to,
            to_pitch: bytes,
            width: bytes,
            height: 1,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.width * self.height
    }

    /// Checks the ranges on devices. Only the program knows the ranges on the host.
    pub(crate) fn check(&self, memory: &Memory) -> Result<(), Refusal> {
        let overflow = || Refusal::new(Status::InvalidValue, "a copy of more bytes than there can be");
        self.width.checked_mul(self.height).ok_or_else(overflow)?;
        if self.height > 1 && (self.from_pitch < self.width || self.to_pitch < self.width) {
            return refuse(Status::InvalidValue, "a copy of rows that are wider than their pitch");
        }
        for (place, pitch) in [(&self.from, self.from_pitch), (&self.to, self.to_pitch)] {
            let rows_before = pitch.checked_mul(self.height.saturating_sub(1)).ok_or_else(overflow)?;
            let span = rows_before.checked_add(self.width).ok_or_else(overflow)?;
            match place {
                _ if self.bytes() == 0 => {}
                Place::Device(address) => memory.check(*address, span)?,
                Place::Host(0) => return refuse(Status::InvalidValue, "a copy from or to a null pointer of the host"),
                Place::Host(_) | Place::Staged(_) => {}
            }
        }
        Ok(())
    }

    /// Copies, and counts the copy.
    ///
    /// # Safety
    ///
    /// [`check`](Self::check) passes now, and the range of the host can be read or written.
    pub(crate) unsafe fn run(&self, memory: &mut Memory, log: &mut ProcessLog) {
        for row in 0..self.height {
            // SAFETY: the caller's.
            unsafe { self.run_row(row, memory) };
        }
        let direction = match (&self.from, &self.to) {
            (_, Place::Host(to)) => {
                // SAFETY: these bytes were just written.
                unsafe { replace_zero(*to as *mut u8, self.bytes()) };
                &mut log.copies_down
            }
            (Place::Device(_), _) => &mut log.copies_across,
            _ => &mut log.copies_up,
        };
        direction.add(self.bytes());
    }

    /// # Safety
    ///
    /// As for [`run`](Self::run).
    unsafe fn run_row(&self, row: u64, memory: &mut Memory) {
        let (from, to) = (self.from.row(row, self.from_pitch), self.to.row(row, self.to_pitch));
        let is_result = matches!(self.from, Place::Device(_)) && memory.is_result(from);
        match self.to {
            // What is there is left from before the kernel.
            // SAFETY: the caller's.
            Place::Host(_) if is_result => unsafe { std::ptr::write_bytes(to as *mut u8, 0, self.width as usize) },
            // SAFETY: the caller's. The ranges may overlap.
            _ => unsafe { std::ptr::copy(from as *const u8, to as *mut u8, self.width as usize) },
        }
        if let Place::Device(_) = self.to {
            memory.set_known(to, self.width);
            if is_result {
                memory.set_result(to);
            }
        }
    }

    /// The same copy as part of a graph, which must not read the host's memory later: the program may have freed it by then.
    ///
    /// # Safety
    ///
    /// The range of the host can be read.
    pub(crate) unsafe fn staged(mut self) -> Self {
        if let Place::Host(_) = self.from {
            let mut bytes = Vec::with_capacity(self.bytes() as usize);
            for row in 0..self.height {
                let start = self.from.row(row, self.from_pitch) as *const u8;
                // SAFETY: the caller's.
                bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start, self.width as usize) });
            }
            self.from = Place::Staged(bytes.into());
            self.from_pitch = self.width;
        }
        self
    }
}

impl Fill {
    /// Fills.
    ///
    /// # Safety
    ///
    /// [`Memory::check`] passes for this range.
    pub(crate) unsafe fn run(&self, memory: &mut Memory) {
        // SAFETY: the caller's.
        unsafe { std::ptr::write_bytes(self.to as *mut u8, self.byte, self.bytes as usize) };
        memory.set_known(self.to, self.bytes);
    }
}

/// Replaces a single zero: a number or a `bool`.
///
/// # Safety
///
/// So many bytes at this address can be read and written.
unsafe fn replace_zero(start: *mut u8, bytes: u64) {
    // SAFETY: the caller's, and arrays of bytes need no alignment.
    unsafe {
        match bytes {
            1 if *start == 0 => *start = INSTEAD_OF_FALSE,
            4 if *start.cast::<[u8; 4]>() == [0; 4] => *start.cast() = INSTEAD_OF_ZERO.to_ne_bytes(),
            _ => {}
        }
    }
}
