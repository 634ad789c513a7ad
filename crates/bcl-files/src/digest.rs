//! Digests as text.

use sha2::{Digest, Sha256};
use std::{
    fmt::Write,
    fs::File,
    io::{self, Read},
    path::Path,
};

/// SHA-256 of `bytes` as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

/// SHA-256 of a file as 64 hexadecimal digits.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a regular file.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        // Reading a device may never end.
        return Err(io::Error::other("it is not a regular file"));
    }
    digest_of::<Sha256>(&mut file)
}

/// The digest of everything that `reader` yields, in hexadecimal digits.
///
/// # Errors
/// Returns the errors of `reader`.
pub fn digest_of<D: Digest>(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = D::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match reader.read(&mut part)? {
            0 => return Ok(hexadecimal(hasher)),
            length => hasher.update(&part[..length]),
        }
    }
}

/// Finishes `hasher` and formats its digest in hexadecimal digits.
pub fn hexadecimal(hasher: impl Digest) -> String {
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
