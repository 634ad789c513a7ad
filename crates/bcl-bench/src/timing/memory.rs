//! Memory of this process and of the machine, if the system reports it (Linux).

use bcl_backend::{Backend, DeviceInfo, DeviceKind, release_memory};
use burn::tensor::Device;
use std::fs;

/// Measures how much memory a measurement adds.
pub(super) struct Meter {
    /// The GPU that computes; `None` for the CPU, where we measure the memory of the process.
    gpu: Option<Device>,
    before: Option<f64>,
}

impl Meter {
    /// Gives free memory back first, which would otherwise be used unnoticed.
    pub(super) fn start(backend: &Backend) -> Self {
        let gpu = (backend.info().kind != DeviceKind::Processor).then(|| backend.device());
        let before = if let Some(device) = &gpu {
            device.memory_cleanup();
            reserved(device)
        } else {
            release_memory();
            forget_peak();
            resident()
        };
        Self { gpu, before }
    }

    /// The peak since the start in MiB. A GPU's pools keep all memory that they reserve.
    pub(super) fn extra_mib(&self) -> Option<f64> {
        let peak = self.gpu.as_ref().map_or_else(peak, reserved);
        Some(peak? - self.before?)
    }
}

fn reserved(device: &Device) -> Option<f64> {
    Some(mib(device.memory_pool_usage()?.bytes_reserved))
}

/// Bytes in MiB.
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The memory available to a device in MiB.
pub(super) fn of(device: &DeviceInfo) -> Option<f64> {
    match device.kind {
        DeviceKind::Processor | DeviceKind::Software => available(),
        _ => device.memory_bytes.map(mib),
    }
}

/// The peak memory of this process in MiB.
fn peak() -> Option<f64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Starts the peak again at the current memory, if the system can.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The current memory of this process in MiB.
fn resident() -> Option<f64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The memory available without swapping in MiB.
pub(super) fn available() -> Option<f64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// A field of these files in MiB; the files count in kB.
fn field(text: &str, name: &str) -> Option<f64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: f64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_and_converted() {
        let text = "Name:\tbcl\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(field(text, "VmHWM:"), Some(2.0));
        assert_eq!(field(text, "VmSwap:"), None);
    }
}
