//! Reads the size and colours of a JPEG file without decoding it, and checks that it is complete.
//!
//! Decoders silently fill the missing part of a truncated file with grey, so truncation must be detected before.

/// The contents of the frame header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) width: u32,
    pub(super) height: u32,
    /// 1 for grey, 3 for colour, 4 for CMYK.
    pub(super) components: u8,
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
    let mut frame = None;
    let mut position = 2;
    loop {
        // Between segments is the compressed image, in which 0xFF is followed by zero or a restart marker.
        position += bytes.get(position..)?.iter().position(|&byte| byte == 0xff)?;
        match *bytes.get(position + 1)? {
            0xff => position += 1,
            0x00 | 0x01 | 0xd0..=0xd8 => position += 2,
            0xd9 => return frame,
            marker => {
                let segment = bytes.get(position + 2..)?;
                let length = usize::from(u16::from_be_bytes([*segment.first()?, *segment.get(1)?]));
                // The three excluded markers of this range are tables.
                if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                    frame = frame.or(Some(parse_frame(segment)?));
                    if stop_at_frame {
                        return frame;
                    }
                }
                position += 2 + length.max(2);
            }
        }
    }
}

fn parse_frame(segment: &[u8]) -> Option<Frame> {
    let [_, _, _, high_y, low_y, high_x, low_x, components] = *segment.first_chunk::<8>()?;
    Some(Frame {
        width: u32::from(u16::from_be_bytes([high_x, low_x])),
        height: u32::from(u16::from_be_bytes([high_y, low_y])),
        components,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{RgbImage, codecs::jpeg::JpegEncoder};

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
}
