//! The MPI library to build with: its compiler `mpicc`, and libclang, which reads its headers.

use super::BuildError;
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The MPI library that `mpicc` compiles for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MpiLibrary {
    id: String,
}

impl MpiLibrary {
    /// Asks `mpicc`, or the program that the variable `MPICC` names, and looks for libclang.
    ///
    /// # Errors
    /// Returns an error that names the package to install if one of them is missing.
    pub(super) fn find() -> Result<Self, BuildError> {
        let compiler = env::var_os("MPICC").unwrap_or_else(|| OsString::from("mpicc"));
        let output = Command::new(&compiler).arg("-show").stdin(Stdio::null()).output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else {
            return Err(BuildError::NoMpi {
                compiler: compiler.into(),
            });
        };
        if !libclang_is_likely() {
            return Err(BuildError::NoLibclang);
        }
        Ok(Self::of(&String::from_utf8_lossy(&output.stdout)))
    }

    /// The library for which `mpicc` calls the compiler with this command.
    pub(super) fn of(command: &str) -> Self {
        // FNV-1a: the same folder with every version of Rust.
        let hash = command.trim().bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        Self {
            id: format!("{hash:08x}"),
        }
    }

    /// Eight characters that differ between libraries.
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

/// The error for the output of a failed build, if libclang was the reason.
pub(super) fn recognised(output: &[String]) -> Option<BuildError> {
    let is_missing = |line: &String| line.contains("Unable to find libclang");
    output.iter().any(is_missing).then_some(BuildError::NoLibclang)
}

/// Whether libclang is in one of the usual folders. If it can be elsewhere, the build finds out.
fn libclang_is_likely() -> bool {
    if env::var_os("LIBCLANG_PATH").is_some()
        || is_program("llvm-config")
        || is_program("clang")
        || cfg!(not(target_os = "linux"))
    {
        return true;
    }
    let usual = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"].map(PathBuf::from);
    let nested = entries(Path::new("/usr/lib"))
        .into_iter()
        .filter(|path| path.is_dir())
        .flat_map(|path| [path.join("lib"), path]);
    usual.into_iter().chain(nested).any(|folder| has_libclang(&folder))
}

fn has_libclang(folder: &Path) -> bool {
    let is_libclang = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name.starts_with("libclang.so") || name.starts_with("libclang-")) && name.contains(".so")
    };
    entries(folder).iter().any(is_libclang)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn is_program(name: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libclang_is_recognised_by_its_file() {
        for (file, is_it) in [
            ("libclang.so.1", true),
            ("libclang-14.so", true),
            ("libclang-cpp.a", false),
            ("libc.so", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(file), "").unwrap();
            assert_eq!(has_libclang(folder.path()), is_it, "{file}");
        }
    }

    #[test]
    fn a_build_without_libclang_is_recognised() {
        let output = [
            "error: failed to run custom build command for `mpi-sys v0.2.4`",
            "  Unable to find libclang: \"couldn't find any\"",
        ];
        let error = recognised(&output.map(str::to_owned)).unwrap().to_string();
        assert!(error.contains("libclang-dev") && !error.contains('\n'), "{error}");
        assert!(recognised(&["error[E0432]: unresolved import".to_owned()]).is_none());
    }
}
