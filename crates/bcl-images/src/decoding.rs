//! What decoding makes of transparency, and of the orientation in a camera's metadata.

use serde::{Deserialize, Serialize};

/// How image files become pixels.
///
/// ```
/// use bcl_images::{Background, Decoding, Orientation};
///
/// let default = Decoding::default();
/// assert_eq!((default.background, default.orientation), (Background::White, Orientation::Stored));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Decoding {
    /// What is behind transparent pixels.
    pub background: Background,
    /// Which way up photographs are.
    pub orientation: Orientation,
}

/// The colour behind transparent pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// White, like paper.
    #[default]
    White,
    /// Black.
    Black,
    /// Medium grey.
    Grey,
}

/// Whether images are turned as their metadata say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    /// Pixels stay in the order of the file, as in torchvision.
    #[default]
    Stored,
    /// The orientation in the Exif metadata is applied, as image viewers do.
    Exif,
}

impl Background {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Red, green and blue, which are equal.
    fn level(self) -> u32 {
        match self {
            Self::White => 255,
            Self::Black => 0,
            Self::Grey => 128,
        }
    }

    /// A colour with this opacity on the background.
    pub(crate) fn behind(self, colour: u8, alpha: u8) -> u8 {
        let (colour, alpha) = (u32::from(colour), u32::from(alpha));
        ((colour * alpha + self.level() * (255 - alpha) + 127) / 255) as u8
    }
}

impl Orientation {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_colours_stay_and_transparent_ones_are_the_background() {
        for (background, level) in [(Background::White, 255), (Background::Black, 0), (Background::Grey, 128)] {
            for colour in 0..=255 {
                assert_eq!(background.behind(colour, 255), colour);
                assert_eq!(background.behind(colour, 0), level);
            }
        }
        assert_eq!(Background::White.behind(100, 128), 177);
    }
}
