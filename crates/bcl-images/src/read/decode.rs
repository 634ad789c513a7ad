//! Decodes JPEG, PNG and WebP files to 8-bit RGB.
//!
//! Grey becomes equal red, green and blue; alpha is dropped; 16 bits are rounded to 8; a palette is expanded. The orientation in a camera's
//! metadata is not applied. JPEG files in four colours (CMYK) are refused, because their RGB values depend on a colour profile, and
//! readers interpret it differently.

use super::limits::Limits;
use super::{jpeg, webp};
use crate::Image;
use crate::error::{FileLocation, ImageError};
use image::{ImageFormat, ImageReader};
use std::io::Cursor;

/// A decoded image, `[height, width, 3]`.
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) pixels: Vec<u8>,
}

impl Picture {
    pub(crate) fn as_image(&self) -> Image<'_> {
        Image {
            width: self.width as usize,
            height: self.height as usize,
            pixels: &self.pixels,
        }
    }
}

/// How much of a file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Head,
}

/// Format and size of an image file, checked against the limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline {
    format: ImageFormat,
    width: u32,
    height: u32,
}

impl Outline {
    /// Reads format and size without decoding, and refuses files that should not be decoded.
    pub(super) fn read(bytes: &[u8], at: &FileLocation, limits: Limits) -> Result<Self, ImageError> {
        Self::checked(bytes, at, limits, Extent::Whole)
    }

    fn checked(bytes: &[u8], at: &FileLocation, limits: Limits, extent: Extent) -> Result<Self, ImageError> {
        let truncated = || ImageError::TruncatedImage { at: at.clone() };
        let outline = match bytes {
            [0xff, 0xd8, ..] => {
                let frame = match extent {
                    Extent::Whole => jpeg::frame(bytes),
                    Extent::Head => jpeg::frame_of_head(bytes),
                };
                let frame = frame.ok_or_else(truncated)?;
                if frame.components == 4 {
                    return Err(ImageError::FourColours { at: at.clone() });
                }
                let (width, height) = (frame.width, frame.height);
                Self {
                    format: ImageFormat::Jpeg,
                    width,
                    height,
                }
            }
            [0x89, b'P', b'N', b'G', ..] => {
                let size = bytes.get(16..24).ok_or_else(truncated)?;
                let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
                Self {
                    format: ImageFormat::Png,
                    width: number(&size[..4]),
                    height: number(&size[4..]),
                }
            }
            bytes if webp::is_webp(bytes) => Self::of_webp(bytes, at, extent)?,
            _ => {
                return Err(ImageError::NotAnImage {
                    at: at.clone(),
                    found: describe(bytes),
                });
            }
        };
        let (shortest, longest) = (outline.width.min(outline.height), outline.width.max(outline.height));
        if shortest == 0 {
            let reason = format!("it has {} columns and {} rows", outline.width, outline.height);
            return Err(ImageError::BadImage { at: at.clone(), reason });
        }
        if longest > limits.side {
            return Err(too_large(at, longest, limits));
        }
        Ok(outline)
    }

    fn of_webp(bytes: &[u8], at: &FileLocation, extent: Extent) -> Result<Self, ImageError> {
        let not_read = |found: &str| ImageError::NotAnImage {
            at: at.clone(),
            found: found.to_owned(),
        };
        let truncated = || ImageError::TruncatedImage { at: at.clone() };
        let header = webp::header(bytes).ok_or_else(|| {
            if bytes.len() < webp::LONGEST_HEADER {
                truncated()
            } else {
                not_read("a WebP of an unknown form")
            }
        })?;
        if header.is_animated {
            return Err(not_read("an animated WebP"));
        }
        if extent == Extent::Whole && (bytes.len() as u64) < header.file_bytes {
            return Err(truncated());
        }
        Ok(Self {
            format: ImageFormat::WebP,
            width: header.width,
            height: header.height,
        })
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }

    /// Reads format and size from the beginning of a file, without checking that the rest is there.
    pub(super) fn of_head(bytes: &[u8], at: &FileLocation, limits: Limits) -> Result<Self, ImageError> {
        Self::checked(bytes, at, limits, Extent::Head)
    }

    /// Size of the decoded image, in bytes.
    pub(super) fn pixel_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * 3
    }

    /// Decodes the file of this outline.
    pub(super) fn decode(&self, bytes: &[u8], at: &FileLocation, limits: Limits) -> Result<Picture, ImageError> {
        let mut allowed = image::Limits::default();
        allowed.max_image_width = Some(limits.side);
        allowed.max_image_height = Some(limits.side);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), self.format);
        reader.limits(allowed);
        let decoded = reader.decode().map_err(|error| match error {
            image::ImageError::Limits(_) => too_large(at, self.width.max(self.height), limits),
            image::ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                ImageError::TruncatedImage { at: at.clone() }
            }
            error => ImageError::BadImage {
                at: at.clone(),
                reason: error.to_string().trim_end_matches('.').to_string(),
            },
        })?;
        let decoded = decoded.into_rgb8();
        let (width, height) = decoded.dimensions();
        Ok(Picture {
            width,
            height,
            pixels: decoded.into_raw(),
        })
    }
}

fn too_large(at: &FileLocation, longest: u32, limits: Limits) -> ImageError {
    ImageError::TooMuch {
        at: at.clone(),
        what: "its longer side in pixels",
        found: u64::from(longest),
        limit: u64::from(limits.side),
    }
}

fn describe(bytes: &[u8]) -> String {
    match bytes {
        [] => "an empty file".to_string(),
        [b'G', b'I', b'F', ..] => "a GIF".to_string(),
        [b'B', b'M', ..] => "a BMP".to_string(),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => "a TIFF".to_string(),
        bytes => format!(
            "not an image (it begins with `{}`)",
            bytes[..bytes.len().min(12)].escape_ascii()
        ),
    }
}
