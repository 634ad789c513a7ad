//! Trains contrastive encoders of images, graphs, and users and items, and uses what was trained.
//!
//! The program `bcl-train` is the binary target of this package. The library knows neither its flags nor its output.
//!
//! | to | see |
//! | --- | --- |
//! | train | [`training`] |
//! | train on several processes | [`processes`] |
//! | log curves and pictures | [`logging`] |
//! | estimate the memory of a run before it starts | [`memory`] |
//! | evaluate a finished run, recommend, search, fine-tune, export | [`kinds::Saved`] |
//!
//! What needs no training is in other crates: methods, batches and training steps in [`bcl_methods`], devices in [`bcl_backend`], recipes in [`bcl_recipe`], evaluation
//! in [`bcl_eval`], results and reports in [`bcl_report`], samplers of negatives in [`bcl_data::negatives`].

pub mod error;
pub mod kinds;
pub mod logging;
pub mod memory;
pub mod processes;
pub mod training;
