//! Recipes, training loops, evaluation and the command line.

pub mod baselines;
pub mod evaluation;
pub mod negatives;
pub mod recipe;
pub mod report;
pub mod result;
pub mod training;
