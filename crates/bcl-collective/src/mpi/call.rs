//! What the thread that owns MPI is asked for.

use std::sync::mpsc::SyncSender;

/// A request to the thread that owns MPI.
#[derive(Debug)]
pub(super) enum Call {
    AllGather {
        mine: Vec<u8>,
        reply: SyncSender<Vec<u8>>,
    },
    AllToAll {
        mine: Vec<u8>,
        lengths: Vec<usize>,
        reply: SyncSender<Vec<u8>>,
    },
    Broadcast {
        bytes: Vec<u8>,
        reply: SyncSender<Vec<u8>>,
    },
    /// Replies without bytes.
    Barrier {
        reply: SyncSender<Vec<u8>>,
    },
    /// Replies with the exit codes of all processes once MPI is finalised.
    End {
        code: u8,
        reply: SyncSender<Vec<u8>>,
    },
    Abort {
        code: i32,
    },
}
