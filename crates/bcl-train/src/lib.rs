//! Recipes, training loops, evaluation and the command line.
//!
//! | to | see |
//! | --- | --- |
//! | read or write a recipe | [`recipe`] |
//! | draw negative items | [`negatives`] |
//! | train | [`training`] |
//! | rank items and measure rankings | [`evaluation`], [`baselines`] |
//! | compare runs | [`report`] |
//! | write, check and lock files | [`files`] |
//! | compute on another device | [`backend`], [`launch`] |
//! | do what a verb of the command line does | [`commands`] |
//! | warn the user | [`notice`] |

pub mod backend;
pub mod baselines;
pub mod cli;
pub mod commands;
pub mod error;
pub mod evaluation;
pub mod files;
pub mod launch;
pub mod memory;
pub mod negatives;
pub mod notice;
mod npy;
pub mod probe;
pub mod recipe;
pub mod report;
pub mod result;
pub mod training;
