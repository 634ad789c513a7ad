//! The block of a workgroup that keeps several loads in flight.

use std::fmt;

use cubecl::client::Client;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;
use cubek::convolution::AcceleratedTileKind;

use super::Refused;
use super::instruction::instruction;
use crate::convolution::geometry::Geometry;

/// The block of a workgroup, and how far it loads ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pipeline {
    /// Warps one below the other.
    pub warps_down: u32,
    /// Warps side by side.
    pub warps_right: u32,
    /// Sixteens of rows per warp.
    pub rows: u32,
    /// Sixteens of columns per warp.
    pub columns: u32,
    /// Sixteens along the sum per load.
    pub depth: u32,
    /// Blocks in shared memory.
    pub stages: u32,
}

impl Pipeline {
    /// With `[warps_down, warps_right]` and `[rows, columns]` per warp.
    pub const fn new([warps_down, warps_right]: [u32; 2], [rows, columns]: [u32; 2], depth: u32, stages: u32) -> Self {
        Self {
            warps_down,
            warps_right,
            rows,
            columns,
            depth,
            stages,
        }
    }

    pub(super) fn height(&self) -> u32 {
        16 * self.warps_down * self.rows
    }

    pub(super) fn width(&self) -> u32 {
        16 * self.warps_right * self.columns
    }

    /// Numbers along the sum per load.
    pub(super) fn length(&self) -> u32 {
        16 * self.depth
    }

    pub(super) fn threads(&self) -> u32 {
        32 * self.warps_down * self.warps_right
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            warps_down,
            warps_right,
            stages,
            ..
        } = self;
        write!(f, "{}x{}x{}", self.height(), self.width(), self.length())?;
        write!(f, " stages {stages} warps {warps_down}x{warps_right}")
    }
}

/// Numbers per copy of 16 bytes.
pub(super) const VECTOR: u32 = 8;

/// Whether the device has what these kernels use, and 32 bits reach all numbers.
pub(super) fn check(client: &Client, element: ElemType, sizes: &Geometry) -> Result<(), Refused> {
    let features = &client.properties().features;
    let single = element == ElemType::Float(FloatKind::F32);
    if single || instruction(client, AcceleratedTileKind::Mma, element) != Some([16, 8, 16]) {
        return Err(Refused("a pipeline needs the instruction m16n8k16".into()));
    }
    if !features.copy_async || !features.matmul.ldmatrix.contains(&element) {
        return Err(Refused("a pipeline needs asynchronous copies and ldmatrix".into()));
    }
    if sizes.batch_size * sizes.image().max(sizes.image_out()) >= 1 << 31 {
        return Err(Refused("a pipeline indexes with 32 bits".into()));
    }
    Ok(())
}

/// Where the vector `column` of a row is in shared memory, so that the eight rows that `ldmatrix` reads at once are in different banks.
#[cube]
pub(super) fn swizzled(row: u32, column: u32, #[comptime] vectors: u32) -> u32 {
    if comptime!(vectors == 4) {
        row * vectors + (column ^ (row / 2 % 4))
    } else {
        row * vectors + (column ^ (row % 8))
    }
}
