//! Recipes, training loops, evaluation and the command line.
//!
//! | to | see |
//! | --- | --- |
//! | read or write a recipe | [`recipe`] |
//! | train | [`training`] |
//! | run a verb of the command line | [`commands`] |

pub mod batches;
pub mod cli;
pub mod commands;
pub mod error;
pub mod memory;
pub mod methods;
pub mod optim;
pub mod recipe;
pub mod training;
