//! Downloads data sets and verifies them.
//!
//! `transfer` fills `FILE.part`, resuming if it was interrupted; `verify` checks size and checksum, or, without a
//! checksum, that an archive begins as one; only then is the file renamed to `FILE`, and `extract` unpacks it in the same folder. `fetch`
//! runs these steps in order. Archives of images stay packed, because their readers read them directly.
//!
//! This module requires the feature `download`, because a TLS stack needs a C compiler and takes longer to build than the rest of this
//! crate. Its tests run with `cargo test -p bcl-data --features download`, and with `cargo test --workspace`.
//!
//! ```no_run
//! use bcl_data::{Manifest, download};
//! use std::path::Path;
//!
//! let manifest = Manifest::find("ml-100k")?;
//! download::fetch(manifest, Path::new("data"), None, &mut download::Silent)?;
//! let data = manifest.load(&manifest.locate(Path::new("data"))?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod extract;
mod fetch;
mod observer;
mod part;
mod transfer;
mod verify;

#[cfg(test)]
mod server;

pub use error::FetchError;
pub use observer::{Observer, Silent};
pub use verify::Verified;

use crate::Manifest;
use fetch::{Fetcher, Item, check_present};
use std::path::{Path, PathBuf};

/// Downloads a data set into the folder `dir/NAME`, verifies it, and unpacks it if necessary. Skips what is already done; an interrupted
/// download resumes where it stopped.
///
/// `url_base` is the folder of a mirror to download from instead of the publisher. Proxies are read from the environment
/// (`HTTPS_PROXY`, `ALL_PROXY`).
///
/// # Errors
/// Returns an error if the data set cannot be downloaded and is not in `dir` either, if the network or the disk fails, or if a file is
/// not the one in the manifest. A file with a wrong checksum never gets its final name.
pub fn fetch(manifest: &Manifest, dir: &Path, url_base: Option<&str>, observer: &mut dyn Observer) -> Result<(), FetchError> {
    let folder = dir.join(&manifest.name);
    let fetcher = Fetcher::default();
    for source in &manifest.sources {
        fetcher.fetch(&Item::new(source, manifest.archive, url_base), &folder, observer)?;
    }
    // A data set without sources cannot be downloaded: the error says how to get it, unless the files are already there.
    manifest.files_in(dir)?;
    Ok(())
}

/// Verifies the downloaded files of a data set in `dir` against the sizes and checksums in its manifest. Files that were unpacked,
/// packed, or put there by hand have none.
///
/// # Errors
/// Returns an error if the data set is not in `dir`, a file differs, or one cannot be read.
pub fn check(manifest: &Manifest, dir: &Path) -> Result<Vec<(PathBuf, Verified)>, FetchError> {
    let found = manifest.files_in(dir)?;
    let mut checked = Vec::new();
    for source in &manifest.sources {
        let downloaded = dir.join(&manifest.name).join(&source.file);
        let elsewhere = found
            .iter()
            .find(|path| path.file_name().is_some_and(|name| name == &*source.file));
        let path = elsewhere.cloned().or_else(|| downloaded.is_file().then_some(downloaded));
        // A folder was unpacked from the archive.
        if let Some(path) = path.filter(|path| path.is_file()) {
            let verified = check_present(&path, source)?;
            checked.push((path, verified));
        }
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A data set of one downloaded file with the MD5 of `hello`.
    fn manifest() -> Manifest {
        let text = r#"
            name = "hello"
            title = "Hello"
            licence = "none"
            citation = "none"
            homepage = "https://example.org"
            layout = { kind = "whole", format = "auto", files = ["u.data"] }
            counts = {}
            sources = [{ url = "http://127.0.0.1:9/u.data", file = "u.data", md5 = "5d41402abc4b2a76b9719d911017c592" }]
        "#;
        Manifest::parse("datasets/hello.toml", text).unwrap()
    }

    #[test]
    fn a_file_is_checked_wherever_it_is_found() {
        for folder in ["hello", ""] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(folder).join("u.data");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "hello").unwrap();
            assert_eq!(check(&manifest(), dir.path()).unwrap(), [(path.clone(), Verified::Md5)]);
            fs::write(&path, "hallo").unwrap();
            let error = check(&manifest(), dir.path()).unwrap_err();
            assert!(matches!(error, FetchError::WrongFile { property: "MD5", .. }), "{error}");
        }
    }

    #[test]
    fn archives_packed_by_hand_have_no_checksum() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("u.data.gz"), "anything").unwrap();
        assert_eq!(check(&manifest(), dir.path()).unwrap(), []);
    }

    #[test]
    fn a_data_set_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = check(&manifest(), dir.path()).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("data set `hello` is not in"), "{error}");
    }
}
