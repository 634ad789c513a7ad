//! SHA-256 as text.

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
    let mut hasher = Sha256::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hexadecimal(hasher)),
            length => hasher.update(&part[..length]),
        }
    }
}

/// Finishes `hasher` and formats its digest as 64 hexadecimal digits.
pub fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
