//! Memory of this process and of the machine, where the system tells (Linux).

use std::fs;

/// The most memory this process ever held, MiB.
pub(crate) fn peak() -> Option<f64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The memory this process holds, MiB.
pub(crate) fn resident() -> Option<f64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The memory that could be had without swapping, MiB.
pub(crate) fn available() -> Option<f64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// A field of those files, which count in kB.
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
