//! The verb `bcl-bench papers`: lists every table and figure of the papers.

use crate::output::print;
use bcl_bench::papers::Papers;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Print Markdown instead of tables, as in docs/results/papers.md.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let papers = Papers::builtin();
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&papers).expect("a list is plain data"));
    } else if arguments.markdown {
        print!("{}", papers.page());
    } else {
        print(&papers);
    }
    ExitCode::SUCCESS
}
