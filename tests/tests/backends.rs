//! Backends in the default build: which are refused, which are listed, and how a missing one is built on demand.
//!
//! A script stands in for cargo, so that builds take no time.

use serde_json::Value;
use std::process::{Command, Output};
use whole_program_tests::{bcl_train, copy_program, shown};

/// Runs the program without cargo's environment variables, as a shell would.
fn outside_cargo(arguments: &[&str]) -> Output {
    bcl_train().env_clear().args(arguments).output().expect("it starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_refused_in_one_line(output: &Output, words: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{}", shown(output));
    let message = stderr(output);
    assert_eq!(message.trim_end().lines().count(), 1, "{}", shown(output));
    assert!(
        message.starts_with("error: ") && !message.contains("panicked"),
        "{}",
        shown(output)
    );
    for word in words {
        assert!(message.contains(word), "`{word}` is missing\n{}", shown(output));
    }
}

#[test]
fn a_backend_that_is_not_in_the_build_is_one_line_with_the_command_that_gets_it() {
    for backend in ["wgpu", "vulkan", "cuda"] {
        let output = outside_cargo(&["quickstart", "--backend", backend]);
        let command = format!("cargo run -p bcl-train -- --backend {backend}");
        assert_refused_in_one_line(&output, &["is not in this build, which has flex (CPU)", &command]);
    }
    if !cfg!(target_os = "macos") {
        let output = outside_cargo(&["quickstart", "--backend", "metal"]);
        assert_refused_in_one_line(
            &output,
            &["--backend metal needs an Apple GPU", "--backend cuda, vulkan or wgpu"],
        );
    }
}

#[test]
fn every_verb_that_computes_refuses_alike() {
    let run = ["evaluate", "embed", "export"].map(|verb| vec![verb, "no-such-run", "--backend", "wgpu"]);
    let others = [
        vec!["recommend", "no-such-run", "--user", "1", "--backend", "wgpu"],
        vec!["devices", "--backend", "wgpu"],
    ];
    for arguments in run.iter().chain(&others) {
        assert_refused_in_one_line(&outside_cargo(arguments), &["--backend wgpu is not in this build"]);
    }
}

#[test]
fn an_installed_program_names_the_command_that_installs_the_backend() {
    let folder = tempfile::tempdir().expect("a folder");
    let installed = folder.path().join("bcl-train");
    copy_program(bcl_train().get_program().as_ref(), &installed);
    // Even if variables of another cargo process are set.
    let output = Command::new(&installed)
        .args(["--backend", "vulkan"])
        .env("CARGO", "/nonexistent/cargo")
        .env("CARGO_PKG_NAME", "bcl-train")
        .env("CARGO_MANIFEST_DIR", folder.path())
        .output()
        .expect("it starts");
    assert_refused_in_one_line(&output, &["cargo install --path crates/bcl-train --features vulkan"]);
}

