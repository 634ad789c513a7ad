//! The part of cargo's command line that the documents use. Add what else they come to use.

use clap::{Args, Parser, Subcommand};

/// A command of cargo.
#[derive(Debug, Parser)]
#[command(name = "cargo")]
pub(super) struct Cargo {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

/// The subcommand.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Runs a program or an example of a package.
    Run(Run),
    /// Runs tests or benchmarks.
    #[command(alias = "bench")]
    Test(Test),
    /// Builds the documentation.
    Doc {
        /// The package.
        #[arg(short, long)]
        package: String,
        /// Opens it.
        #[arg(long)]
        open: bool,
    },
    /// Installs a program.
    Install {
        /// Folder of its package.
        #[arg(long)]
        path: String,
        /// Features of the package.
        #[arg(long, value_delimiter = ',')]
        features: Vec<String>,
    },
    /// Packages and uploads crates.
    Publish {
        /// All packages.
        #[arg(long, required = true)]
        workspace: bool,
        /// Uploads nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Runs a chore of the project.
    Xtask {
        /// Its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The package.
    #[arg(short, long)]
    pub(super) package: String,
    /// Optimised.
    #[arg(long)]
    release: bool,
    /// Features of the package.
    #[arg(long, value_delimiter = ',')]
    pub(super) features: Vec<String>,
    /// An example of it.
    #[arg(long)]
    pub(super) example: Option<String>,
    /// Arguments of the program.
    #[arg(last = true)]
    pub(super) words: Vec<String>,
}

/// Arguments of `test` and `bench`.
#[derive(Debug, Args)]
pub(super) struct Test {
    /// The package.
    #[arg(short, long, required_unless_present = "workspace")]
    pub(super) package: Option<String>,
    /// All packages.
    #[arg(long)]
    workspace: bool,
    /// Only the benchmarks.
    #[arg(long)]
    benches: bool,
    /// The profile.
    #[arg(long)]
    profile: Option<String>,
    /// A test target.
    #[arg(long = "test")]
    target: Option<String>,
    /// Arguments of the harness.
    #[arg(last = true)]
    words: Vec<String>,
}
