//! `cargo xtask ci`: the checks that a change must pass, cheapest first.

use crate::{root, tidy};
use clap::Args;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::time::Instant;

/// Which checks to run.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Skips docs and tests.
    #[arg(long)]
    fast: bool,
    /// Skips tests only.
    #[arg(long)]
    no_tests: bool,
    /// Also builds and lints the programs with GPU backends, whose kernels the tests compile for CUDA and validate for Vulkan, and, with a Vulkan driver
    /// on this machine, tests the kernels on it.
    #[arg(long)]
    gpu: bool,
}

/// One check. Cargo commands use `--locked`, so that they check the versions in `Cargo.lock`.
enum Step {
    Cargo {
        name: &'static str,
        arguments: &'static str,
        environment: Option<(&'static str, &'static str)>,
    },
    /// A Cargo command that compiles GPU backends and may use a GPU. Clippy is the compiler of our crates: as a step of its own it would check all of Burn
    /// once more, which takes nine minutes.
    LintedBuild {
        name: &'static str,
        arguments: &'static str,
    },
    Tidy,
}

const FORMAT: Step = Step::Cargo {
    name: "format",
    arguments: "fmt --all --check",
    environment: None,
};
const LINTS: Step = Step::Cargo {
    name: "lints",
    arguments: "clippy --locked --workspace --all-targets -- -D warnings",
    environment: None,
};
const DOCS: Step = Step::Cargo {
    name: "docs",
    arguments: "doc --locked --workspace --no-deps",
    environment: Some(("RUSTDOCFLAGS", "-D warnings")),
};
const TESTS: Step = Step::Cargo {
    name: "tests",
    arguments: "test --locked --workspace",
    environment: None,
};
/// With `bcl-train`, so that dependencies get the same features as in the program's own build.
const PARQUET_TESTS: Step = Step::Cargo {
    name: "tests of Parquet",
    arguments: "test --locked -p bcl-data -p bcl-train --features parquet --test parquet",
    environment: None,
};
/// Runs each benchmark once. `bcl-bench` alone gives Burn the same features as the whole workspace, so Burn is not recompiled.
const BENCHMARKS: Step = Step::Cargo {
    name: "benchmarks, each once",
    arguments: "test --locked -p bcl-bench --benches",
    environment: None,
};
/// A command of cargo for GPU backends. All take the same packages, features and settings, so that Burn and its backends are compiled once for them.
/// Needs neither CUDA nor a Mac; Burn's macOS-only code is not checked.
macro_rules! gpu_command {
    ($verb:literal, $targets:literal) => {
        concat!(
            $verb,
            " --locked --profile gpu-tests -p bcl-kernels -p bcl-core -p bcl-models -p bcl-backend -p bcl-train -p bcl-bench --features cuda,metal,vulkan,wgpu ",
            $targets
        )
    };
}

/// The tests of the workspace run these programs on drivers that execute no kernel.
const GPU_PROGRAMS: Step = Step::LintedBuild {
    name: "programs with GPU backends, and lints",
    arguments: gpu_command!("build", "--bins --example convolution_algorithms"),
};
const GPU_TESTS: Step = Step::LintedBuild {
    name: "tests on a GPU",
    arguments: gpu_command!("test", "--test gpu"),
};

/// The steps in order, those without a build first. Lints and docs share Burn's metadata; only tests compile Burn in full.
fn steps(options: &Options, has_driver: bool) -> Vec<Step> {
    let mut steps = vec![FORMAT, Step::Tidy, LINTS];
    if options.gpu {
        // Before the tests, which run these programs.
        steps.push(GPU_PROGRAMS);
        if has_driver {
            steps.push(GPU_TESTS);
        }
    }
    if !options.fast {
        steps.push(DOCS);
        if !options.no_tests {
            steps.extend([TESTS, PARQUET_TESTS, BENCHMARKS]);
        }
    }
    steps
}

/// Returns whether the Vulkan loader would find a driver. Systems other than Linux include one.
fn has_vulkan_driver() -> bool {
    let is_named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let folders = [
        "/usr/share/vulkan/icd.d",
        "/etc/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d",
    ];
    let has_files = |folder: &&str| std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    !cfg!(target_os = "linux") || is_named || folders.iter().any(has_files)
}

/// Runs the steps until one fails, and returns its exit code.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let has_driver = has_vulkan_driver();
    if options.gpu && !has_driver {
        println!(
            "ci: skipping tests on a GPU: no Vulkan driver (on Debian or Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1)"
        );
    }
    let code = run_until_failure(&steps(options, has_driver), |step| {
        let start = Instant::now();
        println!("ci: {} ...", step.name());
        let code = step.run()?;
        let verdict = if code == 0 {
            "passed".to_owned()
        } else {
            format!("FAILED with exit code {code}")
        };
        println!("ci: {} {verdict} after {:.1} s", step.name(), start.elapsed().as_secs_f64());
        Ok(code)
    })?;
    let verdict = if code == 0 {
        "every step passed"
    } else {
        "stopped at the first failure"
    };
    println!("ci: {verdict}, {:.1} s in total", start.elapsed().as_secs_f64());
    Ok(ExitCode::from(code))
}

