//! Where the bytes of an image file are, so that it can be decoded later.

use super::decode::Outline;
use super::limits::Limits;
use super::picture::Picture;
use crate::decoding::Decoding;
use crate::error::ImageError;
use bcl_files::archive::FileLocation;
use bcl_files::input;
use std::io::{self, Read, Seek, SeekFrom};

/// An image file on disk, or within an uncompressed tar archive, whose header has been read.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The file, or the archive and its entry.
    at: FileLocation,
    /// The first byte of the image in the file.
    start: u64,
    /// Size of the image file in bytes.
    length: u64,
    outline: Outline,
    decoding: Decoding,
}

impl Origin {
    pub(super) fn new(at: FileLocation, start: u64, length: u64, outline: Outline, decoding: Decoding) -> Self {
        Self {
            at,
            start,
            length,
            outline,
            decoding,
        }
    }

    /// Columns and rows of the image.
    pub(crate) fn size(&self) -> [u32; 2] {
        self.outline.size(self.decoding)
    }

    /// Size of the image file in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads and decodes the image.
    ///
    /// # Errors
    /// Returns an error that names the file if it is gone, broken, or another image than when it was listed.
    pub(crate) fn decode(&self, limits: Limits) -> Result<Picture, ImageError> {
        let bytes = self.bytes()?;
        let outline = Outline::read(&bytes, &self.at, limits)?;
        if outline.size(self.decoding) != self.size() {
            return Err(self.changed());
        }
        outline.decode(&bytes, &self.at, limits, self.decoding)
    }

    /// Reads the image file as it is.
    ///
    /// # Errors
    /// Returns an error that names the file if it is gone, or shorter than when it was listed.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, ImageError> {
        self.try_bytes().map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed(),
            io::ErrorKind::NotFound => ImageError::MissingFile {
                path: self.at.path.clone(),
            },
            _ => ImageError::reading(self.at.clone(), error),
        })
    }

    fn try_bytes(&self) -> io::Result<Vec<u8>> {
        let mut file = input::open(&self.at.path)?;
        file.seek(SeekFrom::Start(self.start))?;
        let mut bytes = vec![0; self.length as usize];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn changed(&self) -> ImageError {
        ImageError::file(
            &self.at,
            "has changed since it was listed. Leave the images alone while a run reads them, and start again",
        )
    }
}
