//! Reads what cargo variables the program that it started: enough to build the program again.

use super::{BuildError, build, target_folder::TargetFolder, wanted::Wanted};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// A program that `cargo run` started, and can build again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CargoProgram {
    package: String,
    cargo: OsString,
    manifest: PathBuf,
    folder: TargetFolder,
}

impl CargoProgram {
    /// Succeeds if `cargo run` started `program` of `package`. Cargo also starts tests and other programs, which have other
    /// packages.
    pub(super) fn find(package: &str, program: &Path, environment: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let started = environment("CARGO_PKG_NAME")?;
        if started != package {
            return None;
        }
        let manifest = PathBuf::from(environment("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
        Some(Self {
            package: package.to_owned(),
            cargo: environment("CARGO")?,
            manifest: manifest.is_file().then_some(manifest)?,
            folder: TargetFolder::of(program)?,
        })
    }

    /// Builds the program with what is wanted and returns its path. If it was built before, cargo only checks for changes.
    pub(super) fn build(&self, wanted: &Wanted, quiet: bool) -> Result<PathBuf, BuildError> {
        let program = self.folder.program(wanted, &self.package);
        let is_first = !program.exists();
        let crates = || is_first.then(|| build::count_crates(self.tree_command(wanted))).flatten();
        let job = build::Job {
            what: wanted.described(),
            command: self.build_command(wanted),
            folder: self.folder.of_build(wanted),
            log: self.folder.log(wanted),
        };
        job.run(crates, quiet)?;
        Ok(program)
    }

    /// `cargo build` of the program with what is wanted, with the profile and target of this program.
    fn build_command(&self, wanted: &Wanted) -> Command {
        let mut command = self.cargo("build", wanted);
        command.args(["--bin", &self.package, "--profile", self.folder.profile()]);
        command.arg("--target-dir").arg(self.folder.of_build(wanted));
        if let Some(triple) = self.folder.triple() {
            command.args(["--target", triple]);
        }
        // A program reads the output, so it must not depend on the user's configuration.
        command
            .env("CARGO_TERM_PROGRESS_WHEN", "never")
            .env("CARGO_TERM_QUIET", "false");
        command
    }

    /// `cargo tree` with one line per crate.
    fn tree_command(&self, wanted: &Wanted) -> Command {
        let mut command = self.cargo("tree", wanted);
        command.args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
        command
    }

    fn cargo(&self, verb: &str, wanted: &Wanted) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args([
            verb,
            "--color",
            "never",
            "--package",
            &self.package,
            "--features",
            &wanted.features(),
        ]);
        command.arg("--manifest-path").arg(&self.manifest);
        // Build scripts that watch these variables, such as ring's, would run again, and every crate above them would be
        // compiled again.
        for (name, _) in std::env::vars_os().filter(|(name, _)| describes_a_package(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        command
    }
}

fn describes_a_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BackendChoice;
    use std::fs;

    /// A package and its target folder in a temporary folder, with the variables that cargo would set.
    struct Sandbox(tempfile::TempDir);

    impl Sandbox {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("target/release")).unwrap();
            fs::write(folder.path().join("target/CACHEDIR.TAG"), "").unwrap();
            fs::write(folder.path().join("Cargo.toml"), "").unwrap();
            Self(folder)
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn find(&self, program: &str, variables: &[(&str, &str)]) -> Option<CargoProgram> {
            let here = self.0.path().as_os_str().to_owned();
            CargoProgram::find("bcl-train", &self.path(program), |name| {
                let value = variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| OsString::from(value));
                value.or_else(|| (name == "CARGO_MANIFEST_DIR").then(|| here.clone()))
            })
        }
    }

    const VARIABLES: [(&str, &str); 2] = [("CARGO", "/bin/cargo"), ("CARGO_PKG_NAME", "bcl-train")];

    #[test]
    fn the_build_is_that_of_this_program_with_one_more_feature() {
        let sandbox = Sandbox::new();
        let program = sandbox.find("target/release/bcl-train", &VARIABLES).unwrap();
        let command = program.build_command(&BackendChoice::Vulkan.into());
        assert_eq!(command.get_program(), "/bin/cargo");
        let (manifest, target) = (sandbox.path("Cargo.toml"), sandbox.path("target/backends/vulkan"));
        let expected = [
            "build",
            "--color",
            "never",
            "--package",
            "bcl-train",
            "--features",
            "vulkan",
            "--manifest-path",
            manifest.to_str().unwrap(),
            "--bin",
            "bcl-train",
            "--profile",
            "release",
            "--target-dir",
            target.to_str().unwrap(),
        ];
        assert_eq!(command.get_args().collect::<Vec<_>>(), expected);
        // The current folder decides which configuration files cargo reads.
        assert_eq!(command.get_current_dir(), None);
    }

    #[test]
    fn cargo_gets_no_variables_of_the_running_package() {
        // Cargo sets these variables for every test.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let sandbox = Sandbox::new();
        let command = sandbox
            .find("target/release/bcl-train", &VARIABLES)
            .unwrap()
            .build_command(&BackendChoice::Wgpu.into());
        for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(
                command.get_envs().any(|(set, value)| set == name && value.is_none()),
                "{name}"
            );
        }
    }

    #[test]
    fn the_target_triple_is_kept() {
        let sandbox = Sandbox::new();
        let program = "target/x86_64-unknown-linux-musl/debug/bcl-train";
        fs::create_dir_all(sandbox.path(program)).unwrap();
        let command = sandbox
            .find(program, &VARIABLES)
            .unwrap()
            .build_command(&BackendChoice::Wgpu.into());
        let arguments: Vec<_> = command.get_args().filter_map(|argument| argument.to_str()).collect();
        assert!(
            arguments.ends_with(&["--target", "x86_64-unknown-linux-musl"]),
            "{arguments:?}"
        );
        assert!(arguments.windows(2).any(|pair| pair == ["--profile", "dev"]), "{arguments:?}");
    }

    #[test]
    fn only_a_program_that_cargo_started_is_found() {
        let sandbox = Sandbox::new();
        assert_eq!(sandbox.find("target/release/bcl-train", &[]), None);
        // Cargo started the tests, and the tests started the program.
        assert_eq!(
            sandbox.find("target/release/bcl-train", &[VARIABLES[0], ("CARGO_PKG_NAME", "tests")]),
            None
        );
        assert_eq!(sandbox.find("bin/bcl-train", &VARIABLES), None);
        fs::remove_file(sandbox.path("Cargo.toml")).unwrap();
        assert_eq!(sandbox.find("target/release/bcl-train", &VARIABLES), None);
    }
}
