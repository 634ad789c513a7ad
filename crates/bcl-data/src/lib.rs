//! Interactions, splits, manifests, downloads and seeds: everything about data that needs no tensor.
//!
//! The way in is [`load_named`] for a data set with a [`Manifest`], [`load()`] for files of one's own, and
//! [`PlantedConfig::generate`] for data whose truth is known. All three end in an [`InteractionData`]: two
//! [`Interactions`] in compressed rows, train and test, and the [`IdMap`]s back to the ids of the files.
//!
//! Invariants: only [`download`] opens network connections, nothing here reads a clock, and random numbers come
//! only from a [`Seed`] that was handed in. Whatever a file can do wrong ends in a [`DataError`] that names the
//! file, the line, the value and what to do about it.
//!
//! ```
//! use bcl_data::PlantedConfig;
//!
//! let data = PlantedConfig::default().generate();
//! assert!(data.train.len() > data.test.len());
//!
//! let truth = data.truth.expect("planted data knows its truth");
//! assert!(truth.tau_plus(0) > 0.0);
//! ```

pub mod dataset;
#[cfg(feature = "download")]
pub mod download;
pub mod error;
pub mod ids;
pub mod input;
pub mod interactions;
pub mod load;
pub mod manifest;
pub mod memory;
pub mod planted;
mod printable;
pub mod read;
pub mod search_path;
pub mod seed;
pub mod split;

pub use dataset::{InteractionData, Truth};
pub use error::DataError;
pub use ids::{IdMap, KnownIds};
pub use interactions::Interactions;
pub use load::{LoadReport, Source, load, load_with_ids, load_with_report};
pub use manifest::{Manifest, load_named, load_named_with_ids};
pub use planted::PlantedConfig;
pub use printable::{printable, printable_lines};
pub use read::{Format, ReadOptions};
pub use search_path::SearchPath;
pub use seed::{Seed, Xoshiro256PlusPlus};
pub use split::{SplitOptions, hold_out, split_per_user};
