//! Turns panics of GPU drivers into errors.

use std::{
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{Arc, Mutex, PoisonError},
};

/// Runs `body` and turns a panic, on this thread or on one that it waits for, into an error with the first line of its message.
/// Nothing is printed.
///
/// GPU runtimes open devices on threads of their own and `unwrap` there. The panic hook is process-wide, so an unrelated panic
/// at the same time loses its message.
pub(super) fn panics_as_errors<T>(body: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let first: Arc<Mutex<Option<String>>> = Arc::default();
    let seen = Arc::clone(&first);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| message(info));
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(body));
    panic::set_hook(before);
    let message = first.lock().unwrap_or_else(PoisonError::into_inner).take();
    // The first failure says most. Later ones only say that something failed.
    match (outcome, message) {
        (Ok(Ok(value)), _) => Ok(value),
        (_, Some(message)) => Err(message),
        (Ok(Err(error)), None) => Err(first_line(&error)),
        (Err(_), None) => Err("the driver failed without a message".to_owned()),
    }
}

fn message(info: &PanicHookInfo) -> String {
    first_line(info.payload_as_str().unwrap_or("the driver failed without a message"))
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_another_thread_is_the_error() {
        let error = panics_as_errors(|| {
            let worker = std::thread::spawn(|| panic!("no driver\nand a long story"));
            worker.join().map_err(|_| "the worker is gone".to_owned())
        });
        assert_eq!(error, Err::<(), _>("no driver".to_owned()));
        assert_eq!(panics_as_errors(|| Ok(3)), Ok(3));
        assert_eq!(
            panics_as_errors::<()>(|| Err("plain\n  more".to_owned())),
            Err("plain".to_owned())
        );
    }
}
