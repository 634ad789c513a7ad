//! Trains contrastive encoders of images and recommenders: recipes, methods, training loops, and the command line.
//!
//! | to | see |
//! | --- | --- |
//! | train | [`training`] |
//! | train on several processes | [`processes`] |
//! | log curves and pictures | [`logging`] |
//! | estimate the memory of a run before it starts | [`memory`] |
//! | run a verb of the command line | [`commands`] |
//!
//! What needs no training is in other crates: methods and batches in [`bcl_methods`], devices in [`bcl_backend`], recipes in [`bcl_recipe`], evaluation
//! in [`bcl_eval`], results and reports in [`bcl_report`], samplers of negatives in [`bcl_data::negatives`].

pub mod cli;
pub mod commands;
pub mod error;
pub mod kinds;
pub mod logging;
pub mod memory;
pub mod processes;
pub mod training;
