//! Signs of life: a line every ten seconds during long work.

use super::{is_quiet, status};
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Time between two lines.
const EVERY: Duration = Duration::from_secs(10);

/// Prints every ten seconds what is being done, until it is dropped. Prints nothing if it is dropped before the first line is
/// due.
///
/// ```
/// let _working = bcl_files::notice::working("loading gowalla");
/// ```
#[derive(Debug)]
pub struct Working {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    text: String,
    next: Instant,
    over: bool,
}

/// Starts work that may take long. Its lines say how long it has taken: `loading gowalla, 20 s so far`.
pub fn working(text: impl Into<String>) -> Working {
    let (text, started) = (text.into(), Instant::now());
    let every = (!is_quiet()).then_some(EVERY);
    Working::new(text, every, move |text| {
        status(format_args!("{text}, {:.0} s so far", started.elapsed().as_secs_f64()));
    })
}

/// Starts work that [updates](Working::update) its text. Its lines are the text alone.
pub fn working_with_updates(text: impl Into<String>) -> Working {
    let every = (!is_quiet()).then_some(EVERY);
    Working::new(text.into(), every, |text| status(text))
}

impl Working {
    fn new(text: String, every: Option<Duration>, say: impl Fn(&str) + Send + 'static) -> Self {
        let state = State {
            text,
            next: Instant::now() + every.unwrap_or_default(),
            over: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let ticking = shared.clone();
        Self {
            shared,
            thread: every.map(|every| thread::spawn(move || ticking.tick(every, say))),
        }
    }

    /// Sets the text of the next line.
    pub fn update(&self, text: String) {
        self.shared.lock().text = text;
    }

    /// Postpones the next line to ten seconds from now, because the caller has just printed a line of its own.
    pub fn said(&self) {
        self.shared.lock().next = Instant::now() + EVERY;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self, every: Duration, say: impl Fn(&str)) {
        let mut state = self.lock();
        while !state.over {
            let now = Instant::now();
            if now >= state.next {
                say(&state.text);
                state.next = now + every;
            }
            let wait = state.next.saturating_duration_since(now);
            let woken = self.changed.wait_timeout(state, wait);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread only prints. If that failed, there is nobody to tell.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_repeat_and_follow_updates_until_the_end() {
        let (sender, lines) = channel();
        let say = move |text: &str| sender.send(text.to_owned()).unwrap_or_default();
        let working = Working::new("step 1".to_owned(), Some(Duration::from_millis(1)), say);
        assert_eq!(
            [lines.recv(), lines.recv()],
            [Ok("step 1".to_owned()), Ok("step 1".to_owned())]
        );
        working.update("step 2".to_owned());
        assert!(lines.iter().any(|line| line == "step 2"));
        drop(working);
        // The channel closes with the thread.
        assert!(lines.iter().all(|line| line == "step 2"));
    }

    #[test]
    fn a_line_of_the_caller_delays_the_next_update() {
        let (sender, lines) = channel();
        let say = move |text: &str| sender.send(text.to_owned()).unwrap_or_default();
        let working = Working::new("step 1".to_owned(), Some(EVERY), say);
        let before = working.shared.lock().next;
        working.said();
        assert!(working.shared.lock().next >= before);
        drop(working);
        assert_eq!(lines.iter().count(), 0, "dropped before the first line was due");
    }
}
