//! Launches of kernels.

use super::{call_on, pointers::In, tensor_maps};
use crate::{
    graph::Node,
    kernel::Kernel,
    launch::{Address, Launch, Shape},
    ptx::Parameter,
    status::{CuResult, Refusal, Status},
};
use std::{
    ffi::{c_uint, c_void},
    sync::Arc,
};

/// Checks and counts a launch. `extra`, the other way to pass arguments, is not supported.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchKernel(
    kernel: u64,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared: c_uint,
    stream: u64,
    arguments: In<u64>,
    extra: In<c_void>,
) -> CuResult {
    call_on("cuLaunchKernel", stream, |driver, device| {
        let kernel = driver.kernels.get(kernel)?;
        if !extra.is_null() {
            return Err(Refusal::new(Status::NotSupported, "arguments in `extra`").into());
        }
        if kernel.device != device {
            let reason = format!(
                "the kernel was loaded on device {}, the stream is on device {device}",
                kernel.device
            );
            return Err(Refusal::new(Status::InvalidHandle, reason)
                .of_kernel(&kernel.entry.name)
                .into());
        }
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared,
        };
        shape.check(kernel)?;
        let launch = Launch {
            kernel: Arc::clone(&kernel.entry),
            device,
            shape,
            addresses: addresses(kernel, &arguments).map_err(|refusal| refusal.of_kernel(&kernel.entry.name))?,
        };
        // SAFETY: a launch does not touch the host's memory.
        unsafe { driver.enqueue(stream, Node::Kernel(launch)) }
    })
}

