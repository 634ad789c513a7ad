//! Pointers that programs pass.

use crate::status::Status;
use std::ffi::{CStr, c_char};

/// Where a function puts a result. The program vouches that it can be written, or is null.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Puts the result there.
    pub(crate) fn set(&self, value: T) -> Result<(), Status> {
        self.set_at(0, value)
    }

    /// Puts an element of a result there that is an array.
    pub(crate) fn set_at(&self, index: usize, value: T) -> Result<(), Status> {
        if self.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the program vouches for it.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl<T: Copy> Out<T> {
    /// Reads what is there before it is replaced.
    pub(crate) fn get(&self) -> Result<T, Status> {
        if self.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the program vouches for it.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

impl Out<c_char> {
    /// Puts text there, cut if it is longer than the space, which has room for `len` bytes with the zero at the end.
    pub(crate) fn set_text(&self, text: &str, len: i32) -> Result<(), Status> {
        let room = usize::try_from(len)
            .ok()
            .and_then(|len| len.checked_sub(1))
            .ok_or(Status::InvalidValue)?;
        let bytes = text.bytes().take(room).chain([0]);
        bytes
            .enumerate()
            .try_for_each(|(index, byte)| self.set_at(index, byte as c_char))
    }
}

/// What a program passes to be read. It vouches that it can be read, or is null.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Reads an element.
    pub(crate) fn at(&self, index: usize) -> Result<T, Status> {
        if self.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the program vouches for it.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Reads some elements.
    pub(crate) fn first(&self, count: usize) -> Result<Vec<T>, Status> {
        (0..count).map(|index| self.at(index)).collect()
    }
}

impl<T> In<T> {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn from_address(address: u64) -> Self {
        Self(address as *const T)
    }
}

impl In<c_char> {
    /// Reads text that ends with a zero.
    pub(crate) fn text(&self) -> Result<String, Status> {
        if self.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the program vouches for it.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
impl<T> Out<T> {
    /// No place for the result.
    pub(crate) fn null() -> Self {
        Self(std::ptr::null_mut())
    }
}

#[cfg(test)]
impl<T> From<&mut T> for Out<T> {
    fn from(place: &mut T) -> Self {
        Self(place)
    }
}

#[cfg(test)]
impl<T> From<&T> for In<T> {
    fn from(value: &T) -> Self {
        Self(value)
    }
}
