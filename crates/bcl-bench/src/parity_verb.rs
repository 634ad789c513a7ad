//! `bcl-bench parity`.

use crate::bad_input;
use bcl_bench::{
    Place,
    parity::{self, Golden, Precision},
};
use bcl_train::backend::Backend;
use clap::ValueEnum;
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The reference values, JSON; longer arrays lie in a .safetensors file of the same name beside it.
    file: PathBuf,
    #[command(flatten)]
    place: Place,
    /// In which precision [default: both, as far as the device has them].
    #[arg(long, value_enum, default_value_t = Dtype::Both, hide_default_value = true)]
    dtype: Dtype,
    /// Print JSON in place of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dtype {
    F64,
    F32,
    Both,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let golden = match Golden::read(&arguments.file) {
        Ok(golden) => golden,
        Err(error) => return bad_input(&error.to_string()),
    };
    let backend = match arguments.place.open() {
        Ok(backend) => backend,
        Err(error) => return bad_input(&error.to_string()),
    };
    let precisions = arguments.dtype.on(&backend);
    if precisions.is_empty() {
        let info = backend.info();
        return bad_input(&format!("{} ({}) does not compute in that --dtype", info.backend, info.name));
    }
    let report = parity::compare(&golden, &arguments.file, &precisions, &backend);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).expect("a report is plain data"));
    } else {
        println!("{report}");
    }
    ExitCode::from(u8::from(!report.passed))
}

impl Dtype {
    /// The precisions that were asked for and that the device has.
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