/// Reads the arguments that are addresses, or contain one.
fn addresses(kernel: &Kernel, arguments: &In<u64>) -> Result<Vec<Address>, Refusal> {
    let mut addresses = Vec::new();
    for (index, parameter) in kernel.entry.parameters.iter().enumerate() {
        let missing = |_| Refusal::new(Status::InvalidValue, format!("parameter {index} has no argument"));
        let argument = arguments.at(index).map_err(missing)?;
        let (value, is_written) = match *parameter {
            Parameter::Pointer { is_written } => (In::from_address(argument).at(0).map_err(missing)?, is_written),
            Parameter::TensorMap => {
                let map = In::from_address(argument).at(0).map_err(missing)?;
                (tensor_maps::address(&map).unwrap_or_default(), false)
            }
            Parameter::Value => continue,
        };
        if value != 0 {
            addresses.push(Address {
                parameter: index,
                value,
                is_written,
            });
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{
            contexts::cuCtxSynchronize,
            events::cuEventSynchronize,
            fixture::{Gpu, assert_refused},
            memory::{cuMemAlloc_v2, cuMemFree_v2},
            modules::cuFuncSetAttribute,
        },
        log::ProcessLog,
        settings::Settings,
    };

    const ONE: [u32; 3] = [1, 1, 1];

    fn addresses(gpu: &Gpu) -> [u64; 2] {
        [gpu.allocate(64), gpu.allocate(64)]
    }

    #[test]
    fn launches_are_counted_per_kernel() {
        let gpu = Gpu::new();
        let (add, wide, addresses) = (gpu.kernel(c"add"), gpu.kernel(c"wide"), addresses(&gpu));
        assert_eq!(gpu.add(add, 0, addresses), 0);
        assert_eq!(gpu.launch(add, gpu.stream(), [[2, 3, 1], [8, 8, 4]], 100, addresses), 0);
        assert_eq!(gpu.launch(wide, 0, [[2, 1, 1], [64, 1, 1]], 0, addresses), 0);
        let log = gpu.log();
        let counts = |index: usize| {
            let kernel = &log.kernels[index];
            (
                kernel.name.as_str(),
                kernel.launches,
                kernel.blocks,
                kernel.threads,
                kernel.dynamic_shared_bytes,
            )
        };
        assert_eq!(counts(0), ("add", 2, 10, 128 + 6 * 256, 100));
        assert_eq!(counts(1), ("wide", 1, 2, 128, 0));
        assert_eq!(
            (log.launches, log.blocks, log.launches_per_device, log.refused),
            (3, 12, vec![3], vec![])
        );
    }

    #[test]
    fn grids_and_blocks_have_limits() {
        let gpu = Gpu::new();
        let (add, wide, addresses) = (gpu.kernel(c"add"), gpu.kernel(c"wide"), addresses(&gpu));
        let refused = |kernel, shape, status, reason| assert_refused(gpu.launch(kernel, 0, shape, 0, addresses), status, reason);
        for grid in [[0, 1, 1], [1, 65_536, 1], [1, 1, 65_536], [1 << 31, 1, 1]] {
            refused(
                add,
                [grid, ONE],
                Status::InvalidValue,
                "blocks; at most 2147483647 x 65535 x 65535",
            );
        }
        for block in [[1, 0, 1], [1025, 1, 1], [1, 1, 65]] {
            refused(add, [ONE, block], Status::InvalidValue, "threads; at most 1024 x 1024 x 64");
        }
        refused(add, [ONE, [33, 32, 1]], Status::InvalidValue, "at most 1024 in all");
        refused(wide, [[2, 1, 1], [65, 1, 1]], Status::InvalidValue, "at most 64 in all");
        refused(
            wide,
            [[3, 1, 1], [64, 1, 1]],
            Status::InvalidClusterSize,
            "clusters of 2 x 1 x 1",
        );
        assert_eq!(gpu.launch(add, 0, [[1, 65_535, 65_535], [16, 1, 64]], 0, addresses), 0);
        assert_eq!(gpu.log().launches, 1);
    }

    #[test]
    fn more_than_48_kib_of_shared_memory_must_be_asked_for() {
        let gpu = Gpu::new();
        let (add, addresses) = (gpu.kernel(c"add"), addresses(&gpu));
        let launch = |shared| gpu.launch(add, 0, [ONE, ONE], shared, addresses);
        assert_eq!(launch(48 << 10), 0);
        assert_refused(
            launch((48 << 10) + 1),
            Status::InvalidValue,
            "cuFuncSetAttribute can allow more",
        );
        assert_eq!(cuFuncSetAttribute(add, 8, 232_448), 0);
        assert_eq!(launch(232_448), 0);
        assert_refused(launch(232_449), Status::InvalidValue, "more than the device has");
        assert_refused(
            cuFuncSetAttribute(add, 8, 232_449),
            Status::InvalidValue,
            "the device has 232448",
        );
        assert_eq!(gpu.log().kernels[0].dynamic_shared_bytes, 232_448);
    }

    #[test]
    fn a_kernel_that_gets_freed_memory_loses_the_device() {
        let gpu = Gpu::new();
        let (add, [first, second]) = (gpu.kernel(c"add"), addresses(&gpu));
        assert_eq!(gpu.add(add, 0, [first, 0]), 0);
        assert_eq!(cuMemFree_v2(second), 0);
        assert_refused(gpu.add(add, 0, [first, second]), Status::IllegalAddress, "parameter 1: ");
        assert_eq!(cuCtxSynchronize(), Status::IllegalAddress as CuResult);
        let log = gpu.log();
        assert_eq!((log.launches, log.refused.len(), log.lost_by.as_deref()), (1, 1, Some("add")));
        assert_eq!(log.refused[0].kernel.as_deref(), Some("add"));
        assert!(log.refused[0].reason.contains("was freed"), "{log:?}");
    }

    #[test]
    fn a_kernel_that_gets_memory_of_another_device_loses_its_own() {
        let gpu = Gpu::with(Settings {
            devices: 2,
            ..Settings::default()
        });
        let (of_first, other) = (gpu.kernel(c"add"), gpu.allocate(64));
        gpu.use_device(1);
        let (of_second, own) = (gpu.kernel(c"add"), gpu.allocate(64));
        assert_refused(gpu.add(of_first, 0, [0, 0]), Status::InvalidHandle, "loaded on device 0");
        assert_eq!(gpu.add(of_second, 0, [own, own]), 0);
        assert_refused(
            gpu.add(of_second, 0, [own, other]),
            Status::IllegalAddress,
            "is memory of device 0",
        );
        gpu.use_device(0);
        assert_eq!(gpu.add(of_first, 0, [other, 0]), 0);
        assert_eq!(gpu.log().launches_per_device, [1, 1]);
    }

    #[test]
    fn arguments_must_be_there() {
        let gpu = Gpu::new();
        let launch = |extra| {
            cuLaunchKernel(
                gpu.kernel(c"add"),
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                0,
                In::from_address(0),
                In::from_address(extra),
            )
        };
        assert_refused(launch(0), Status::InvalidValue, "parameter 0 has no argument");
        assert_refused(launch(1), Status::NotSupported, "extra");
    }

    #[test]
    fn the_launch_that_is_asked_to_fail_loses_the_device() {
        let gpu = Gpu::with(Settings {
            fail_launch: Some(2),
            ..Settings::default()
        });
        let (add, addresses, event) = (gpu.kernel(c"add"), addresses(&gpu), gpu.event());
        let lost = Status::IllegalAddress as CuResult;
        assert_eq!([0; 3].map(|stream| gpu.add(add, stream, addresses)), [0, lost, lost]);
        let mut address = 0;
        assert_eq!(
            [cuMemAlloc_v2((&mut address).into(), 16), cuMemFree_v2(addresses[0])],
            [lost; 2]
        );
        assert_eq!(cuEventSynchronize(event), lost);
        let ProcessLog {
            launches,
            refused,
            lost_by,
            ..
        } = gpu.log();
        assert_eq!((launches, refused, lost_by.as_deref()), (1, vec![], Some("add")));
    }
}
