//! Free memory, as limited by the system, a container and `ulimit -v`.

use std::fs;
use sysinfo::{IS_SUPPORTED_SYSTEM, System};

/// Bytes that this process can still allocate, or `None` if the system does not say.
///
/// This is an upper bound: it includes swap and caches that the system would give back.
pub fn available() -> Option<u64> {
    let of_system = IS_SUPPORTED_SYSTEM.then(of_system).flatten();
    [of_system, address_space()].into_iter().flatten().min()
}

fn of_system() -> Option<u64> {
    let mut system = System::new();
    system.refresh_memory();
    if system.total_memory() == 0 {
        return None;
    }
    let free = system.available_memory().saturating_add(system.free_swap());
    // The container's "used" figure includes file caches, which the system would give back; `rss` does not.
    let of_container = system.cgroup_limits().map(|limits| {
        let free = limits.total_memory.saturating_sub(limits.rss);
        free.saturating_add(limits.free_swap)
    });
    Some(of_container.map_or(free, |limit| limit.min(free)))
}

/// Bytes that `ulimit -v` leaves.
fn address_space() -> Option<u64> {
    let limit = soft_limit(&fs::read_to_string("/proc/self/limits").ok()?, "Max address space")?;
    let status = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = status.split_ascii_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(PAGE)))
}

/// The smallest page size. If pages are larger, the free memory comes out too high, never too low.
const PAGE: u64 = 4096;

/// The soft limit called `name` in `/proc/self/limits`, if there is one.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let row = limits.lines().find_map(|line| line.strip_prefix(name))?;
    row.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some_memory() {
        if IS_SUPPORTED_SYSTEM {
            assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        }
    }

    #[test]
    fn limits_of_the_address_space_are_read_as_the_system_writes_them() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         6442450944           unlimited            bytes     \n";
        assert_eq!(soft_limit(limits, "Max address space"), Some(6 << 30));
        assert_eq!(soft_limit(limits, "Max data size"), None);
        assert_eq!(soft_limit(limits, "Max nothing"), None);
    }
}
