//! Fetches one file of a data set.

use super::error::FetchError;
use super::extract::{self, Limits, Unpacked};
use super::observer::Observer;
use super::part::{Part, with_suffix};
use super::transfer::{Downloader, Patience};
use super::verify::{self, Mismatch, Verified};
use crate::manifest::{Archive, SourceFile};
use std::fs;
use std::path::Path;
use ureq::Proxy;

/// A file to fetch: its entry in the manifest, and the address to use.
pub(super) struct Item<'a> {
    source: &'a SourceFile,
    url: String,
    archive: Option<Archive>,
}

impl<'a> Item<'a> {
    /// The file `source`, from the mirror `url_base` if given, else from its publisher.
    pub(super) fn new(source: &'a SourceFile, archive: Option<Archive>, url_base: Option<&str>) -> Self {
        let mirror = |base: &str| format!("{}/{}", base.trim_end_matches('/'), source.file);
        let url = url_base.map_or_else(|| source.url.clone(), mirror);
        Self { source, url, archive }
    }
}

/// Downloads, verifies and unpacks files.
pub(super) struct Fetcher {
    downloader: Downloader,
    limits: Limits,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self::new(Downloader::new(Patience::default(), Proxy::try_from_env()), Limits::default())
    }
}

impl Fetcher {
    /// Creates a fetcher that unpacks at most what `limits` allow.
    pub(super) fn new(downloader: Downloader, limits: Limits) -> Self {
        Self { downloader, limits }
    }

    /// Makes sure that the file is in `folder`, verified and unpacked. Skips what is already done.
    ///
    /// # Errors
    /// Returns a [`FetchError`]. A file with a wrong checksum never gets its final name.
    pub(super) fn fetch(&self, item: &Item, folder: &Path, observer: &mut dyn Observer) -> Result<(), FetchError> {
        let target = folder.join(&item.source.file);
        if target.exists() {
            let verified = check_present(&target, item.source)?;
            observer.say(&format!("{} is already there: {verified}", target.display()));
        } else {
            let verified = self.download(item, &target, observer)?;
            observer.say(&format!("{} is complete: {verified}", target.display()));
        }
        if let Some(Archive::Zip) = item.archive {
            observer.say(&match extract::extract(&target, folder, self.limits)? {
                Unpacked::Now { files } => format!("{files} files unpacked into {}", folder.display()),
                Unpacked::Before => format!("its files are already in {}", folder.display()),
            });
        }
        Ok(())
    }

    fn download(&self, item: &Item, target: &Path, observer: &mut dyn Observer) -> Result<Verified, FetchError> {
        let folder = target.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).map_err(FetchError::disk(folder))?;
        let mut part = Part::open(target)?;
        observer.say(&format!("downloading {}", item.url));
        observer.begin(&item.source.file);
        let outcome = self.downloader.download(&item.url, item.source.bytes, &mut part, observer);
        observer.end();
        if let Err(error) = outcome {
            part.leave();
            return Err(error);
        }

        let path = part.sync()?;
        match verify::verify(path, item.source).map_err(FetchError::disk(path))? {
            Ok(verified) => {
                part.rename(target)?;
                Ok(verified)
            }
            Err(Mismatch {
                property,
                expected,
                found,
            }) => {
                let kept = with_suffix(target, ".part.bad");
                part.rename(&kept)?;
                Err(FetchError::WrongDownload {
                    url: item.url.clone(),
                    property,
                    expected,
                    found,
                    kept,
                })
            }
        }
    }
}

/// Compares an existing file with its entry in the manifest.
pub(super) fn check_present(target: &Path, source: &SourceFile) -> Result<Verified, FetchError> {
    let verdict = verify::verify(target, source).map_err(FetchError::disk(target))?;
    verdict.map_err(
        |Mismatch {
             property,
             expected,
             found,
         }| FetchError::WrongFile {
            path: target.to_path_buf(),
            property,
            expected,
            found,
        },
    )
}

#[cfg(test)]
mod tests;
