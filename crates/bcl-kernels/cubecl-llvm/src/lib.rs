//! Takes the place of `cubecl-llvm` in this workspace.
//!
//! `cubecl-cuda` can turn kernels into PTX through CUDA C++ and NVRTC, or through LLVM, and always compiles both ways. We use only the first
//! (feature `cuda-cpp` of cubecl), yet the real crate downloads an LLVM of several hundred megabytes when it is built, and takes minutes.
//! This one has the same types as far as `cubecl-cuda` names them, and a compiler that refuses every kernel. `[patch.crates-io]` in the
//! workspace's Cargo.toml puts it there.

use cubecl_core::{
    Compiler,
    ir::{amd::GfxArch, nvidia::SmArch},
    prelude::KernelDefinition,
};
use cubecl_environment::backtrace::BackTrace;
use cubecl_runtime::{compiler::CompilationError, kernel::BufferIOAttr};
use nvptx::ptx_version::PtxVersion;
use std::{convert::Infallible, ffi::c_char, fmt};

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LlvmTarget {
    /// PTX, for NVIDIA GPUs.
    Nvptx,
}

/// A compiler that refuses every kernel.
#[derive(Debug, Clone)]
pub struct PlironCompiler {
    /// What it would compile for.
    pub target: LlvmTarget,
}

/// Options of the compiler; none is read.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)] // the original's
pub struct PlironOptions {
    pub arch: Option<GfxArch>,
    pub sm_arch: Option<SmArch>,
    pub ptx_version: Option<PtxVersion>,
    pub grid_constants: bool,
    pub cpu_buffer_alignment: Option<u32>,
}

/// A compiled kernel. There is none.
#[derive(Debug, Clone)]
pub enum PlironArtifact {
    /// PTX.
    NvptxCode(NvptxModule),
}

/// A kernel as PTX. There is none.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the original's
pub struct NvptxModule {
    pub ptx: Vec<c_char>,
    pub ir: String,
    pub shared_memory_size: usize,
    pub io: Vec<BufferIOAttr>,
    /// Nobody can make one.
    pub never: Infallible,
}

impl fmt::Display for PlironArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::NvptxCode(module) = self;
        module.never.fmt(f)
    }
}

impl Compiler for PlironCompiler {
    type Representation = PlironArtifact;
    type CompilationOptions = PlironOptions;

    fn compile(&mut self, _kernel: KernelDefinition, _options: &PlironOptions) -> Result<PlironArtifact, CompilationError> {
        Err(CompilationError::Generic {
            reason: "this program has no LLVM: it compiles CUDA kernels with NVRTC".to_owned(),
            backtrace: BackTrace::capture(),
        })
    }

    fn extension(&self) -> &'static str {
        "ll"
    }

    fn lang_tag(&self) -> &'static str {
        "llvm"
    }
}

/// Names that only mean something with LLVM.
pub mod nvptx {
    /// Versions of PTX.
    pub mod ptx_version {
        use std::fmt;

        /// A version of PTX.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct PtxVersion(u32);

        impl PtxVersion {
            /// The version that a driver loads; unknown here, and not needed.
            pub fn for_driver(_driver: i32) -> Option<Self> {
                None
            }
        }

        impl fmt::Display for PtxVersion {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    }
}

/// Names that only mean something with LLVM.
pub mod shared {
    /// What a device can do, as far as LLVM's backend can use it.
    pub mod lowered_features {
        use cubecl_core::ir::DeviceProperties;

        /// What a kernel is compiled for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum GpuTarget {
            /// PTX, for NVIDIA GPUs.
            Nvptx,
        }

        /// Leaves the properties as they are: no kernel takes this way.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {}
    }
}
