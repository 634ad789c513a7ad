//! Detects the format of an archive.

use super::{ArchiveError, FileLocation};
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
        if let Err(source) = reader.take(512).read_to_end(&mut head) {
            return Err(ArchiveError::Io { at, source });
        }
        let found = match head.as_slice() {
            [] => "an empty file".to_owned(),
            [0x1f, 0x8b, ..] => return Ok(Self::TarGz),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Ok(Self::Zip),
            head if head.get(257..262) == Some(b"ustar") => return Ok(Self::Tar),
            // Archives from before 1988 have no signature, only checksums.
            _ if path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("tar")) =>
            {
                return Ok(Self::Tar);
            }
            [b'B', b'Z', b'h', ..] => "packed with bzip2".to_owned(),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => "packed with xz".to_owned(),
            [b'7', b'z', 0xbc, 0xaf, ..] => "a 7z archive".to_owned(),
            [b'R', b'a', b'r', b'!', ..] => "a rar archive".to_owned(),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "packed with zstd".to_owned(),
            [0xff, 0xd8, ..] | [0x89, b'P', b'N', b'G', ..] => "a single image".to_owned(),
            [b'<', ..] => "a web page, perhaps the error of a server".to_owned(),
            head => format!(
                "not an archive (it begins with `{}`)",
                head[..head.len().min(12)].escape_ascii()
            ),
        };
        Err(ArchiveError::not_an_archive(at, &found))
    }
}
