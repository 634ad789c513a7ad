//! Decodes JPEG, PNG and WebP files to 8-bit RGB.
//!
//! Grey becomes equal red, green and blue; 16 bits are rounded to 8; a palette is expanded. [`Decoding`] says what is behind transparent pixels, and
//! whether the orientation in a camera's metadata is applied. JPEG files in four colours (CMYK) are refused, because their RGB values depend on a
//! colour profile, and readers interpret it differently.

use super::exif::Turn;
use super::kind::{ByContent, Format};
use super::limits::Limits;
use super::picture::Picture;
use super::{exif, jpeg, webp};
use crate::decoding::{Background, Decoding, Orientation};
use crate::error::ImageError;
use bcl_files::archive::FileLocation;
use std::io::{Cursor, ErrorKind};
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

/// How much of a file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Head,
}

/// Format and size of an image file, checked against the limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline {
    format: Format,
    /// Stored columns and rows.
    width: u32,
    height: u32,
    /// The orientation in the metadata, as far as they have been read.
    turn: Turn,
}

impl Outline {
    /// Reads format and size without decoding, and refuses files that should not be decoded.
    pub(super) fn read(bytes: &[u8], at: &FileLocation, limits: Limits) -> Result<Self, ImageError> {
        Self::checked(bytes, at, limits, Extent::Whole)
    }

    fn checked(bytes: &[u8], at: &FileLocation, limits: Limits, extent: Extent) -> Result<Self, ImageError> {
        let truncated = || ImageError::truncated(at);
        let outline = match ByContent::of(bytes) {
            ByContent::Image(Format::Jpeg) => {
                let frame = match extent {
                    Extent::Whole => jpeg::frame(bytes),
                    Extent::Head => jpeg::frame_of_head(bytes),
                };
                let frame = frame.ok_or_else(truncated)?;
                if frame.components == 4 {
                    return Err(ImageError::four_colours(at));
                }
                Self {
                    format: Format::Jpeg,
                    width: frame.width,
                    height: frame.height,
                    turn: frame.turn,
                }
            }
            ByContent::Image(Format::Png) => {
                let size = bytes.get(16..24).ok_or_else(truncated)?;
                let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
                Self {
                    format: Format::Png,
                    width: number(&size[..4]),
                    height: number(&size[4..]),
                    turn: exif::of_png(bytes),
                }
            }
            ByContent::Image(Format::WebP) => Self::of_webp(bytes, at, extent)?,
            ByContent::NotRead(what) => return Err(ImageError::not_an_image(at, what)),
            ByContent::Other => return Err(ImageError::not_an_image(at, &describe(bytes))),
        };
        let (shortest, longest) = (outline.width.min(outline.height), outline.width.max(outline.height));
        if shortest == 0 {
            let reason = format!("it has {} columns and {} rows", outline.width, outline.height);
            return Err(ImageError::bad_image(at, &reason));
        }
        if longest > limits.side {
            return Err(too_large(at, longest, limits));
        }
        Ok(outline)
    }

    fn of_webp(bytes: &[u8], at: &FileLocation, extent: Extent) -> Result<Self, ImageError> {
        let not_read = |found: &str| ImageError::not_an_image(at, found);
        let truncated = || ImageError::truncated(at);
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
            format: Format::WebP,
            width: header.width,
            height: header.height,
            turn: exif::of_webp(bytes),
        })
    }

    /// Columns and rows of the decoded image.
    pub(super) fn size(&self, decoding: Decoding) -> [u32; 2] {
        if self.turn_for(decoding).swaps_sides() {
            [self.height, self.width]
        } else {
            [self.width, self.height]
        }
    }

    fn turn_for(&self, decoding: Decoding) -> Turn {
        match decoding.orientation {
            Orientation::Stored => Turn::NONE,
            Orientation::Exif => self.turn,
        }
    }

    /// Whether the metadata ask for a turn that is not made.
    pub(super) fn stays_turned(&self, decoding: Decoding) -> bool {
        decoding.orientation == Orientation::Stored && !self.turn.is_none()
    }

    /// Whether the orientation may come behind the pixels, where the beginning of a file does not show it.
    pub(super) fn may_turn_later(&self, decoding: Decoding) -> bool {
        decoding.orientation == Orientation::Exif && self.format != Format::Jpeg
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
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        at: &FileLocation,
        limits: Limits,
        decoding: Decoding,
    ) -> Result<Picture, ImageError> {
        let decoded = match self.format {
            Format::Jpeg => decode_jpeg(bytes),
            Format::Png => decode_png(bytes, decoding.background),
            Format::WebP => decode_webp(bytes, decoding.background),
        };
        let pixels = decoded.map_err(|undecodable| match undecodable {
            Undecodable::TooLarge => too_large(at, self.width.max(self.height), limits),
            Undecodable::Truncated => ImageError::truncated(at),
            Undecodable::Bad(reason) => ImageError::bad_image(at, reason.trim_end_matches('.')),
        })?;
        if pixels.len() as u64 != self.pixel_bytes() {
            let reason = format!(
                "it does not have the {} x {} pixels that its header says",
                self.width, self.height
            );
            return Err(ImageError::bad_image(at, &reason));
        }
        let picture = Picture {
            width: self.width,
            height: self.height,
            pixels,
        };
        Ok(self.turn_for(decoding).apply(picture))
    }
}

