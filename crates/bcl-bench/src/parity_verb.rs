//! `bcl-bench parity`.

use crate::bad_input;
use bcl_bench::parity::{self, Golden, Precision};
use clap::ValueEnum;
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The reference values, JSON; longer arrays lie in a .safetensors file of the same name beside it.
    file: PathBuf,
    /// Where to compute.
    #[arg(long, default_value = "flex")]
    backend: String,
    /// In which precision.
    #[arg(long, value_enum, default_value_t = Dtype::Both)]
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
    if arguments.backend != "flex" {
        return bad_input(&format!(
            "backend `{}` is not in this build of bcl-bench, which computes on `flex` only",
            arguments.backend
        ));
    }
    let golden = match Golden::read(&arguments.file) {
        Ok(golden) => golden,
        Err(error) => return bad_input(&error.to_string()),
    };
    let precisions: &[Precision] = match arguments.dtype {
        Dtype::F64 => &[Precision::F64],
        Dtype::F32 => &[Precision::F32],
        Dtype::Both => &[Precision::F64, Precision::F32],
    };
    let report = parity::compare(&golden, &arguments.file, precisions);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).expect("a report is plain data"));
    } else {
        println!("{report}");
    }
    ExitCode::from(u8::from(!report.passed))
}
