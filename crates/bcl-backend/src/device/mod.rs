//! What a device reports about itself.

#[cfg(feature = "cube")]
mod gpu;
#[cfg(feature = "cube")]
mod guard;

use crate::{BackendChoice, processor};
use burn::tensor::{Device, FloatDType};
use serde::Serialize;

/// The kind of a device, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A GPU with its own memory.
    DiscreteGpu,
    /// A GPU that shares the CPU's memory.
    IntegratedGpu,
    /// A GPU that is passed to a virtual machine.
    VirtualGpu,
    /// A device that its driver does not describe any further.
    Other,
    /// A CPU that presents itself as a GPU: correct, but slow.
    Software,
    /// The CPU itself.
    Processor,
}

/// A device as `bcl-train devices` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Name of its backend, as `--backend` takes it.
    pub backend: &'static str,
    /// Index among the devices of the backend, starting at 0, as `--device` takes it.
    pub index: usize,
    /// Name of the device, such as the model of the CPU.
    pub name: String,
    /// The kind of device.
    pub kind: DeviceKind,
    /// Memory in bytes, if the driver reports it.
    pub memory_bytes: Option<u64>,
    /// The driver with its version, if known.
    pub driver: Option<String>,
    /// The precisions in which the device can store, convert and compute.
    pub precisions: Vec<&'static str>,
}

/// The precisions to try, widest first.
const PRECISIONS: [(&str, FloatDType); 4] = [
    ("f64", FloatDType::F64),
    ("f32", FloatDType::F32),
    ("bf16", FloatDType::BF16),
    ("f16", FloatDType::F16),
];

impl DeviceInfo {
    /// Reads the properties of a device. A GPU is opened for this, and computes one sum.
    ///
    /// # Errors
    /// Returns an error with the driver's message if the device cannot be opened or does not compute.
    #[cfg_attr(
        not(feature = "cube"),
        allow(clippy::unnecessary_wraps, reason = "only GPUs can fail to open")
    )]
    pub(crate) fn read(choice: BackendChoice, index: usize, device: &Device) -> Result<Self, String> {
        #[cfg(feature = "cube")]
        if choice != BackendChoice::Flex {
            return gpu::read(choice, index, device);
        }
        Ok(Self {
            backend: choice.name(),
            index,
            name: processor::model(),
            kind: kind(device),
            memory_bytes: processor::memory(),
            driver: None,
            precisions: precisions(device),
        })
    }
}

/// The kind of a device, without opening it.
pub(crate) fn kind(device: &Device) -> DeviceKind {
    #[cfg(feature = "cube")]
    if let Some(kind) = gpu::kind(device) {
        return kind;
    }
    let _ = device;
    DeviceKind::Processor
}

/// The precisions in which a device can store, convert and compute, as its driver reports them. Nothing is computed to find out: an operation
/// that a driver cannot compile may lose the device.
fn precisions(device: &Device) -> Vec<&'static str> {
    let supported = PRECISIONS
        .into_iter()
        .filter(|&(_, dtype)| device.supports_dtype(dtype) && has_exponentials(device, dtype));
    supported.map(|(name, _)| name).collect()
}

/// Whether losses can be computed. Shading languages (WGSL, MSL, the extended instructions of SPIR-V) have no exponential or logarithm of
/// doubles, even where devices add and multiply them.
fn has_exponentials(device: &Device, dtype: FloatDType) -> bool {
    #[cfg(feature = "cube")]
    if dtype == FloatDType::F64 {
        return !gpu::runs_shaders(device);
    }
    let _ = (device, dtype);
    true
}