/// The most bytes that a decoder of PNG or WebP may take for one image.
const MOST_BYTES: usize = 1 << 29;

/// Why a file has no pixels.
enum Undecodable {
    TooLarge,
    Truncated,
    Bad(String),
}

impl Undecodable {
    fn io(error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Self::Truncated,
            _ => Self::Bad(error.to_string()),
        }
    }
}

impl From<png::DecodingError> for Undecodable {
    fn from(error: png::DecodingError) -> Self {
        match error {
            png::DecodingError::IoError(error) => Self::io(&error),
            png::DecodingError::LimitsExceeded => Self::TooLarge,
            error => Self::Bad(error.to_string()),
        }
    }
}

impl From<image_webp::DecodingError> for Undecodable {
    fn from(error: image_webp::DecodingError) -> Self {
        match error {
            image_webp::DecodingError::IoError(error) => Self::io(&error),
            image_webp::DecodingError::MemoryLimitExceeded => Self::TooLarge,
            error => Self::Bad(error.to_string()),
        }
    }
}

/// Decodes to `[height, width, 3]`, as do the others.
fn decode_jpeg(bytes: &[u8]) -> Result<Vec<u8>, Undecodable> {
    let bad = |error: zune_jpeg::errors::DecodeErrors| Undecodable::Bad(error.to_string());
    let side = usize::from(u16::MAX);
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(side)
        .set_max_height(side);
    let bytes = jpeg::as_libjpeg_reads(bytes);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(&*bytes), options);
    decoder.decode_headers().map_err(bad)?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let colours = if is_grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options.jpeg_set_out_colorspace(colours));
    let samples = decoder.decode().map_err(bad)?;
    Ok(if is_grey { three_of(&samples) } else { samples })
}

fn decode_png(bytes: &[u8], background: Background) -> Result<Vec<u8>, Undecodable> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MOST_BYTES });
    decoder.set_ignore_text_chunk(true);
    // Palettes and fewer than 8 bits become 8 bits; 16 bits stay, to be rounded.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let (colours, depth) = reader.output_color_type();
    let mut samples = vec![0; reader.output_buffer_size().ok_or(Undecodable::TooLarge)?];
    reader.next_frame(&mut samples)?;
    if depth == png::BitDepth::Sixteen {
        let (wide, _) = samples.as_chunks::<2>();
        let rounded = |bytes: &[u8; 2]| ((u32::from(u16::from_be_bytes(*bytes)) + 128) / 257) as u8;
        samples = wide.iter().map(rounded).collect();
    }
    Ok(rgb(samples, colours.samples(), background))
}

fn decode_webp(bytes: &[u8], background: Background) -> Result<Vec<u8>, Undecodable> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes))?;
    decoder.set_memory_limit(MOST_BYTES);
    let mut samples = vec![0; decoder.output_buffer_size().ok_or(Undecodable::TooLarge)?];
    decoder.read_image(&mut samples)?;
    Ok(rgb(samples, if decoder.has_alpha() { 4 } else { 3 }, background))
}

/// Makes three colours of one (grey), two (grey and alpha) or four (with alpha).
fn rgb(samples: Vec<u8>, channels: usize, background: Background) -> Vec<u8> {
    match channels {
        1 => three_of(&samples),
        2 => samples
            .as_chunks()
            .0
            .iter()
            .flat_map(|&[grey, alpha]| [background.behind(grey, alpha); 3])
            .collect(),
        4 => samples
            .as_chunks()
            .0
            .iter()
            .flat_map(|&[red, green, blue, alpha]| [red, green, blue].map(|colour| background.behind(colour, alpha)))
            .collect(),
        _ => samples,
    }
}

fn three_of(greys: &[u8]) -> Vec<u8> {
    greys.iter().flat_map(|&grey| [grey; 3]).collect()
}

fn too_large(at: &FileLocation, longest: u32, limits: Limits) -> ImageError {
    ImageError::too_much(at, "its longer side in pixels", longest.into(), limits.side.into())
}

fn describe(bytes: &[u8]) -> String {
    match bytes {
        [] => "an empty file".to_string(),
        bytes => format!(
            "not an image (it begins with `{}`)",
            bytes[..bytes.len().min(12)].escape_ascii()
        ),
    }
}
