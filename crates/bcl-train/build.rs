//! Tells the program which revision of the source it was built from, if git knows.

use std::{path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-env-changed=BCL_GIT_REVISION");
    let logs = Path::new("../../.git/logs/HEAD");
    if logs.exists() {
        println!("cargo::rerun-if-changed={}", logs.display());
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
    let given = std::env::var("BCL_GIT_REVISION").ok();
    if let Some(revision) = given.or_else(revision) {
        println!("cargo::rustc-env=BCL_GIT_REVISION={revision}");
    }
}

/// The commit, with `-dirty` behind it where files differ from it.
fn revision() -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
