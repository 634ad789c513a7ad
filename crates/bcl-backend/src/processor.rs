//! Model and memory of the CPU, as far as the system reports them.

use std::{fs, process::Command};

/// The model of the CPU, such as `AMD EPYC 7B13`.
pub fn model() -> String {
    let model = match std::env::consts::OS {
        "linux" => field("/proc/cpuinfo", "model name"),
        "macos" => sysctl("machdep.cpu.brand_string"),
        _ => std::env::var("PROCESSOR_IDENTIFIER").ok(),
    };
    model.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// The memory of the machine in bytes.
pub fn memory() -> Option<u64> {
    match std::env::consts::OS {
        "linux" => field_in_bytes("/proc/meminfo", "MemTotal:"),
        "macos" => sysctl("hw.memsize")?.parse().ok(),
        _ => None,
    }
}

/// A field that a file of Linux gives in kB, converted to bytes.
pub(crate) fn field_in_bytes(file: &str, name: &str) -> Option<u64> {
    let kilobytes = field(file, name)?.strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kilobytes * 1024)
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.trim_start_matches([':', ' ', '\t']).trim_end().to_owned())
}

fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_reports_cpu_model_and_memory() {
        assert!(!model().contains("model name") && !model().starts_with(':'), "{}", model());
        let memory = memory().expect("Linux has /proc/meminfo");
        assert!(memory > 1 << 28, "{memory}");
        assert_eq!(field("/no/such/file", "MemTotal:"), None);
    }
}
