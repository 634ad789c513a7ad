//! Lazy Adam: rows without gradient stay as they are.

use burn::backend::Dispatch;
use burn::tensor::{Int, Tensor, TensorData};

use super::{AdamInput, AdamOps, AdamStep};

/// What [`lazy_adam`] keeps of a step for the next one.
#[derive(Debug, Clone)]
pub struct LazyMemory {
    /// The parameter before the step. The next step reuses its memory for the new parameter.
    before: Tensor<2>,
    /// The parameter after the step.
    after: Tensor<2>,
    /// The rows in which both differ; empty if unknown.
    changed: Tensor<1, Int>,
}

/// A parameter and its optimizer state after a step of [`lazy_adam`].
#[derive(Debug)]
pub struct LazyUpdated {
    /// The parameter.
    pub weight: Tensor<2>,
    /// The moments.
    pub moments: [Tensor<2>; 2],
    /// What to pass to the next step.
    pub memory: LazyMemory,
}

/// Updates the rows of a table whose gradient is not zero, by [`adam`](crate::adam()). All other rows keep their values and moments.
///
/// Dense Adam moves every row in every step, because its moments decay but never reach zero. Here, a row that a batch does not read keeps its value and its
/// moments, and weight decay applies only to rows with a gradient. The bias correction counts all steps, as in PyTorch's `SparseAdam`. On the CPU, the time of
/// a step grows with these rows if the gradient comes from [`gather_rows`](crate::gather_rows), which knows them; otherwise the step reads the whole gradient.
///
/// # Shapes
/// - all tensors: `[num_rows, dim]`
///
/// # Example
/// ```
/// use bcl_kernels::{AdamDecay, AdamInput, AdamStep, lazy_adam};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let input = AdamInput {
///     weight: Tensor::<2>::from_floats([[1.0], [1.0]], &device),
///     gradient: Tensor::from_floats([[0.5], [0.0]], &device),
///     moments: Some([Tensor::ones([2, 1], &device), Tensor::ones([2, 1], &device)]),
///     spare: None,
/// };
/// let step = AdamStep { rate: 0.1, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, decay: AdamDecay::Coupled(0.0), time: 2 };
///
/// let updated = lazy_adam(input, None, step);
///
/// let weight = updated.weight.into_data();
/// let weight = weight.as_slice::<f32>().unwrap();
/// assert!(weight[0] < 1.0 && weight[1] == 1.0); // dense Adam would move both, because the first moment is 1
/// ```
pub fn lazy_adam(input: AdamInput<2>, memory: Option<LazyMemory>, step: AdamStep) -> LazyUpdated {
    let AdamInput {
        weight,
        gradient,
        moments,
        spare,
    } = input;
    let device = weight.device();
    let [moment_1, moment_2] = moments.unwrap_or_else(|| [weight.zeros_like(), weight.zeros_like()]);
    let nothing = || Tensor::zeros([0, 0], (&device, weight.dtype()));
    let LazyMemory { before, after, changed } = memory.unwrap_or_else(|| LazyMemory {
        before: spare.unwrap_or_else(nothing),
        after: nothing(),
        changed: Tensor::from_data(TensorData::new(Vec::<i32>::new(), [0]), &device),
    });
    let (after, moment_1, moment_2, before, changed) = Dispatch::lazy_adam(
        weight.into_dispatch(),
        gradient.into_dispatch(),
        moment_1.into_dispatch(),
        moment_2.into_dispatch(),
        before.into_dispatch(),
        after.into_dispatch(),
        changed.into_dispatch(),
        step,
    );
    let weight = Tensor::<2>::from_dispatch(after);
    LazyUpdated {
        weight: weight.clone(),
        moments: [Tensor::from_dispatch(moment_1), Tensor::from_dispatch(moment_2)],
        memory: LazyMemory {
            before: Tensor::from_dispatch(before),
            after: weight,
            changed: Tensor::from_dispatch(changed),
        },
    }
}
