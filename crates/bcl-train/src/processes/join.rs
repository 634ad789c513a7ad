//! Finds the processes that were started together with this one.

use crate::error::Error;
use bcl_backend::{Backend, BackendChoice, BackendError};
use bcl_collective::{Alone, Collective, Launched};
use std::sync::{Arc, OnceLock};

/// The processes that this process belongs to, if there are several.
static COLLECTIVE: OnceLock<Arc<dyn Collective>> = OnceLock::new();

/// The processes that this process belongs to: [`Alone`] unless several processes were started together.
pub fn collective() -> Arc<dyn Collective> {
    COLLECTIVE.get().map_or_else(|| Arc::new(Alone), Arc::clone)
}

/// Finds the processes that a launcher started together with this one; [`collective`] connects them from then on. `share` is the number of processes
/// that the command asks for, if any, or the reason why it cannot run as several; `package` is the program's, for messages.
///
/// Call it before anything else starts a thread: it lets the signal that stops all processes wait until
/// [`stop_on_signals`](crate::training::stop_on_signals) listens to it.
///
/// # Errors
/// Returns an error if there are several processes, and the command cannot be shared, or this program cannot find the others: each would otherwise do
/// the same work as if it were alone.
pub fn join(package: &str, share: Result<Option<u16>, &str>) -> Result<(), Error> {
    let Some(launched) = Launched::from_environment() else {
        return Ok(());
    };
    if launched.size > 1 {
        check(package, share, &launched)?;
    }
    super::signals::block();
    // One process has nobody to connect to, but its launcher passes the signal on.
    if launched.size > 1 { connect(&launched) } else { Ok(()) }
}

/// The number of this process among those on the same machine, and their number.
pub fn place_on_machine() -> (usize, usize) {
    #[cfg(feature = "mpi")]
    if let Some(mpi) = mpi() {
        let neighbours = mpi.neighbours();
        return (neighbours.process, neighbours.size);
    }
    (0, 1)
}

/// Opens the device that this process computes on: the one that was asked for, or else one of its own if it shares its machine with other
/// processes.
///
/// # Errors
/// Returns an error if there is no such device.
pub fn open_backend(choice: BackendChoice, device: Option<usize>) -> Result<Backend, BackendError> {
    match (device, place_on_machine()) {
        (None, (place, 2..)) => Backend::open_for_process(choice, place),
        (device, _) => Backend::open(choice, device),
    }
}

/// Refuses commands that cannot run as several processes.
fn check(package: &str, share: Result<Option<u16>, &str>, launched: &Launched) -> Result<(), Error> {
    let size = launched.size;
    let refuse = |reason: String| Err(Error::Input(format!("started as {size} processes ({launched}): {reason}")));
    match share {
        Err(reason) => refuse(reason.to_owned()),
        Ok(Some(processes)) if usize::from(processes) != size => refuse(format!(
            "--processes {processes} is another number; leave it out, or leave out the launcher"
        )),
        _ if !super::HAS_MPI => refuse(format!(
            "this program was built without MPI, so each of them would work alone; build it with `cargo build -p {package} --features mpi`, \
             or start it without a launcher, with --processes {size}"
        )),
        _ => Ok(()),
    }
}

#[cfg(not(feature = "mpi"))]
fn connect(_: &Launched) -> Result<(), Error> {
    unreachable!("a build without MPI is refused")
}

/// MPI, once it has started.
#[cfg(feature = "mpi")]
static MPI: OnceLock<Arc<bcl_collective::Mpi>> = OnceLock::new();

#[cfg(feature = "mpi")]
pub(super) fn mpi() -> Option<&'static Arc<bcl_collective::Mpi>> {
    MPI.get()
}

#[cfg(feature = "mpi")]
fn connect(launched: &Launched) -> Result<(), Error> {
    let mpi = Arc::new(bcl_collective::Mpi::start().map_err(|error| Error::Training(error.to_string()))?);
    let found = mpi.size();
    if found != launched.size {
        return Err(Error::Input(format!(
            "started as {} processes ({launched}), but MPI finds {found}: the launcher belongs to another MPI library than this program; \
             use the mpirun of the library whose mpicc the program was built with",
            launched.size
        )));
    }
    let _ = MPI.set(Arc::clone(&mpi));
    let collective: Arc<dyn Collective> = match std::env::var_os(CHECK) {
        Some(_) => Arc::new(bcl_collective::Checked::new(mpi)),
        None => mpi,
    };
    let _ = COLLECTIVE.set(collective);
    Ok(())
}

/// If this variable is set, every call is compared between processes.
#[cfg(feature = "mpi")]
const CHECK: &str = "BCL_CHECK_CALLS";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_processes_are_refused_where_each_would_work_alone() {
        let launched = Launched {
            variable: "PMI_SIZE",
            size: 4,
            process: Some(0),
        };
        let refused = |share| check("bcl-train", share, &launched).map_err(|error| (error.exit_code(), error.to_string()));
        for (share, reason) in [
            (Err("only training runs on several"), "only training runs on several"),
            (Ok(Some(3)), "--processes 3 is another number"),
        ] {
            let (code, message) = refused(share).unwrap_err();
            assert_eq!(code, 2);
            assert!(message.starts_with("started as 4 processes (PMI_SIZE=4): "), "{message}");
            assert!(message.contains(reason), "{message}");
        }
        let outcome = refused(Ok(Some(4)));
        assert_eq!(outcome.is_ok(), super::super::HAS_MPI);
        if let Err((_, message)) = outcome {
            assert!(message.contains("built without MPI"), "{message}");
        }
    }
}
