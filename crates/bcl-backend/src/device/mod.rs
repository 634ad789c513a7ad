//! What a device reports about itself.

#[cfg(feature = "cube")]
mod gpu;
#[cfg(feature = "cube")]
mod guard;

use crate::{BackendChoice, processor};
use burn::tensor::{DType, Device, FloatDType, Tensor};
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

fn precisions(device: &Device) -> Vec<&'static str> {
    let supported = PRECISIONS
        .into_iter()
        .filter(|&(_, dtype)| device.supports_dtype(dtype) && computes(device, dtype));
    supported.map(|(name, _)| name).collect()
}

/// Whether a device really computes in a precision that it claims to support. Some drivers store doubles but cannot take their
/// exponential, and do not say so.
fn computes(device: &Device, dtype: FloatDType) -> bool {
    let tolerance = match dtype {
        FloatDType::F64 => 1e-12,
        FloatDType::F32 => 1e-5,
        _ => 2e-2,
    };
    let x = Tensor::<1>::from_data([0.75f64], (device, DType::from(dtype)));
    let found = (x.clone().exp() + x.log()).try_into_data();
    let expected = 0.75f64.exp() + 0.75f64.ln();
    found.is_ok_and(|found| found.iter::<f64>().all(|found| (found - expected).abs() < tolerance))
}
