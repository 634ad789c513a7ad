//! The verb `bcl-bench parity`: compares losses, gradients and weights with reference values.

use crate::{Done, device_arguments::DeviceArguments, output::print};
use bcl_backend::Backend;
use bcl_bench::parity::{self, Golden, Precision, frameworks, graphs};
use bcl_golden::{FrameworkFile, GoldenError, GraphFile};
use clap::ValueEnum;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// What `--help` says about the file. A test reads the example.
const FORMAT: &str = "\
FILE is JSON. `shapes` names pairs of batches of unit vectors, `cases` lists the expected results of an
estimator on one of them, `weights` lists rows of scores with their expected weights. `cases` or `weights`
may be missing.

  { \"shapes\": { \"2x2\": { \"out_1\": [[1, 0], [0, 1]], \"out_2\": [[0.6, 0.8], [0.8, 0.6]] } },
    \"cases\": [{ \"id\": \"a\", \"shape\": \"2x2\", \"est\": \"dcl\", \"t\": 0.5, \"tau\": 0.1, \"loss\": 0.7,
                \"Ng_head\": [2.5], \"grad_1\": [0, 0, 0, 0], \"grad_2\": [0, 0, 0, 0] }],
    \"weights\": [{ \"row\": \"b\", \"scores\": [0.1, 0.2], \"alpha\": 0.9, \"beta\": 0.5, \"tau\": 0.1,
                  \"ecdf\": [0.5, 1.0], \"omega_exact\": [1.0, 1.0], \"omega_official\": [1.0, 1.0] }] }

`loss` is the mean over both views in nats, `Ng_head` the negative mass of the first anchors (optional),
`grad_1` and `grad_2` the gradients with respect to the views, row by row. `t` is the temperature. `est`
is simclr, decoupled, dcl (tau), hcl (tau, beta), pucl (alpha, c), bcl_exact or bcl_official (tau, alpha,
beta), aug or geom (u, one draw per anchor).

A file with a `format` of \"frameworks-golden/1\" has losses and states of image frameworks instead: inputs
by name, cases with their values, further results and gradients, and traces of states over several steps.
Its field `about` describes it. What bcl does not compute is listed.

A file with `batches` has graph encoders instead: `gin`, their weights with outputs and gradients; `cases`,
losses of nodes against graphs; `pipelines`, encoders with their heads and losses.";

#[derive(clap::Args)]
#[command(after_long_help = FORMAT, after_help = "Use --help for the format of FILE.")]
pub(crate) struct Arguments {
    /// Reference values as JSON; long arrays are in a .safetensors file of the same name beside it.
    file: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
    /// Precision to compute in [default: both, if the device supports them].
    #[arg(long, value_enum, default_value_t = Dtype::Both, hide_default_value = true)]
    dtype: Dtype,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dtype {
    F64,
    F32,
    Both,
}

/// A reference file of any layout.
enum Reference {
    Losses(Golden),
    Frameworks(FrameworkFile),
    Graphs(GraphFile),
}

impl Reference {
    fn read(file: &Path) -> Result<Self, GoldenError> {
        if FrameworkFile::is_one(file)? {
            FrameworkFile::read(file).map(Self::Frameworks)
        } else if GraphFile::is_one(file)? {
            GraphFile::read(file).map(Self::Graphs)
        } else {
            Golden::read(file).map(Self::Losses)
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let reference = Reference::read(&arguments.file)?;
    let backend = arguments.device.open()?;
    let precisions = arguments.dtype.on(&backend);
    if precisions.is_empty() {
        let info = backend.info();
        return Err(format!("{} ({}) does not support this --dtype", info.backend, info.name).into());
    }
    let file = &arguments.file;
    let result = match reference {
        Reference::Losses(golden) => parity::compare(&golden, file, &precisions, &backend),
        Reference::Frameworks(golden) => frameworks::compare(&golden, file, &precisions, &backend)?,
        Reference::Graphs(golden) => graphs::compare(&golden, file, &precisions, &backend)?,
    };
    if result.rows.is_empty() && result.left_out.is_empty() {
        return Err(format!("{} has no case, so there is nothing to compare", file.display()).into());
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&result).expect("a result is plain data"));
    } else {
        print(&result);
    }
    // Exit code 1 says that something is beyond its tolerance.
    Ok(ExitCode::from(u8::from(!result.passed)))
}

impl Dtype {
    /// The requested precisions that the device supports.
    fn on(self, backend: &Backend) -> Vec<Precision> {
        let asked: &[Precision] = match self {
            Self::F64 => &[Precision::F64],
            Self::F32 => &[Precision::F32],
            Self::Both => &[Precision::F64, Precision::F32],
        };
        let has = |precision: &Precision| backend.info().precisions.contains(&precision.name());
        asked.iter().copied().filter(has).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_in_the_help_is_one_of_reference_values() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("golden.json");
        let example: Vec<&str> = FORMAT.lines().filter(|line| line.starts_with("  ")).collect();
        std::fs::write(&file, example.join("\n")).unwrap();
        Golden::read(&file).unwrap_or_else(|error| panic!("{error}"));
    }
}
