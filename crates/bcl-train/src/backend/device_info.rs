//! What a device tells of itself.

use super::processor;
use crate::cli::BackendChoice;
use burn::tensor::{DType, Device, FloatDType, Tensor};
use serde::Serialize;

/// What sort of thing computes, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    DiscreteGpu,
    /// A GPU that shares the processor's memory.
    IntegratedGpu,
    /// A GPU that is lent to a virtual machine.
    VirtualGpu,
    /// A device of which its driver does not say more.
    Other,
    /// A processor that poses as a GPU: right, and slow.
    Software,
    /// The processor itself.
    Processor,
}

/// A device as users see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Its backend, as `--backend` names it.
    pub backend: &'static str,
    /// Its place among the devices of the backend, as `--device` counts them, from 0.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// What sort of thing it is.
    pub kind: DeviceKind,
    /// Its memory, bytes, where that is told.
    pub memory_bytes: Option<u64>,
    /// The driver with its version, where that is told.
    pub driver: Option<String>,
    /// The precisions in which it can store, convert and compute.
    pub precisions: Vec<&'static str>,
}

/// The precisions that are asked for, the widest first.
const PRECISIONS: [(&str, FloatDType); 4] = [
    ("f64", FloatDType::F64),
    ("f32", FloatDType::F32),
    ("bf16", FloatDType::BF16),
    ("f16", FloatDType::F16),
];

impl DeviceInfo {
    /// Reads what a device tells of itself. A GPU is opened for that, and computes a first sum.
    ///
    /// # Errors
    /// When it cannot be opened or does not compute, with what its driver says.
    #[cfg_attr(
        not(feature = "cube"),
        allow(clippy::unnecessary_wraps, reason = "the processor needs no opening")
    )]
    pub(super) fn read(choice: BackendChoice, index: usize, device: &Device) -> Result<Self, String> {
        #[cfg(feature = "cube")]
        if choice != BackendChoice::Flex {
            return super::gpu::read(choice, index, device);
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

/// What sort of thing a device is; nothing is opened.
pub(super) fn kind(device: &Device) -> DeviceKind {
    #[cfg(feature = "cube")]
    if let Some(kind) = super::gpu::kind(device) {
        return kind;
    }
    let _ = device;
    DeviceKind::Processor
}

pub(super) fn precisions(device: &Device) -> Vec<&'static str> {
    let supported = PRECISIONS
        .into_iter()
        .filter(|&(_, dtype)| device.supports_dtype(dtype) && computes(device, dtype));
    supported.map(|(name, _)| name).collect()
}

/// Whether a device computes in a precision that it says it has. Drivers that store doubles may have no exponential of them, and say
/// nothing.
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
