//! Decodes images in parallel, one batch of files at a time.

use super::content::Content;
use super::decode::Outline;
use super::limits::Limits;
use super::origin::Origin;
use super::store::Entry;
use super::streamed::CacheBytes;
use crate::decoding::{Background, Decoding, Orientation};
use crate::error::ImageError;
use bcl_files::archive::FileLocation;
use rayon::prelude::*;
use std::path::Path;

/// A batch is decoded once its files, or their pixels, take this many bytes: enough to keep all cores busy.
const BATCH_BYTES: u64 = 16 << 20;
const BATCH_PIXELS: u64 = 128 << 20;
/// Bytes in which the header of an image is expected; with large metadata it may come later.
const HEAD: u64 = 16 << 10;

/// What to do with image files that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Return one error about all of them; `may_skip` adds a hint about `data.skip_broken`.
    Refuse { may_skip: bool },
    /// Skip them.
    Skip,
}

/// How images are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) broken: Broken,
    /// The cache, if images are decoded when they are needed.
    pub(crate) stream: Option<CacheBytes>,
    pub(crate) decoding: Decoding,
}

impl Reading {
    /// Reads all images at once, and refuses those that are broken.
    pub(crate) const STRICT: Self = Self {
        broken: Broken::Refuse { may_skip: false },
        stream: None,
        decoding: Decoding {
            background: Background::White,
            orientation: Orientation::Stored,
        },
    };
}

/// The results of a [`Decoder`].
pub(super) struct Decoded {
    /// The images, sorted by name, so that the order in the archive does not matter.
    pub(super) images: Vec<(String, Content)>,
    /// One line per skipped file.
    pub(super) skipped: Vec<String>,
    /// Number of images whose metadata ask for a turn that was not made.
    pub(super) turned: usize,
}

/// Collects image files and decodes them in parallel.
pub(super) struct Decoder {
    limits: Limits,
    decoding: Decoding,
    turned: usize,
    waiting: Vec<(String, FileLocation, Outline, Vec<u8>)>,
    waiting_bytes: u64,
    waiting_pixels: u64,
    all_pixels: u64,
    decoded: Vec<(String, Content)>,
    /// Files that cannot be read. Reading continues after one of them, so that all are reported at once.
    broken: Vec<(String, ImageError)>,
}

impl Decoder {
    pub(super) fn new(limits: Limits, decoding: Decoding) -> Self {
        Self {
            limits,
            decoding,
            turned: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            waiting_pixels: 0,
            all_pixels: 0,
            decoded: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Reads the header of the file `entry`, whose image is decoded when it is needed.
    pub(super) fn list(&mut self, name: String, entry: &mut Entry) -> Result<(), ImageError> {
        let Some(start) = entry.start else {
            return Err(ImageError::Packed {
                path: entry.at.path.clone(),
            });
        };
        match self.outline(entry) {
            Ok(outline) => {
                self.turned += usize::from(outline.stays_turned(self.decoding));
                let origin = Origin::new(entry.at.clone(), start, entry.size, outline, self.decoding);
                self.decoded.push((name, Content::File(origin)));
                Ok(())
            }
            Err(error) => self.reject(name, error),
        }
    }

    fn outline(&self, entry: &mut Entry) -> Result<Outline, ImageError> {
        entry.check_size(self.limits.image_bytes)?;
        let mut bytes = entry.head(HEAD)?;
        match Outline::of_head(&bytes, &entry.at, self.limits) {
            Err(error) if error.is_truncated_image() && entry.size > HEAD => {
                bytes.extend(entry.head(u64::MAX)?);
                Outline::of_head(&bytes, &entry.at, self.limits)
            }
            Ok(outline) if outline.may_turn_later(self.decoding) => {
                bytes.extend(entry.head(u64::MAX)?);
                Outline::read(&bytes, &entry.at, self.limits)
            }
            outline => outline,
        }
    }

    /// Reads the file `entry` under the name `name`.
    pub(super) fn push(&mut self, name: String, entry: &mut Entry) -> Result<(), ImageError> {
        let read = entry.bytes(self.limits.image_bytes);
        let read = read.and_then(|bytes| Ok((Outline::read(&bytes, &entry.at, self.limits)?, bytes)));
        let (outline, bytes) = match read {
            Ok(read) => read,
            Err(error) => return self.reject(name, error),
        };
        self.turned += usize::from(outline.stays_turned(self.decoding));
        self.waiting_bytes += bytes.len() as u64;
        self.waiting_pixels += outline.pixel_bytes();
        self.all_pixels += outline.pixel_bytes();
        if self.all_pixels > self.limits.pixels {
            let what = "the memory for all pixels so far in bytes";
            return Err(ImageError::too_much(&entry.at, what, self.all_pixels, self.limits.pixels));
        }
        self.waiting.push((name, entry.at.clone(), outline, bytes));
        if self.waiting_bytes >= BATCH_BYTES || self.waiting_pixels >= BATCH_PIXELS {
            self.decode()?;
        }
        Ok(())
    }

    /// Records a file that cannot be read. Errors that concern more than this file are returned.
    pub(super) fn reject(&mut self, name: String, error: ImageError) -> Result<(), ImageError> {
        if !error.is_of_one_image() {
            return Err(error);
        }
        self.broken.push((name, error));
        Ok(())
    }

    /// Decodes the remaining files. Errors name files relative to `path`.
    pub(super) fn finish(mut self, path: &Path, broken: Broken) -> Result<Decoded, ImageError> {
        self.decode()?;
        self.decoded.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.broken.sort_by(|(a, _), (b, _)| a.cmp(b));
        let of = self.decoded.len() + self.broken.len();
        let errors: Vec<ImageError> = self.broken.into_iter().map(|(_, error)| error).collect();
        match broken {
            Broken::Refuse { may_skip } if !errors.is_empty() => Err(ImageError::BrokenImages {
                path: path.to_path_buf(),
                of,
                broken: errors,
                may_skip,
            }),
            _ => {
                let skipped = errors.iter().filter_map(|error| error.in_short(path)).collect();
                Ok(Decoded {
                    images: self.decoded,
                    skipped,
                    turned: self.turned,
                })
            }
        }
    }

    fn decode(&mut self) -> Result<(), ImageError> {
        let (limits, decoding) = (self.limits, self.decoding);
        let batch: Vec<_> = std::mem::take(&mut self.waiting)
            .into_par_iter()
            .map(|(name, at, outline, bytes)| (name, outline.decode(&bytes, &at, limits, decoding)))
            .collect();
        for (name, picture) in batch {
            match picture {
                Ok(picture) => self.decoded.push((name, Content::Pixels(picture))),
                Err(error) => self.reject(name, error)?,
            }
        }
        (self.waiting_bytes, self.waiting_pixels) = (0, 0);
        Ok(())
    }
}
