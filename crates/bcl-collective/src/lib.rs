//! Collective operations between processes that train one model.
//!
//! A [`Collective`] connects `size` processes, one per GPU, CPU socket or machine. It moves bytes: [`all_gather`](Collective::all_gather),
//! [`all_to_all`](Collective::all_to_all), [`broadcast`](Collective::broadcast). Everything else is built on these, as methods of
//! `dyn Collective`, so that every transport gives the same bits:
//!
//! | to | see |
//! | --- | --- |
//! | sum over processes, the result on all of them | [`all_reduce`](trait.Collective.html#method.all_reduce) |
//! | sum over processes, each process gets its own part | [`reduce_scatter`](trait.Collective.html#method.reduce_scatter) |
//! | let all processes decide alike | [`any`](trait.Collective.html#method.any), [`on_first`](trait.Collective.html#method.on_first) |
//! | know whether a launcher started this process with others | [`Launched`] |
//! | deal rows or users to processes | [`share`] |
//! | sum parts within a process in the order of the sums over processes | [`PairwiseSum`] |
//!
//! | processes | type |
//! | --- | --- |
//! | one process | [`Alone`] |
//! | threads of one process, for tests | [`Threads`] |
//! | processes that MPI connects | `Mpi`, with the feature `mpi` |
//! | any, with a check that all processes make the same calls | [`Checked`] |
//!
//! ```
//! use bcl_collective::Threads;
//!
//! let sums = Threads::run(3, |collective| {
//!     let mut values = [collective.index() as f32, 1.0];
//!     collective.all_reduce(&mut values);
//!     values
//! });
//! assert_eq!(sums, [[3.0, 3.0]; 3]);
//! ```
//!
//! # Why not `MPI_Allreduce`
//!
//! The bits of a sum of floats depend on the order of its addends. `MPI_Allreduce` picks an order by length, number of processes and settings.
//! Here each process receives all addends of its part, adds them as a balanced binary tree over processes, and all processes gather the parts. That
//! moves as many bytes as a ring, and gives the same bits on every process, with every transport, every time.

mod agreement;
mod alone;
mod checked;
mod collective;
mod element;
mod launched;
#[cfg(feature = "mpi")]
mod mpi;
mod pairwise;
mod share;
mod sums;
mod threads;

pub use alone::Alone;
pub use checked::Checked;
pub use collective::Collective;
pub use element::{Element, from_bytes, to_bytes};
pub use launched::Launched;
#[cfg(feature = "mpi")]
pub use mpi::{Mpi, MpiError, Neighbours};
pub use pairwise::PairwiseSum;
pub use share::share;
pub use threads::Threads;
