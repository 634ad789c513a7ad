//! Panics of drivers as errors.

use std::{
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{Arc, Mutex, PoisonError},
};

/// Runs `body` so that a panic, of this thread or of one that it waits for, prints nothing and ends as an error with its first line.
///
/// GPU runtimes open devices in threads of their own and `unwrap` there. The hook is the process's: whoever panics at the same time in
/// a thread that has nothing to do with this goes without its message.
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
    // What failed first says most; what came after it is that something failed.
    match (outcome, message) {
        (Ok(Ok(value)), _) => Ok(value),
        (_, Some(message)) => Err(message),
        (Ok(Err(error)), None) => Err(first_line(&error)),
        (Err(_), None) => Err("its driver failed without a word".to_owned()),
    }
}

fn message(info: &PanicHookInfo) -> String {
    first_line(info.payload_as_str().unwrap_or("its driver failed without a word"))
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
