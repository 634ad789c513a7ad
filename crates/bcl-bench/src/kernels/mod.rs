//! Times the kernels of [`bcl_kernels`], compared with the same functions composed of tensor operations.
//!
//! Sizes come from real work: in-batch scores of batches of 256 to 4,096, long rows as from a queue, the graphs of `MovieLens`-100K and Gowalla, the
//! layers of a `ResNet`. A GPU computes in the background, so a run ends only when a value of its result has been read back.

mod graphs;
mod images;
mod scores;
mod tables;

use crate::timing::Case;
use bcl_data::Seed;
use burn::tensor::{Device, Distribution, Int, Tensor, TensorData};
use std::{cell::LazyCell, fmt, rc::Rc};

/// Assumed number of tensors in a portable implementation that are as large as its largest: forward, backward, and a sort.
const ASSUMED_TENSORS: f64 = 16.0;

/// Which passes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    const BOTH: [Self; 2] = [Self::Forward, Self::Gradients];

    /// Prepares an input: a leaf that requires gradients if the pass needs them.
    fn input<const D: usize>(self, values: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Forward => values.detach(),
            Self::Gradients => values.detach().require_grad(),
        }
    }
}

/// A kernel at one size.
pub struct KernelCase {
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

impl KernelCase {
    fn new(
        kernel: &'static str,
        size: String,
        pass: Pass,
        entries: usize,
        prepare: impl FnOnce(Pass, &Device) -> Implementations + 'static,
    ) -> Self {
        Self {
            kernel,
            size,
            pass,
            entries,
            operations: None,
            prepare: Box::new(prepare),
        }
    }

    /// The kernel, with inputs on a device that tracks gradients. Each call computes once and returns when the device is done.
    pub fn kernel(self, device: &Device) -> Box<dyn Fn()> {
        (self.prepare)(self.pass, device).kernel
    }

    /// The kernel and its portable implementation, which share their inputs.
    pub fn group(self, device: &Device) -> Vec<Case<'static>> {
        let name = format!("{} {} {}", self.kernel, self.size, self.pass);
        let (pass, prepare, device) = (self.pass, self.prepare, device.clone());
        let inputs = Rc::new(LazyCell::new(move || {
            device.seed(0);
            prepare(pass, &device)
        }));
        let needed = ASSUMED_TENSORS * 4.0 * self.entries as f64 / f64::from(1 << 20);
        let portable = Rc::clone(&inputs);
        let cases = [
            Case::new(&name, move || (inputs.kernel)()),
            Case::new(format!("{name}, Burn's operations"), move || (portable.portable)()),
        ];
        let cases = cases.map(|case| match self.operations {
            Some(operations) => case.needing(needed).with_operations(operations),
            None => case.needing(needed),
        });
        cases.into()
    }
}

/// Two implementations to time. Each computes once and returns when the device is done.
struct Implementations {
    kernel: Box<dyn Fn()>,
    portable: Box<dyn Fn()>,
}

impl Implementations {
    /// Two implementations of one function of `inputs`. The backward pass starts from the sum of the output times `outer`.
    fn new<const D: usize, const E: usize>(
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

/// The names of all kernels, in the order in which they are measured.
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for case in cases() {
        if !names.contains(&case.kernel) {
            names.push(case.kernel);
        }
    }
    names
}

/// All cases. Quick ones come first, so that most results exist if time runs out.
pub fn cases() -> Vec<KernelCase> {
    [images::cases(), tables::cases(), graphs::cases(), scores::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// A product of two matrices with 1,024 rows and columns, which shows what a device can do.
pub fn matrix_product(device: &Device) -> Case<'static> {
    const SIZE: usize = 1024;
    let device = device.clone().without_autodiff();
    let inputs = LazyCell::new(move || [0.5, 2.0].map(|value| Tensor::<2>::full([SIZE; 2], value, &device)));
    let case = Case::new(format!("matrix product of size {SIZE}"), move || {
        let [left, right] = inputs.clone();
        wait(left.matmul(right));
    });
    case.with_operations(2.0 * (SIZE as f64).powi(3))
}

/// Standard normal values.
fn normal<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device)
}

/// Integers below a bound, the same on every device.
fn below(bound: usize, count: usize) -> impl Iterator<Item = usize> {
    let seed = Seed(0).named("below");
    (0..count as u64).map(move |i| (seed.index(i).0 % bound as u64) as usize)
}

/// Row indices of a table.
fn indices<const D: usize>(shape: [usize; D], num_rows: usize, device: &Device) -> Tensor<D, Int> {
    let indices: Vec<i32> = below(num_rows, shape.iter().product()).map(|index| index as i32).collect();
    Tensor::from_data(TensorData::new(indices, shape), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_measurement_is_made_twice() {
        let mut seen = HashSet::new();
        for case in cases() {
            let key = (case.kernel, case.size.clone(), case.pass == Pass::Forward);
            assert!(seen.insert(key), "{} {} is there twice", case.kernel, case.size);
        }
    }
}
