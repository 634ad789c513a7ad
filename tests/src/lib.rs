//! Helpers for tests that run the built programs.

#[cfg(unix)]
pub mod browser;
#[cfg(target_os = "linux")]
pub mod cuda;
pub mod pictures;
pub mod server;
#[cfg(target_os = "linux")]
pub mod vulkan;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

/// A command that runs `bcl-train`, built from this source in the profile of the tests.
pub fn bcl_train() -> Command {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    Command::new(PROGRAM.get_or_init(|| build("bcl-train")))
}

/// A command that runs `bcl-bench`, built in the same way.
pub fn bcl_bench() -> Command {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    Command::new(PROGRAM.get_or_init(|| build("bcl-bench")))
}

/// Builds a program of the workspace. Cargo builds programs only for the tests of their own package, so these tests build them explicitly.
fn build(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/TEST");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        // With the checks of the tests, and so with the crates that the tests have compiled.
        Some("debug") | None => "test",
        Some(profile) => profile,
    };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Cargo sets these variables for this package's tests. If passed on, build scripts that watch them, such as ring's, would run again and
    // everything that depends on them would recompile.
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&variable);
        }
    }
    let status = cargo
        .args(["build", "--quiet", "--package", name, "--bin", name, "--profile", profile])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{name} does not build");
    folder.join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

/// The folder of `bcl-train` and `bcl-bench` with GPU backends, which tests do not build: `BCL_GPU_PROGRAMS`, or `target/gpu-tests`.
///
/// # Errors
/// Says which program is missing, and how to build it.
///
/// # Panics
/// Panics if a program is missing from the folder that the environment names: who names one wants these tests.
#[cfg(target_os = "linux")]
pub fn gpu_programs() -> Result<PathBuf, String> {
    let variable = "BCL_GPU_PROGRAMS";
    let programs = below_root(variable, "target/gpu-tests");
    let Some(name) = ["bcl-train", "bcl-bench"].iter().find(|name| !programs.join(name).exists()) else {
        return Ok(programs);
    };
    let missing = format!(
        "there is no {name} with GPU backends in {}; `cargo xtask ci --gpu` builds it",
        programs.display()
    );
    assert!(std::env::var_os(variable).is_none(), "{missing}");
    Err(missing)
}

/// A folder that the environment names, or one below the root of the workspace.
#[cfg(target_os = "linux")]
fn below_root(variable: &str, default: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is below the root");
    std::env::var_os(variable).map_or_else(|| root.join(default), PathBuf::from)
}

/// A library of this workspace. Cargo puts it into `deps` as a dependency, and one folder up if it was asked for by name.
#[cfg(target_os = "linux")]
fn built_library(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/TEST");
    let folders = [profile.join("deps"), profile.to_path_buf()];
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("cargo has not built {name} in {}", profile.display()))
}

/// Copies a program, as a hard link if the file system allows it, which saves some megabytes.
///
/// Otherwise another process writes the copy, here and in [`write_program`]: a program that another test starts at that moment inherits
/// the files that this process has open for writing, and until it ends they cannot be run ("text file busy").
pub fn copy_program(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_err() {
        let status = Command::new("cp").arg(from).arg(to).status().expect("cp is there");
        assert!(status.success(), "{status}");
    }
}

/// Writes an executable script.
pub fn write_program(path: &Path, text: &str) {
    let mut shell = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell is there");
    let mut stdin = shell.stdin.take().expect("piped");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    let status = shell.wait().expect("our child");
    assert!(status.success(), "{status}");
}

