//! Pictures for loggers.

use super::LoggerError;

/// The first bytes of every PNG file, and the first chunk up to its size.
const HEADER: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// A PNG picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The file.
    pub png: Vec<u8>,
}

impl Picture {
    /// Reads the size of a PNG file.
    ///
    /// # Errors
    /// Returns an error if the bytes are no PNG file.
    pub fn of_png(png: Vec<u8>) -> Result<Self, LoggerError> {
        let size = png.strip_prefix(HEADER).and_then(|rest| rest.first_chunk::<8>());
        let Some(&[a, b, c, d, e, f, g, h]) = size else {
            return Err(LoggerError::other("picture", "these bytes are no PNG file"));
        };
        Ok(Self {
            width: u32::from_be_bytes([a, b, c, d]),
            height: u32::from_be_bytes([e, f, g, h]),
            png,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_read_from_the_header_and_other_files_are_refused() {
        let png = [HEADER, &[0, 0, 1, 2, 0, 0, 0, 3, 8, 2]].concat();
        let picture = Picture::of_png(png.clone()).unwrap();
        assert_eq!((picture.width, picture.height), (258, 3));
        for broken in [&png[..20], b"GIF89a", b""] {
            assert!(Picture::of_png(broken.to_vec()).is_err());
        }
    }
}
