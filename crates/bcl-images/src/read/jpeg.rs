//! Reads the size and colours of a JPEG file without decoding it, and checks that it is complete.
//!
//! Decoders silently fill the missing part of a truncated file with grey, so truncation must be detected before.

use super::exif::Turn;
use std::borrow::Cow;

/// The contents of the frame header, and the orientation from the metadata before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) width: u32,
    pub(super) height: u32,
    /// 1 for grey, 3 for colour, 4 for CMYK.
    pub(super) components: u8,
    pub(super) turn: Turn,
}

/// Walks through the segments to the end marker. Returns `None` if the file ends before it, or has no frame.
pub(super) fn frame(bytes: &[u8]) -> Option<Frame> {
    walk(bytes, false)
}

/// Walks through the segments to the frame header alone, so the beginning of a file is enough.
pub(super) fn frame_of_head(bytes: &[u8]) -> Option<Frame> {
    walk(bytes, true)
}

fn walk(bytes: &[u8], stop_at_frame: bool) -> Option<Frame> {
    let (mut frame, mut turn) = (None, Turn::NONE);
    for segment in Segments::of(bytes) {
        match segment.marker {
            END => return frame,
            APP1 if turn.is_none() => {
                turn = segment.data().strip_prefix(b"Exif\0\0").map_or(turn, Turn::of_tiff);
            }
            marker if is_frame(marker) => {
                frame = frame.or(Some(Frame {
                    turn,
                    ..parse_frame(segment.rest)?
                }));
                if stop_at_frame {
                    return frame;
                }
            }
            _ => {}
        }
    }
    None
}

const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
const APP0: u8 = 0xe0;
const APP1: u8 = 0xe1;
const APP14: u8 = 0xee;

/// Whether a segment is a frame header. Three markers of this range are tables.
fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

/// The segments of a file up to its end marker, or to where it is cut.
struct Segments<'a> {
    bytes: &'a [u8],
    position: usize,
}

/// A segment, or the end marker.
struct Segment<'a> {
    marker: u8,
    /// Where its length is in the file.
    at: usize,
    /// The file from its length on.
    rest: &'a [u8],
}

impl<'a> Segments<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 2 }
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        loop {
            // Between segments is the compressed image, in which 0xFF is followed by zero or a restart marker.
            self.position += self.bytes.get(self.position..)?.iter().position(|&byte| byte == 0xff)?;
            let marker = *self.bytes.get(self.position + 1)?;
            let at = self.position + 2;
            match marker {
                0xff => self.position += 1,
                0x00 | 0x01 | 0xd0..=0xd8 => self.position += 2,
                END => {
                    self.position = self.bytes.len();
                    return Some(Segment { marker, at, rest: &[] });
                }
                _ => {
                    let segment = Segment {
                        marker,
                        at,
                        rest: self.bytes.get(at..)?,
                    };
                    self.position = at + segment.length()?.max(2);
                    return Some(segment);
                }
            }
        }
    }
}

impl<'a> Segment<'a> {
    fn length(&self) -> Option<usize> {
        Some(usize::from(u16::from_be_bytes(*self.rest.first_chunk()?)))
    }

    /// What follows the length, as far as it is there.
    fn data(&self) -> &'a [u8] {
        let end = self.length().unwrap_or_default().min(self.rest.len());
        self.rest.get(2..end).unwrap_or_default()
    }
}

/// The file, changed so that its colours are those which libjpeg, and with it most software, takes them for.
///
/// libjpeg takes three components for luminance and chroma if there is a JFIF segment, whatever else the file says; else it goes by the transform
/// in Adobe's segment, and without it by the numbers of the components. The decoder here prefers the numbers, then Adobe, and refuses unknown
/// transforms.
pub(super) fn as_libjpeg_reads(bytes: &[u8]) -> Cow<'_, [u8]> {
    /// Least sizes of both segments.
    const JFIF: usize = 14;
    const ADOBE: usize = 12;
    const RGB: [u8; 3] = *b"RGB";
    let (mut has_jfif, mut transform, mut adobe, mut numbers) = (false, None, Vec::new(), Vec::new());
    for segment in Segments::of(bytes).take_while(|segment| segment.marker != SCAN) {
        let data = segment.data();
        match segment.marker {
            APP0 => has_jfif |= data.len() >= JFIF && data.starts_with(b"JFIF\0"),
            APP14 if data.starts_with(b"Adobe") => {
                adobe.push(segment.at + 2);
                transform = data.get(ADOBE - 1).copied().or(transform);
            }
            marker if is_frame(marker) => {
                numbers = data.get(6..).unwrap_or_default().iter().step_by(3).copied().collect();
            }
            _ => {}
        }
    }
    let is_rgb = numbers.len() == 3
        && !has_jfif
        && match transform {
            Some(transform) => transform == 0,
            None => numbers == RGB,
        };
    let mut bytes = Cow::Borrowed(bytes);
    if is_rgb {
        return bytes;
    }
    if !adobe.is_empty() && transform != Some(1) {
        for at in adobe {
            bytes.to_mut()[at] = b'_';
        }
    }
    if numbers == RGB {
        renumber(bytes.to_mut());
    }
    bytes
}

/// Numbers the three components of a file from 1, in its frame and in its scans.
fn renumber(bytes: &mut [u8]) {
    let places: Vec<usize> = Segments::of(bytes)
        .flat_map(|segment| {
            let [first, step] = match segment.marker {
                SCAN => [1, 2],
                marker if is_frame(marker) => [6, 3],
                _ => return Vec::new(),
            };
            let places = (0..3)
                .map(|number| first + number * step)
                .filter(|&place| place < segment.data().len());
            places.map(|place| segment.at + 2 + place).collect()
        })
        .collect();
    for place in places {
        bytes[place] = match bytes[place] {
            b'R' => 1,
            b'G' => 2,
            b'B' => 3,
            other => other,
        };
    }
}

