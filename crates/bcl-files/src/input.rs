//! Opens files from outside safely: recipes, data, archives, weights.
//!
//! A path may name a folder, a pipe that nobody writes to, or an endless device. [`open`] refuses everything but regular files and links
//! to them, so that no reader hangs or fills the memory; the error says what the path is instead. Pipes made by a shell (`<(…)`,
//! `/dev/stdin` behind `|`) are refused as well, because data are read again when a run is resumed or used. `/dev/stdin` redirected from
//! a file works.
//!
//! [`gunzip`] stops at decompression bombs: a bomb of one megabyte would keep a reader busy for minutes.

use crate::content::Content;
use flate2::bufread::MultiGzDecoder;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// Size limit of recipes and other files written by hand, in bytes.
pub const MOST_TEXT: u64 = 1 << 20;

/// Size limit of files that are read into memory as a whole, in bytes: results, plans, reference values.
pub const MOST_WHOLE: u64 = 1 << 30;

/// Maximum ratio of unpacked to packed size, beyond [`FREE_BYTES`]. Interactions shrink to a tenth, random data hardly at all; a bomb
/// reaches a thousand.
const MOST_RATIO: u64 = 200;
/// Bytes that may be unpacked at any ratio.
const FREE_BYTES: u64 = 64 << 20;

/// A path that is not a regular file, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is {found}, not a regular file; save its content to a file and pass that file")]
pub struct NotRegular {
    /// What the path is instead.
    pub found: &'static str,
}

/// A file above the size limit of its kind, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {limit} bytes, the limit for such a file")]
#[non_exhaustive]
pub struct TooLarge {
    /// The limit in bytes.
    pub limit: u64,
}

/// A decompression bomb, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it unpacks to more than {} times its size, as only decompression bombs do; if the data really are that repetitive, unpack the \
     file and pass the unpacked one",
    MOST_RATIO
)]
pub struct DecompressionBomb;

impl NotRegular {
    /// The [`NotRegular`] in an error, if that is why the file could not be opened.
    pub fn of(error: &io::Error) -> Option<Self> {
        source_of(error)
    }
}

impl DecompressionBomb {
    /// The [`DecompressionBomb`] in an error, if it is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        source_of(error)
    }
}

/// Opens a regular file, or a link to one.
///
/// # Errors
/// Returns the system's error, [`ErrorKind::IsADirectory`] for a folder, or [`NotRegular`].
pub fn open(path: &Path) -> io::Result<File> {
    // Checked before opening, because opening a pipe blocks until somebody writes to it.
    check_regular(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// Returns the errors of [`open`] and of reading, and [`TooLarge`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(size.min(limit) as usize);
    // The file may grow while it is read, and special files report no size.
    let found = file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if found as u64 > limit {
        return Err(io::Error::new(ErrorKind::InvalidData, TooLarge { limit }));
    }
    Ok(bytes)
}

/// Reads a text file of at most `limit` bytes.
///
/// # Errors
/// Returns the errors of [`read`], and [`ErrorKind::InvalidData`] with the remedy if the file is not text in UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read(path, limit)?;
    // Some text in UTF-16 is valid UTF-8, too: every other byte is zero.
    if let Some(content) = Content::of(&bytes) {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("it {content}")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + String::from_utf8_lossy(before).matches('\n').count();
        let problem = format!(
            "line {line} is not UTF-8 text; save the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8 OLD > NEW`"
        );
        io::Error::new(ErrorKind::InvalidData, problem)
    })
}

/// Whether a file with these packed and unpacked sizes is a [`DecompressionBomb`].
pub fn is_bomb(packed: u64, unpacked: u64) -> bool {
    unpacked > FREE_BYTES && unpacked / MOST_RATIO > packed
}

/// What gzip data begin with.
pub const GZIP: &[u8] = b"\x1f\x8b";

/// Unpacks gzip. Reading fails with [`DecompressionBomb`] if the data are one.
pub fn gunzip<R: BufRead>(packed: R) -> impl Read {
    Gunzip {
        decoder: MultiGzDecoder::new(Counted {
            reader: packed,
            count: 0,
        }),
        unpacked: 0,
    }
}

struct Gunzip<R> {
    decoder: MultiGzDecoder<Counted<R>>,
    unpacked: u64,
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.unpacked += count as u64;
        if is_bomb(self.decoder.get_ref().count, self.unpacked) {
            return Err(io::Error::other(DecompressionBomb));
        }
        Ok(count)
    }
}

/// A reader that counts the bytes taken from it.
struct Counted<R> {
    reader: R,
    count: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.count += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.count += count as u64;
        self.reader.consume(count);
    }
}

fn source_of<E: std::error::Error + Copy + 'static>(error: &io::Error) -> Option<E> {
    error.get_ref()?.downcast_ref::<E>().copied()
}

fn check_regular(about: &Metadata) -> io::Result<()> {
    if about.is_file() {
        return Ok(());
    }
    if about.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let found = special(about);
    Err(io::Error::new(ErrorKind::InvalidInput, NotRegular { found }))
}

#[cfg(unix)]
fn special(about: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = about.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}

#[cfg(not(unix))]
fn special(_: &Metadata) -> &'static str {
    "something else"
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "four");
        assert!(read_text(&path, 3).unwrap_err().to_string().contains("more than 3 bytes"));
        fs::write(&path, b"\xff").unwrap();
        assert!(read_text(&path, 4).unwrap_err().to_string().contains("not UTF-8"));
        assert_eq!(open(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(open(&folder.path().join("b")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_and_links_to_them_are_refused_and_links_to_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let link = |target: &Path, name: &str| {
            let link = folder.path().join(name);
            std::os::unix::fs::symlink(target, &link).unwrap();
            link
        };
        let endless = read(&link(Path::new("/dev/zero"), "zero"), 10).unwrap_err();
        assert_eq!(NotRegular::of(&endless), Some(NotRegular { found: "a device" }));
        let file = folder.path().join("a.txt");
        fs::write(&file, "a").unwrap();
        assert_eq!(read(&link(&file, "link"), 10).unwrap(), b"a");
    }

    #[test]
    fn bombs_end_early_and_what_is_small_or_hardly_packed_does_not() {
        let pack = |bytes: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let unpacked = |packed: &[u8]| io::copy(&mut gunzip(packed), &mut io::sink());
        let small = vec![b'\n'; 1 << 20];
        assert_eq!(unpacked(&pack(&small)).unwrap(), 1 << 20);
        let bomb = unpacked(&pack(&vec![b'\n'; 80 << 20])).unwrap_err();
        assert_eq!(DecompressionBomb::of(&bomb), Some(DecompressionBomb));
        assert!(!is_bomb(1 << 20, 200 << 20) && is_bomb(1 << 20, 201 << 20) && !is_bomb(0, FREE_BYTES));
    }
}
