//! The verb `bcl-bench papers`: lists every table and figure of the papers.

use bcl_bench::papers::Papers;
use bcl_files::printable_lines;
use bcl_report::TextStyle;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let papers = Papers::builtin();
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&papers).expect("a list is plain data"));
    } else {
        println!("{}", printable_lines(TextStyle::of_stdout().fitted(&papers)));
    }
    ExitCode::SUCCESS
}
