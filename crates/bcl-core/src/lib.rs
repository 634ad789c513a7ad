//! Losses and weights of Bayesian contrastive learning on Burn tensors.

pub mod auc;
pub mod posterior;
pub mod prior;
pub mod schedule;
pub mod simulation;
