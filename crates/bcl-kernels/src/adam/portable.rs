//! A step of Adam composed of tensor operations, in the order of Burn's own optimizers.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Scalar, TensorMetadata, get_or_init_device_settings};

use super::{AdamDecay, AdamStep};

pub(crate) fn adam<B: Backend>(
    weight: FloatTensor<B>,
    gradient: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let times = |tensor, factor: f64| B::float_mul_scalar(tensor, Scalar::from(factor));
    let gradient = match step.decay {
        AdamDecay::Coupled(decay) if decay > 0.0 => B::float_add(times(weight.clone(), decay.into()), gradient),
        _ => gradient,
    };
    let squares = B::float_mul(gradient.clone(), gradient.clone());
    let moved = |moment, beta: f32, gradient| {
        let old = times(moment, beta.into());
        B::float_add(old, times(gradient, (1.0 - beta).into()))
    };
    let moment_1 = moved(moment_1, step.beta_1, gradient);
    let moment_2 = moved(moment_2, step.beta_2, squares);
    let over = |tensor, divisor: f32| B::float_div_scalar(tensor, Scalar::from(f64::from(divisor)));
    let plus = |tensor, summand: f32| B::float_add_scalar(tensor, Scalar::from(f64::from(summand)));
    let (weight, direction) = match step.decay {
        AdamDecay::Coupled(_) => {
            let [factor, epsilon] = step.combined();
            let root = plus(B::float_sqrt(moment_2.clone()), epsilon);
            (weight, B::float_div(times(moment_1.clone(), factor.into()), root))
        }
        AdamDecay::Decoupled(decay) => {
            let [first, second] = step.corrections();
            let root = plus(B::float_sqrt(over(moment_2.clone(), second)), step.epsilon);
            let direction = B::float_div(over(moment_1.clone(), first), root);
            let shrinkage = step.shrinkage(decay);
            let weight = if shrinkage == 1.0 { weight } else { times(weight, shrinkage) };
            (weight, direction)
        }
    };
    (B::float_sub(weight, times(direction, step.rate)), moment_1, moment_2)
}

/// The same, but rows without gradient stay as they are.
pub(crate) fn lazy_adam<B: Backend>(
    weight: FloatTensor<B>,
    gradient: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let bool_dtype = get_or_init_device_settings::<B>(&weight.device()).bool_dtype;
    let sizes = B::float_sum_dim(B::float_abs(gradient.clone()), 1);
    let stays = B::bool_expand(B::float_equal_elem(sizes, Scalar::from(0.0), bool_dtype), weight.shape());
    let old = [weight.clone(), moment_1.clone(), moment_2.clone()];
    let (weight, moment_1, moment_2) = adam::<B>(weight, gradient, moment_1, moment_2, step);
    let [old_weight, old_1, old_2] = old;
    let kept = |new, old| B::float_mask_where(new, stays.clone(), old);
    (kept(weight, old_weight), kept(moment_1, old_1), kept(moment_2, old_2))
}
