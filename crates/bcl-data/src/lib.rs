//! Data for recommendation and graph experiments: interactions, splits, graphs, downloads with checksums, synthetic data, and
//! seeds. No tensors.
//!
//! ```toml
//! [dependencies]
//! # Not published yet: this is a clone of the repository; `git = "…"` with its address works, too.
//! bcl-data = { path = "../bcl/crates/bcl-data" }
//! ```
//!
//! Graphs are in [`graphs`]. There are three ways to get an [`InteractionData`], which consists of train and test [`Interactions`] (compressed sparse rows) and the
//! [`IdMap`]s back to the ids of the files: [`load_named`] for a data set with a [`Manifest`], [`load()`] for your own files, and
//! [`PlantedConfig::generate`] for synthetic data with known false negatives:
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
//!
//! | to | see |
//! | --- | --- |
//! | read your own files (CSV, TSV, JSON lines, MovieLens, RecBole, NGCF; plain or gzipped) | [`load()`], [`Format`], [`ReadOptions`] |
//! | read the titles of items | [`ItemNames`] |
//! | read a published data set by name | [`load_named`], [`Manifest`] |
//! | download and verify it | `download`, with the feature of that name |
//! | generate data with known false negatives | [`PlantedConfig`], [`Truth`] |
//! | read graphs, form batches of them, generate some | [`graphs::load_graphs`], [`load_named_graphs`], [`graphs::PlantedGraphsConfig`] |
//! | split interactions per user or by time, at random or leaving one out | [`SplitOptions`], [`split_per_user`], [`InteractionData::hold_out`] |
//! | leave out users and items with few interactions | [`CoreOptions`] |
//! | draw negative items for users | [`negatives::NegativeSampler`] |
//! | look up items, counts and ids | [`Interactions`], [`IdMap`] |
//! | derive independent random streams | [`Seed`] |
//!
//! # Invariants
//!
//! Only `download` opens network connections. Nothing here reads a clock, and all randomness comes from a [`Seed`] passed in. Bad files
//! give a [`DataError`] that names the file, the line, the value and the remedy.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod column;
pub mod dataset;
#[cfg(feature = "download")]
pub mod download;
pub mod error;
pub mod format;
pub mod graphs;
pub mod ids;
pub mod interactions;
pub mod item_names;
mod k_core;
pub mod known;
pub mod load;
mod load_report;
pub mod manifest;
pub mod memory;
pub mod negatives;
pub mod planted;
pub mod read;
mod read_options;
pub mod search_path;
pub mod seed;
pub mod split;

pub use column::{ColumnRef, InteractionColumns, ItemColumns};
pub use dataset::{InteractionData, Truth};
pub use error::DataError;
pub use format::Format;
pub use ids::{IdMap, KnownIds};
pub use interactions::Interactions;
pub use item_names::ItemNames;
pub use k_core::CoreOptions;
pub use known::KnownInteractions;
pub use load::{Source, load, load_with_ids, load_with_report};
pub use load_report::LoadReport;
pub use manifest::{Manifest, NamedOptions, load_named, load_named_graphs, load_named_with_ids};
pub use planted::PlantedConfig;
pub use read_options::ReadOptions;
pub use search_path::{FileNotFound, SearchPath};
pub use seed::{Seed, Xoshiro256PlusPlus};
pub use split::{HoldOut, SplitKind, SplitOptions, SplitOrder, divide, hold_out, split_per_user};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
