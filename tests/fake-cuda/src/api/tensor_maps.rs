//! Tensor maps: descriptions of tensors for the copies that a kernel starts.
//!
//! The fake ones contain an address, which launches check, and nothing else.

use super::{
    call,
    pointers::{In, Out},
};
use crate::status::{CuResult, Refusal, Status};
use std::ffi::{c_int, c_uint};

/// `CUtensorMap`.
pub(super) type TensorMap = [u64; 16];

/// Marks a map of this driver.
const MARK: u64 = 0x6661_6b65_5f6d_6170;

/// Values of enumerations of the API.
const NO_INTERLEAVING: c_int = 0;
const INTERLEAVING_32B: c_int = 2;
const SWIZZLE_32B: c_int = 1;

/// The address of the tensor that a map describes.
pub(super) fn address(map: &TensorMap) -> Option<u64> {
    (map[0] == MARK).then_some(map[1])
}

/// What all kinds of maps have in common.
struct Tensor {
    data_type: c_int,
    rank: usize,
    address: u64,
    dimensions: Vec<u64>,
    strides: Vec<u64>,
    element_strides: Vec<u32>,
    interleaving: c_int,
    swizzle: c_int,
}

impl Tensor {
    fn read(
        data_type: c_int,
        rank: c_uint,
        address: u64,
        dimensions: &In<u64>,
        strides: &In<u64>,
        element_strides: &In<u32>,
        interleaving: c_int,
        swizzle: c_int,
    ) -> Result<Self, Refusal> {
        require((1..=5).contains(&rank), || format!("rank {rank}; 1 to 5 are allowed"))?;
        let rank = rank as usize;
        let missing = |_| Refusal::new(Status::InvalidValue, "a null pointer");
        Ok(Self {
            data_type,
            rank,
            address,
            dimensions: dimensions.first(rank).map_err(missing)?,
            strides: strides.first(rank - 1).map_err(missing)?,
            element_strides: element_strides.first(rank).map_err(missing)?,
            interleaving,
            swizzle,
        })
    }

