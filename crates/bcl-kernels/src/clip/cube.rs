//! Clipping on GPUs: two launches for the squares of many tensors, and one to scale them.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use cubecl::prelude::*;

use super::{ClipOps, composed_scale, composed_squares};
use crate::cube::{THREADS, empty, owned, rows, sum_of_workgroup};
use crate::together::cube::{Group, PART, Rule, Update, collects, own_part, settle, submit};

impl ClipOps for Cube {
    fn add_squares(sum: FloatTensor<Self>, tensor: FloatTensor<Self>) -> FloatTensor<Self> {
        settle(&[&tensor]);
        if tensor.shape().num_elements() == 0 || [sum.dtype, tensor.dtype] != [DType::F32; 2] {
            settle(&[&sum]);
            return composed_squares::<Self>(sum, tensor);
        }
        let sum = if collects(&sum) {
            sum
        } else {
            settle(&[&sum]);
            owned(sum)
        };
        submit(Update {
            rule: Box::new(Squares),
            tensors: vec![rows(tensor)],
            num_written: 0,
            shared: Some(sum.clone()),
            writes_shared: true,
        });
        sum
    }

    fn scale_by(tensor: FloatTensor<Self>, factor: FloatTensor<Self>) -> FloatTensor<Self> {
        settle(&[&tensor, &factor]);
        if tensor.shape().num_elements() == 0 || [tensor.dtype, factor.dtype] != [DType::F32; 2] {
            return composed_scale::<Self>(tensor, factor);
        }
        let tensor = rows(tensor);
        let scaled = empty(&tensor, tensor.shape(), DType::F32);
        submit(Update {
            rule: Box::new(Scale),
            tensors: vec![tensor, scaled.clone()],
            num_written: 1,
            shared: Some(factor),
            writes_shared: false,
        });
        scaled
    }
}

/// Adds the squares of all tensors to the sum that they share.
#[derive(PartialEq)]
struct Squares;

impl Rule for Squares {
    fn launch(&self, group: &Group<'_>) {
        let num_parts = group.num_parts();
        let of_parts = group.empty(num_parts);
        let [tensors] = group.buffers();
        square_each::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            tensors,
            of_parts.clone().into_buffer_arg(),
            group.sizes(),
        );
        add_part_sums::launch(
            group.client(),
            CubeCount::new_single(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            of_parts.into_buffer_arg(),
            group.shared(),
            num_parts,
        );
    }
}

/// Multiplies all tensors by the factor that they share. Tensors: the old one, the new one.
#[derive(PartialEq)]
struct Scale;

impl Rule for Scale {
    fn launch(&self, group: &Group<'_>) {
        let [tensors, scaled] = group.buffers();
        scale_each::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            tensors,
            scaled,
            group.shared(),
            group.sizes(),
        );
    }
}

/// The squares of each part of each tensor.
#[cube(launch, address_type = "dynamic")]
fn square_each(tensors: &Sequence<Box<[f32]>>, of_parts: &mut [f32], sizes: &Sequence<usize>) {
    let mut sum = 0.0f32;
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            let value = tensors[tensor][position];
            sum += value * value;
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
    let mut scratch = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let sum = sum_of_workgroup(sum, &mut scratch);
    if UNIT_POS == 0 && CUBE_POS < first {
        of_parts[CUBE_POS] = sum;
    }
}

/// Adds all parts to the sum, in a fixed order.
#[cube(launch, address_type = "dynamic")]
fn add_part_sums(of_parts: &[f32], total: &mut [f32], num_parts: usize) {
    let mut sum = 0.0f32;
    let mut part = UNIT_POS as usize;
    while part < num_parts {
        sum += of_parts[part];
        part += THREADS as usize;
    }
    let mut scratch = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let sum = sum_of_workgroup(sum, &mut scratch);
    if UNIT_POS == 0 {
        total[0] += sum;
    }
}

#[cube(launch, address_type = "dynamic")]
fn scale_each(tensors: &Sequence<Box<[f32]>>, scaled: &mut Sequence<Box<[f32]>>, factor: &[f32], sizes: &Sequence<usize>) {
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let result = &mut scaled[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            result[position] = tensors[tensor][position] * factor[0];
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
}
