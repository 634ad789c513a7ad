//! Updates of many tensors in few launches.

#[cfg(feature = "cube")]
pub(crate) mod cube;

/// Runs `work`, and launches the updates of single tensors in it together, at its end: a GPU updates all parameters of a model in a few launches
/// instead of one per parameter.
///
/// This holds for [`adam`](crate::adam()), [`lars`](crate::lars()), [`moving_average`](crate::moving_average()), [`add_squares`](crate::add_squares()) and
/// [`scale_by`](crate::scale_by()). **Nothing else may read what they
/// return before `work` ends**: its memory is there, but has not been written yet. These functions themselves may; then whatever waits is launched first.
/// Updates are as they would be one by one, bit for bit.
///
/// Within another call, updates wait for the end of that one. On the CPU, this just runs `work`.
///
/// # Example
/// ```
/// use bcl_kernels::{moving_average, together};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let parameters = [[4.0], [2.0]].map(|value| Tensor::<1>::from_floats(value, &device));
///
/// let moved = together(|| parameters.map(|old| moving_average(old.zeros_like(), old, [0.75, 0.25])));
///
/// assert_eq!(moved.map(|value| value.into_scalar::<f32>()), [1.0, 0.5]);
/// ```
pub fn together<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(feature = "cube")]
    let _waiting = cube::Waiting::begin();
    work()
}
