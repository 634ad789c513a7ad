//! One case of the benchmark: a kernel and its portable implementation, on inputs of one size.

use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which passes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Forward only.
    Forward,
    /// Forward, and backward to the gradients of the inputs.
    Gradients,
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Gradients => "with gradients",
        })
    }
}

impl Pass {
    /// Prepares an input: a leaf that requires gradients if the pass needs them.
    pub(super) fn input<const D: usize>(self, values: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Forward => values.detach(),
            Self::Gradients => values.detach().require_grad(),
        }
    }
}

/// A kernel to time. Its inputs are created right before it is measured and dropped afterwards.
pub struct Case {
    /// Name of the function.
    pub kernel: &'static str,
    /// Sizes of its inputs.
    pub size: String,
    /// Which passes are measured.
    pub pass: Pass,
    /// Entries in the largest tensor of the portable implementation.
    pub entries: usize,
    /// Floating-point operations of all measured passes by their definition, if a rate says something about the kernel.
    pub operations: Option<f64>,
    prepare: Box<Prepare>,
}

type Prepare = dyn FnOnce(Pass, &Device) -> Implementations;

impl Case {
    pub(super) fn new(
        kernel: &'static str,
        size: String,
        pass: Pass,
        entries: usize,
        prepare: impl FnOnce(Pass, &Device) -> Implementations + 'static,
    ) -> Self {
        let prepare = Box::new(prepare);
        Self {
            kernel,
            size,
            pass,
            entries,
            operations: None,
            prepare,
        }
    }

    /// Counts the work, for a rate.
    pub(super) fn with_operations(self, operations: f64) -> Self {
        Self {
            operations: Some(operations),
            ..self
        }
    }

    /// Creates the inputs, on a device that tracks gradients.
    pub fn prepare(self, device: &Device) -> Implementations {
        (self.prepare)(self.pass, device)
    }
}

/// The two implementations to time. Each computes once and returns when the device is done.
pub struct Implementations {
    /// The kernel.
    pub kernel: Box<dyn Fn()>,
    /// The same function, composed of tensor operations.
    pub portable: Box<dyn Fn()>,
}

impl Implementations {
    /// Two implementations of one function of `inputs`. The backward pass starts from the sum of the output times `outer`.
    pub(super) fn new<const D: usize, const E: usize>(
        pass: Pass,
        inputs: Vec<Tensor<E>>,
        outer: Tensor<D>,
        kernel: impl Fn(&[Tensor<E>]) -> Tensor<D> + 'static,
        portable: impl Fn(&[Tensor<E>]) -> Tensor<D> + 'static,
    ) -> Self {
        Self {
            kernel: once(pass, inputs.clone(), outer.clone(), kernel),
            portable: once(pass, inputs, outer, portable),
        }
    }
}

fn once<const D: usize, const E: usize>(
    pass: Pass,
    inputs: Vec<Tensor<E>>,
    outer: Tensor<D>,
    body: impl Fn(&[Tensor<E>]) -> Tensor<D> + 'static,
) -> Box<dyn Fn()> {
    Box::new(move || {
        let output = body(&inputs);
        if pass == Pass::Forward {
            return wait(output);
        }
        let gradients = (output * outer.clone()).sum().backward();
        for input in &inputs {
            wait(input.grad(&gradients).expect("the input takes part"));
        }
    })
}

/// Reads one value back. This waits for devices that compute in the background, and transfers next to nothing.
fn wait<const D: usize>(tensor: Tensor<D>) {
    tensor.slice([(); D].map(|()| 0..1)).into_data();
}