/// Formats the exit status and output of a program for failure messages.
pub fn shown(output: &Output) -> String {
    format!(
        "{}\nstdout:\n{}\nstderr:\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs `bcl-train` in a folder.
pub fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    bcl_train().args(arguments).current_dir(folder).output().expect("it starts")
}

/// Runs `bcl-train` in a folder, where it must succeed.
pub fn succeeds_in(folder: &Path, arguments: &[&str]) -> Output {
    let output = run_in(folder, arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", shown(&output));
    output
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Asserts that a program refused bad input: exit code 2, no panic, and an error message that contains all of `words`.
pub fn assert_refused(output: &Output, words: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{}", shown(output));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("panicked"), "{}", shown(output));
    for word in words {
        assert!(message.contains(word), "`{word}` is missing\n{}", shown(output));
    }
}

/// Repeats `attempt` until it catches a program in a certain state, such as "still training".
///
/// # Panics
/// Panics after fifty failed attempts, which cannot be bad luck.
pub fn until_met<T>(state: &str, mut attempt: impl FnMut(usize) -> Option<T>) -> T {
    (0..50)
        .find_map(&mut attempt)
        .unwrap_or_else(|| panic!("the program was never {state} in fifty attempts"))
}

/// A small recipe on synthetic interactions that trains in about a second.
pub const SMALL_RECIPE: &str = r#"
name = "small"

[data]
dataset = "planted"

[data.planted]
num_users = 120
num_items = 160
num_communities = 4
interactions_per_user = 12

[encoder]
kind = "mf"
dim = 8

[negatives]
kind = "uniform"
count = 16

[loss]
kind = "bayesian"
temperature = 0.3
tau_plus = 0.1

[training]
batch_size = 128
epochs = 12
patience = 3

[evaluation]
baselines = ["popularity"]
"#;

/// Writes [`SMALL_RECIPE`], followed by `more` lines, to `small.toml` in a folder.
pub fn small_recipe(folder: &Path, more: &str) -> PathBuf {
    let path = folder.join("small.toml");
    std::fs::write(&path, format!("{SMALL_RECIPE}{more}")).expect("a writable folder");
    path
}

/// A small image recipe without its `[data]` table; on [`PLANTED_IMAGES`] it trains in about a second.
pub const SMALL_IMAGE_RECIPE: &str = r#"
name = "small-images"

[views]
side = 16

[encoder]
kind = "resnet"
trunk = { depth = 18, stem = "imagenet", width = 8 }
head = { hidden = 16, out = 8 }

[loss]
kind = "bayesian"
temperature = 0.5
tau_plus = 0.1

[training]
batch_size = 16
epochs = 20

[evaluation]
every = 0
probe.epochs = 2
"#;

/// Synthetic data for [`SMALL_IMAGE_RECIPE`]: four steps per epoch.
pub const PLANTED_IMAGES: &str = "[data]\ndataset = 'planted'\nplanted = { train = 64, test = 40, side = 16 }\n";

/// Writes [`SMALL_IMAGE_RECIPE`] with the given `[data]` table to `small-images.toml` in a folder.
pub fn small_image_recipe(folder: &Path, data: &str) -> PathBuf {
    let path = folder.join("small-images.toml");
    std::fs::write(&path, format!("{SMALL_IMAGE_RECIPE}{data}")).expect("a writable folder");
    path
}

/// A small recipe on planted graphs that trains in about a second.
pub const SMALL_GRAPH_RECIPE: &str = r#"
name = "small-graphs"

[data]
dataset = "planted"
planted = { graphs = 60, rings = 2, background = 6 }

[encoder]
kind = "gin"
layers = 2
hidden = 8

[loss]
kind = "bayesian"
temperature = 0.5
tau_plus = 0.3

[training]
batch_size = 16
epochs = 20

[selection]
oracle = true

[evaluation]
every = 5
folds = 5
inner_folds = 3
c = [0.1, 10.0]
"#;

/// Writes [`SMALL_GRAPH_RECIPE`] to `small-graphs.toml` in a folder.
pub fn small_graph_recipe(folder: &Path) -> PathBuf {
    let path = folder.join("small-graphs.toml");
    std::fs::write(&path, SMALL_GRAPH_RECIPE).expect("a writable folder");
    path
}

/// Leaves a finished run as an interruption within its last epoch does.
pub fn forget_the_last_checkpoint(run: &Path) {
    fs::remove_file(run.join("result.json")).expect("it was there");
    let step = |path: &Path| -> Option<u64> { path.file_stem()?.to_str()?.rsplit_once('-')?.1.parse().ok() };
    let files = fs::read_dir(run.join("checkpoints/training")).expect("checkpoints").flatten();
    let files: Vec<PathBuf> = files.map(|file| file.path()).filter(|file| step(file).is_some()).collect();
    let last = files.iter().filter_map(|file| step(file)).max().expect("a checkpoint");
    assert!(files.iter().any(|file| step(file) < Some(last)), "{files:?}");
    for file in files.iter().filter(|file| step(file) == Some(last)) {
        fs::remove_file(file).expect("it was there");
    }
}

/// The results of a finished run that must not depend on interruptions: everything except times and memory.
pub fn lasting_figures(run: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(run.join("result.json")).expect("a finished run has a result");
    let mut result: serde_json::Value = serde_json::from_str(&text).expect("the result is JSON");
    let fields = result.as_object_mut().expect("the result is an object");
    for volatile in ["wall_seconds", "epoch_seconds", "peak_memory_bytes"] {
        fields.remove(volatile);
    }
    let lines = std::fs::read_to_string(run.join("metrics.jsonl")).expect("a finished run has one line per epoch");
    let epochs: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| {
            let mut epoch: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
            let fields = epoch.as_object_mut().expect("each line is an object");
            fields.remove("train_seconds");
            fields.remove("evaluation_seconds");
            epoch
        })
        .collect();
    // Only with `logging.every`.
    let steps = std::fs::read_to_string(run.join("steps.jsonl")).unwrap_or_default();
    serde_json::json!({ "result": result, "epochs": epochs, "steps": steps })
}
