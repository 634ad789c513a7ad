//! The functions that the page calls. Parameters outside their ranges give NaN, which the page shows as such.

// An exported name must be unique in the program, which the compiler cannot check; nothing else here is unsafe.
#![allow(unsafe_code, unreachable_pub)]

use crate::{Weighing, class_density, loss as loss_of, negative_mass as mass_of};
use bcl_posterior::Posterior;

/// [`Posterior::omega`].
#[unsafe(no_mangle)]
pub extern "C" fn omega(alpha: f64, beta: f64, tau_plus: f64, ecdf: f64) -> f64 {
    with(alpha, beta, tau_plus, |posterior| posterior.omega(ecdf))
}

/// [`Posterior::p_true_negative`].
#[unsafe(no_mangle)]
pub extern "C" fn p_true_negative(alpha: f64, beta: f64, tau_plus: f64, ecdf: f64) -> f64 {
    with(alpha, beta, tau_plus, |posterior| posterior.p_true_negative(ecdf))
}

/// [`Posterior::neutral_beta`].
#[unsafe(no_mangle)]
pub extern "C" fn neutral_beta(alpha: f64, beta: f64, tau_plus: f64) -> f64 {
    with(alpha, beta, tau_plus, |posterior| posterior.neutral_beta())
}

/// [`Posterior::effective_sample_size`].
#[unsafe(no_mangle)]
pub extern "C" fn effective_sample_size(alpha: f64, beta: f64, tau_plus: f64, num_negatives: u32) -> f64 {
    with(alpha, beta, tau_plus, |posterior| {
        posterior.effective_sample_size(num_negatives as usize)
    })
}

/// The mean of [`Posterior::rank_weights`].
#[unsafe(no_mangle)]
pub extern "C" fn mean_weight(alpha: f64, beta: f64, tau_plus: f64, num_negatives: u32) -> f64 {
    with(alpha, beta, tau_plus, |posterior| {
        posterior.rank_weights(num_negatives as usize).iter().sum::<f64>() / f64::from(num_negatives)
    })
}

/// [`class_density`] of true negatives.
#[unsafe(no_mangle)]
pub extern "C" fn density_true_negative(alpha: f64, score: f64) -> f64 {
    class_density(score, alpha)
}

/// [`class_density`] of false negatives.
#[unsafe(no_mangle)]
pub extern "C" fn density_false_negative(alpha: f64, score: f64) -> f64 {
    class_density(score, 1.0 - alpha)
}

/// [`class_density`] of all unlabelled scores.
#[unsafe(no_mangle)]
pub extern "C" fn density_unlabelled(alpha: f64, beta: f64, tau_plus: f64, score: f64) -> f64 {
    with(alpha, beta, tau_plus, |posterior| {
        class_density(score, posterior.unlabelled().lowest)
    })
}

/// [`negative_mass`](crate::negative_mass) with the weights of the Bayesian loss if `bayesian` is not 0, else of `InfoNCE`.
#[unsafe(no_mangle)]
pub extern "C" fn negative_mass(
    alpha: f64,
    beta: f64,
    tau_plus: f64,
    num_negatives: u32,
    temperature: f64,
    negative: f64,
    bayesian: u32,
) -> f64 {
    let weighing = if bayesian == 0 { Weighing::Equal } else { Weighing::Bayesian };
    if num_negatives == 0 {
        return f64::NAN;
    }
    with(alpha, beta, tau_plus, |posterior| {
        mass_of(posterior, num_negatives as usize, temperature, negative, weighing)
    })
}

/// [`loss`](crate::loss).
#[unsafe(no_mangle)]
pub extern "C" fn loss(mass: f64, positive: f64, temperature: f64) -> f64 {
    loss_of(mass, positive, temperature)
}

fn with(alpha: f64, beta: f64, tau_plus: f64, value: impl FnOnce(&Posterior) -> f64) -> f64 {
    Posterior::new(alpha, beta, tau_plus).map_or(f64::NAN, |posterior| value(&posterior))
}
