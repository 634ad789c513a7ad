//! One line of the benchmark: a kernel, and the same composed of tensor operations, on inputs of one size.

use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// How far a measurement goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Through the kernel.
    Forward,
    /// And back to the gradients of its inputs.
    Gradients,
}

impl Pass {
    /// Prepares an input of a contest.
    pub(super) fn input<const D: usize>(self, values: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Forward => values.detach(),
            Self::Gradients => values.detach().require_grad(),
        }
    }
}

/// A kernel to time. Its inputs are made when its turn comes and dropped after it.
pub struct Case {
    /// Name of the function.
    pub kernel: &'static str,
    /// Sizes of its inputs.
    pub size: String,
    /// How far it goes.
    pub pass: Pass,
    /// Entries of the largest tensor of the portable body.
    pub entries: usize,
    prepare: Box<Prepare>,
}

type Prepare = dyn FnOnce(Pass, &Device) -> Contest;

impl Case {
    pub(super) fn new(
        kernel: &'static str,
        size: String,
        pass: Pass,
        entries: usize,
        prepare: impl FnOnce(Pass, &Device) -> Contest + 'static,
    ) -> Self {
        let prepare = Box::new(prepare);
        Self {
            kernel,
            size,
            pass,
            entries,
            prepare,
        }
    }

    /// Makes the inputs, on a device that tracks gradients.
    pub fn prepare(self, device: &Device) -> Contest {
        (self.prepare)(self.pass, device)
    }
}

/// Both contestants. Each computes once and returns when the device is done.
pub struct Contest {
    /// The kernel.
    pub kernel: Box<dyn Fn()>,
    /// The same composed of tensor operations.
    pub portable: Box<dyn Fn()>,
}

impl Contest {
    /// Two bodies of one function of `inputs`; the way back starts from the sum of its output weighed by `outer`.
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

/// Reads one value, which waits for a device that computes in the background and moves next to nothing.
fn wait<const D: usize>(tensor: Tensor<D>) {
    tensor.slice([(); D].map(|()| 0..1)).into_data();
}
