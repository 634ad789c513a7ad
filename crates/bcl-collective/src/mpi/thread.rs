//! The thread that owns MPI.

use super::{MpiError, Neighbours, call::Call, messages::Messages};
use mpi::{
    Threading,
    traits::{Communicator, CommunicatorCollectives},
};
use std::sync::{
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, SyncSender},
};

/// Where this process is among the others.
pub(super) struct Place {
    pub(super) process: usize,
    pub(super) size: usize,
    pub(super) neighbours: Neighbours,
}

/// Starts MPI, reports the place of this process, and makes calls until one of them ends MPI or all senders are gone.
pub(super) fn run(
    calls: &Receiver<Call>,
    started: &SyncSender<Result<Place, MpiError>>,
    is_busy: &AtomicBool,
    largest_message: usize,
) {
    let report = |place| started.send(place).expect("the starting thread waits");
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return report(Err(MpiError::StartedBefore));
    };
    if threading < Threading::Funneled {
        return report(Err(MpiError::WithoutThreads));
    }
    let world = universe.world();
    // A process that ends while others make calls must not mix with these, so the end has a communicator of its own.
    let ending = world.duplicate();
    let machine = world.split_shared(world.rank());
    report(Ok(Place {
        process: world.rank() as usize,
        size: world.size() as usize,
        neighbours: Neighbours {
            process: machine.rank() as usize,
            size: machine.size() as usize,
        },
    }));

    let messages = Messages {
        world: &world,
        largest: largest_message,
    };
    for call in calls {
        is_busy.store(true, Ordering::SeqCst);
        // Nobody waits for a reply any more if its thread has panicked.
        let _ = match call {
            Call::AllGather { mine, reply } => reply.send(messages.all_gather(&mine)),
            Call::AllToAll { mine, lengths, reply } => reply.send(messages.all_to_all(&mine, &lengths)),
            Call::Broadcast { bytes, reply } => reply.send(messages.broadcast(bytes)),
            Call::Barrier { reply } => {
                world.barrier();
                reply.send(Vec::new())
            }
            Call::Abort { code } => world.abort(code),
            Call::End { code, reply } => {
                let mut codes = vec![0; world.size() as usize];
                ending.all_gather_into(&code, &mut codes[..]);
                drop((ending, machine, world, universe));
                let _ = reply.send(codes);
                return;
            }
        };
        is_busy.store(false, Ordering::SeqCst);
    }
    // The handle is gone without an end. To finalise would wait for the others for ever if they fail.
    std::mem::forget(universe);
}