    /// Bytes of an element.
    fn element_bytes(&self) -> u64 {
        match self.data_type {
            0 => 1,
            1 | 6 | 9 => 2,
            4 | 5 | 8 => 8,
            _ => 4,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        let alignment = if self.interleaving == INTERLEAVING_32B { 32 } else { 16 };
        require(self.address.is_multiple_of(alignment), || {
            format!("{:#x} is not aligned to {alignment} bytes", self.address)
        })?;
        require(self.interleaving == NO_INTERLEAVING || self.rank >= 3, || {
            format!("interleaving with rank {}", self.rank)
        })?;
        require(self.interleaving != INTERLEAVING_32B || self.swizzle == SWIZZLE_32B, || {
            "interleaving of 32 bytes with another swizzle".to_owned()
        })?;
        let fits = |&size: &u64| (1..=1 << 32).contains(&size);
        require(self.dimensions.iter().all(fits), || {
            format!("dimensions {:?}", self.dimensions)
        })?;
        let is_valid = |&stride: &u64| stride.is_multiple_of(alignment) && stride < 1 << 40;
        require(self.strides.iter().all(is_valid), || {
            format!("strides {:?}; multiples of {alignment} bytes are allowed", self.strides)
        })?;
        let steps = &self.element_strides;
        require(steps.iter().all(|step| (1..=8).contains(step)), || {
            format!("element strides {steps:?}; 1 to 8 are allowed")
        })
    }

    /// Bytes that a row of a box can have.
    fn swizzle_bytes(&self) -> u64 {
        match self.swizzle {
            0 => u64::MAX,
            1 => 32,
            2 => 64,
            _ => 128,
        }
    }

    /// Checks the innermost dimension of a box.
    fn check_row(&self, elements: u64) -> Result<(), Refusal> {
        let bytes = elements * self.element_bytes();
        if self.interleaving != NO_INTERLEAVING {
            return Ok(());
        }
        require(bytes.is_multiple_of(16), || {
            format!("rows of {bytes} bytes; multiples of 16 are allowed")
        })?;
        require(bytes <= self.swizzle_bytes(), || {
            format!("rows of {bytes} bytes, more than are swizzled")
        })
    }

    /// Writes the map.
    fn encode(&self, map: &Out<TensorMap>) -> Result<(), Status> {
        let mut encoded = [0; 16];
        encoded[0] = MARK;
        encoded[1] = self.address;
        map.set(encoded)
    }
}

fn require(condition: bool, reason: impl FnOnce() -> String) -> Result<(), Refusal> {
    if condition {
        Ok(())
    } else {
        Err(Refusal::new(Status::InvalidValue, reason()))
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuTensorMapEncodeTiled(
    map: Out<TensorMap>,
    data_type: c_int,
    rank: c_uint,
    address: u64,
    dimensions: In<u64>,
    strides: In<u64>,
    box_dimensions: In<u32>,
    element_strides: In<u32>,
    interleaving: c_int,
    swizzle: c_int,
    _l2_promotion: c_int,
    _out_of_bounds: c_int,
) -> CuResult {
    call("cuTensorMapEncodeTiled", |_| {
        let tensor = Tensor::read(
            data_type,
            rank,
            address,
            &dimensions,
            &strides,
            &element_strides,
            interleaving,
            swizzle,
        )?;
        tensor.check()?;
        let sizes = box_dimensions.first(tensor.rank)?;
        require(sizes.iter().all(|size| (1..=256).contains(size)), || {
            format!("a box of {sizes:?}; 1 to 256 are allowed")
        })?;
        tensor.check_row(u64::from(sizes[0]))?;
        Ok(tensor.encode(&map)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuTensorMapEncodeIm2col(
    map: Out<TensorMap>,
    data_type: c_int,
    rank: c_uint,
    address: u64,
    dimensions: In<u64>,
    strides: In<u64>,
    lower_corner: In<c_int>,
    upper_corner: In<c_int>,
    channels_per_pixel: c_uint,
    pixels_per_column: c_uint,
    element_strides: In<u32>,
    interleaving: c_int,
    swizzle: c_int,
    _l2_promotion: c_int,
    _out_of_bounds: c_int,
) -> CuResult {
    call("cuTensorMapEncodeIm2col", |_| {
        require((3..=5).contains(&rank), || format!("rank {rank}; 3 to 5 are allowed"))?;
        let tensor = Tensor::read(
            data_type,
            rank,
            address,
            &dimensions,
            &strides,
            &element_strides,
            interleaving,
            swizzle,
        )?;
        tensor.check()?;
        let corners = [lower_corner.first(tensor.rank - 2)?, upper_corner.first(tensor.rank - 2)?];
        let most = [32_768, 128, 16][tensor.rank - 3];
        let fits = |corner: &c_int| (-most..most).contains(corner);
        require(corners.iter().flatten().all(fits), || {
            format!("corners {corners:?}; {} to {} are allowed", -most, most - 1)
        })?;
        check_columns(&tensor, channels_per_pixel, pixels_per_column)?;
        Ok(tensor.encode(&map)?)
    })
}

/// Only for devices from compute capability 10.0 on.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuTensorMapEncodeIm2colWide() -> CuResult {
    call("cuTensorMapEncodeIm2colWide", |_| {
        Err(Refusal::new(Status::NotSupported, "the device has no such maps").into())
    })
}

fn check_columns(tensor: &Tensor, channels: u32, pixels: u32) -> Result<(), Refusal> {
    require((1..=256).contains(&channels), || {
        format!("{channels} channels per pixel; 1 to 256 are allowed")
    })?;
    require((1..=1024).contains(&pixels), || {
        format!("{pixels} pixels per column; 1 to 1024 are allowed")
    })?;
    tensor.check_row(u64::from(channels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::fixture::{Gpu, assert_refused};

    /// Encodes a map of a matrix of 64 rows of 32 floats, in boxes of `row` elements of 8 rows.
    fn encode(address: u64, stride: u64, row: u32, swizzle: c_int) -> (CuResult, TensorMap) {
        let mut map = [0; 16];
        let result = cuTensorMapEncodeTiled(
            (&mut map).into(),
            7,
            2,
            address,
            (&[32_u64, 64][0]).into(),
            (&stride).into(),
            (&[row, 8][0]).into(),
            (&[1_u32, 1][0]).into(),
            0,
            swizzle,
            0,
            0,
        );
        (result, map)
    }

    #[test]
    fn a_map_contains_the_address_of_its_tensor() {
        let gpu = Gpu::new();
        let tensor = gpu.allocate(8192);
        let (result, map) = encode(tensor, 128, 32, 3);
        assert_eq!((result, address(&map)), (0, Some(tensor)));
        assert_eq!(address(&[0; 16]), None);
    }

    #[test]
    fn maps_that_a_device_cannot_use_are_refused() {
        let _gpu = Gpu::new();
        let refused = |(result, _), reason| assert_refused(result, Status::InvalidValue, reason);
        refused(encode(0x1008, 128, 32, 0), "is not aligned to 16 bytes");
        refused(encode(0x1000, 100, 32, 0), "multiples of 16 bytes");
        refused(encode(0x1000, 128, 257, 0), "1 to 256 are allowed");
        refused(encode(0x1000, 128, 3, 0), "rows of 12 bytes");
        refused(encode(0x1000, 128, 32, 2), "more than are swizzled");
    }
}
