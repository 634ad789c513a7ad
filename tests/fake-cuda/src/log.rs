//! What a process did on its devices, as it is written when the process ends.

use serde::{Deserialize, Serialize};

/// One line of the file `FAKE_CUDA_LOG`: what a process did on all its devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessLog {
    /// Process number.
    pub pid: u32,
    /// File name of the program.
    pub program: String,
    /// Kernels launched, those in graphs included.
    pub launches: u64,
    /// Thread blocks of all launches.
    pub blocks: u64,
    /// Threads of all launches.
    pub threads: u64,
    /// Kernels launched on each device.
    pub launches_per_device: Vec<u64>,
    /// The kernels that were launched, by name.
    pub kernels: Vec<KernelLog>,
    /// Copies from the host to a device.
    pub copies_up: Copies,
    /// Copies from a device to the host.
    pub copies_down: Copies,
    /// Copies from device to device.
    pub copies_across: Copies,
    /// Allocations of device memory.
    pub allocations: u64,
    /// Frees of device memory.
    pub frees: u64,
    /// Device memory in use at its peak, on all devices together.
    pub peak_bytes: u64,
    /// Waits for a stream, an event or a context.
    pub waits: u64,
    /// Modules loaded.
    pub modules: u64,
    /// Graphs captured.
    pub graphs_captured: u64,
    /// Graphs launched.
    pub graph_launches: u64,
    /// Kernels launched as part of graphs.
    pub launches_in_graphs: u64,
    /// What a GPU would have refused. Empty unless the program has a bug.
    pub refused: Vec<RefusedCall>,
    /// The kernel whose launch lost its device, because `FAKE_CUDA_FAIL_LAUNCH` asked for it or because it used memory that is not allocated.
    pub lost_by: Option<String>,
}

/// Launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLog {
    /// Name of its entry in the PTX.
    pub name: String,
    /// Launches, those in graphs included.
    pub launches: u64,
    /// Thread blocks of all launches.
    pub blocks: u64,
    /// Threads of all launches.
    pub threads: u64,
    /// Dynamic shared memory of the launch with the most, in bytes.
    pub dynamic_shared_bytes: u32,
}

/// Copies in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copies {
    /// Number of copies.
    pub count: u64,
    /// Bytes copied.
    pub bytes: u64,
}

/// A call that a GPU would have refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// Function of the driver API.
    pub call: String,
    /// The kernel, if it was a launch.
    pub kernel: Option<String>,
    /// Name of the error code that was returned.
    pub status: String,
    /// What was wrong.
    pub reason: String,
    /// How often the same happened.
    pub times: u64,
}

