//! `cargo xtask ci`: the checks that a change must pass, cheapest first.

use crate::{root, tidy};
use clap::Args;
use std::process::ExitCode;
use std::time::Instant;

/// Which checks to run.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Skips docs and tests.
    #[arg(long)]
    fast: bool,
    /// Skips tests only.
    #[arg(long)]
    no_tests: bool,
}

/// One check, with the arguments of `cargo` where it is a cargo command.
enum Step {
    Cargo {
        name: &'static str,
        arguments: &'static str,
        environment: Option<(&'static str, &'static str)>,
    },
    Tidy,
}

const FORMAT: Step = Step::Cargo {
    name: "format",
    arguments: "fmt --all --check",
    environment: None,
};
const LINTS: Step = Step::Cargo {
    name: "lints",
    arguments: "clippy --workspace --all-targets -- -D warnings",
    environment: None,
};
const DOCS: Step = Step::Cargo {
    name: "docs",
    arguments: "doc --workspace --no-deps",
    environment: Some(("RUSTDOCFLAGS", "-D warnings")),
};
const TESTS: Step = Step::Cargo {
    name: "tests",
    arguments: "test --workspace",
    environment: None,
};

/// The steps in order: what needs no build first. Lints and docs share Burn's metadata; only tests compile it in full.
fn steps(options: &Options) -> Vec<Step> {
    let mut steps = vec![FORMAT, Step::Tidy, LINTS];
    if !options.fast {
        steps.push(DOCS);
        if !options.no_tests {
            steps.push(TESTS);
        }
    }
    steps
}

/// Runs the steps until one fails, and ends with its exit code.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let code = run_until_failure(&steps(options), |step| {
        let start = Instant::now();
        println!("ci: {} ...", step.name());
        let code = step.run()?;
        let verdict = if code == 0 {
            "passed".to_owned()
        } else {
            format!("FAILED with exit code {code}")
        };
        println!("ci: {} {verdict} after {:.1} s", step.name(), start.elapsed().as_secs_f64());
        Ok(code)
    })?;
    let verdict = if code == 0 {
        "every step passed"
    } else {
        "stopped at the first failure"
    };
    println!("ci: {verdict}, {:.1} s in all", start.elapsed().as_secs_f64());
    Ok(ExitCode::from(code))
}

/// Runs the steps in order up to the first whose exit code is not 0, and returns that code.
fn run_until_failure<S>(steps: &[S], mut run: impl FnMut(&S) -> anyhow::Result<u8>) -> anyhow::Result<u8> {
    for step in steps {
        let code = run(step)?;
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Cargo { name, .. } => name,
            Step::Tidy => "tidy",
        }
    }

    fn run(&self) -> anyhow::Result<u8> {
        match self {
            Step::Cargo {
                arguments, environment, ..
            } => {
                let mut command = root::cargo();
                command
                    .current_dir(root::workspace_root())
                    .args(arguments.split(' '))
                    .envs(*environment);
                // A process that a signal ended has no code; 1 still says that it failed.
                let code = command.status()?.code().unwrap_or(1);
                Ok(u8::try_from(code).unwrap_or(1))
            }
            Step::Tidy => Ok(u8::from(tidy::report(&root::workspace_root())? > 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &Options) -> Vec<&'static str> {
        steps(options).iter().map(Step::name).collect()
    }

    #[test]
    fn a_full_run_ends_with_the_tests() {
        assert_eq!(names(&Options::default()), ["format", "tidy", "lints", "docs", "tests"]);
    }

    #[test]
    fn fast_skips_docs_and_tests() {
        assert_eq!(
            names(&Options {
                fast: true,
                no_tests: false
            }),
            ["format", "tidy", "lints"]
        );
    }

    #[test]
    fn no_tests_keeps_the_docs() {
        assert_eq!(
            names(&Options {
                fast: false,
                no_tests: true
            }),
            ["format", "tidy", "lints", "docs"]
        );
    }

    #[test]
    fn the_first_failure_stops_the_run_with_its_code() {
        let mut seen = Vec::new();
        let code = run_until_failure(&[0, 101, 0], |&code| {
            seen.push(code);
            Ok(code)
        });
        assert_eq!(code.unwrap(), 101);
        assert_eq!(seen, [0, 101]);
    }
}
