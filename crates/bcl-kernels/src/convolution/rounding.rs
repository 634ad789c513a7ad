//! Whether convolutions in single precision may round their inputs.

use std::cell::Cell;

thread_local! {
    static ALLOWED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, in which convolutions of this thread, and their gradients, may round `f32` inputs to TF32: 10 bits after the point in place of 23, which tensor
/// cores of NVIDIA GPUs multiply, as PyTorch's convolutions do by default. Sums keep single precision. On other devices, and for matrix products, nothing changes.
///
/// # Example
/// ```
/// use bcl_kernels::{convolve, with_tf32};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let (image, kernel) = (Tensor::<4>::ones([1, 8, 4, 4], &device), Tensor::ones([8, 8, 1, 1], &device));
///
/// let output = with_tf32(true, || convolve(image, kernel, 1, 0));
///
/// assert_eq!(output.max().into_scalar::<f32>(), 8.0);
/// ```
pub fn with_tf32<T>(is_allowed: bool, work: impl FnOnce() -> T) -> T {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            ALLOWED.set(self.0);
        }
    }
    let _restored = Restored(ALLOWED.replace(is_allowed));
    work()
}

#[cfg(feature = "cube")]
pub(super) fn is_tf32_allowed() -> bool {
    ALLOWED.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn what_was_allowed_ends_with_the_work_and_with_its_panic() {
        with_tf32(true, || {
            assert!(ALLOWED.get());
            with_tf32(false, || assert!(!ALLOWED.get()));
            assert!(ALLOWED.get());
        });
        assert!(catch_unwind(|| with_tf32(true, || panic!("no work"))).is_err());
        assert!(!ALLOWED.get());
    }
}
