//! A cache that fills up to a number of bytes and then stays as it is.
//!
//! An epoch visits every image once, in an order of its own. A cache that replaces its oldest entries would replace most of them before
//! they are needed again; entries that stay are hit once per epoch each, which is as often as a cache of this size can be.

use std::{
    borrow::Cow,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Pixels of some images, by number.
#[derive(Debug)]
pub(super) struct Cache {
    slots: Vec<OnceLock<Box<[u8]>>>,
    /// Bytes that are still free.
    left: AtomicU64,
}

impl Cache {
    pub(super) fn new(num_images: usize, bytes: u64) -> Self {
        Self {
            slots: (0..num_images).map(|_| OnceLock::new()).collect(),
            left: AtomicU64::new(bytes),
        }
    }

    /// The cached pixels of an image, or new ones, which are kept if there is room.
    pub(super) fn get_or_make<E>(&self, number: usize, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Cow<'_, [u8]>, E> {
        let slot = &self.slots[number];
        if let Some(pixels) = slot.get() {
            return Ok(Cow::Borrowed(pixels));
        }
        let pixels = make()?;
        if !self.reserve(pixels.len() as u64) {
            return Ok(Cow::Owned(pixels));
        }
        // Two threads may decode the same image at the same time; one of the two reservations is then lost, which only wastes room.
        Ok(Cow::Borrowed(slot.get_or_init(|| pixels.into_boxed_slice())))
    }

    /// Takes bytes from those left, if there are enough.
    fn reserve(&self, bytes: u64) -> bool {
        let take = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Visits three images of 10 bytes twice and returns how often each was made.
    fn made_with(bytes: u64) -> [usize; 3] {
        let cache = Cache::new(3, bytes);
        let made = [const { Cell::new(0) }; 3];
        for number in [0, 1, 2, 2, 1, 0] {
            let pixels = cache.get_or_make(number, || {
                made[number].set(made[number].get() + 1);
                Ok::<_, ()>(vec![number as u8; 10])
            });
            assert_eq!(*pixels.unwrap(), [number as u8; 10]);
        }
        made.map(|count| count.get())
    }

    #[test]
    fn images_are_made_once_as_long_as_there_is_room() {
        assert_eq!(made_with(30), [1, 1, 1]);
        assert_eq!(made_with(29), [1, 1, 2]);
        assert_eq!(made_with(9), [2, 2, 2]);
        assert_eq!(made_with(0), [2, 2, 2]);
    }

    #[test]
    fn an_error_is_returned_and_leaves_the_slot_empty() {
        let cache = Cache::new(1, 100);
        assert_eq!(cache.get_or_make(0, || Err("broken")), Err("broken"));
        assert_eq!(cache.get_or_make(0, || Ok::<_, ()>(vec![7])).unwrap()[0], 7);
    }
}
