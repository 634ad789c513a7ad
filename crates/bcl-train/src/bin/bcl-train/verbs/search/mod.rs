//! The verbs that search images: `neighbours`, `duplicates`, `subset`.

mod duplicates;
mod neighbours;
mod page;
mod subset;

use super::saved::{of_images, working};
use crate::cli::{Duplicates, Neighbours, Searched, Subset};
use bcl_backend::Backend;
use bcl_files::{refuse_input, refuse_overwriting};
use bcl_images::ImageError;
use bcl_train::{
    error::Error,
    kinds::{
        Saved,
        images::search::{ImageIndex, SearchOptions},
    },
};
use std::path::Path;

/// Searches a folder of images with the encoder of a run.
///
/// # Errors
/// Returns an error if the run or the images cannot be read, the run has no encoder of images, or a file cannot be written.
pub(crate) fn search(run: &Path, data_dir: Option<&Path>, backend: &Backend, search: &Search<'_>) -> Result<(), Error> {
    // What is refused is refused before minutes of work.
    search.check_files()?;
    let _working = working("searching images with", run);
    let run = of_images(Saved::open(run, data_dir)?, search.verb())?;
    let searched = search.searched();
    let decoding = run.recipe.data.decoding();
    let options = SearchOptions {
        folder: searched.folder.clone(),
        skip_broken: searched.skip_broken,
        cache: searched.cache.clone(),
    };
    let open = || {
        ImageIndex::open(run, backend, &options).map_err(|error| match &searched.folder {
            Some(_) => with_skipping(error),
            None => error,
        })
    };
    match search {
        Search::Neighbours(args) => {
            let queries = neighbours::read(&args.queries, decoding)?;
            neighbours::answer(&open()?, args, &queries)
        }
        Search::Duplicates(args) => duplicates::answer(&open()?, args),
        Search::Subset(args) => subset::answer(&open()?, args),
    }
}

/// Adds the flag that leaves out broken images, where a recipe has a key.
fn with_skipping(error: Error) -> Error {
    match error {
        Error::Images(mut images) => {
            if let ImageError::BrokenImages { may_skip, .. } = &mut *images {
                *may_skip = false;
                return Error::Input(format!("{images} Or add --skip-broken to leave them out."));
            }
            Error::Images(images)
        }
        other => other,
    }
}

/// A question about a folder of images, with its arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Search<'a> {
    /// Which images are most similar to given ones.
    Neighbours(&'a Neighbours),
    /// Which images are near-duplicates.
    Duplicates(&'a Duplicates),
    /// Which images are a diverse subset.
    Subset(&'a Subset),
}

impl<'a> Search<'a> {
    /// The verb that asks.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Self::Neighbours(_) => "neighbours",
            Self::Duplicates(_) => "duplicates",
            Self::Subset(_) => "subset",
        }
    }

    /// Which images are searched.
    pub(crate) fn searched(&self) -> &'a Searched {
        match self {
            Self::Neighbours(args) => &args.searched,
            Self::Duplicates(args) => &args.searched,
            Self::Subset(args) => &args.searched,
        }
    }

    /// Checks the files that are read and written before minutes of work.
    fn check_files(&self) -> Result<(), Error> {
        let Searched { folder, page, cache, .. } = self.searched();
        if let Some(folder) = folder
            && !folder.exists()
        {
            return Err(refused("--in", folder, "no such folder or archive; correct the path"));
        }
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
            Self::Subset(Subset {
                out: Some(out), chosen, ..
            }) => {
                check_file("--out", out, &["txt"])?;
                Ok(refuse_input("--out", out, chosen.as_deref())?)
            }
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