fn parse_frame(segment: &[u8]) -> Option<Frame> {
    let [_, _, _, high_y, low_y, high_x, low_x, components] = *segment.first_chunk::<8>()?;
    Some(Frame {
        width: u32::from(u16::from_be_bytes([high_x, low_x])),
        height: u32::from(u16::from_be_bytes([high_y, low_y])),
        components,
        turn: Turn::NONE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::exif::tests::tiff;
    use image::{RgbImage, codecs::jpeg::JpegEncoder};
    use zune_jpeg::JpegDecoder;
    use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

    fn jpeg() -> Vec<u8> {
        let image = RgbImage::from_fn(20, 12, |x, y| image::Rgb([(x * 12) as u8, (y * 20) as u8, (x * y) as u8]));
        let mut bytes = Vec::new();
        JpegEncoder::new_with_quality(&mut bytes, 90).encode_image(&image).unwrap();
        bytes
    }

    #[test]
    fn the_frame_of_a_whole_file_is_read() {
        let expected = Frame {
            width: 20,
            height: 12,
            components: 3,
            turn: Turn::NONE,
        };
        assert_eq!(frame(&jpeg()), Some(expected));
        assert_eq!(frame(&[jpeg(), b"trailing".to_vec()].concat()), Some(expected));
    }

    #[test]
    fn a_file_cut_anywhere_is_not_whole() {
        let bytes = jpeg();
        for length in 0..bytes.len() {
            assert_eq!(frame(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn the_end_of_a_thumbnail_is_not_the_end_of_the_file() {
        let bytes = jpeg();
        // Cameras put a thumbnail, a JPEG with its own end marker, into a segment before the frame.
        let thumbnail = [0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9];
        let whole = [&bytes[..2], &thumbnail, &bytes[2..]].concat();
        assert_eq!(frame(&whole), frame(&bytes));
        assert_eq!(frame(&whole[..whole.len() - 2]), None);
    }

    /// A JPEG with these segments in place of its JFIF segment, and these numbers of components.
    fn marked(segments: &[&[u8]], numbers: [u8; 3]) -> Vec<u8> {
        let mut bytes = jpeg();
        // The encoder begins with a JFIF segment of 16 bytes.
        bytes.splice(2..20, segments.concat());
        let places: Vec<usize> = Segments::of(&bytes)
            .flat_map(|segment| match segment.marker {
                SCAN => [1, 3, 5].map(|place| segment.at + 2 + place).to_vec(),
                marker if is_frame(marker) => [6, 9, 12].map(|place| segment.at + 2 + place).to_vec(),
                _ => Vec::new(),
            })
            .collect();
        for (place, number) in places.into_iter().zip(numbers.into_iter().cycle()) {
            bytes[place] = number;
        }
        bytes
    }

    const JFIF: &[u8] = b"\xff\xe0\0\x10JFIF\0\x01\x02\0\0\x01\0\x01\0\0";

    fn adobe(transform: u8) -> Vec<u8> {
        [&b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0"[..], &[transform]].concat()
    }

    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode().expect("decodes")
    }

    /// Whether the decoder takes the components for red, green and blue.
    fn is_rgb(bytes: &[u8]) -> bool {
        decoded(&as_libjpeg_reads(bytes)) == decoded(&marked(&[&adobe(0)], [1, 2, 3]))
    }

    /// What libjpeg's `default_decompress_parms` decides.
    #[test]
    fn colours_are_what_libjpeg_takes_them_for() {
        let (plain, letters) = ([1, 2, 3], *b"RGB");
        let adobe: Vec<Vec<u8>> = (0..4).map(adobe).collect();
        for (segments, numbers, expected) in [
            (&[][..], plain, false),
            (&[], letters, true),
            (&[], [0, 1, 2], false),
            (&[JFIF], plain, false),
            (&[JFIF], letters, false),
            (&[&*adobe[0]], plain, true),
            (&[&*adobe[1]], plain, false),
            (&[&*adobe[2]], plain, false),
            (&[&*adobe[3]], plain, false),
            (&[&*adobe[1]], letters, false),
            (&[&*adobe[0]], letters, true),
            (&[JFIF, &*adobe[0]], plain, false),
            (&[&*adobe[0], JFIF], plain, false),
            (&[JFIF, &*adobe[3]], letters, false),
        ] {
            assert_eq!(is_rgb(&marked(segments, numbers)), expected, "{segments:?} {numbers:?}");
        }
    }

    #[test]
    fn a_usual_file_is_not_copied() {
        for bytes in [jpeg(), marked(&[&adobe(1)], [1, 2, 3]), marked(&[JFIF, &adobe(1)], [1, 2, 3])] {
            assert!(matches!(as_libjpeg_reads(&bytes), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn the_orientation_comes_from_the_metadata_before_the_frame() {
        let tiff = tiff(6);
        let length = (tiff.len() + 8) as u16;
        let exif = [&b"\xff\xe1"[..], &length.to_be_bytes(), b"Exif\0\0", &tiff].concat();
        let turned = marked(&[&exif], [1, 2, 3]);
        assert_eq!(frame(&turned).map(|frame| frame.turn), Some(Turn::of_tiff(&tiff)));
        assert_eq!(frame_of_head(&turned), frame(&turned));
    }
}
