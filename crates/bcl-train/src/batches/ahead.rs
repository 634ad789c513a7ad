//! Things that a thread prepares ahead of their use.

use std::{
    any::Any,
    sync::mpsc::{Receiver, sync_channel},
    thread::{self, JoinHandle},
};

/// An iterator whose items a thread of its own prepares, and whose thread cannot end early unnoticed: a panic in it is an error here,
/// not the end of the iteration.
///
/// Dropping it ends the thread after the item under way.
#[derive(Debug)]
pub struct Ahead<T> {
    prepared: Receiver<T>,
    thread: Option<JoinHandle<()>>,
}

/// The panic of the preparing thread.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the thread that prepares batches panicked: {0}; please report this as a bug, with the recipe")]
pub struct Panicked(pub String);

impl<T: Send + 'static> Ahead<T> {
    /// Prepares `items`, of which `ready` wait to be taken, one more is under way, and the rest has not begun.
    pub fn new(ready: usize, items: impl Iterator<Item = T> + Send + 'static) -> Self {
        let (sender, prepared) = sync_channel(ready);
        let thread = thread::spawn(move || {
            for item in items {
                // Nobody waits for it any more: the run was interrupted.
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

impl<T> Iterator for Ahead<T> {
    type Item = Result<T, Panicked>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(item) = self.prepared.recv() {
            return Some(Ok(item));
        }
        let panic = self.thread.take()?.join().err()?;
        Some(Err(Panicked(message(&*panic))))
    }
}

/// What a panic said.
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
        let found: Result<Vec<u32>, Panicked> = Ahead::new(1, 0..5).collect();
        assert_eq!(found, Ok(vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn a_panic_is_an_error_with_its_message_and_not_the_end() {
        let mut ahead = Ahead::new(1, (0..5).inspect(|i| assert!(*i < 2, "image {i} is broken")));
        assert_eq!([ahead.next(), ahead.next()], [Some(Ok(0)), Some(Ok(1))]);
        assert_eq!(ahead.next(), Some(Err(Panicked("image 2 is broken".to_owned()))));
        assert_eq!(ahead.next(), None);
    }

    #[test]
    fn what_nobody_takes_is_not_prepared() {
        let (sender, begun) = std::sync::mpsc::channel();
        let mut ahead = Ahead::new(0, (0..1000).inspect(move |i| sender.send(*i).unwrap_or_default()));
        assert_eq!(ahead.next(), Some(Ok(0)));
        drop(ahead);
        // The channel closes with the thread.
        assert!(begun.iter().count() <= 3);
    }
}
