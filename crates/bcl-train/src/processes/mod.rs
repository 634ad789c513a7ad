//! The processes that train one model together, and the place of this one among them.
//!
//! [`join`] finds the others at the start, [`end`] ends with them, and [`collective`] is what they compute with. `--processes` starts them
//! on this machine ([`start`]); `mpirun`, `srun` and others start them anywhere.

mod agreement;
mod ending;
mod join;
mod signals;
mod start;
mod threads;

pub use agreement::{on_first, refuse_differences};
pub use ending::{AbortOnPanic, end, end_saying};
pub use join::{collective, join, open_backend, place_on_machine};
pub(crate) use signals::on_stop_signal;
pub use start::{processes_to_start, start};
pub use threads::threads_of_process;

/// What a program does at each signal that asks it to end.
pub type OnSignal = Box<dyn Fn() + Send>;

/// Whether this build contains MPI.
pub const HAS_MPI: bool = cfg!(feature = "mpi");
