//! Failures of a GPU while it computes.
//!
//! Burn computes on GPUs in the background. What fails there panics: in a thread of the GPU runtime, and again in the thread that reads the
//! next result, each time with a page of text. Here the first panic becomes a [`DeviceFailure`] of one line, and nothing else is printed.

use crate::DeviceInfo;
use bcl_files::bytes;
use std::{
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{Mutex, Once, PoisonError},
};

/// What failed on a GPU, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{device} {problem}")]
pub struct DeviceFailure {
    /// The backend and the name of the device.
    device: String,
    problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error(
        "has no memory left{}; compute less at a time (training.batch_size, training.gradient_cache), or end other programs on this GPU",
        asked.map_or_else(String::new, |size| format!(" for {} more", bytes(size)))
    )]
    Memory { asked: Option<u64> },
    #[error("cannot compile a kernel: {0}; please report this with the command, and use another backend until it is mended")]
    Kernel(String),
    #[error(
        "failed: {0}; check the GPU and its driver (NVIDIA: `nvidia-smi`, and `dmesg` for Xid messages), and run the command again"
    )]
    Device(String),
}

impl DeviceFailure {
    /// Whether less work at a time would not have failed.
    pub fn is_of_memory(&self) -> bool {
        matches!(self.problem, Problem::Memory { .. })
    }

    /// The exit code of a program that it ends: 2 if the work was too large for the device, otherwise 1.
    pub fn exit_code(&self) -> u8 {
        if self.is_of_memory() { 2 } else { 1 }
    }
}

/// The device in use and the first failure on it.
#[derive(Default)]
struct Watched {
    device: String,
    failure: Option<DeviceFailure>,
}

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

/// From now on, panics of the GPU runtime are kept instead of printed.
pub(crate) fn watch(device: &DeviceInfo) {
    static HOOK: Once = Once::new();
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    watched.get_or_insert_default().device = format!("--backend {} on {}", device.backend, device.name);
    HOOK.call_once(|| {
        let printing = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !note(info) {
                printing(info);
            }
        }));
    });
}

/// Runs a closure, and returns the failure of the device that made it panic. Other panics go on.
///
/// # Errors
/// Returns an error if the closure panics because the GPU failed.
pub fn device_failures<T>(body: impl FnOnce() -> T) -> Result<T, DeviceFailure> {
    panic::catch_unwind(AssertUnwindSafe(body)).map_err(|panic| match device_failure() {
        Some(failure) => failure,
        None => panic::resume_unwind(panic),
    })
}

/// The first failure of a GPU in this process.
pub fn device_failure() -> Option<DeviceFailure> {
    WATCHED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()?
        .failure
        .clone()
}

/// Keeps a panic if it comes from a GPU, and says whether it does.
fn note(info: &PanicHookInfo<'_>) -> bool {
    let text = info.payload_as_str().unwrap_or_default();
    let file = info.location().map_or("", |location| location.file());
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(watched) = &mut *watched else { return false };
    // What panics after the first failure, such as a thread that waits for the one that is gone, is its consequence.
    if watched.failure.is_some() {
        return true;
    }
    let problem = problem(text, file);
    watched.failure = problem.map(|problem| DeviceFailure {
        device: watched.device.clone(),
        problem,
    });
    watched.failure.is_some()
}

/// Crates of GPU runtimes, as paths of their sources contain them.
const RUNTIMES: [&str; 7] = ["cubecl", "cubek", "burn-fusion", "cudarc", "wgpu", "naga", "ash-"];

/// Words of cubecl, CUDA and wgpu.
const OF_MEMORY: [&str; 5] = [
    "out of device memory",
    "out-of-memory",
    "out of memory",
    "OutOfMemory",
    "OUT_OF_MEMORY",
];
const TOO_BIG: [&str; 2] = ["can't allocate buffer of size", "BufferTooBig"];
const OF_KERNELS: [&str; 6] = ["compilation", "Compilation", "Can't emit", "CompileError", "NVVM", "nvrtc"];
/// What CUDA and wgpu say, for any call, once a kernel has crashed.
const OF_LOSS: [&str; 5] = ["is poisoned", "status 700", "status 719", "ILLEGAL_ADDRESS", "device is lost"];
const OF_RUNTIMES: [&str; 6] = [
    "happened during launch",
    "happened during execution",
    "is poisoned",
    "CUDA_ERROR",
    "ServerError",
    "DriverError",
];

