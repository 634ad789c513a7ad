//! Programs on the fake CUDA driver: how to run them there, and what they did.
//!
//! Three things must be there, or tests are skipped with a line that says what is missing:
//! - NVIDIA's compilers, which `.ci/cuda-toolkit` fetches to `target/cuda-toolkit`; `BCL_CUDA_TOOLKIT` names another folder.
//! - `bcl-train` and `bcl-bench` with the feature `cuda`, in `target/gpu-tests`; `BCL_GPU_PROGRAMS` names another folder.
//! - The driver, which cargo builds for these tests.

use crate::{below_root, built_library, gpu_programs};
pub use fake_cuda::log::ProcessLog;
use fake_cuda::log::{KernelLog, RefusedCall};
use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Mutex,
    thread,
};
use tempfile::TempDir;

/// NVIDIA's compilers: NVRTC, which programs load, and ptxas.
#[derive(Clone, Debug)]
pub struct Toolkit(PathBuf);

impl Toolkit {
    /// Finds the compilers.
    ///
    /// # Panics
    /// Panics if they are missing from the folder that the environment names: who names one wants these tests.
    pub fn find() -> Option<Self> {
        let variable = "BCL_CUDA_TOOLKIT";
        let folder = below_root(variable, "target/cuda-toolkit").join("nvidia/cu13");
        let library = folder.join("lib/libnvrtc.so");
        let is_there = library.exists();
        assert!(
            is_there || env::var_os(variable).is_none(),
            "there are no compilers in the folder that {variable} names: {} is missing",
            library.display()
        );
        is_there.then_some(Self(folder))
    }

    /// The folder of the libraries.
    fn libraries(&self) -> PathBuf {
        self.0.join("lib")
    }

    /// Compiles PTX for an H100, and returns what `ptxas` says of each kernel. Each kernel is compiled once, two files at a time.
    ///
    /// # Panics
    /// Panics if a file cannot be compiled.
    pub fn spills(&self, ptx: &Path) -> Vec<KernelResources> {
        let files = fs::read_dir(ptx)
            .expect("a folder")
            .map(|entry| entry.expect("readable").path());
        // Each process loads its own copy of the same kernels.
        let texts: BTreeSet<String> = files.map(|file| fs::read_to_string(file).expect("text")).collect();
        let open = Mutex::new(texts.iter());
        let found = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let next = open.lock().expect("no thread panicked").next();
                        let Some(text) = next else {
                            break;
                        };
                        found.lock().expect("no thread panicked").extend(self.assemble(text));
                    }
                });
            }
        });
        let mut kernels = found.into_inner().expect("no thread panicked");
        kernels.sort_by(|one, other| one.kernel.cmp(&other.kernel));
        kernels
    }

    fn assemble(&self, text: &str) -> Vec<KernelResources> {
        let file = tempfile::NamedTempFile::with_suffix(".ptx").expect("a file");
        fs::write(file.path(), text).expect("writable");
        let output = Command::new(self.0.join("bin/ptxas"))
            .args(["--gpu-name", "sm_90a", "-v", "-o", "/dev/null"])
            .arg(file.path())
            .output()
            .expect("ptxas is beside NVRTC");
        assert!(output.status.success(), "{}", crate::shown(&output));
        resources(&String::from_utf8_lossy(&output.stderr))
    }
}

/// What a compiled kernel uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// Name of the kernel.
    pub kernel: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes per thread that are stored to memory because registers do not suffice.
    pub spilled_bytes: u32,
    /// Static shared memory per block, in bytes.
    pub shared_bytes: u32,
}

/// Parses the output of `ptxas -v`.
fn resources(text: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once("Compiling entry function '") {
            kernels.push(KernelResources {
                kernel: name.split('\'').next().unwrap_or_default().to_owned(),
                ..KernelResources::default()
            });
        }
        // The functions that a kernel calls have lines of their own, and spill for it.
        if let Some(kernel) = kernels.last_mut() {
            kernel.spilled_bytes += number_before(line, " bytes spill stores");
            kernel.registers = kernel.registers.max(number_before(line, " registers"));
            kernel.shared_bytes = kernel.shared_bytes.max(number_before(line, " bytes smem"));
        }
    }
    kernels
}

/// The number in front of some words, or 0 if the line does not have them.
fn number_before(line: &str, words: &str) -> u32 {
    let before = line.split_once(words).map(|(before, _)| before).unwrap_or_default();
    let number = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    number.parse().unwrap_or_default()
}

