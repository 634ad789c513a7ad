//! Processes as threads of one process.

use crate::{Collective, collective::check_parts};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// One process of a group of threads, for tests: with the same bits as any other transport.
///
/// The group ends as a whole. If one process panics, ends while others wait for it, makes another call than they do, or aborts, then all processes
/// that wait panic with the reason.
#[derive(Debug)]
pub struct Threads {
    process: usize,
    group: Arc<Group>,
}

#[derive(Debug)]
struct Group {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

/// One exchange at a time: all processes put their message in, then all take theirs out, then the next exchange begins.
#[derive(Debug)]
struct State {
    messages: Vec<Option<Message>>,
    taken: usize,
    is_complete: bool,
    ended: Vec<bool>,
    failure: Option<String>,
}

#[derive(Debug)]
struct Message {
    call: &'static str,
    bytes: Vec<u8>,
    to: Receivers,
}

#[derive(Debug)]
enum Receivers {
    All,
    /// Each process gets the part of this length.
    Parts(Vec<usize>),
    Nobody,
}

impl Message {
    fn part_of(&self, process: usize) -> &[u8] {
        match &self.to {
            Receivers::All => &self.bytes,
            Receivers::Parts(lengths) => {
                let begin = lengths[..process].iter().sum();
                &self.bytes[begin..][..lengths[process]]
            }
            Receivers::Nobody => &[],
        }
    }
}

impl Threads {
    /// The processes of a new group, for threads that the caller starts. [`run`](Self::run) also notices processes that end too early.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    pub fn group(size: usize) -> Vec<Arc<dyn Collective>> {
        let group = Group::new(size);
        (0..size).map(|process| Self::process_of(process, &group)).collect()
    }

    /// Runs `work` once per process, each in its own thread, and returns the results in the order of processes.
    ///
    /// # Panics
    /// Panics if `size` is 0, or with the panic of the process that failed first.
    pub fn run<T: Send>(size: usize, work: impl Fn(Arc<dyn Collective>) -> T + Sync) -> Vec<T> {
        let group = Group::new(size);
        let run = |process| {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| work(Self::process_of(process, &group))));
            group.end(process, outcome.is_err());
            outcome
        };
        let outcomes: Vec<thread::Result<T>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..size).map(|process| scope.spawn(move || run(process))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().and_then(|outcome| outcome))
                .collect()
        });
        let first = group.state().failure.clone();
        let mut results = Vec::with_capacity(size);
        let mut panics = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(result) => results.push(result),
                Err(panic) => panics.push(panic),
            }
        }
        // Processes that only waited panic with the reason of the first; its own panic says more.
        let echoes = |panic: &Box<dyn std::any::Any + Send>| panic.downcast_ref::<String>() == first.as_ref();
        let cause = panics.iter().position(|panic| !echoes(panic)).unwrap_or(0);
        if cause < panics.len() {
            panic::resume_unwind(panics.swap_remove(cause));
        }
        results
    }

    fn process_of(process: usize, group: &Arc<Group>) -> Arc<dyn Collective> {
        Arc::new(Self {
            process,
            group: Arc::clone(group),
        })
    }

    /// Sends a message, and returns what all processes sent to this one, in the order of processes.
    fn exchange(&self, call: &'static str, bytes: Vec<u8>, to: Receivers) -> Vec<u8> {
        let group = &self.group;
        let mut state = group.wait_while(group.state(), |state| state.is_complete);
        let other = state.messages.iter().flatten().find(|other| other.call != call);
        if let Some(other) = other.map(|other| other.call) {
            let reason = format!("process {} calls {call} while another process calls {other}", self.process);
            group.fail(state, reason);
        }
        state.messages[self.process] = Some(Message { call, bytes, to });
        state.is_complete = state.messages.iter().all(Option::is_some);
        if state.is_complete {
            group.changed.notify_all();
        }
        let mut state = group.wait_while(state, |state| !state.is_complete);
        let received = state
            .messages
            .iter()
            .flatten()
            .flat_map(|message| message.part_of(self.process))
            .copied()
            .collect();
        state.taken += 1;
        if state.taken == group.size {
            state.messages.fill_with(|| None);
            (state.taken, state.is_complete) = (0, false);
            group.changed.notify_all();
        }
        received
    }
}

