//! Compares files with the manifest.

use crate::manifest::SourceFile;
use bcl_files::{digest_of, input::GZIP};
use md5::Md5;
use sha2::Sha256;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How a file was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified {
    /// By its SHA-256.
    Sha256,
    /// By its MD5, because the publisher gives no SHA-256.
    Md5,
    /// By its size, because the publisher gives no checksum.
    Size,
    /// Not at all, because the publisher gives neither size nor checksum.
    Nothing,
}

/// The first property of a file that differs from the manifest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// The property that differs.
    pub(super) property: &'static str,
    /// Its value in the manifest.
    pub(super) expected: String,
    /// Its value in the file.
    pub(super) found: String,
}

/// Compares size and checksum of the file at `path` with the manifest. SHA-256 takes precedence over MD5. Without a checksum, an archive
/// must at least begin as one.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn verify(path: &Path, source: &SourceFile) -> io::Result<Result<Verified, Mismatch>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    if let Some(expected) = source.bytes.filter(|expected| *expected != size) {
        return Ok(Err(Mismatch {
            property: "size in bytes",
            expected: expected.to_string(),
            found: size.to_string(),
        }));
    }
    let (property, expected, found, verified) = match source {
        SourceFile {
            sha256: Some(expected), ..
        } => ("SHA-256", expected, digest_of::<Sha256>(&mut file)?, Verified::Sha256),
        SourceFile { md5: Some(expected), .. } => ("MD5", expected, digest_of::<Md5>(&mut file)?, Verified::Md5),
        SourceFile { bytes, .. } => {
            let verified = bytes.map_or(Verified::Nothing, |_| Verified::Size);
            return Ok(match foreign_beginning(&mut file, &source.file)? {
                Some(mismatch) => Err(mismatch),
                None => Ok(verified),
            });
        }
    };
    if expected.eq_ignore_ascii_case(&found) {
        Ok(Ok(verified))
    } else {
        Ok(Err(Mismatch {
            property,
            expected: expected.clone(),
            found,
        }))
    }
}

/// Compares the beginning of a file with its name, because a server may answer with a page about an error.
fn foreign_beginning(file: &mut File, name: &str) -> io::Result<Option<Mismatch>> {
    let extension = Path::new(name).extension().unwrap_or_default().to_ascii_lowercase();
    let (mark, expected) = match extension.to_str() {
        Some("zip") => (&b"PK"[..], "the signature of a zip archive"),
        Some("gz" | "tgz") => (GZIP, "the signature of a gzip file"),
        _ => return Ok(None),
    };
    let mut head = Vec::new();
    file.take(12).read_to_end(&mut head)?;
    let differs = !head.starts_with(mark);
    Ok(differs.then(|| Mismatch {
        property: "beginning",
        expected: expected.to_owned(),
        found: format!("`{}`", head.escape_ascii()),
    }))
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "SHA-256 matches",
            Self::Md5 => "MD5 matches",
            Self::Size => "size matches; no checksum is published",
            Self::Nothing => "neither size nor checksum is published",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    // `printf hello | sha256sum`, `printf hello | md5sum`
    const SHA256: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    const MD5: &str = "5d41402abc4b2a76b9719d911017c592";

    fn verdict(bytes: Option<u64>, md5: Option<&str>, sha256: Option<&str>) -> Result<Verified, Mismatch> {
        verdict_of("hello", b"hello", bytes, md5, sha256)
    }

    fn verdict_of(
        file: &str,
        content: &[u8],
        bytes: Option<u64>,
        md5: Option<&str>,
        sha256: Option<&str>,
    ) -> Result<Verified, Mismatch> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hello");
        fs::write(&path, content).unwrap();
        let (md5, sha256) = (md5.map(str::to_owned), sha256.map(str::to_owned));
        verify(
            &path,
            &SourceFile {
                url: String::new(),
                file: file.to_owned(),
                bytes,
                md5,
                sha256,
            },
        )
        .unwrap()
    }

    #[test]
    fn the_best_published_property_decides() {
        assert_eq!(verdict(Some(5), Some("not looked at"), Some(SHA256)), Ok(Verified::Sha256));
        assert_eq!(verdict(None, Some(&MD5.to_uppercase()), None), Ok(Verified::Md5));
        assert_eq!(verdict(Some(5), None, None), Ok(Verified::Size));
        assert_eq!(verdict(None, None, None), Ok(Verified::Nothing));
    }

    #[test]
    fn without_a_checksum_an_archive_must_begin_as_one() {
        for (file, content) in [("a.zip", &b"PK\x03\x04"[..]), ("a.tar.gz", b"\x1f\x8b\x08")] {
            assert_eq!(verdict_of(file, content, None, None, None), Ok(Verified::Nothing));
            for bytes in [None, Some(5)] {
                let mismatch = verdict_of(file, b"<html", bytes, None, None).unwrap_err();
                assert_eq!((mismatch.property, &*mismatch.found), ("beginning", "`<html`"));
            }
        }
    }

    #[test]
    fn the_error_for_a_wrong_size_has_both_sizes() {
        let mismatch = verdict(Some(6), None, Some(SHA256)).unwrap_err();
        let expected = Mismatch {
            property: "size in bytes",
            expected: "6".to_owned(),
            found: "5".to_owned(),
        };
        assert_eq!(mismatch, expected);
    }

    #[test]
    fn the_error_for_a_wrong_checksum_has_both_checksums() {
        let mismatch = verdict(None, Some(MD5), Some(MD5)).unwrap_err();
        assert_eq!(
            mismatch,
            Mismatch {
                property: "SHA-256",
                expected: MD5.to_owned(),
                found: SHA256.to_owned()
            }
        );
    }
}