/// A machine with fake GPUs. What runs there has a working directory, a cache of compiled kernels and a log of its own.
pub struct FakeGpu {
    toolkit: Toolkit,
    programs: PathBuf,
    folder: TempDir,
    environment: Vec<(&'static str, String)>,
}

impl FakeGpu {
    /// One GPU of 16 GiB; `None`, with a line that says what is missing, if programs cannot run on it.
    pub fn find() -> Option<Self> {
        let missing = |what: String| {
            println!("no tests of CUDA: {what}");
            None
        };
        let Some(toolkit) = Toolkit::find() else {
            return missing("NVIDIA's compilers are missing; .ci/cuda-toolkit fetches them".to_owned());
        };
        let programs = match gpu_programs() {
            Ok(programs) => programs,
            Err(what) => return missing(what),
        };
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["driver", "work"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        symlink(built_library("libfake_cuda.so"), folder.path().join("driver/libcuda.so")).expect("writable");
        Some(Self {
            toolkit,
            programs,
            folder,
            environment: Vec::new(),
        })
    }

    /// With several devices.
    pub fn devices(self, count: usize) -> Self {
        self.with("FAKE_CUDA_DEVICES", count)
    }

    /// With so much memory per device.
    pub fn memory(self, bytes: u64) -> Self {
        self.with("FAKE_CUDA_MEMORY", bytes)
    }

    /// With a device that fails at a launch, counted from 1.
    pub fn fail_launch(self, number: u64) -> Self {
        self.with("FAKE_CUDA_FAIL_LAUNCH", number)
    }

    /// Keeps the PTX of all kernels in [`ptx`](Self::ptx).
    pub fn keep_ptx(self) -> Self {
        let folder = self.ptx();
        self.with("FAKE_CUDA_PTX", folder.display())
    }

    /// With another variable of the environment.
    pub fn with(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.environment.push((name, value.to_string()));
        self
    }

    /// The folder of the PTX that is kept.
    pub fn ptx(&self) -> PathBuf {
        self.folder.path().join("ptx")
    }

    /// The working directory of the programs.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// What `ptxas` says of each kernel whose PTX was kept.
    pub fn spills(&self) -> Vec<KernelResources> {
        self.toolkit.spills(&self.ptx())
    }

    /// A command that runs one of the programs here.
    pub fn command(&self, program: &str) -> Command {
        let mut libraries = vec![self.folder.path().join("driver"), self.toolkit.libraries()];
        libraries.extend(env::var_os("LD_LIBRARY_PATH").iter().flat_map(env::split_paths));
        let mut command = Command::new(self.programs.join(program));
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("FAKE_CUDA_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.folder())
            .env("LD_LIBRARY_PATH", env::join_paths(libraries).expect("no colons in paths"))
            .env("CUDA_PATH", &self.toolkit.0)
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .env("FAKE_CUDA_LOG", self.log())
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log.jsonl")
    }

    /// Runs a program here until it ends.
    pub fn run(&self, program: &str, arguments: &[&str]) -> GpuRun {
        // Of an earlier run; there may be none.
        let _ = fs::remove_file(self.log());
        let output = self.command(program).args(arguments).output().expect("it starts");
        let lines = fs::read_to_string(self.log()).unwrap_or_default();
        let processes = lines.lines().map(|line| serde_json::from_str(line).expect("a log"));
        GpuRun {
            output,
            processes: processes.collect(),
        }
    }
}

/// A program that ran on fake GPUs.
#[derive(Debug)]
pub struct GpuRun {
    /// Exit status and output.
    pub output: Output,
    /// The logs of its processes.
    pub processes: Vec<ProcessLog>,
}

impl GpuRun {
    /// The exit code, if no signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// What it wrote to standard output.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// What it wrote to standard error.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// What all processes did, summed.
    pub fn total(&self) -> ProcessLog {
        self.processes.iter().fold(ProcessLog::default(), ProcessLog::plus)
    }

    /// Number of launches, those in graphs included.
    pub fn launches(&self) -> u64 {
        self.total().launches
    }

    /// Launches per kernel.
    pub fn kernels(&self) -> Vec<KernelLog> {
        self.total().kernels
    }

    /// The calls that a GPU would have refused.
    pub fn refused(&self) -> Vec<RefusedCall> {
        self.total().refused
    }

    /// Asserts that the program succeeded, launched kernels, and did nothing that a GPU would refuse.
    pub fn assert_clean(&self) {
        assert_eq!(self.code(), Some(0), "{}", crate::shown(&self.output));
        assert!(self.launches() > 0, "it launched nothing\n{}", crate::shown(&self.output));
        assert_eq!(self.refused(), [], "{}", crate::shown(&self.output));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_beside_the_tests() {
        assert!(built_library("libfake_cuda.so").is_file());
    }

    #[test]
    fn registers_spills_and_shared_memory_are_read() {
        let text = "ptxas info    : 16 bytes gmem\n\
            ptxas info    : Compiling entry function 'bar' for 'sm_90a'\n\
            ptxas info    : Function properties for bar\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers, used 0 barriers\n\
            ptxas info    : Compiling entry function 'foo' for 'sm_90a'\n\
            ptxas info    : Function properties for foo\n    96 bytes stack frame, 104 bytes spill stores, 88 bytes spill loads\n\
            ptxas info    : Used 255 registers, used 1 barriers, 96 bytes cumulative stack size, 144 bytes smem\n";
        let kernel = |name: &str, registers, spilled_bytes, shared_bytes| KernelResources {
            kernel: name.to_owned(),
            registers,
            spilled_bytes,
            shared_bytes,
        };
        assert_eq!(resources(text), [kernel("bar", 8, 0, 0), kernel("foo", 255, 104, 144)]);
    }
}
