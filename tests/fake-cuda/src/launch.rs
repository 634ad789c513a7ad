//! Launches, and what a GPU refuses of them.

use crate::{
    device,
    kernel::Kernel,
    memory::Memory,
    ptx::Entry,
    status::{Refusal, Status, refuse},
};
use std::sync::Arc;

/// Blocks, threads and shared memory of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Blocks per dimension.
    pub(crate) grid: [u32; 3],
    /// Threads per dimension of a block.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub(crate) dynamic_shared: u32,
}

/// A launch that is to be run or to become part of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: Arc<Entry>,
    pub(crate) device: usize,
    pub(crate) shape: Shape,
    /// The addresses among the arguments.
    pub(crate) addresses: Vec<Address>,
}

/// An address among the arguments of a launch. Null is an empty buffer, and is not among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    /// Number of its parameter.
    pub(crate) parameter: usize,
    pub(crate) value: u64,
    /// Whether the kernel writes there.
    pub(crate) is_written: bool,
}

impl Shape {
    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|&count| u64::from(count)).product()
    }

    pub(crate) fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&count| u64::from(count)).product()
    }

    /// Checks the limits of the device and of the kernel.
    pub(crate) fn check(&self, kernel: &Kernel) -> Result<(), Refusal> {
        self.check_dimensions(kernel)
            .and_then(|()| self.check_shared(kernel))
            .map_err(|refusal| refusal.of_kernel(&kernel.entry.name))
    }

    fn check_dimensions(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let Self { grid, block, .. } = *self;
        let fits = |size: [u32; 3], most: [u32; 3]| size.iter().zip(most).all(|(&size, most)| (1..=most).contains(&size));
        if !fits(grid, device::MAX_GRID) {
            return refuse(
                Status::InvalidValue,
                format!("{} blocks; at most {}", times(grid), times(device::MAX_GRID)),
            );
        }
        if !fits(block, device::MAX_BLOCK) {
            return refuse(
                Status::InvalidValue,
                format!("blocks of {} threads; at most {}", times(block), times(device::MAX_BLOCK)),
            );
        }
        let most = kernel.max_threads();
        if self.threads_per_block() > u64::from(most) {
            let reason = format!("blocks of {} threads; at most {most} in all", times(block));
            return refuse(Status::InvalidValue, reason);
        }
        if let Some(required) = kernel.entry.required_block.filter(|required| *required != block) {
            let reason = format!("blocks of {} threads; the kernel requires {}", times(block), times(required));
            return refuse(Status::InvalidValue, reason);
        }
        if let Some(cluster) = kernel.entry.cluster {
            let divides = grid
                .iter()
                .zip(cluster)
                .all(|(grid, cluster)| cluster > 0 && grid.is_multiple_of(cluster));
            if !divides || cluster.iter().product::<u32>() > device::MAX_CLUSTER {
                let reason = format!("{} blocks in clusters of {}", times(grid), times(cluster));
                return refuse(Status::InvalidClusterSize, reason);
            }
        }
        Ok(())
    }

    fn check_shared(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let (dynamic, allowed) = (self.dynamic_shared, kernel.max_dynamic_shared);
        if dynamic > allowed {
            let hint = match dynamic.saturating_add(kernel.entry.static_shared) {
                total if total > device::SHARED_PER_BLOCK_ON_REQUEST => "more than the device has",
                _ => "cuFuncSetAttribute can allow more",
            };
            let reason = format!("{dynamic} bytes of dynamic shared memory, of which {allowed} are allowed; {hint}");
            return refuse(Status::InvalidValue, reason);
        }
        Ok(())
    }
}

impl Launch {
    /// Checks that each address is in memory of the device.
    pub(crate) fn check_addresses(&self, memory: &Memory) -> Result<(), Refusal> {
        for &Address { parameter, value, .. } in &self.addresses {
            let wrong = match memory.find(value) {
                Ok((device, _)) if device == self.device => continue,
                Ok((device, _)) => format!(
                    "{value:#x} is memory of device {device}, the kernel runs on device {}",
                    self.device
                ),
                Err(what) => what,
            };
            let refusal = Refusal::new(Status::IllegalAddress, format!("parameter {parameter}: {wrong}"));
            return Err(refusal.of_kernel(&self.kernel.name));
        }
        Ok(())
    }
}

fn times([x, y, z]: [u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}
