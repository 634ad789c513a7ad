//! Refuses to let flags such as `--out` overwrite files of a run.

use crate::{FileError, checksums::CHECKSUMS, lock::LOCK};
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

/// Files that a run or a benchmark table needs. Reports and exported weights can be regenerated.
const OWN: [&str; 17] = [
    "recipe.toml",
    "run.json",
    "data.json",
    "users.csv",
    "graphs.csv",
    "clusters.csv",
    "metrics.jsonl",
    "steps.jsonl",
    "model.bpk",
    "result.json",
    "showcase.json",
    "outcome.json",
    "plan.json",
    "looks.json",
    "table.json",
    CHECKSUMS,
    LOCK,
];

/// The subfolder of a run with its checkpoints, which no flag may write to.
const OWN_FOLDER: &str = "checkpoints";

/// Checks that writing the file given by a flag overwrites no file of a run or a benchmark table, and no file of another type.
///
/// `extensions` are the file extensions that the flag writes; if empty, any type may be overwritten.
///
/// # Errors
/// Returns an error that names the flag, the file and what it is.
pub fn refuse_overwriting(flag: &'static str, path: &Path, extensions: &[&str]) -> Result<(), FileError> {
    if let Some(owner) = owner(path) {
        return Err(overwrites(flag, path, format!("a file that {} needs", owner.display())));
    }
    let of_its_kind = |extension: &OsStr| extensions.iter().any(|known| extension.eq_ignore_ascii_case(known));
    // Writing to something that is no regular file, such as /dev/stdout, overwrites nothing.
    if !extensions.is_empty() && path.is_file() && !path.extension().is_some_and(of_its_kind) {
        let what = format!("a file that is not .{}", extensions.join(" or ."));
        return Err(overwrites(flag, path, what));
    }
    Ok(())
}

/// Checks that writing the file given by a flag overwrites none of the files that the same command reads.
///
/// # Errors
/// Returns an error that names the flag and the file.
pub fn refuse_input<'a>(flag: &'static str, path: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), FileError> {
    let Ok(whole) = fs::canonicalize(path) else { return Ok(()) };
    let is_same = |input: &Path| fs::canonicalize(input).is_ok_and(|input| input == whole);
    if inputs.into_iter().any(is_same) {
        return Err(overwrites(flag, path, "a file that is read".to_owned()));
    }
    Ok(())
}

fn overwrites(flag: &'static str, path: &Path, what: String) -> FileError {
    FileError::Overwrites {
        flag,
        path: path.to_path_buf(),
        what,
    }
}

/// The folder of the run or table that needs this file.
fn owner(path: &Path) -> Option<PathBuf> {
    let whole = match fs::canonicalize(path) {
        Ok(whole) => whole,
        Err(_) => fs::canonicalize(parent(path)).ok()?.join(path.file_name()?),
    };
    let name = whole.file_name()?;
    let folder = whole.parent()?;
    if OWN.iter().any(|own| name == *own) && is_run_or_table(folder) {
        return Some(folder.to_path_buf());
    }
    folder.ancestors().find_map(|inner| {
        let outer = inner.parent()?;
        let is_own = inner.file_name()? == OWN_FOLDER && is_run_or_table(outer);
        is_own.then(|| outer.to_path_buf())
    })
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether a folder belongs to a run or a benchmark table.
pub fn is_run_or_table(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    (has("recipe.toml") && has("run.json")) || has("plan.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> Option<String> {
        refuse_overwriting("--out", path, &["html"])
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn files_of_a_run_and_files_of_other_kinds_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("run/checkpoints/refit")).unwrap();
        for name in [
            "run/recipe.toml",
            "run/run.json",
            "run/model.bpk",
            "run/report.html",
            "my.toml",
            "old.html",
        ] {
            fs::write(at(name), "").unwrap();
        }
        for (name, what) in [
            ("run/model.bpk", "run needs"),
            ("run/result.json", "run needs"),
            ("run/../run/recipe.toml", "run needs"),
            ("run/checkpoints/refit/page.html", "run needs"),
            ("my.toml", "a file that is not .html"),
        ] {
            let message = refusal(&at(name)).expect(name);
            assert!(message.starts_with("--out ") && message.contains(what), "{name}: {message}");
        }
        for name in ["run/report.html", "old.html", "new.html", "model.bpk", "nowhere/model.bpk"] {
            assert_eq!(refusal(&at(name)), None, "{name}");
        }
    }

    #[test]
    fn files_that_are_read_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (input, other) = (folder.path().join("likes.csv"), folder.path().join("lists.csv"));
        for file in [&input, &other] {
            fs::write(file, "").unwrap();
        }
        let detour = folder
            .path()
            .join("../")
            .join(folder.path().file_name().unwrap())
            .join("likes.csv");
        let error = refuse_input("--out", &detour, [&*other, &*input]).unwrap_err().to_string();
        assert!(
            error.starts_with("--out ") && error.contains("would overwrite a file that is read"),
            "{error}"
        );
        for name in ["lists.csv", "new.csv"] {
            let path = folder.path().join(name);
            assert!(
                refuse_input("--out", &path, [&*input, Path::new("nowhere.csv")]).is_ok(),
                "{name}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_bypass_the_check() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["recipe.toml", "run.json"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let link = folder.path().join("page.html");
        std::os::unix::fs::symlink(folder.path().join("recipe.toml"), &link).unwrap();
        assert!(refusal(&link).is_some());
        // Not /dev/stdout, which is a regular file if the tests' output is redirected to one.
        assert_eq!(refusal(Path::new("/dev/null")), None);
    }
}