impl Group {
    fn new(size: usize) -> Arc<Self> {
        assert!(size > 0, "a group has at least one process");
        let state = State {
            messages: (0..size).map(|_| None).collect(),
            taken: 0,
            is_complete: false,
            ended: vec![false; size],
            failure: None,
        };
        Arc::new(Self {
            size,
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `condition` no longer holds; panics once the group has failed or waits for a process that has ended.
    fn wait_while<'a>(&self, mut state: MutexGuard<'a, State>, condition: impl Fn(&State) -> bool) -> MutexGuard<'a, State> {
        loop {
            if let Some(failure) = state.failure.clone() {
                drop(state);
                panic!("{failure}");
            }
            if !condition(&state) {
                return state;
            }
            let missing = (0..self.size).find(|&process| state.ended[process] && state.messages[process].is_none());
            if let (Some(process), false) = (missing, state.is_complete) {
                self.fail(state, format!("process {process} has ended while others wait for it"));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends all processes that wait, now or later.
    fn fail(&self, mut state: MutexGuard<'_, State>, reason: String) -> ! {
        state.failure.get_or_insert(reason.clone());
        drop(state);
        self.changed.notify_all();
        panic!("{reason}");
    }

    /// Notes that a process has ended.
    fn end(&self, process: usize, panicked: bool) {
        let mut state = self.state();
        state.ended[process] = true;
        if panicked {
            state.failure.get_or_insert_with(|| format!("process {process} has panicked"));
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl Collective for Threads {
    fn index(&self) -> usize {
        self.process
    }

    fn size(&self) -> usize {
        self.group.size
    }

    fn all_gather(&self, mine: Vec<u8>) -> Vec<u8> {
        self.exchange("all_gather", mine, Receivers::All)
    }

    fn all_to_all(&self, mine: Vec<u8>, lengths: &[usize]) -> Vec<u8> {
        check_parts(self.group.size, &mine, lengths);
        self.exchange("all_to_all", mine, Receivers::Parts(lengths.to_vec()))
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        let to = if self.process == 0 {
            Receivers::All
        } else {
            Receivers::Nobody
        };
        self.exchange("broadcast", bytes, to)
    }

    fn barrier(&self) {
        self.exchange("barrier", Vec::new(), Receivers::Nobody);
    }

    fn abort(&self, code: i32) -> ! {
        let reason = format!("process {} called abort({code})", self.process);
        self.group.fail(self.group.state(), reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The message of the panic that ends a group.
    fn panic_of(size: usize, work: impl Fn(Arc<dyn Collective>) + Sync) -> String {
        let panic = panic::catch_unwind(AssertUnwindSafe(|| Threads::run(size, work))).unwrap_err();
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| Some((*panic.downcast_ref::<&str>()?).to_owned()))
            .unwrap()
    }

    #[test]
    fn bytes_arrive_in_the_order_of_processes_with_lengths_that_differ() {
        let gathered = Threads::run(4, |collective| {
            collective.all_gather(vec![collective.index() as u8; collective.index()])
        });
        assert_eq!(gathered, vec![vec![1, 2, 2, 3, 3, 3]; 4]);

        // Process r sends r + s bytes to process s.
        let exchanged = Threads::run(3, |collective| {
            let lengths: Vec<usize> = (0..3).map(|other| collective.index() + other).collect();
            let mine =
                (0..3_u8).flat_map(|other| vec![10 * collective.index() as u8 + other; collective.index() + usize::from(other)]);
            collective.all_to_all(mine.collect(), &lengths)
        });
        assert_eq!(exchanged[0], [10, 20, 20]);
        assert_eq!(exchanged[2], [2, 2, 12, 12, 12, 22, 22, 22, 22]);
    }

    #[test]
    fn broadcast_gives_the_bytes_of_process_0() {
        let received = Threads::run(3, |collective| collective.broadcast(vec![7 + collective.index() as u8; 2]));
        assert_eq!(received, [[7, 7]; 3]);
    }

    #[test]
    fn many_exchanges_in_a_row_do_not_mix() {
        let sums = Threads::run(4, |collective| {
            (0..2000_u32).all(|i| {
                let all = collective.all_gather_values(&[i * 4 + collective.index() as u32]);
                all == [0, 1, 2, 3].map(|process| i * 4 + process)
            })
        });
        assert_eq!(sums, [true; 4]);
    }

    #[test]
    fn nobody_leaves_a_barrier_before_all_have_reached_it() {
        let reached = AtomicUsize::new(0);
        Threads::run(4, |collective| {
            for round in 1..200 {
                reached.fetch_add(1, Ordering::SeqCst);
                collective.barrier();
                assert!(reached.load(Ordering::SeqCst) >= 4 * round);
            }
        });
    }

    #[test]
    fn one_panic_ends_all_processes_and_is_the_one_that_is_shown() {
        let message = panic_of(3, |collective| {
            assert!(collective.index() != 1, "out of memory");
            collective.barrier();
        });
        assert_eq!(message, "out of memory");
    }

    #[test]
    fn a_process_that_ends_early_ends_all() {
        let message = panic_of(3, |collective| {
            if collective.index() != 2 {
                collective.barrier();
            }
        });
        assert_eq!(message, "process 2 has ended while others wait for it");
    }

    #[test]
    fn abort_ends_all_processes() {
        let message = panic_of(2, |collective| match collective.index() {
            0 => collective.barrier(),
            _ => collective.abort(3),
        });
        assert_eq!(message, "process 1 called abort(3)");
    }

    #[test]
    fn different_calls_end_all_processes() {
        let message = panic_of(2, |collective| match collective.index() {
            0 => collective.barrier(),
            _ => drop(collective.all_gather(Vec::new())),
        });
        assert!(
            message.contains("calls all_gather") || message.contains("calls barrier"),
            "{message}"
        );
    }
}
