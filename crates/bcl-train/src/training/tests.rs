//! What holds for training with every method.

mod every_method;
mod running_rates;
