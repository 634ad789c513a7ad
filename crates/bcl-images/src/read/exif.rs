//! The orientation in Exif metadata, and the turn that it asks for.

use super::picture::Picture;

/// How the stored pixels must be moved to be upright: the numbers 1 to 8 of the Exif standard, where 1 is upright.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn(u8);

impl Turn {
    pub(super) const NONE: Self = Self(1);

    /// Whether the stored pixels are upright.
    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether columns become rows.
    pub(super) fn swaps_sides(self) -> bool {
        self.0 >= 5
    }

    /// The turn in a TIFF structure, which is what Exif is. Damaged metadata ask for none.
    pub(super) fn of_tiff(tiff: &[u8]) -> Self {
        orientation(tiff).map_or(Self::NONE, Self)
    }

    /// Moves the pixels.
    pub(super) fn apply(self, picture: Picture) -> Picture {
        if self.is_none() {
            return picture;
        }
        let (width, height) = (picture.width as usize, picture.height as usize);
        let [new_width, new_height] = if self.swaps_sides() {
            [height, width]
        } else {
            [width, height]
        };
        let mut pixels = Vec::with_capacity(picture.pixels.len());
        for row in 0..new_height {
            for column in 0..new_width {
                let (last_row, last_column) = (height - 1, width - 1);
                let (y, x) = match self.0 {
                    2 => (row, last_column - column),
                    3 => (last_row - row, last_column - column),
                    4 => (last_row - row, column),
                    5 => (column, row),
                    6 => (last_row - column, row),
                    7 => (last_row - column, last_column - row),
                    _ => (column, last_column - row),
                };
                let start = (y * width + x) * 3;
                pixels.extend_from_slice(&picture.pixels[start..start + 3]);
            }
        }
        Picture {
            width: new_width as u32,
            height: new_height as u32,
            pixels,
        }
    }
}

/// The orientation in a PNG file, whose metadata may come behind its pixels.
pub(super) fn of_png(bytes: &[u8]) -> Turn {
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        if let Some(data) = after.strip_prefix(b"eXIf") {
            return Turn::of_tiff(data.get(..length).unwrap_or_default());
        }
        // The kind before the data, and a checksum behind them.
        let next = after.get(4..).and_then(|data| data.get(length..)?.get(4..));
        rest = next.unwrap_or_default();
    }
    Turn::NONE
}

/// The orientation in a WebP file, whose metadata come behind its pixels.
pub(super) fn of_webp(bytes: &[u8]) -> Turn {
    const IDENTIFIER: &[u8] = b"Exif\0\0";
    let mut rest = bytes.get(12..).unwrap_or_default();
    while let Some((kind, after)) = rest.split_first_chunk::<4>() {
        let Some((length, data)) = after.split_first_chunk::<4>() else {
            break;
        };
        let length = u32::from_le_bytes(*length) as usize;
        if kind == b"EXIF" {
            let data = data.get(..length).unwrap_or_default();
            return Turn::of_tiff(data.strip_prefix(IDENTIFIER).unwrap_or(data));
        }
        rest = data.get(length.next_multiple_of(2)..).unwrap_or_default();
    }
    Turn::NONE
}

/// The value of the tag 0x0112 in the first directory.
fn orientation(tiff: &[u8]) -> Option<u8> {
    const TAG: u16 = 0x0112;
    const ENTRY: usize = 12;
    let is_little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = *tiff.get(at..)?.first_chunk()?;
        Some(if is_little {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        })
    };
    let long = |at: usize| {
        let bytes = *tiff.get(at..)?.first_chunk()?;
        Some(if is_little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        })
    };
    let directory = long(4)? as usize;
    let entries = usize::from(short(directory)?);
    let entry = (0..entries)
        .map(|entry| directory + 2 + entry * ENTRY)
        .find(|&at| short(at) == Some(TAG))?;
    let value = short(entry + 8)?;
    u8::try_from(value).ok().filter(|value| (1..=8).contains(value))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Exif with an orientation, without the identifier before it.
    pub(in crate::read) fn tiff(orientation: u8) -> Vec<u8> {
        let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
        [&b"MM\0*\0\0\0\x08\0\x01"[..], &entry, &[0; 4]].concat()
    }

    #[test]
    fn the_orientation_is_read_in_both_byte_orders() {
        let little = b"II*\0\x08\0\0\0\x02\0\x00\x01\x03\0\x01\0\0\0\x09\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        assert_eq!(Turn::of_tiff(little), Turn(6));
        assert_eq!(Turn::of_tiff(&tiff(3)), Turn(3));
        for damaged in [&tiff(9)[..], &tiff(0), &tiff(6)[..17], b"", b"MM\0*\xff\xff\xff\xff"] {
            assert!(Turn::of_tiff(damaged).is_none(), "{}", damaged.escape_ascii());
        }
    }

    /// Each of the eight files of an upright `1 2 / 3 4 / 5 6`, as the standard defines its orientation.
    #[test]
    fn every_orientation_becomes_upright() {
        let stored: [(u8, u32, &[u8]); 8] = [
            (1, 2, &[1, 2, 3, 4, 5, 6]),
            (2, 2, &[2, 1, 4, 3, 6, 5]),
            (3, 2, &[6, 5, 4, 3, 2, 1]),
            (4, 2, &[5, 6, 3, 4, 1, 2]),
            (5, 3, &[1, 3, 5, 2, 4, 6]),
            (6, 3, &[2, 4, 6, 1, 3, 5]),
            (7, 3, &[6, 4, 2, 5, 3, 1]),
            (8, 3, &[5, 3, 1, 6, 4, 2]),
        ];
        for (orientation, width, levels) in stored {
            let picture = Picture {
                width,
                height: 6 / width,
                pixels: levels.iter().flat_map(|&level| [level; 3]).collect(),
            };
            let upright = Turn(orientation).apply(picture);
            let levels: Vec<u8> = upright.pixels.iter().step_by(3).copied().collect();
            assert_eq!(
                (upright.width, upright.height, levels),
                (2, 3, vec![1, 2, 3, 4, 5, 6]),
                "{orientation}"
            );
        }
    }

    #[test]
    fn the_orientation_may_come_behind_the_pixels_of_png_and_webp() {
        let chunk = |kind: &[u8], data: &[u8]| [&(data.len() as u32).to_be_bytes()[..], kind, data, b"csum"].concat();
        let png = [
            &b"\x89PNG\r\n\x1a\n"[..],
            &chunk(b"IHDR", &[0; 13]),
            &chunk(b"IDAT", &[1; 40]),
            &chunk(b"eXIf", &tiff(8)),
        ]
        .concat();
        assert_eq!(of_png(&png), Turn(8));
        assert!(of_png(&png[..60]).is_none());
        let chunk = |kind: &[u8], data: &[u8]| {
            let padding = vec![0; data.len() % 2];
            [kind, &(data.len() as u32).to_le_bytes(), data, &padding].concat()
        };
        for exif in [tiff(3), [&b"Exif\0\0"[..], &tiff(3)].concat()] {
            let webp = [
                &b"RIFF\0\0\0\0WEBP"[..],
                &chunk(b"VP8X", &[0; 10]),
                &chunk(b"VP8 ", &[1; 7]),
                &chunk(b"EXIF", &exif),
            ]
            .concat();
            assert_eq!(of_webp(&webp), Turn(3));
            assert!(of_webp(&webp[..webp.len() - 30]).is_none());
        }
    }
}
