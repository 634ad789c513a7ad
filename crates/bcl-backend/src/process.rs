//! What a program sets up before its first tensor.

/// Sets up this process for Burn. Call it at the start of `main`, before other threads exist.
///
/// - Freed memory is kept for the next tensors ([`keep_memory`](crate::keep_memory)).
/// - Burn's default device is the CPU. Burn itself would choose the best backend of the build and its first device, whatever `--backend` and
///   `--device` say, and loads the state of an optimizer there: in a program with CUDA on a machine without a GPU, that panics.
/// - Compiled GPU kernels are kept for later processes ([`kernel_cache`](crate::kernel_cache())).
pub fn prepare_process() {
    crate::keep_memory();
    default_to_the_processor();
    #[cfg(feature = "cube")]
    crate::kernel_cache::turn_on();
}

/// Burn reads the variable whenever it needs a default device.
#[expect(unsafe_code, reason = "Burn has no other way to choose the default device")]
fn default_to_the_processor() {
    // SAFETY: no other thread exists yet that could read the environment at the same time.
    unsafe { std::env::set_var("BURN_DEVICE", "flex") };
}
