//! What each device is: an H100, except for its memory.

/// Version of the driver: CUDA 13.0.
pub(crate) const DRIVER_VERSION: i32 = 13_000;

/// The newest PTX that this version can compile.
pub(crate) const PTX_VERSION: (u32, u32) = (9, 0);

/// Major and minor compute capability.
pub(crate) const COMPUTE_CAPABILITY: (i32, i32) = (9, 0);

pub(crate) const THREADS_PER_BLOCK: u32 = 1024;
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub(crate) const MAX_GRID: [u32; 3] = [2_147_483_647, 65_535, 65_535];
pub(crate) const MAX_CLUSTER: u32 = 8;
pub(crate) const MULTIPROCESSORS: i32 = 132;
const THREADS_PER_MULTIPROCESSOR: i32 = 2048;
const BLOCKS_PER_MULTIPROCESSOR: i32 = 32;

/// Shared memory of each block, in bytes: by default, and with the attribute of the kernel that allows more.
pub(crate) const SHARED_PER_BLOCK: u32 = 48 << 10;
pub(crate) const SHARED_PER_BLOCK_ON_REQUEST: u32 = 227 << 10;
const SHARED_PER_MULTIPROCESSOR: i32 = 228 << 10;
const SHARED_RESERVED_PER_BLOCK: i32 = 1 << 10;

/// The device attributes (`CUdevice_attribute`) and their values. Of the first 150, those that are missing here are 0: textures and surfaces, and
/// what the device does not have.
const ATTRIBUTES: &[(i32, i32)] = &[
    // Threads per block, and the dimensions of blocks and grids.
    (1, THREADS_PER_BLOCK as i32),
    (2, MAX_BLOCK[0] as i32),
    (3, MAX_BLOCK[1] as i32),
    (4, MAX_BLOCK[2] as i32),
    (5, MAX_GRID[0] as i32),
    (6, MAX_GRID[1] as i32),
    (7, MAX_GRID[2] as i32),
    // Shared and constant memory, warp size, pitch, registers per block.
    (8, SHARED_PER_BLOCK as i32),
    (9, 65_536),
    (10, 32),
    (11, i32::MAX),
    (12, 65_536),
    // Clock in kHz, alignment of textures, copies during kernels, multiprocessors, mapped host memory.
    (13, 1_980_000),
    (14, 512),
    (15, 1),
    (16, MULTIPROCESSORS),
    (19, 1),
    // Alignment of surfaces, concurrent kernels, error correction.
    (30, 512),
    (31, 1),
    (32, 1),
    // Memory clock in kHz, bus width in bits, level 2 cache, threads per multiprocessor, copy engines, unified addresses.
    (36, 2_619_000),
    (37, 5_120),
    (38, 50 << 20),
    (39, THREADS_PER_MULTIPROCESSOR),
    (40, 3),
    (41, 1),
    (51, 32),
    (75, COMPUTE_CAPABILITY.0),
    (76, COMPUTE_CAPABILITY.1),
    // Stream priorities, level 1 caches, shared memory and registers per multiprocessor, managed memory.
    (78, 1),
    (79, 1),
    (80, 1),
    (81, SHARED_PER_MULTIPROCESSOR),
    (82, 65_536),
    (83, 1),
    (87, 2),
    (89, 1),
    (90, 1),
    // Cooperative launches, shared memory per block on request, registered host memory.
    (95, 1),
    (97, SHARED_PER_BLOCK_ON_REQUEST as i32),
    (99, 1),
    // Virtual memory management, blocks per multiprocessor, persisting level 2 cache, reserved shared memory.
    (102, 1),
    (103, 1),
    (106, BLOCKS_PER_MULTIPROCESSOR),
    (108, 32_768_000),
    (109, 134_213_632),
    (111, SHARED_RESERVED_PER_BLOCK),
    // Memory pools, clusters, access to tensor maps.
    (115, 1),
    (120, 1),
    (127, 1),
];

/// Number of the attribute that is the bus number, which is different for each device.
const PCI_BUS: i32 = 33;

/// Priorities of streams: the least and the greatest.
pub(crate) const PRIORITIES: (i32, i32) = (0, -5);

/// The value of an attribute, if there is one of that number.
pub(crate) fn attribute(device: usize, number: i32) -> Option<i32> {
    if number == PCI_BUS {
        return Some(device as i32 + 1);
    }
    let known = ATTRIBUTES.iter().find(|(known, _)| *known == number).map(|(_, value)| *value);
    known.or((1..=150).contains(&number).then_some(0))
}

/// The name of each device.
pub(crate) const NAME: &str = "Fake H100 (kernels are not executed)";

/// The address of a device on the PCI bus.
pub(crate) fn pci_address(device: usize) -> String {
    format!("0000:{:02x}:00.0", device + 1)
}

/// The identifier of a device.
pub(crate) fn uuid(device: usize) -> [u8; 16] {
    let mut uuid = *b"fake-cuda-device";
    uuid[15] = device as u8;
    uuid
}

/// Whether PTX for a target can be compiled for this device. Targets with a letter are for one architecture only.
pub(crate) fn runs(target: &str) -> bool {
    match target.strip_prefix("sm_").map(str::parse::<u32>) {
        Some(Ok(version)) => version <= 90,
        _ => target == "sm_90a",
    }
}

/// How many blocks of a kernel a multiprocessor can hold, registers aside.
pub(crate) fn resident_blocks(threads: i32, shared: u64) -> i32 {
    if threads <= 0 || threads > THREADS_PER_BLOCK as i32 {
        return 0;
    }
    let warps = (threads + 31) / 32;
    let by_threads = THREADS_PER_MULTIPROCESSOR / 32 / warps;
    let by_shared = SHARED_PER_MULTIPROCESSOR as u64 / (shared + SHARED_RESERVED_PER_BLOCK as u64);
    by_threads.min(by_shared as i32).min(BLOCKS_PER_MULTIPROCESSOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_those_of_an_h100() {
        let values = [16, 97, 10, 75, 76, 4].map(|number| attribute(0, number));
        assert_eq!(values, [132, 232_448, 32, 9, 0, 64].map(Some));
        assert_eq!((attribute(0, 17), attribute(0, 0), attribute(0, 151)), (Some(0), None, None));
        assert_eq!((attribute(0, 33), attribute(1, 33)), (Some(1), Some(2)));
    }

    #[test]
    fn ptx_for_newer_or_other_architectures_does_not_run() {
        for target in ["sm_52", "sm_80", "sm_90", "sm_90a"] {
            assert!(runs(target), "{target}");
        }
        for target in ["sm_100", "sm_100a", "sm_89a", "compute"] {
            assert!(!runs(target), "{target}");
        }
    }

    #[test]
    fn resident_blocks_are_limited_by_threads_and_shared_memory() {
        assert_eq!(resident_blocks(256, 0), 8);
        assert_eq!(resident_blocks(32, 0), 32);
        assert_eq!(resident_blocks(256, 100 << 10), 2);
        assert_eq!(resident_blocks(2048, 0), 0);
    }
}
