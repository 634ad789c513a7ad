//! Loads image data sets by name and prints their size, loading time and peak memory:
//! `cargo run --release -p bcl-images --example load_images -- DIR NAME…`.

use bcl_images::{ImageError, load_named};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, names @ ..] = arguments.as_slice() else {
        eprintln!("usage: load_images DIR NAME…");
        return ExitCode::from(2);
    };
    for name in names {
        if let Err(error) = show(name, Path::new(dir)) {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn show(name: &str, dir: &Path) -> Result<(), ImageError> {
    let start = Instant::now();
    let data = load_named(name, dir)?;
    println!(
        "{name}: {} train, {} test, {} classes in {:.3} s; at most {} MiB of memory",
        data.train.len(),
        data.test.len(),
        data.train.classes().len(),
        start.elapsed().as_secs_f64(),
        peak_memory().map_or_else(|| "?".to_string(), |kib| (kib >> 10).to_string()),
    );
    Ok(())
}

/// Peak memory of the process in KiB, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
