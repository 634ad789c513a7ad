//! Helpers of the CPU kernels: typed views of tensors, SIMD dispatch and task sizes.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, ops::IntTensorOps};
use burn::tensor::{DType, Element, FloatDType, IntDType, Shape, TensorData};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// The element types with a fast body. All others use the portable one.
pub(crate) trait Value:
    Element + Copy + Add<Output = Self> + AddAssign + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Sum + PartialOrd
{
    const ZERO: Self;
    const ONE: Self;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
    fn as_f64(self) -> f64;
    fn square_root(self) -> Self;
    fn reciprocal(self) -> Self;
    fn negative(self) -> Self;
    /// The elements of a contiguous tensor of this type.
    fn of(tensor: &FlexTensor) -> &[Self];
    /// The elements of an [`owned`] tensor of this type, to be changed. Copies them if another tensor shares them.
    fn of_mut(tensor: &mut FlexTensor) -> &mut [Self];
    /// The inner product. The order of its additions depends only on the length and the width of the vector instructions.
    fn dot<S: Simd>(simd: S, left: &[Self], right: &[Self]) -> Self;
}

macro_rules! value {
    ($type:ty, $as_simd:ident, $splat:ident, $mul_add:ident, $add:ident, $reduce:ident) => {
        impl Value for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                Self::from(value)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn as_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn square_root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn reciprocal(self) -> Self {
                self.recip()
            }

            #[inline(always)]
            fn negative(self) -> Self {
                -self
            }

            fn of(tensor: &FlexTensor) -> &[Self] {
                let (start, end) = tensor
                    .layout()
                    .contiguous_offsets()
                    .expect("the tensor was made contiguous");
                &tensor.storage::<$type>()[start..end]
            }

            fn of_mut(tensor: &mut FlexTensor) -> &mut [Self] {
                let (start, end) = tensor
                    .layout()
                    .contiguous_offsets()
                    .expect("the tensor was made contiguous");
                &mut tensor.storage_mut::<$type>()[start..end]
            }

            // Written with vectors, because the compiler unrolls the plain loop into scalar multiplications before it vectorises.
            #[inline(always)]
            fn dot<S: Simd>(simd: S, left: &[Self], right: &[Self]) -> Self {
                let (left, left_rest) = S::$as_simd(left);
                let (right, right_rest) = S::$as_simd(right);
                let (left_by_four, left) = left.as_chunks::<4>();
                let (right_by_four, right) = right.as_chunks::<4>();
                let mut sums = [simd.$splat(0.0); 4];
                for (left, right) in left_by_four.iter().zip(right_by_four) {
                    for lane in 0..4 {
                        sums[lane] = simd.$mul_add(left[lane], right[lane], sums[lane]);
                    }
                }
                for (&left, &right) in left.iter().zip(right) {
                    sums[0] = simd.$mul_add(left, right, sums[0]);
                }
                let [a, b, c, d] = sums;
                let mut sum = simd.$reduce(simd.$add(simd.$add(a, b), simd.$add(c, d)));
                for (&left, &right) in left_rest.iter().zip(right_rest) {
                    sum += left * right;
                }
                sum
            }
        }
    };
}
value!(f32, as_simd_f32s, splat_f32s, mul_add_e_f32s, add_f32s, reduce_sum_f32s);
value!(f64, as_simd_f64s, splat_f64s, mul_add_e_f64s, add_f64s, reduce_sum_f64s);

/// Runs `$body` with `$type` as the element type, or `$otherwise` if that type has no fast body.
macro_rules! by_float_type {
    ($tensor:expr, $type:ident => $body:expr, $otherwise:expr) => {
        match $tensor.dtype() {
            burn::tensor::DType::F32 => {
                type $type = f32;
                $body
            }
            burn::tensor::DType::F64 => {
                type $type = f64;
                $body
            }
            _ => $otherwise,
        }
    };
}
pub(crate) use by_float_type;

/// A loop compiled for the vector instructions of the processor it runs on.
pub(crate) trait Kernel: Sized {
    /// The loop. It and everything it calls must be `#[inline(always)]`: what is not inlined is compiled for the baseline processor.
    fn run<S: Simd>(self, simd: S);

    /// Runs the loop with the widest vector instructions available.
    fn dispatch(self) {
        Arch::new().dispatch(Vectorised(self));
    }
}

struct Vectorised<K>(K);

impl<K: Kernel> WithSimd for Vectorised<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.run(simd);
    }
}

/// The number of rows for one task, if a row costs about `row_cost` multiplications.
pub(crate) fn rows_per_task(row_cost: usize) -> usize {
    // About 20 microseconds of work, far more than it costs to hand a task to a thread.
    const TASK_COST: usize = 1 << 16;
    (TASK_COST / row_cost.max(1)).max(1)
}