impl Copies {
    /// Counts a copy.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

impl ProcessLog {
    /// What two processes did together. Number and program come from the first that has them.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        if self.pid == 0 {
            self.pid = other.pid;
            self.program.clone_from(&other.program);
        }
        for kernel in &other.kernels {
            let sum = self.kernel(&kernel.name);
            sum.launches += kernel.launches;
            sum.blocks = sum.blocks.saturating_add(kernel.blocks);
            sum.threads = sum.threads.saturating_add(kernel.threads);
            sum.dynamic_shared_bytes = sum.dynamic_shared_bytes.max(kernel.dynamic_shared_bytes);
        }
        for (sum, copies) in [
            (&mut self.copies_up, other.copies_up),
            (&mut self.copies_down, other.copies_down),
            (&mut self.copies_across, other.copies_across),
        ] {
            sum.count += copies.count;
            sum.bytes += copies.bytes;
        }
        let devices = self.launches_per_device.len().max(other.launches_per_device.len());
        self.launches_per_device.resize(devices, 0);
        for (sum, launches) in self.launches_per_device.iter_mut().zip(&other.launches_per_device) {
            *sum += launches;
        }
        for call in &other.refused {
            self.add_refused(call.clone());
        }
        self.launches += other.launches;
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.threads = self.threads.saturating_add(other.threads);
        self.allocations += other.allocations;
        self.frees += other.frees;
        // Processes may run at the same time.
        self.peak_bytes += other.peak_bytes;
        self.waits += other.waits;
        self.modules += other.modules;
        self.graphs_captured += other.graphs_captured;
        self.graph_launches += other.graph_launches;
        self.launches_in_graphs += other.launches_in_graphs;
        self.lost_by = self.lost_by.or_else(|| other.lost_by.clone());
        self
    }

    /// The entry of a kernel; a new one if it was not launched before.
    fn kernel(&mut self, name: &str) -> &mut KernelLog {
        let known = self.kernels.binary_search_by(|entry| entry.name.as_str().cmp(name));
        let index = known.unwrap_or_else(|place| {
            let name = name.to_owned();
            self.kernels.insert(
                place,
                KernelLog {
                    name,
                    ..KernelLog::default()
                },
            );
            place
        });
        &mut self.kernels[index]
    }

    /// Counts a launch.
    pub(crate) fn add_launch(&mut self, kernel: &str, device: usize, blocks: u64, threads: u64, dynamic_shared: u32) {
        let entry = self.kernel(kernel);
        entry.launches += 1;
        entry.blocks = entry.blocks.saturating_add(blocks);
        entry.threads = entry.threads.saturating_add(threads);
        entry.dynamic_shared_bytes = entry.dynamic_shared_bytes.max(dynamic_shared);
        self.launches += 1;
        self.blocks = self.blocks.saturating_add(blocks);
        self.threads = self.threads.saturating_add(threads);
        if let Some(count) = self.launches_per_device.get_mut(device) {
            *count += 1;
        }
    }

    /// Counts a refused call as often as it happened. Returns whether it is the first of its kind.
    pub(crate) fn add_refused(&mut self, call: RefusedCall) -> bool {
        let same = |known: &&mut RefusedCall| {
            (&known.call, &known.kernel, &known.status, &known.reason) == (&call.call, &call.kernel, &call.status, &call.reason)
        };
        if let Some(known) = self.refused.iter_mut().find(same) {
            known.times += call.times;
            return false;
        }
        self.refused.push(call);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_summed_per_kernel_and_per_device() {
        let mut log = ProcessLog {
            launches_per_device: vec![0, 0],
            ..ProcessLog::default()
        };
        log.add_launch("second", 1, 2, 64, 16);
        log.add_launch("first", 0, 1, 32, 0);
        log.add_launch("second", 1, 3, 96, 8);
        let names: Vec<_> = log
            .kernels
            .iter()
            .map(|kernel| {
                (
                    kernel.name.as_str(),
                    kernel.launches,
                    kernel.threads,
                    kernel.dynamic_shared_bytes,
                )
            })
            .collect();
        assert_eq!(names, [("first", 1, 32, 0), ("second", 2, 160, 16)]);
        assert_eq!((log.launches, log.blocks, log.launches_per_device), (3, 6, vec![1, 2]));
    }

    #[test]
    fn the_same_refusal_is_listed_once_with_its_count() {
        let mut log = ProcessLog::default();
        let call = |reason: &str| RefusedCall {
            call: "cuLaunchKernel".to_owned(),
            reason: reason.to_owned(),
            times: 1,
            ..RefusedCall::default()
        };
        assert!(log.add_refused(call("too many threads")));
        assert!(!log.add_refused(call("too many threads")));
        assert!(log.add_refused(call("no blocks")));
        let times: Vec<_> = log.refused.iter().map(|call| call.times).collect();
        assert_eq!(times, [2, 1]);
        let both = log.clone().plus(&log);
        let times: Vec<_> = both.refused.iter().map(|call| call.times).collect();
        assert_eq!(times, [4, 2]);
    }

    #[test]
    fn the_sum_of_two_processes_has_the_kernels_of_both() {
        let mut one = ProcessLog {
            pid: 7,
            launches_per_device: vec![0],
            ..ProcessLog::default()
        };
        let mut other = ProcessLog {
            pid: 8,
            launches_per_device: vec![0, 0],
            ..ProcessLog::default()
        };
        one.add_launch("a", 0, 1, 32, 8);
        other.add_launch("a", 1, 2, 64, 4);
        other.add_launch("b", 0, 1, 1, 0);
        other.copies_up.add(100);
        let sum = ProcessLog::default().plus(&one).plus(&other);
        assert_eq!(
            (sum.pid, sum.launches, sum.launches_per_device.as_slice()),
            (7, 3, [2, 1].as_slice())
        );
        assert_eq!(
            (sum.kernels[0].threads, sum.kernels[0].dynamic_shared_bytes, sum.kernels.len()),
            (96, 8, 2)
        );
        assert_eq!(sum.copies_up, Copies { count: 1, bytes: 100 });
    }
}
