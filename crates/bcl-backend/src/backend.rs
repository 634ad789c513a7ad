//! An open device of a backend.

use crate::{BackendChoice, BackendError, DeviceInfo, DeviceKind, built, failure, processor};
use burn::tensor::Device;

/// An open device of a backend.
#[derive(Debug, Clone)]
pub struct Backend {
    info: DeviceInfo,
    device: Device,
}

impl Backend {
    /// Opens a device of a backend: the one at `index` in the order of the [inventory](crate::Inventory), or the first one, which is the
    /// best.
    ///
    /// [`BackendChoice::Auto`] takes the fastest backend that finds a device, but no CPU that presents itself as a GPU: flex is
    /// faster.
    ///
    /// # Errors
    /// Returns an error if the backend is not in this build, has no such device, or cannot compute on it.
    pub fn open(choice: BackendChoice, index: Option<usize>) -> Result<Self, BackendError> {
        let candidates = choice.candidates(&built())?;
        if choice != BackendChoice::Auto {
            return Self::open_at(choice, index.unwrap_or(0));
        }
        if let Some(index) = index {
            return Err(BackendError::IndexOfNothing { index });
        }
        let opened = candidates
            .into_iter()
            .filter_map(|candidate| Self::open_at(candidate, 0).ok())
            .find(|backend| backend.info.kind != DeviceKind::Software);
        opened.map_or_else(|| Self::open_at(BackendChoice::Flex, 0), Ok)
    }

    /// Opens the device that the process at place `process` among those on this machine computes on, so that each has a device of its own:
    /// they take turns if there are fewer devices than processes.
    ///
    /// # Errors
    /// Returns the same errors as [`open`](Self::open).
    pub fn open_for_process(choice: BackendChoice, process: usize) -> Result<Self, BackendError> {
        let index_of = |choice| device_of_process(process, built::devices(choice).len());
        if choice != BackendChoice::Auto {
            return Self::open(choice, Some(index_of(choice)));
        }
        let opened = choice
            .candidates(&built())?
            .into_iter()
            .filter_map(|candidate| Self::open_at(candidate, index_of(candidate)).ok())
            .find(|backend| backend.info.kind != DeviceKind::Software);
        opened.map_or_else(|| Self::open_at(BackendChoice::Flex, 0), Ok)
    }

    fn open_at(choice: BackendChoice, index: usize) -> Result<Self, BackendError> {
        let devices = built::devices(choice);
        let Some(device) = devices.get(index).cloned() else {
            return Err(match devices.len() {
                0 => BackendError::NoDevice { choice },
                _ => BackendError::no_such_device(choice, index, &devices),
            });
        };
        let info =
            DeviceInfo::read(choice, index, &device).map_err(|problem| BackendError::Unusable { choice, index, problem })?;
        if info.kind != DeviceKind::Processor {
            failure::watch(&info);
        }
        Ok(Self { info, device })
    }

    /// Name of the backend.
    pub fn name(&self) -> &'static str {
        self.info.backend
    }

    /// Properties of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The device for evaluation, without gradients.
    pub fn device(&self) -> Device {
        self.device.clone()
    }

    /// The device for training, with gradients.
    pub fn training_device(&self) -> Device {
        self.device.clone().autodiff()
    }

    /// Peak memory in bytes, if known: on a GPU the memory that this process has reserved there, which it keeps for later tensors; on the CPU the
    /// resident memory of this process.
    pub fn peak_memory(&self) -> Option<u64> {
        if self.info.kind == DeviceKind::Processor {
            return processor::field_in_bytes("/proc/self/status", "VmHWM:");
        }
        Some(self.device.memory_pool_usage()?.bytes_reserved)
    }
}

/// The index of the device of a process, by its place among those on its machine. Without devices, it is the first, and opening that fails with the
/// error of one process.
fn device_of_process(process: usize, num_devices: usize) -> usize {
    process % num_devices.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_of_a_machine_has_a_device_of_its_own_and_more_processes_take_turns() {
        let of_processes = |num_devices| [0, 1, 2, 3, 4].map(|process| device_of_process(process, num_devices));
        assert_eq!(of_processes(8), [0, 1, 2, 3, 4]);
        assert_eq!(of_processes(2), [0, 1, 0, 1, 0]);
        assert_eq!(of_processes(0), [0; 5]);
    }

    #[test]
    fn all_processes_of_a_machine_share_its_processor() {
        for process in [0, 1, 5] {
            for choice in [BackendChoice::Flex, BackendChoice::Auto] {
                let backend = Backend::open_for_process(choice, process).unwrap();
                assert_eq!((backend.name(), backend.info().index), ("flex", 0));
            }
        }
    }
}
