//! The parameters of one view.

use super::{Jitter, Region};

/// Everything that is random about one view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// The part of the image that the view shows.
    pub region: Region,
    /// Whether left and right are swapped.
    pub flip: bool,
    /// Change of colours.
    pub jitter: Option<Jitter>,
    /// Whether the colour is taken away.
    pub grayscale: bool,
    /// Standard deviation of the blur in pixels.
    pub blur: Option<f64>,
}

impl Draw {
    /// Changes nothing but the size: the whole image, with its own colours.
    pub fn plain(width: usize, height: usize) -> Self {
        Self {
            region: Region::whole(width, height),
            flip: false,
            jitter: None,
            grayscale: false,
            blur: None,
        }
    }
}