/// The problem behind a panic, if it comes from a GPU.
fn problem(text: &str, file: &str) -> Option<Problem> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_of_runtime = RUNTIMES.iter().any(|name| file.contains(name)) || has(&OF_RUNTIMES);
    if has(&TOO_BIG) || is_of_runtime && has(&OF_MEMORY) {
        Some(Problem::Memory { asked: asked(text) })
    } else if is_of_runtime && has(&OF_KERNELS) && !has(&OF_LOSS) {
        Some(Problem::Kernel(cause(text)))
    } else if is_of_runtime {
        Some(Problem::Device(cause(text)))
    } else {
        None
    }
}

/// The size of an allocation that failed.
fn asked(text: &str) -> Option<u64> {
    let (_, after) = ["allocating ", "buffer of size: ", "size: "]
        .iter()
        .find_map(|before| text.split_once(before))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The innermost cause: the compiler's first error, or the line after the last `Caused by:`, or else the first line.
fn cause(text: &str) -> String {
    let text = text.replace("\\n", "\n");
    let (_, log) = text.split_once("[Compilation Error]").unwrap_or_default();
    if let Some(error) = log.lines().find(|line| line.contains("error")) {
        return error.trim().to_owned();
    }
    let mut lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Backtrace"));
    let mut cause = lines.next().unwrap_or_default().to_owned();
    let mut is_next = cause.ends_with("Caused by:");
    for line in lines {
        if is_next && !line.is_empty() {
            line.clone_into(&mut cause);
        }
        is_next = line.ends_with("Caused by:");
    }
    match cause.as_str() {
        "" => "it gives no reason".to_owned(),
        cause => cause.trim_end_matches([':', ';', '.']).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, file: &str) -> Option<String> {
        problem(text, file).map(|problem| problem.to_string())
    }

    #[test]
    fn memory_that_runs_out_is_named_with_the_size_asked_for() {
        let text = "An out-of-memory error happened during launch\nCaused by:\n  out of device memory allocating 3221225472 bytes\nBacktrace\n  0: x";
        let told = of(text, "burn-tensor/src/tensor.rs").unwrap();
        assert!(told.starts_with("has no memory left for 3.00 GiB more; "), "{told}");
        assert!(of("can't allocate buffer of size: 1048576", "").unwrap().contains("1.00 MiB"));
    }

    #[test]
    fn kernels_and_devices_are_told_apart_by_the_innermost_cause() {
        let text = "A launch error happened\nCaused by:\n  A compilation error happened during launch\nCaused by:\n  cmp.bool_equal is unsupported\n";
        assert!(
            of(text, "")
                .unwrap()
                .starts_with("cannot compile a kernel: cmp.bool_equal is unsupported; ")
        );
        let text = "A compilation error happened during launch\nCaused by:\n  [Compilation Error] \n    a.cu(2): warning: unused\n    a.cu(9): catastrophic error: cannot open \
                    source file \"cuda/barrier\"\n[Source]\nvoid error();\n";
        assert!(
            of(text, "")
                .unwrap()
                .starts_with("cannot compile a kernel: a.cu(9): catastrophic error: cannot open source file \"cuda/barrier\"; ")
        );
        let text = "called `Result::unwrap()` on an `Err` value: The device is poisoned\nCaused by:\n  an illegal address";
        assert!(of(text, "").unwrap().starts_with("failed: an illegal address; "));
        assert!(
            of("no reply", "/registry/cubecl-cuda-0.11.3/src/server.rs")
                .unwrap()
                .starts_with("failed: no reply; ")
        );
    }

    #[test]
    fn other_panics_are_not_of_a_gpu() {
        assert_eq!(of("index out of bounds", "crates/bcl-train/src/lib.rs"), None);
        assert_eq!(of("this machine is out of memory", "crates/bcl-train/src/lib.rs"), None);
        assert_eq!(device_failures(|| 3), Ok(3));
    }
}
