//! GPUs: what they report about themselves, and their first use.

use super::{DeviceInfo, DeviceKind, guard, precisions};
use crate::{BackendChoice, processor};
use burn::{
    backend::{CubeDevice, DispatchDevice},
    tensor::{Device, Tensor},
};

/// The kind of a GPU; `None` for the CPU.
pub(super) fn kind(device: &Device) -> Option<DeviceKind> {
    match device.as_dispatch() {
        #[cfg(feature = "graphics")]
        DispatchDevice::Cube(CubeDevice::Wgpu(device)) => Some(graphics::kind(device)),
        DispatchDevice::Cube(CubeDevice::Cuda(_)) => Some(DeviceKind::DiscreteGpu),
        _ => None,
    }
}

/// Whether the kernels of a device are shaders, which wgpu compiles.
pub(super) fn runs_shaders(device: &Device) -> bool {
    #[cfg(feature = "graphics")]
    return matches!(device.as_dispatch(), DispatchDevice::Cube(CubeDevice::Wgpu(_)));
    #[cfg(not(feature = "graphics"))]
    {
        let _ = device;
        false
    }
}

/// Opens a GPU, computes one sum on it, and reads its properties.
pub(super) fn read(choice: BackendChoice, index: usize, device: &Device) -> Result<DeviceInfo, String> {
    guard::panics_as_errors(|| {
        let DispatchDevice::Cube(cube) = device.as_dispatch() else {
            return Err("it is not a GPU".to_owned());
        };
        let driver = open(cube)?;
        compute(device)?;
        let client = cube.client();
        let properties = client.properties();
        let kind = kind(device).unwrap_or(DeviceKind::Other);
        let reported = properties.memory.max_memory();
        Ok(DeviceInfo {
            backend: choice.name(),
            index,
            name: properties.identity.name.clone(),
            kind,
            memory_bytes: reported.or_else(|| processor::memory().filter(|_| kind == DeviceKind::Software)),
            driver,
            precisions: precisions(device),
        })
    })
}

/// Opens a wgpu device and returns its driver. CUDA devices open at their first use.
fn open(device: &CubeDevice) -> Result<Option<String>, String> {
    match device {
        #[cfg(feature = "graphics")]
        CubeDevice::Wgpu(device) => graphics::open(device),
        _ => Ok(nvidia_driver()),
    }
}

/// Computes one sum: a device that opens may still lack what compiles kernels, such as NVRTC.
fn compute(device: &Device) -> Result<(), String> {
    let sum = Tensor::<1>::ones([1], device) + 1.0;
    let sum = sum.try_into_data().map_err(|error| error.to_string())?;
    let sum = sum.iter::<f32>().next();
    if sum == Some(2.0) {
        Ok(())
    } else {
        Err(format!("it computes 1 + 1 as {sum:?}"))
    }
}

/// Reads the driver version from the kernel module's line, such as `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15
/// Tue Mar  5 22:23:56 UTC 2024`.
fn nvidia_driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    let version = text.lines().next()?.split_whitespace().find(is_version)?;
    Some(format!("NVIDIA {version}"))
}

#[cfg(feature = "graphics")]
mod graphics {
    //! Devices that wgpu reaches through Vulkan, Metal or an API that it chooses.

    use super::DeviceKind;
    use burn::backend::wgpu::{RuntimeOptions, WgpuDevice, graphics::AutoGraphicsApi, try_init_setup};
    use burn::backend::{WgpuDeviceKind, wgpu::WgpuInitError};

    pub(super) fn kind(device: &WgpuDevice) -> DeviceKind {
        match device.kind {
            WgpuDeviceKind::DiscreteGpu(_) => DeviceKind::DiscreteGpu,
            WgpuDeviceKind::IntegratedGpu(_) => DeviceKind::IntegratedGpu,
            WgpuDeviceKind::VirtualGpu(_) => DeviceKind::VirtualGpu,
            WgpuDeviceKind::Cpu => DeviceKind::Software,
            _ => DeviceKind::Other,
        }
    }

    /// Opens a device, and returns an error where the first use by Burn would panic on another thread.
    pub(super) fn open(device: &WgpuDevice) -> Result<Option<String>, String> {
        let options = RuntimeOptions::try_default().map_err(|error| error.to_string())?;
        match try_init_setup::<AutoGraphicsApi>(device, options) {
            Ok(setup) => {
                let adapter = setup.adapter.get_info();
                let driver = format!("{} {}", adapter.driver, adapter.driver_info);
                let driver = driver.trim();
                Ok((!driver.is_empty()).then(|| driver.to_owned()))
            }
            // The device was opened earlier in this process.
            Err(WgpuInitError::Registration { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}
