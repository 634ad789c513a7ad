//! `cargo xtask wasm`: compiles the functions of the weights explorer to WebAssembly, into the file that `bcl-bench` embeds.

use crate::root;
use anyhow::{Context, ensure};
use std::{path::Path, process::ExitCode};

const TARGET: &str = "wasm32-unknown-unknown";
/// The file that `bcl-bench` embeds. A test compares what it computes with Rust.
const EMBEDDED: &str = "crates/bcl-bench/src/explorer/explorer.wasm";

/// Compiles, and replaces the embedded file.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let root = root::workspace_root();
    let target_dir = root.join("target/wasm");
    let status = root::cargo()
        .current_dir(&root)
        .args("rustc --locked -p bcl-explorer --lib --crate-type cdylib --profile wasm --target".split(' '))
        .arg(TARGET)
        .arg("--target-dir")
        .arg(&target_dir)
        // Panics name source files: the folder of this machine must not get into the file.
        .env("RUSTFLAGS", remapped(&root)?)
        .status()?;
    ensure!(
        status.success(),
        "the explorer does not compile; if the target is missing: rustup target add {TARGET}"
    );
    let built = target_dir.join(TARGET).join("wasm/bcl_explorer.wasm");
    let bytes = std::fs::copy(&built, root.join(EMBEDDED)).with_context(|| format!("cannot copy {}", built.display()))?;
    println!("{EMBEDDED}: {bytes} bytes");
    Ok(ExitCode::SUCCESS)
}

/// Compiler flags that replace the folders of this machine in the file.
fn remapped(root: &Path) -> anyhow::Result<String> {
    let cargo_home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let cargo_home = cargo_home.context("neither CARGO_HOME nor HOME is set")?;
    Ok(format!(
        "--remap-path-prefix={}=. --remap-path-prefix={cargo_home}=cargo",
        root.display()
    ))
}
