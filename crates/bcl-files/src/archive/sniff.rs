//! Detects the format of an archive.

use super::{ArchiveError, FileLocation};
use crate::content::{Content, HEAD};
use crate::input::GZIP;
use std::io::Read;
use std::path::Path;

/// How the files of a store are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Folder,
    Tar,
    TarGz,
    Zip,
}

impl Packing {
    /// The format of an archive, from its first bytes.
    pub(super) fn of(path: &Path, reader: &mut dyn Read) -> Result<Self, ArchiveError> {
        let at = FileLocation::file(path);
        let mut head = Vec::new();
        if let Err(source) = reader.take(HEAD as u64).read_to_end(&mut head) {
            return Err(ArchiveError::Io { at, source });
        }
        let is_called = |extension: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension));
        let found = match (Content::of(&head), head.as_slice()) {
            (_, []) => "is an empty file".to_owned(),
            (_, head) if head.starts_with(GZIP) => return Ok(Self::TarGz),
            (Some(Content::Zip), _) => return Ok(Self::Zip),
            // An archive of other files may begin with an array, too.
            (Some(Content::Npz), _) if !is_called("npz") => return Ok(Self::Zip),
            (_, head) if head.get(257..262) == Some(b"ustar") => return Ok(Self::Tar),
            (Some(content), _) => {
                let remedy = content.general_remedy().map(|remedy| format!(". {remedy}"));
                format!("{}{}", content.what(), remedy.unwrap_or_default())
            }
            // Archives from before 1988 have no signature, only checksums.
            _ if is_called("tar") => return Ok(Self::Tar),
            (None, [0xff, 0xd8, ..] | [0x89, b'P', b'N', b'G', ..]) => "is a single image".to_owned(),
            (None, [b'<', ..]) => "is a web page, perhaps the error of a server".to_owned(),
            (None, head) => format!(
                "is not an archive (it begins with `{}`)",
                head[..head.len().min(12)].escape_ascii()
            ),
        };
        Err(ArchiveError::not_an_archive(at, &found))
    }
}