/// Makes a tensor contiguous.
///
/// Unlike [`FlexTensor::to_contiguous`], it does not copy a contiguous slice of a larger tensor, such as some of its rows.
pub(crate) fn contiguous(tensor: FlexTensor) -> FlexTensor {
    if tensor.is_contiguous() {
        tensor
    } else {
        tensor.to_contiguous()
    }
}

/// Makes a tensor contiguous and copies the part of a larger tensor, so that changes do not copy the whole of it.
pub(crate) fn owned(tensor: FlexTensor) -> FlexTensor {
    let copied = tensor.to_contiguous();
    drop(tensor);
    copied
}

pub(crate) fn tensor<T: Element>(values: Vec<T>, shape: impl Into<Shape>) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

/// Casts to the float type of `like` if they differ, for example if a table has another precision than the scores.
pub(crate) fn cast_like(tensor: FlexTensor, like: &FlexTensor) -> FlexTensor {
    if tensor.dtype() == like.dtype() {
        return tensor;
    }
    let dtype: FloatDType = like.dtype().into();
    <Flex as burn::backend::ops::FloatTensorOps<Flex>>::float_cast(tensor, dtype)
}

/// How many indices are worth several threads.
const PARALLEL_INDICES: usize = 1 << 15;

/// Reads row numbers of any integer type.
///
/// # Panics
/// Panics if one lies outside `0..num_rows`.
pub(crate) fn row_numbers(indices: &FlexTensor, num_rows: usize) -> Vec<u32> {
    fn narrow<I: Copy + Sync + TryInto<usize> + std::fmt::Display>(indices: &[I], num_rows: usize) -> Vec<u32> {
        let number = |&index: &I| match index.try_into() {
            Ok(row) if row < num_rows => row as u32,
            _ => panic!("the index {index} lies outside the {num_rows} rows of the table"),
        };
        // Waking the other threads takes longer than a few indices.
        if indices.len() < PARALLEL_INDICES {
            return indices.iter().map(number).collect();
        }
        indices.par_iter().with_min_len(PARALLEL_INDICES / 4).map(number).collect()
    }
    let indices = match indices.dtype() {
        DType::I32 | DType::I64 => contiguous(indices.clone()),
        _ => contiguous(Flex::int_cast(indices.clone(), IntDType::I64)),
    };
    let (start, end) = indices.layout().contiguous_offsets().expect("the tensor was made contiguous");
    match indices.dtype() {
        DType::I32 => narrow(&indices.storage::<i32>()[start..end], num_rows),
        _ => narrow(&indices.storage::<i64>()[start..end], num_rows),
    }
}

/// `out[c] = scale · (start[c] + Σ weight · table[row, c])` over the `(weight, row)` terms, in order.
///
/// Blocks of columns are summed in registers, so each output row is written only once.
#[inline(always)]
pub(crate) fn weighted_sum_of_rows<T: Value>(
    out: &mut [T],
    start: Option<&[T]>,
    terms: impl Iterator<Item = (T, u32)> + Clone,
    table: &[T],
    scale: T,
) {
    let dim = out.len();
    let mut column = 0;
    // 64 single or 32 double precision numbers fill half of the sixteen vector registers.
    while size_of::<T>() <= 4 && dim - column >= 64 {
        sum_block::<T, 64>(out, start, column, terms.clone(), table, scale);
        column += 64;
    }
    while dim - column >= 32 {
        sum_block::<T, 32>(out, start, column, terms.clone(), table, scale);
        column += 32;
    }
    while dim - column >= 8 {
        sum_block::<T, 8>(out, start, column, terms.clone(), table, scale);
        column += 8;
    }
    while dim - column >= 1 {
        sum_block::<T, 1>(out, start, column, terms.clone(), table, scale);
        column += 1;
    }
}

#[inline(always)]
fn sum_block<T: Value, const WIDTH: usize>(
    out: &mut [T],
    start: Option<&[T]>,
    column: usize,
    terms: impl Iterator<Item = (T, u32)>,
    table: &[T],
    scale: T,
) {
    let dim = out.len();
    let mut sums = [T::ZERO; WIDTH];
    if let Some(start) = start {
        sums.copy_from_slice(&start[column..column + WIDTH]);
    }
    for (weight, row) in terms {
        let start = row as usize * dim + column;
        let row = &table[start..start + WIDTH];
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum += weight * value;
        }
    }
    for (out, &sum) in out[column..column + WIDTH].iter_mut().zip(&sums) {
        *out = sum * scale;
    }
}

/// Partial sums kept side by side so that they vectorise; added up at the end of a row.
const LANES: usize = 16;

/// The sum of the terms, in an order that depends on their number alone.
#[inline(always)]
pub(crate) fn sum<T: Value>(terms: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (blocks, rest) = terms.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &term) in lanes.iter_mut().zip(block) {
            *lane += term;
        }
    }
    for (lane, &term) in lanes.iter_mut().zip(rest) {
        *lane += term;
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            let other = lanes[lane + width];
            lanes[lane] += other;
        }
    }
    lanes[0]
}
