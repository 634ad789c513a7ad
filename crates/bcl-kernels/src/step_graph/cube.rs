//! Writing into the memory that a recorded step uses.

use std::fmt;

use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::{DType, TensorData};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::{Dial, Now, OverwriteOps, RECORDING};
use crate::cube::{THREADS, empty, rows};
use crate::together::cube::{Group, PART, Rule, Update, have_same_memory, own_part, settle, submit};

/// The most numbers of a launch that differ from step to step.
const MOST: usize = 8;

impl OverwriteOps for Cube {
    fn overwrite(tensor: FloatTensor<Self>, values: FloatTensor<Self>) -> FloatTensor<Self> {
        settle(&[&tensor, &values]);
        if tensor.shape().num_elements() == 0 || have_same_memory(&tensor, &values) {
            return tensor;
        }
        assert!(
            tensor.is_contiguous() && [tensor.dtype, values.dtype] == [DType::F32; 2],
            "only tensors of f32 in row-major order are overwritten"
        );
        submit(Update {
            rule: Box::new(Overwrite),
            tensors: vec![rows(values), tensor.clone()],
            num_written: 1,
            shared: None,
            writes_shared: false,
        });
        tensor
    }

    /// Burn may leave gaps between the rows of what it allocates.
    fn in_own_memory(values: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::overwrite(empty(&values, values.shape(), values.dtype), values)
    }
}

/// Tensors: values, and where they are written.
#[derive(PartialEq)]
struct Overwrite;

impl Rule for Overwrite {
    fn launch(&self, group: &Group<'_>) {
        let [values, tensors] = group.buffers();
        overwrite_each::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            values,
            tensors,
            group.sizes(),
        );
    }
}

#[cube(launch, address_type = "dynamic")]
fn overwrite_each(values: &Sequence<Box<[f32]>>, tensors: &mut Sequence<Box<[f32]>>, sizes: &Sequence<usize>) {
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let written = &mut tensors[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            written[position] = values[tensor][position];
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
}

/// The memory in which a launch beside a tensor finds its numbers, and whether it does: if this thread records a step or is about to. If not, they are arguments of
/// the launch, and nothing reads the memory, for which kernels have a place. `rate` is the current learning rate.
pub(crate) fn numbers<const N: usize>(
    beside: &CubeTensor,
    rate: f64,
    of: impl Fn(Now) -> [f32; N] + Send + Sync + 'static,
) -> (CubeTensor, bool) {
    let in_memory = RECORDING.with_borrow_mut(|recording| {
        let recording = recording.as_mut()?;
        if !recording.is_open {
            let numbers = uploaded(beside, &of(Now { rate, replays: 0 }));
            recording.memory.push(numbers.clone());
            return Some(numbers);
        }
        let numbers = recording
            .memory
            .pop()
            .expect("a step is recorded after one with the same launches");
        let of = Box::new(move |now| of(now).to_vec());
        recording.dials.push(Box::new(NumbersOfLaunch {
            numbers: numbers.clone(),
            of,
        }));
        Some(numbers)
    });
    match in_memory {
        Some(numbers) => (numbers, true),
        None => (empty(beside, [1], DType::F32), false),
    }
}

/// Puts numbers into memory that has room for those of any launch.
fn uploaded(beside: &CubeTensor, numbers: &[f32]) -> CubeTensor {
    let mut padded = [0.0; MOST];
    padded[..numbers.len()].copy_from_slice(numbers);
    Cube::float_from_data(TensorData::from(padded), &beside.device)
}

struct NumbersOfLaunch {
    numbers: CubeTensor,
    of: Box<dyn Fn(Now) -> Vec<f32> + Send + Sync>,
}

impl fmt::Debug for NumbersOfLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NumbersOfLaunch").finish_non_exhaustive()
    }
}

impl Dial for NumbersOfLaunch {
    fn set(&self, now: Now) {
        Cube::overwrite(self.numbers.clone(), uploaded(&self.numbers, &(self.of)(now)));
    }
}
