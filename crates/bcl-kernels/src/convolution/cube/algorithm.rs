//! The ways in which a GPU can compute a convolution or one of its gradients.

use std::fmt;

use cubek::convolution::{AcceleratedTileKind, ConvAlgorithm};

pub use super::pipeline::Pipeline;

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// The output.
    Forward,
    /// The gradient of the input.
    Data,
    /// The gradient of the weight.
    Weight,
}

impl Pass {
    /// All passes, in the order of a training step.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Data, Self::Weight];
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Data => "data",
            Self::Weight => "weight",
        })
    }
}

/// How a pass is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Burn's convolution without tensor cores. Works everywhere.
    Portable,
    /// cubek's implicit GEMM: a matrix product that gathers the im2col matrix while it runs.
    Implicit(Implicit),
    /// Implicit GEMM by kernels of this crate, with several loads in flight; the output and the weight gradient.
    Pipelined(Pipeline),
    /// A product with the im2col matrix in memory. Kernels of one pixel with stride 1 need no such matrix.
    Columns(Product),
    /// The data gradient as a convolution with stride 1: of the gradient, with zeros inserted for larger strides, with rotated kernels.
    Rotated(Convolution),
    /// The same without the zeros: pixels that meet the same kernel positions are computed together.
    Spread(Pipeline),
    /// The weight gradient as one product per kernel position: of the gradient and the shifted image, both in zero-padded frames of equal
    /// size, in which a shift by a kernel position is a constant offset.
    Shifted(Product),
}

/// How a convolution without gradients is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Convolution {
    /// As [`Algorithm::Implicit`].
    Implicit(Implicit),
    /// As [`Algorithm::Pipelined`].
    Pipelined(Pipeline),
    /// As [`Algorithm::Columns`].
    Columns(Product),
}

impl Algorithm {
    /// Whether the algorithm can compute this pass at all.
    pub fn computes(&self, pass: Pass) -> bool {
        match self {
            Self::Portable | Self::Implicit(_) | Self::Columns(_) => true,
            Self::Pipelined(_) => pass != Pass::Data,
            Self::Rotated(_) | Self::Spread(_) => pass == Pass::Data,
            Self::Shifted(_) => pass == Pass::Weight,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Portable => f.write_str("portable"),
            Self::Implicit(how) => write!(f, "implicit {how}"),
            Self::Pipelined(how) => write!(f, "pipelined {how}"),
            Self::Columns(how) => write!(f, "columns {how}"),
            Self::Rotated(how) => write!(f, "rotated {how}"),
            Self::Spread(how) => write!(f, "spread {how}"),
            Self::Shifted(how) => write!(f, "shifted {how}"),
        }
    }
}

impl fmt::Display for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Implicit(how) => write!(f, "implicit {how}"),
            Self::Pipelined(how) => write!(f, "pipelined {how}"),
            Self::Columns(how) => write!(f, "columns {how}"),
        }
    }
}

/// How implicit GEMM moves data into shared memory, and the tiles it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Implicit {
    /// How a workgroup loads its operands.
    pub loading: ConvAlgorithm,
    /// What a workgroup computes.
    pub tiles: Tiles,
}

impl fmt::Display for Implicit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.loading, self.tiles)
    }
}

/// A matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Product {
    /// How a workgroup loads its operands.
    pub loading: Loading,
    /// What a workgroup computes.
    pub tiles: Tiles,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.loading {
            Loading::Units => write!(f, "{}", self.loading),
            _ => write!(f, "{} {}", self.loading, self.tiles),
        }
    }
}

/// How a workgroup loads the operands of a matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loading {
    /// No tensor cores: each thread multiplies a block of its own. Exact in single precision, and works everywhere.
    Units,
    /// All threads load a block, then all multiply it.
    Simple,
    /// The same, in the order of rows.
    SimpleStrided,
    /// The same with asynchronous copies.
    SimpleAsync,
    /// The same with the tensor memory accelerator.
    SimpleTma,
    /// The next block is loaded while one is multiplied.
    Double,
    /// The same with asynchronous copies.
    DoubleAsync,
    /// The same with the tensor memory accelerator.
    DoubleTma,
    /// Some warps only load, with the tensor memory accelerator.
    SpecializedTma,
}

impl fmt::Display for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Units => "units",
            Self::Simple => "simple",
            Self::SimpleStrided => "simple_strided",
            Self::SimpleAsync => "simple_async",
            Self::SimpleTma => "simple_tma",
            Self::Double => "double",
            Self::DoubleAsync => "double_async",
            Self::DoubleTma => "double_tma",
            Self::SpecializedTma => "specialized_tma",
        })
    }
}

/// The tiles of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// The instruction: `Mma` (`mma.sync` with fragments in registers that the kernel manages) or `Cmma` (`wmma`).
    pub kind: AcceleratedTileKind,
    /// How many instructions a workgroup computes; `None` lets cubek choose.
    pub block: Option<Block>,
}

impl Tiles {
    /// `Mma` with a chosen block.
    pub const fn mma(planes: u8, rows: u8, columns: u8, depth: u8) -> Self {
        Self {
            kind: AcceleratedTileKind::Mma,
            block: Some(Block {
                planes,
                rows,
                columns,
                depth,
            }),
        }
    }

    /// cubek's choice of a block.
    pub const fn inferred(kind: AcceleratedTileKind) -> Self {
        Self { kind, block: None }
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.block {
            None => write!(f, "{}", self.kind),
            Some(block) => write!(f, "{} {block}", self.kind),
        }
    }
}

/// Instructions per workgroup. One instruction of bf16 multiplies 16 x 16 by 16 x 8 numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    /// Warps, one below the other.
    pub planes: u8,
    /// Instructions per warp, one below the other.
    pub rows: u8,
    /// Instructions per warp, side by side.
    pub columns: u8,
    /// Instructions per warp between two loads, along the sum.
    pub depth: u8,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}x{}", self.planes, self.rows, self.columns, self.depth)
    }
}
