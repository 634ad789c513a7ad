//! LLVM, which the CUDA backend links but never calls here.
//!
//! `tracel-llvm-bundler`, whose build script runs deep below Burn, downloads it after some minutes of compiling. If the
//! download cannot work, this module says so in the first second. If it fails later, this module recognises the failure.

use super::BuildError;
use std::{
    env, fs,
    net::{TcpStream, ToSocketAddrs},
    path::{Path, PathBuf},
    time::Duration,
};

/// The crate whose build script downloads LLVM.
const BUNDLER: &str = "tracel-llvm-bundler";
/// The host to download from.
const HOST: &str = "github.com";
/// How long to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// If one of these is set, the download goes through a proxy.
const PROXIES: [&str; 6] = [
    "ALL_PROXY",
    "all_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
];
/// If one of these is set, nothing is downloaded.
const SKIPPED: [&str; 2] = ["DOCS_RS", "TRACEL_LLVM_BUNDLER_SKIP_CHECKSUM_DOWNLOAD"];

/// Checks that LLVM is installed or that its host can be reached. `manifest` is any manifest of the workspace.
pub(super) fn check(manifest: &Path) -> Result<(), BuildError> {
    let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if folder(&version(manifest)).join(".tracel-llvm-installed").exists() || PROXIES.iter().chain(&SKIPPED).any(is_set) {
        return Ok(());
    }
    connect().map_err(|error| failure(&format!("{HOST} cannot be reached ({error})"), &version(manifest)))
}

fn connect() -> std::io::Result<()> {
    let mut outcome = Err(std::io::ErrorKind::AddrNotAvailable.into());
    for address in (HOST, 443).to_socket_addrs()? {
        outcome = TcpStream::connect_timeout(&address, PATIENCE).map(drop);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// The error for the output of a failed build, if LLVM was the reason.
pub(super) fn recognised(output: &[String]) -> Option<BuildError> {
    let (_, named) = output
        .iter()
        .find_map(|line| line.split_once(&format!("custom build command for `{BUNDLER} v")))?;
    let version = named.split(['`', ' ']).next()?;
    // The bundler either unwraps the result of the connection or prints its own message under this heading.
    let unwrapped = output
        .iter()
        .find_map(|line| Some(line.split_once("`Err` value: ")?.1.trim()));
    let printed = || {
        output
            .iter()
            .skip_while(|line| line.trim() != "--- stderr")
            .nth(1)
            .map(|line| line.trim())
    };
    let cause = unwrapped.or_else(printed).unwrap_or("it gives no reason");
    Some(failure(&format!("the download failed ({cause})"), version))
}

fn failure(cause: &str, version: &str) -> BuildError {
    BuildError::NoLlvm {
        host: HOST,
        cause: cause.to_owned(),
        folder: folder(version),
    }
}

/// The folder that the bundler unpacks LLVM into, in the user's data folder.
fn folder(version: &str) -> PathBuf {
    let below_home = |path: &str| env::home_dir().unwrap_or_default().join(path);
    let data = match env::consts::OS {
        "macos" => below_home("Library/Application Support"),
        "windows" => env::var_os("LOCALAPPDATA").map_or_else(|| below_home("AppData/Local"), PathBuf::from),
        _ => env::var_os("XDG_DATA_HOME").map_or_else(|| below_home(".local/share"), PathBuf::from),
    };
    data.join("tracel").join(format!("tracel-llvm-{version}"))
}

/// The version of the bundler in the lock file of the workspace.
fn version(manifest: &Path) -> String {
    let lock = manifest
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("Cargo.lock"))
        .find(|lock| lock.is_file());
    let text = lock.and_then(|lock| fs::read_to_string(lock).ok()).unwrap_or_default();
    locked(&text).unwrap_or("VERSION").to_owned()
}

fn locked(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(&format!("name = \"{BUNDLER}\"\nversion = \""))?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_failed_download_is_recognised_with_its_cause() {
        let output = lines(
            "   Compiling cubecl v0.11.3\n\
             error: failed to run custom build command for `tracel-llvm-bundler v23.1.0-4`\n\
             \n\
             Caused by:\n  process didn't exit successfully: `build-script-build` (exit status: 101)\n  --- stderr\n\n\
             thread 'main' panicked at build.rs:59:37:\n\
             called `Result::unwrap()` on an `Err` value: HostNotFound\n",
        );
        let text = recognised(&output).unwrap().to_string();
        assert!(text.contains("the download failed (HostNotFound)"), "{text}");
        assert!(
            text.contains("tracel-llvm-23.1.0-4 from a machine that has built it"),
            "{text}"
        );
        assert!(!text.contains('\n'), "{text}");
    }

    #[test]
    fn any_message_can_be_the_cause() {
        let output = lines(
            "error: failed to run custom build command for `tracel-llvm-bundler v1.2.3 (/x)`\n--- stderr\nArchive checksum mismatch\n",
        );
        assert!(
            recognised(&output)
                .unwrap()
                .to_string()
                .contains("(Archive checksum mismatch)")
        );
    }

    #[test]
    fn other_failures_are_not() {
        let output = lines("error: failed to run custom build command for `ring v0.17`\nerror[E0432]: unresolved import\n");
        assert!(recognised(&output).is_none());
    }

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let text = "[[package]]\nname = \"toml\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"tracel-llvm-bundler\"\nversion = \"23.1.0-4\"\n";
        assert_eq!(locked(text), Some("23.1.0-4"));
        assert_eq!(locked("name = \"toml\"\nversion = \"1\"\n"), None);
    }
}
