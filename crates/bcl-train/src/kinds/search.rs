//! What is asked about a folder of images.

use crate::{
    cli::{Duplicates, Neighbours, Searched, Subset},
    error::Error,
};
use bcl_files::refuse_overwriting;
use std::path::Path;

/// A question about a folder of images, with its arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Search<'a> {
    /// Which images are most similar to given ones.
    Neighbours(&'a Neighbours),
    /// Which images are near-duplicates.
    Duplicates(&'a Duplicates),
    /// Which images are a diverse subset.
    Subset(&'a Subset),
}

impl<'a> Search<'a> {
    /// The verb that asks.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Neighbours(_) => "neighbours",
            Self::Duplicates(_) => "duplicates",
            Self::Subset(_) => "subset",
        }
    }

    /// Which images are searched.
    pub fn searched(&self) -> &'a Searched {
        match self {
            Self::Neighbours(args) => &args.searched,
            Self::Duplicates(args) => &args.searched,
            Self::Subset(args) => &args.searched,
        }
    }

    /// Checks the files that are written before minutes of work.
    ///
    /// # Errors
    /// Returns an error that names the flag if a file cannot be written, or is one that must not be overwritten.
    pub(crate) fn check_files(&self) -> Result<(), Error> {
        let Searched { page, cache, .. } = self.searched();
        if let Some(page) = page {
            check_file("--page", page, &["html", "htm"])?;
        }
        if let Some(cache) = cache {
            if cache.is_file() {
                return Err(refused("--cache", cache, "is a file; name a folder"));
            }
            refuse_overwriting("--cache", &cache.join("features.safetensors"), &["safetensors"])?;
        }
        match self {
            Self::Subset(Subset { out: Some(out), .. }) => check_file("--out", out, &["txt"]),
            _ => Ok(()),
        }
    }
}

fn check_file(flag: &'static str, file: &Path, extensions: &[&str]) -> Result<(), Error> {
    if file.is_dir() {
        return Err(refused(flag, file, "is a folder; name a file"));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(refused(
            flag,
            file,
            "its folder does not exist; create it, or name another file",
        ));
    }
    Ok(refuse_overwriting(flag, file, extensions)?)
}

fn refused(flag: &str, path: &Path, problem: &str) -> Error {
    Error::Input(format!("{flag} {}: {problem}", path.display()))
}