/// Runs the steps in order up to the first with a non-zero exit code, and returns that code.
fn run_until_failure<S>(steps: &[S], mut run: impl FnMut(&S) -> anyhow::Result<u8>) -> anyhow::Result<u8> {
    for step in steps {
        let code = run(step)?;
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Cargo { name, .. } | Step::LintedBuild { name, .. } => name,
            Step::Tidy => "tidy",
        }
    }

    fn run(&self) -> anyhow::Result<u8> {
        match self {
            Step::Cargo {
                arguments, environment, ..
            } => cargo(arguments, *environment),
            Step::LintedBuild { arguments, .. } => cargo(arguments, lints().into_iter().chain(vulkan_environment()?)),
            Step::Tidy => Ok(u8::from(tidy::report(&root::workspace_root())? > 0)),
        }
    }
}

/// Runs cargo and returns its exit code. A process killed by a signal has none; 1 still marks the failure.
fn cargo<K: AsRef<OsStr>, V: AsRef<OsStr>>(arguments: &str, environment: impl IntoIterator<Item = (K, V)>) -> anyhow::Result<u8> {
    let mut command = root::cargo();
    command
        .current_dir(root::workspace_root())
        .args(arguments.split_whitespace())
        .envs(environment);
    let code = command.status()?.code().unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// What `cargo clippy -- -D warnings` sets, here for a build.
fn lints() -> [(&'static str, OsString); 2] {
    [
        ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver".into()),
        ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__".into()),
    ]
}

/// Names the layer below which programs write WGSL for software drivers: Mesa's dies of their SPIR-V. GPUs do not notice it.
#[cfg(target_os = "linux")]
fn vulkan_environment() -> anyhow::Result<Vec<(&'static str, OsString)>> {
    let program = std::env::current_exe()?;
    let library = program.with_file_name("deps").join("libfake_vulkan.so");
    anyhow::ensure!(library.exists(), "cargo has not built {}", library.display());
    let folder = root::workspace_root().join("target/gpu-tests/layers");
    std::fs::create_dir_all(&folder)?;
    let layer = fake_vulkan::Layer::Wgsl;
    std::fs::write(folder.join("wgsl.json"), layer.manifest(&library.display().to_string()))?;
    Ok(vec![
        ("VK_LAYER_PATH", folder.into()),
        ("VK_INSTANCE_LAYERS", layer.name().into()),
    ])
}

#[cfg(not(target_os = "linux"))]
fn vulkan_environment() -> anyhow::Result<Vec<(&'static str, OsString)>> {
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &Options) -> Vec<&'static str> {
        steps(options, true).iter().map(Step::name).collect()
    }

    #[test]
    fn a_full_run_ends_with_tests_and_benchmarks() {
        let all = [
            "format",
            "tidy",
            "lints",
            "docs",
            "tests",
            "tests of Parquet",
            "benchmarks, each once",
        ];
        assert_eq!(names(&Options::default()), all);
    }

    #[test]
    fn fast_skips_docs_and_tests() {
        assert_eq!(
            names(&Options {
                fast: true,
                ..Options::default()
            }),
            ["format", "tidy", "lints"]
        );
    }

    #[test]
    fn no_tests_keeps_the_docs() {
        assert_eq!(
            names(&Options {
                no_tests: true,
                ..Options::default()
            }),
            ["format", "tidy", "lints", "docs"]
        );
    }

    #[test]
    fn the_gpu_is_tested_if_there_is_a_driver() {
        let options = Options {
            fast: true,
            gpu: true,
            ..Options::default()
        };
        let gpu = ["programs with GPU backends, and lints", "tests on a GPU"];
        assert_eq!(names(&options)[3..], gpu);
        let without: Vec<_> = steps(&options, false).iter().map(Step::name).collect();
        assert_eq!(without[3..], gpu[..1]);
    }

    #[test]
    fn every_build_takes_the_versions_of_the_lock_file() {
        let options = Options {
            gpu: true,
            ..Options::default()
        };
        for step in steps(&options, true) {
            if let Step::Cargo { name, arguments, .. } | Step::LintedBuild { name, arguments } = step {
                // `cargo fmt` builds nothing and has no such flag.
                assert!(arguments.contains(" --locked ") || name == FORMAT.name(), "{name}");
            }
        }
        let script = std::fs::read_to_string(root::workspace_root().join(".ci/run")).unwrap();
        let calls = |line: &&str| {
            [
                "cargo --",
                "cargo \"+",
                "cargo clippy --quiet",
                "cargo test",
                "cargo xtask",
                "$test_command",
            ]
            .iter()
            .any(|call| line.starts_with(call))
        };
        let calls: Vec<_> = script.lines().map(str::trim).filter(calls).collect();
        assert_eq!(calls.len(), 7, "{calls:?}");
        assert!(calls.iter().all(|call| call.contains(" --locked ")), "{calls:?}");
    }

    #[test]
    fn the_first_failure_stops_the_run_with_its_code() {
        let mut seen = Vec::new();
        let code = run_until_failure(&[0, 101, 0], |&code| {
            seen.push(code);
            Ok(code)
        });
        assert_eq!(code.unwrap(), 101);
        assert_eq!(seen, [0, 101]);
    }
}
