//! Processes that MPI connects.
//!
//! One thread owns MPI: it initialises it (`MPI_THREAD_FUNNELED`) and makes every call, fed by a channel. So the handle is `Send + Sync`
//! although a communicator of the crate `mpi` is not, and MPI needs no locks.

mod call;
mod messages;
mod thread;

use crate::{Collective, collective::check_parts};
use call::Call;
use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    time::Duration,
};

/// The processes that `mpirun`, `srun` or another launcher started together.
///
/// A process that fails alone must not return from `main`: it calls [`end`](Self::end) or [`abort`](Collective::abort). If it
/// finalised MPI instead, it would wait for the others for ever, and they for it.
#[derive(Debug)]
pub struct Mpi {
    process: usize,
    size: usize,
    neighbours: Neighbours,
    calls: Sender<Call>,
    /// Whether the thread is within a call, and so cannot be asked for anything.
    is_busy: Arc<AtomicBool>,
}

/// The processes on the same machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours {
    /// The number of this process among them, from 0.
    pub process: usize,
    /// Their number.
    pub size: usize,
}

/// Why MPI could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// MPI can be started once per process.
    #[error("MPI was started before in this process")]
    StartedBefore,
    /// The library may not be called beside other threads.
    #[error("this MPI library cannot be used in a program with threads; build it with MPI_THREAD_FUNNELED")]
    WithoutThreads,
    /// The operating system refused a thread.
    #[error("cannot start the thread for MPI: {0}")]
    Thread(#[from] std::io::Error),
    /// The thread failed while it started MPI.
    #[error("MPI could not be started")]
    Failed,
}

/// The most bytes of one message: counts of MPI are `i32`.
const LARGEST_MESSAGE: usize = i32::MAX as usize;

/// How long to wait for the thread to abort all processes.
const ABORT_PATIENCE: Duration = Duration::from_secs(1);

impl Mpi {
    /// Starts MPI. Without a launcher, this process is alone.
    ///
    /// # Errors
    /// Returns an error if MPI was started before, or cannot be used beside threads.
    pub fn start() -> Result<Self, MpiError> {
        Self::start_with_largest_message(LARGEST_MESSAGE)
    }

    /// Starts MPI and splits messages of more than `bytes`, for tests. All processes must pass the same number.
    ///
    /// # Errors
    /// Returns the same errors as [`start`](Self::start).
    pub fn start_with_largest_message(bytes: usize) -> Result<Self, MpiError> {
        let (calls, received) = mpsc::channel();
        let (started, outcome) = mpsc::sync_channel(1);
        let is_busy = Arc::new(AtomicBool::new(false));
        let busy = Arc::clone(&is_busy);
        std::thread::Builder::new()
            .name("mpi".to_owned())
            .spawn(move || thread::run(&received, &started, &busy, bytes.min(LARGEST_MESSAGE)))?;
        let place = outcome.recv().unwrap_or(Err(MpiError::Failed))?;
        Ok(Self {
            process: place.process,
            size: place.size,
            neighbours: place.neighbours,
            calls,
            is_busy,
        })
    }

    /// The processes on the same machine.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// Waits until all processes end, then finalises MPI and returns their exit codes, in the order of processes. Nothing else may be called
    /// afterwards.
    ///
    /// Returns `None` if the others do not end within `patience`, so that this process has failed alone. The caller must then
    /// [`exit`](process::exit): the launcher notices that MPI was not finalised, and ends the others.
    pub fn end(&self, code: u8, patience: Option<Duration>) -> Option<Vec<u8>> {
        let (reply, codes) = mpsc::sync_channel(1);
        self.calls.send(Call::End { code, reply }).ok()?;
        match patience {
            Some(patience) => codes.recv_timeout(patience).ok(),
            None => codes.recv().ok(),
        }
    }

    fn call(&self, call: impl FnOnce(mpsc::SyncSender<Vec<u8>>) -> Call) -> Vec<u8> {
        let (reply, received) = mpsc::sync_channel(1);
        let ended = "no calls after MPI has ended";
        self.calls.send(call(reply)).expect(ended);
        received.recv().expect(ended)
    }
}

impl Collective for Mpi {
    fn index(&self) -> usize {
        self.process
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: Vec<u8>) -> Vec<u8> {
        self.call(|reply| Call::AllGather { mine, reply })
    }

    fn all_to_all(&self, mine: Vec<u8>, lengths: &[usize]) -> Vec<u8> {
        check_parts(self.size, &mine, lengths);
        let lengths = lengths.to_vec();
        self.call(|reply| Call::AllToAll { mine, lengths, reply })
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.call(|reply| Call::Broadcast { bytes, reply })
    }

    fn barrier(&self) {
        self.call(|reply| Call::Barrier { reply });
    }

    /// Calls `MPI_Abort`. If another thread of this process is within a call, or MPI has ended, the process exits with `code` without
    /// finalising MPI, and the launcher ends the others.
    fn abort(&self, code: i32) -> ! {
        if !self.is_busy.load(Ordering::SeqCst) && self.calls.send(Call::Abort { code }).is_ok() {
            std::thread::sleep(ABORT_PATIENCE);
        }
        process::exit(code)
    }
}
