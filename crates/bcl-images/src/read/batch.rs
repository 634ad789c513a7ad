//! Decoding in parallel, a batch of files at a time.

use super::decode::{Outline, Picture};
use super::limits::Limits;
use super::store::Entry;
use crate::error::{ImageError, Place};
use rayon::prelude::*;

/// Decode as soon as the files of a batch take so many bytes, or their pixels will: enough to keep all cores busy.
const BATCH_BYTES: u64 = 16 << 20;
const BATCH_PIXELS: u64 = 128 << 20;

/// Takes image files one by one and decodes them in parallel.
pub(super) struct Decoder {
    limits: Limits,
    waiting: Vec<(String, Place, Outline, Vec<u8>)>,
    waiting_bytes: u64,
    waiting_pixels: u64,
    all_pixels: u64,
    decoded: Vec<(String, Picture)>,
}

impl Decoder {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            waiting: Vec::new(),
            waiting_bytes: 0,
            waiting_pixels: 0,
            all_pixels: 0,
            decoded: Vec::new(),
        }
    }

    /// Reads the file `entry`, to be known as `name`.
    pub(super) fn push(&mut self, name: String, entry: &mut Entry) -> Result<(), ImageError> {
        let bytes = entry.bytes(self.limits.image_bytes)?;
        let outline = Outline::read(&bytes, &entry.at, self.limits)?;
        self.waiting_bytes += bytes.len() as u64;
        self.waiting_pixels += outline.pixel_bytes();
        self.all_pixels += outline.pixel_bytes();
        if self.all_pixels > self.limits.pixels {
            return Err(ImageError::TooMuch {
                at: entry.at.clone(),
                what: "the memory for all images up to here in bytes",
                found: self.all_pixels,
                limit: self.limits.pixels,
            });
        }
        self.waiting.push((name, entry.at.clone(), outline, bytes));
        if self.waiting_bytes >= BATCH_BYTES || self.waiting_pixels >= BATCH_PIXELS {
            self.decode()?;
        }
        Ok(())
    }

    /// All images by name, sorted: in the same order whatever the archive's.
    pub(super) fn finish(mut self) -> Result<Vec<(String, Picture)>, ImageError> {
        self.decode()?;
        self.decoded.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(self.decoded)
    }

    fn decode(&mut self) -> Result<(), ImageError> {
        let limits = self.limits;
        let batch: Vec<_> = std::mem::take(&mut self.waiting)
            .into_par_iter()
            .map(|(name, at, outline, bytes)| outline.decode(&bytes, &at, limits).map(|picture| (name, picture)))
            .collect();
        // One after the other, so that of several errors the first is told whatever the number of threads.
        for picture in batch {
            self.decoded.push(picture?);
        }
        (self.waiting_bytes, self.waiting_pixels) = (0, 0);
        Ok(())
    }
}
