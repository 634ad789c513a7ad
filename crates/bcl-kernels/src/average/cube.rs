//! Moving averages on GPUs, in one pass, and of many tensors in few launches.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use cubecl::prelude::*;

use super::{AverageOps, composed};
use crate::cube::{THREADS, empty, rows};
use crate::together::cube::{Group, PART, Rule, Update, own_part, settle, submit};

impl AverageOps for Cube {
    fn moving_average(average: FloatTensor<Self>, new: FloatTensor<Self>, keep: f64, share: f64) -> FloatTensor<Self> {
        settle(&[&average, &new]);
        let number = average.shape().num_elements();
        if number == 0 || [average.dtype, new.dtype] != [DType::F32; 2] {
            return composed::<Self>(average, new, keep, share);
        }
        let rule = AverageRule {
            parts: new.shape().num_elements() / number,
            keep: keep as f32,
            share: share as f32,
        };
        let (average, new) = (rows(average), rows(new));
        let moved = empty(&average, average.shape(), DType::F32);
        submit(Update {
            rule: Box::new(rule),
            tensors: vec![average, new, moved.clone()],
            num_written: 1,
            shared: None,
            writes_shared: false,
        });
        moved
    }
}

/// The numbers of a step. Tensors: average, new values, new average.
#[derive(Clone, Copy, PartialEq)]
struct AverageRule {
    /// How many values move an average, one after the other.
    parts: usize,
    keep: f32,
    share: f32,
}

impl Rule for AverageRule {
    fn launch(&self, group: &Group<'_>) {
        let [averages, new, moved] = group.buffers();
        move_each::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            averages,
            new,
            moved,
            group.sizes(),
            self.parts,
            self.keep,
            self.share,
        );
    }
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)] // one binding or number each
fn move_each(
    averages: &Sequence<Box<[f32]>>,
    new: &Sequence<Box<[f32]>>,
    moved: &mut Sequence<Box<[f32]>>,
    sizes: &Sequence<usize>,
    num_values: usize,
    keep: f32,
    share: f32,
) {
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let result = &mut moved[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            let mut value = averages[tensor][position];
            let mut index = 0usize.runtime();
            while index < num_values {
                value = value * keep + new[tensor][index * size + position] * share;
                index += 1;
            }
            result[position] = value;
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
}
