//! Where cargo put a program, and where it puts one with another backend.

use super::wanted::Wanted;
use std::{
    env::consts::EXE_EXTENSION,
    path::{Path, PathBuf},
};

/// Folder in the target folder with one target folder per set of features.
const BACKENDS: &str = "backends";

/// The location of a program in a target folder: `ROOT/[TRIPLE/]PROFILE/PROGRAM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TargetFolder {
    root: PathBuf,
    triple: Option<String>,
    profile: String,
}

impl TargetFolder {
    /// The target folder that contains a program; `None` if the program was installed or copied elsewhere.
    pub(super) fn of(program: &Path) -> Option<Self> {
        let profile = program.parent()?;
        let above = profile.parent()?;
        let (root, triple) = if is_target_folder(above) {
            (above, None)
        } else {
            let root = above.parent().filter(|folder| is_target_folder(folder))?;
            (root, Some(above.file_name()?.to_str()?.to_owned()))
        };
        Some(Self {
            root: outermost(root).to_path_buf(),
            triple,
            profile: profile.file_name()?.to_str()?.to_owned(),
        })
    }

    /// The target folder of programs with more than the default build.
    pub(super) fn of_build(&self, wanted: &Wanted) -> PathBuf {
        self.root.join(BACKENDS).join(wanted.folder())
    }

    /// The file for the compiler's output.
    pub(super) fn log(&self, wanted: &Wanted) -> PathBuf {
        self.root.join(BACKENDS).join(format!("{}.log", wanted.folder()))
    }

    /// The path of the program that contains what is wanted.
    pub(super) fn program(&self, wanted: &Wanted, name: &str) -> PathBuf {
        let mut path = self.of_build(wanted);
        path.extend(&self.triple);
        path.join(&self.profile).join(name).with_extension(EXE_EXTENSION)
    }

    /// The value of `--profile`. The folder of the profile `dev` has another name.
    pub(super) fn profile(&self) -> &str {
        match self.profile.as_str() {
            "debug" => "dev",
            profile => profile,
        }
    }

    /// The value of `--target`, if it was given.
    pub(super) fn triple(&self) -> Option<&str> {
        self.triple.as_deref()
    }
}

/// Whether cargo builds in a folder. Cargo writes the tag only into folders that it creates, and not into a mounted one, and the other file always.
pub fn is_target_folder(folder: &Path) -> bool {
    let files = ["CACHEDIR.TAG", ".rustc_info.json"];
    files.iter().any(|name| folder.join(name).is_file())
}

/// The target folder that contains a backend's target folder, so that backends do not nest.
fn outermost(root: &Path) -> &Path {
    match root.parent() {
        Some(parent) if parent.file_name().is_some_and(|name| name == BACKENDS) => parent.parent().unwrap_or(root),
        _ => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BackendChoice;
    use std::fs;

    fn target() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("CACHEDIR.TAG"), "").unwrap();
        folder
    }

    #[test]
    fn profile_and_triple_are_those_of_the_program() {
        let target = target();
        let of = |path: &str| TargetFolder::of(&target.path().join(path)).unwrap();
        let plain = of("debug/bcl-train");
        assert_eq!((plain.profile(), plain.triple()), ("dev", None));
        let cross = of("aarch64-apple-darwin/release/bcl-train");
        assert_eq!((cross.profile(), cross.triple()), ("release", Some("aarch64-apple-darwin")));

        let program = |folder: &TargetFolder| folder.program(&BackendChoice::Wgpu.into(), "bcl-train");
        let expected = |path: &str| target.path().join("backends/wgpu").join(path).with_extension(EXE_EXTENSION);
        assert_eq!(program(&plain), expected("debug/bcl-train"));
        assert_eq!(program(&cross), expected("aarch64-apple-darwin/release/bcl-train"));
    }

    #[test]
    fn a_target_folder_that_cargo_did_not_create_counts() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".rustc_info.json"), "{}").unwrap();
        assert!(TargetFolder::of(&folder.path().join("debug/bcl-train")).is_some());
    }

    #[test]
    fn a_program_outside_a_target_folder_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(TargetFolder::of(&folder.path().join("bin/bcl-train")), None);
        assert_eq!(TargetFolder::of(Path::new("bcl-train")), None);
    }

    #[test]
    fn folders_of_backends_do_not_nest() {
        let target = target();
        let inner = target.path().join("backends/wgpu");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("CACHEDIR.TAG"), "").unwrap();
        let folder = TargetFolder::of(&inner.join("debug/bcl-train")).unwrap();
        assert_eq!(
            folder.of_build(&BackendChoice::Cuda.into()),
            target.path().join("backends/cuda")
        );
    }
}
