//! Loads data sets by name and prints their size and loading time:
//! `cargo run --release -p bcl-data --example load -- DIR NAME…`.

use bcl_data::graphs::GraphOptions;
use bcl_data::{DataError, Manifest};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, names @ ..] = arguments.as_slice() else {
        eprintln!("usage: load DIR NAME…");
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

fn show(name: &str, dir: &Path) -> Result<(), DataError> {
    let manifest = Manifest::find(name)?;
    let start = Instant::now();
    if manifest.is_graphs() {
        let (data, report) = manifest.load_graphs(&manifest.locate_graphs(dir)?, &GraphOptions::default())?;
        println!(
            "{name}: {} graphs of {} classes, {} nodes, {} edges, {} features in {:.3} s; {report:?}",
            data.num_graphs(),
            data.num_classes(),
            data.num_nodes(),
            data.num_edges(),
            data.num_features(),
            start.elapsed().as_secs_f64(),
        );
        return Ok(());
    }
    let (data, report) = manifest.load_with(&manifest.locate(dir)?, None)?;
    println!(
        "{name}: {} users, {} items, {} train, {} test in {:.3} s; {report:?}",
        data.users.len(),
        data.items.len(),
        data.train.len(),
        data.test.len(),
        start.elapsed().as_secs_f64(),
    );
    Ok(())
}
