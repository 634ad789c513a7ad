//! The cores that each of several processes on a machine computes on.

use super::place_on_machine;
use std::{fs, num::NonZero, thread};

/// The number of threads for this process if it shares its machine with others; `None` if it has the machine to itself.
///
/// A launcher may give each process cores of its own, such as `mpirun --map-by socket --bind-to socket` does. Then these are all for this
/// process; otherwise the processes share all cores.
pub fn threads_of_process() -> Option<usize> {
    let (_, processes) = place_on_machine();
    if processes == 1 {
        return None;
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    Some(if has_cores_of_its_own() {
        cores
    } else {
        share_of(cores, processes)
    })
}

fn share_of(cores: usize, processes: usize) -> usize {
    (cores / processes).max(1)
}

/// Whether this process may use other cores than the launcher that started it.
fn has_cores_of_its_own() -> bool {
    #[cfg(unix)]
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    match (cores_of("self"), cores_of(&parent.to_string())) {
        (Some(own), Some(launcher)) => own != launcher,
        _ => false,
    }
}

/// The cores that a process may use, as Linux lists them.
fn cores_of(process: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_share_cores_and_each_has_at_least_one() {
        assert_eq!(
            [(8, 2), (8, 3), (2, 4)].map(|(cores, processes)| share_of(cores, processes)),
            [4, 2, 1]
        );
        assert_eq!(threads_of_process(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_cores_of_a_process_are_known() {
        assert!(cores_of("self").is_some_and(|list| !list.is_empty()));
        assert_eq!(cores_of("0"), None);
    }
}
