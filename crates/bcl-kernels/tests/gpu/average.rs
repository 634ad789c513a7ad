//! Moving averages have the values of the CPU.

use super::{
    common::{Numbers, assert_close},
    gpu, home,
};
use bcl_kernels::moving_average;
use burn::tensor::{DType, Device, Tensor};

#[test]
fn averages_move_towards_one_value_or_several() {
    let moved = |parts: usize, device: &Device| {
        let mut numbers = Numbers(parts as u64);
        let mut matrix = |rows| -> Tensor<2> { numbers.matrix([rows, 70], DType::F32, device) };
        home(moving_average(matrix(9), matrix(9 * parts), [0.9, 0.1]))
    };
    for parts in [1, 2, 5] {
        assert_close(moved(parts, &gpu()), moved(parts, &Device::flex()));
    }
}
