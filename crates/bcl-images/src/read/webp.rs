//! Reads the size of a WebP file without decoding it.

/// The contents of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Whether the file is a sequence of images.
    pub(super) is_animated: bool,
    /// Length of the complete file in bytes.
    pub(super) file_bytes: u64,
}

/// Number of bytes that have the header of every form. A whole file can be shorter.
pub(super) const LONGEST_HEADER: usize = 30;

/// Reads the header from the beginning of a file. Returns `None` if it is incomplete, or the first block is none that WebP begins with.
pub(super) fn header(bytes: &[u8]) -> Option<Header> {
    let size_of_rest = u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?);
    let block = bytes.get(20..)?;
    let (is_animated, width, height) = match bytes.get(12..16)? {
        // Lossy: a frame tag of three bytes, the start code, and two sizes of 14 bits below a scale of 2.
        b"VP8 " => {
            let [_, _, _, 0x9d, 0x01, 0x2a, sizes @ ..] = *block.first_chunk::<10>()? else {
                return None;
            };
            let [a, b, c, d] = sizes.map(u32::from);
            (false, (a | b << 8) & 0x3fff, (c | d << 8) & 0x3fff)
        }
        // Lossless: a signature, and two sizes of 14 bits, each less one.
        b"VP8L" => {
            let [0x2f, sizes @ ..] = *block.first_chunk::<5>()? else {
                return None;
            };
            let sizes = u32::from_le_bytes(sizes);
            (false, (sizes & 0x3fff) + 1, (sizes >> 14 & 0x3fff) + 1)
        }
        // Extended, with transparency, a colour profile or an animation: flags, and two sizes of 24 bits, each less one.
        b"VP8X" => {
            let [flags, _, _, _, sizes @ ..] = *block.first_chunk::<10>()?;
            let [a, b, c, d, e, f] = sizes.map(u32::from);
            (flags & 0b10 != 0, (a | b << 8 | c << 16) + 1, (d | e << 8 | f << 16) + 1)
        }
        _ => return None,
    };
    Some(Header {
        width,
        height,
        is_animated,
        file_bytes: u64::from(size_of_rest) + 8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoding::{Background, Decoding};
    use crate::read::decode::Outline;
    use crate::read::limits::Limits;
    use bcl_files::archive::FileLocation;
    use image::{ExtendedColorType, Rgb, RgbImage, codecs::webp::WebPEncoder};

    /// Three red columns and two blue ones, in three rows; written by Pillow 12 with quality 90.
    const LOSSY: &[u8] = b"\x52\x49\x46\x46\x58\x00\x00\x00\x57\x45\x42\x50\x56\x50\x38\x20\x4c\x00\x00\x00\x30\x03\x00\x9d\x01\x2a\x05\x00\
        \x03\x00\x00\xc0\x12\x25\xa8\x02\x74\xba\x01\x40\x03\xf0\x02\xb4\x03\xf8\x06\x50\x00\x2c\xd9\x9a\x2e\x00\x00\xfe\xfc\xd2\x30\x94\xcd\xeb\
        \x91\xef\x3f\xfd\x73\x95\x89\xaf\xff\xd3\xea\xff\xce\x72\xb1\x35\xff\xf4\xfa\xbf\x76\xb7\x53\xda\xff\x8d\x21\x2c\x14\xf6\x1f\xdb\x40\x00";

    /// The same picture, half transparent.
    const EXTENDED: &[u8] = b"\x52\x49\x46\x46\x7c\x00\x00\x00\x57\x45\x42\x50\x56\x50\x38\x58\x0a\x00\x00\x00\x10\x00\x00\x00\x04\x00\x00\x02\
        \x00\x00\x41\x4c\x50\x48\x0a\x00\x00\x00\x01\x07\x50\xc0\x88\x08\x44\x44\xff\x03\x56\x50\x38\x20\x4c\x00\x00\x00\x30\x03\x00\x9d\x01\x2a\
        \x05\x00\x03\x00\x00\xc0\x12\x25\xa8\x02\x74\xba\x01\x40\x03\xf0\x02\xb4\x03\xf8\x06\x50\x00\x2c\xd9\x9a\x2e\x00\x00\xfe\xfc\xd2\x30\x94\
        \xcd\xeb\x91\xef\x3f\xfd\x73\x95\x89\xaf\xff\xd3\xea\xff\xce\x72\xb1\x35\xff\xf4\xfa\xbf\x76\xb7\x53\xda\xff\x8d\x21\x2c\x14\xf6\x1f\xdb\
        \x40\x00";

    fn lossless() -> Vec<u8> {
        let image = RgbImage::from_fn(5, 3, |x, _| if x < 3 { Rgb([200, 40, 40]) } else { Rgb([20, 60, 180]) });
        let mut bytes = Vec::new();
        let encoder = WebPEncoder::new_lossless(&mut bytes);
        encoder.encode(image.as_raw(), 5, 3, ExtendedColorType::Rgb8).unwrap();
        bytes
    }

    fn location() -> FileLocation {
        FileLocation {
            path: "a.webp".into(),
            entry: None,
        }
    }

    fn outline(bytes: &[u8]) -> Result<Outline, String> {
        Outline::read(bytes, &location(), Limits::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_header_of_each_of_the_three_forms_has_the_size() {
        for bytes in [LOSSY.to_vec(), EXTENDED.to_vec(), lossless()] {
            let header = header(&bytes[..30]).unwrap();
            assert_eq!((header.width, header.height, header.is_animated), (5, 3, false));
            assert_eq!(header.file_bytes, bytes.len() as u64);
        }
    }

    /// A lossless file of one pixel may have 26 bytes.
    #[test]
    fn the_header_of_a_lossless_file_has_25_bytes() {
        let bytes = lossless();
        assert_eq!(header(&bytes[..25]), header(&bytes));
        assert_eq!(header(&bytes[..24]), None);
    }

    #[test]
    fn pixels_are_those_of_another_reader() {
        // The second one is half transparent, on white.
        let half = |level: u8| Background::White.behind(level, 128);
        for (bytes, tolerance) in [(LOSSY.to_vec(), 2), (EXTENDED.to_vec(), 2), (lossless(), 0)] {
            let picture = outline(&bytes)
                .unwrap()
                .decode(&bytes, &location(), Limits::default(), Decoding::default())
                .unwrap();
            assert_eq!((picture.width, picture.height), (5, 3));
            // Top left and bottom right, as Pillow reads the lossy files; a lossless file has what was written.
            let mut expected = if tolerance > 0 {
                [[201, 40, 35], [37, 56, 164]]
            } else {
                [[200, 40, 40], [20, 60, 180]]
            };
            if bytes == EXTENDED {
                expected = expected.map(|colour: [u8; 3]| colour.map(half));
            }
            for (found, expected) in [&picture.pixels[..3], &picture.pixels[14 * 3..]].into_iter().zip(expected) {
                let close = found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| found.abs_diff(expected) <= tolerance);
                assert!(close, "{found:?} instead of {expected:?}");
            }
        }
    }

    #[test]
    fn a_truncated_file_is_no_image() {
        for bytes in [LOSSY.to_vec(), EXTENDED.to_vec(), lossless()] {
            for length in [12, 19, 29, bytes.len() - 1] {
                let text = outline(&bytes[..length]).unwrap_err();
                assert!(text.contains("truncated"), "{length}: {text}");
            }
        }
    }

    #[test]
    fn animations_and_unknown_forms_are_refused() {
        let mut animated = EXTENDED.to_vec();
        animated[20] |= 0b10;
        assert!(outline(&animated).unwrap_err().contains("is an animated WebP"));
        let mut unknown = LOSSY.to_vec();
        unknown[15] = b'9';
        assert!(outline(&unknown).unwrap_err().contains("a WebP of an unknown form"));
    }
}