#[test]
fn a_device_that_is_not_there_is_refused_with_those_that_are() {
    let output = outside_cargo(&["quickstart", "--device", "3"]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    let message = stderr(&output);
    assert!(
        message.starts_with("error: --device 3: --backend flex has only these devices:\n  0  "),
        "{message}"
    );
    assert_refused_in_one_line(
        &outside_cargo(&["quickstart", "--backend", "auto", "--device", "0"]),
        &["--device 0", "needs --backend"],
    );
    assert_eq!(outside_cargo(&["--device", "first"]).status.code(), Some(2));
}

#[test]
fn devices_are_listed_with_precisions_and_missing_backends_with_a_command() {
    let text = String::from_utf8(outside_cargo(&["devices"]).stdout).expect("text");
    for part in ["flex", "f64 f32 bf16 f16", "cargo run -p bcl-train -- --backend cuda"] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let output = outside_cargo(&["devices", "--json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    let device = &listed["devices"][0];
    assert_eq!(
        (&device["backend"], &device["index"]),
        (&Value::from("flex"), &Value::from(0))
    );
    assert!(device["name"].as_str().is_some_and(|name| !name.is_empty()), "{listed}");
    assert_eq!(device["precisions"], Value::from(vec!["f64", "f32", "bf16", "f16"]));
    let missing: Vec<&str> = listed["not_in_this_build"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|absent| absent["backend"].as_str())
        .collect();
    assert_eq!(missing, ["cuda", "metal", "vulkan", "wgpu"]);
}

/// Tests with a script in place of cargo.
#[cfg(unix)]
mod with_a_cargo {
    use super::*;
    use std::{
        fs,
        path::{Path, PathBuf},
        process::Stdio,
    };
    use whole_program_tests::write_program;

    /// A package with a target folder that contains the real program, and a script in place of cargo.
    struct FakePackage(tempfile::TempDir);

    /// Records its arguments; fails with the content of the file `failure` if present; else copies the file `program` to where the real
    /// cargo would put its result.
    const CARGO: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/calls"
if [ "$1" = tree ]; then printf 'left v1\nright v2\nleft v1 (*)\n'; exit; fi
if [ -e "$here/failure" ]; then cat "$here/failure" >&2; exit 101; fi
while [ $# -gt 0 ]; do [ "$1" = --target-dir ] && target=$2; shift; done
if [ ! -e "$target/debug/bcl-train" ]; then
    printf '   Compiling left v1\n   Compiling right v2\nwarning: unused\n' >&2
    mkdir -p "$target/debug"
    cp "$here/program" "$target/debug/bcl-train"
fi
printf '    Finished `dev` profile\n' >&2
"#;

    impl FakePackage {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let package = Self(folder);
            fs::create_dir_all(package.path("target/debug")).expect("writable");
            package.write("target/CACHEDIR.TAG", "");
            package.write("Cargo.toml", "");
            package.script("cargo", CARGO);
            package.script("program", "#!/bin/sh\necho $$\npwd\nprintf '%s\\n' \"$@\"\nexit 7\n");
            copy_program(bcl_train().get_program().as_ref(), &package.path("target/debug/bcl-train"));
            package
        }

        fn path(&self, path: &str) -> PathBuf {
            // The canonical path: a temporary folder may be behind a symbolic link.
            fs::canonicalize(self.0.path()).expect("it exists").join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.path(path), text).expect("writable");
        }

        fn script(&self, path: &str, text: &str) {
            write_program(&self.path(path), text);
        }

        fn calls(&self) -> String {
            fs::read_to_string(self.path("calls")).unwrap_or_default()
        }

        fn command(&self, arguments: &[&str]) -> Command {
            let mut command = Command::new(self.path("target/debug/bcl-train"));
            command
                .args(arguments)
                .env("CARGO", self.path("cargo"))
                .env("CARGO_PKG_NAME", "bcl-train")
                .env("CARGO_MANIFEST_DIR", self.path(""))
                .current_dir(self.path("target"));
            command
        }

        fn run(&self, arguments: &[&str]) -> Output {
            self.command(arguments).output().expect("it starts")
        }
    }

    const ASKED: [&str; 5] = ["quickstart", "--backend", "wgpu", "--out", "my runs"];

    #[test]
    fn the_first_use_builds_the_backend_and_the_second_starts_at_once() {
        let package = FakePackage::new();
        let child = package
            .command(&ASKED)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let process = child.id().to_string();
        let first = child.wait_with_output().expect("it ends");
        assert_eq!(first.status.code(), Some(7), "{}", shown(&first));
        let stdout = String::from_utf8_lossy(&first.stdout);
        let mut lines = stdout.lines();
        // The same process, so that Ctrl-C reaches it; the same working directory; the same arguments.
        assert_eq!(lines.next(), Some(process.as_str()), "{}", shown(&first));
        assert_eq!(
            lines.next().map(Path::new),
            Some(package.path("target").as_path()),
            "{}",
            shown(&first)
        );
        assert_eq!(lines.collect::<Vec<_>>(), ASKED);
        let told = stderr(&first);
        assert!(
            told.contains("building it once, in backends/wgpu") && told.contains("from now on it starts immediately"),
            "{told}"
        );
        let log = fs::read_to_string(package.path("target/backends/wgpu.log")).expect("a log");
        assert!(
            log.contains("Compiling left v1\n") && log.contains("warning: unused\n"),
            "{log}"
        );
        assert!(package.calls().contains("--features wgpu"), "{}", package.calls());

        let second = package.run(&ASKED);
        assert_eq!((second.status.code(), stderr(&second).as_str()), (Some(7), ""));
        assert_eq!(
            fs::read_to_string(package.path("target/backends/wgpu.log")).expect("a log"),
            log
        );
    }

    #[test]
    fn quiet_builds_without_a_word() {
        let package = FakePackage::new();
        let output = package.run(&["--backend", "vulkan", "--quiet"]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(7), ""));
    }

    #[test]
    fn a_failing_build_is_its_first_error_and_where_the_rest_is() {
        let package = FakePackage::new();
        package.write(
            "failure",
            "   Compiling left v1\nerror[E0432]: unresolved import `x`\n --> src/lib.rs:1:5\n\nerror: could not compile `left`\n",
        );
        let output = package.run(&ASKED);
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        let told = stderr(&output);
        let (_, error) = told.split_once("error: ").expect("an error");
        assert_eq!(
            error,
            "--backend wgpu cannot be built: error[E0432]: unresolved import `x`\n --> src/lib.rs:1:5\nerror: could not compile `left`\n\
             the compiler's full output is in backends/wgpu.log\n"
        );
    }

    #[test]
    fn a_program_that_was_built_for_it_and_still_lacks_it_does_not_build_again() {
        let package = FakePackage::new();
        copy_program(bcl_train().get_program().as_ref(), &package.path("program"));
        let output = package.run(&["--backend", "wgpu", "--quiet"]);
        assert_refused_in_one_line(&output, &["is not in this build"]);
        assert_eq!(package.calls().lines().filter(|call| call.starts_with("build")).count(), 1);
    }

    #[test]
    fn nothing_is_built_for_auto_for_another_system_or_for_a_wrong_recipe() {
        let package = FakePackage::new();
        assert_eq!(
            package.run(&["--backend", "auto", "--set", "los.beta=1"]).status.code(),
            Some(2)
        );
        assert_eq!(
            package.run(&["no-such-recipe.toml", "--backend", "wgpu"]).status.code(),
            Some(2)
        );
        if !cfg!(target_os = "macos") {
            assert_refused_in_one_line(&package.run(&["--backend", "metal"]), &["Apple"]);
        }
        assert_eq!(package.calls(), "");
    }

    #[test]
    fn a_cargo_that_is_gone_is_named() {
        let package = FakePackage::new();
        fs::remove_file(package.path("cargo")).expect("it was there");
        assert_refused_in_one_line(&package.run(&["--backend", "wgpu"]), &["cannot start", "cargo"]);
    }
}
