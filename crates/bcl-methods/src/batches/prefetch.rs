//! Prefetching: a background thread prepares items before they are needed.

use std::{
    any::Any,
    sync::mpsc::{Receiver, sync_channel},
    thread::{self, JoinHandle},
};

/// An iterator whose items a background thread prepares. A panic of the thread becomes an error, not the end of the iteration.
///
/// Dropping it ends the thread after the current item.
#[derive(Debug)]
pub struct Prefetch<T> {
    prepared: Receiver<T>,
    thread: Option<JoinHandle<()>>,
}

/// The panic of the background thread.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the thread that prepares batches panicked: {0}; please report this as a bug, with the recipe")]
pub struct Panicked(pub String);

impl<T: Send + 'static> Prefetch<T> {
    /// Prefetches `items`: at most `ready` wait for the consumer while one more is in preparation.
    pub fn new(ready: usize, items: impl Iterator<Item = T> + Send + 'static) -> Self {
        let (sender, prepared) = sync_channel(ready);
        let thread = thread::spawn(move || {
            for item in items {
                // The consumer is gone, because the run was interrupted.
                if sender.send(item).is_err() {
                    break;
                }
            }
        });
        Self {
            prepared,
            thread: Some(thread),
        }
    }
}

impl<T> Iterator for Prefetch<T> {
    type Item = Result<T, Panicked>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(item) = self.prepared.recv() {
            return Some(Ok(item));
        }
        let panic = self.thread.take()?.join().err()?;
        Some(Err(Panicked(message(&*panic))))
    }
}

/// The message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_and_then_the_end() {
        let found: Result<Vec<u32>, Panicked> = Prefetch::new(1, 0..5).collect();
        assert_eq!(found, Ok(vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn a_panic_is_an_error_with_its_message_and_not_the_end() {
        let mut prefetch = Prefetch::new(1, (0..5).inspect(|i| assert!(*i < 2, "image {i} is broken")));
        assert_eq!([prefetch.next(), prefetch.next()], [Some(Ok(0)), Some(Ok(1))]);
        assert_eq!(prefetch.next(), Some(Err(Panicked("image 2 is broken".to_owned()))));
        assert_eq!(prefetch.next(), None);
    }

    #[test]
    fn a_dropped_prefetch_prepares_no_more_items() {
        let (sender, begun) = std::sync::mpsc::channel();
        let mut prefetch = Prefetch::new(0, (0..1000).inspect(move |i| sender.send(*i).unwrap_or_default()));
        assert_eq!(prefetch.next(), Some(Ok(0)));
        drop(prefetch);
        // The channel closes with the thread.
        assert!(begun.iter().count() <= 3);
    }
}
