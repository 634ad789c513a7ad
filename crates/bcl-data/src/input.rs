//! Opening files that come from outside: recipes, data, archives, weights.
//!
//! A path can name something that is no file: a folder, a pipe that nobody writes to, a device without an end. [`open`] says what it
//! is instead, so that no reader waits for ever or fills the memory; a link to a regular file is one. A pipe is refused even where a
//! shell has made it (`<(…)`, `/dev/stdin` behind `|`), because data are read again when a run is resumed or used. `/dev/stdin` that is
//! redirected from a file is that file.
//!
//! [`gunzip`] unpacks gzip as long as that does not make it absurdly larger: a bomb of a megabyte would keep a reader busy for minutes.

use flate2::bufread::MultiGzDecoder;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// More bytes than a recipe, or any other file written by hand, ever has.
pub const MOST_TEXT: u64 = 1 << 20;

/// More bytes than a file that is held in memory whole ever has: results, plans, reference values.
pub const MOST_WHOLE: u64 = 1 << 30;

/// How many times its size a file may unpack to, beyond [`FREE_BYTES`]. Interactions are packed to a tenth, and what is random hardly at
/// all; a bomb reaches a thousand.
const MOST_RATIO: u64 = 200;
/// Bytes that may be unpacked whatever the ratio.
const FREE_BYTES: u64 = 64 << 20;

/// A path that names no regular file, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is {found}, not a regular file; save its content to a file and name that")]
pub struct NotRegular {
    /// What it is instead.
    pub found: &'static str,
}

/// A file that is larger than its kind ever is, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {limit} bytes, the most that are read of such a file")]
pub struct TooLarge {
    /// The most that are read.
    pub limit: u64,
}

/// A packed file that unpacks to far more than data do, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it unpacks to more than {} times its size, which only decompression bombs do; if the data really repeat so much, unpack the file \
     and name the unpacked one",
    MOST_RATIO
)]
pub struct Bomb;

impl NotRegular {
    /// What the path names instead of a file, if that is why it could not be opened.
    pub fn of(error: &io::Error) -> Option<Self> {
        source_of(error)
    }
}

impl Bomb {
    /// The error as a bomb, if it is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        source_of(error)
    }
}

/// Opens a regular file, or a link to one.
///
/// # Errors
/// What the system says, [`ErrorKind::IsADirectory`] for a folder, or [`NotRegular`].
pub fn open(path: &Path) -> io::Result<File> {
    // Asked first, because opening a pipe waits for somebody to write to it.
    check_regular(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`], what the system says while reading, or [`TooLarge`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(size.min(limit) as usize);
    // The size may grow while it is read, and files of the system have none.
    let found = file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if found as u64 > limit {
        return Err(io::Error::new(ErrorKind::InvalidData, TooLarge { limit }));
    }
    Ok(bytes)
}

/// Reads a text of at most `limit` bytes.
///
/// # Errors
/// As [`read`], and [`ErrorKind::InvalidData`] where it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read(path, limit)?).map_err(not_text)
}

/// Whether a file of so many bytes that unpacks to so many is a [`Bomb`].
pub fn is_bomb(packed: u64, unpacked: u64) -> bool {
    unpacked > FREE_BYTES && unpacked / MOST_RATIO > packed
}

/// Unpacks gzip; reading ends with a [`Bomb`] where it is one.
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
            return Err(io::Error::other(Bomb));
        }
        Ok(count)
    }
}

/// A reader that counts what is taken from it.
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
        assert_eq!(Bomb::of(&bomb), Some(Bomb));
        assert!(!is_bomb(1 << 20, 200 << 20) && is_bomb(1 << 20, 201 << 20) && !is_bomb(0, FREE_BYTES));
    }
}
