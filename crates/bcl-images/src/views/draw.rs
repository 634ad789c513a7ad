//! The parameters of one view.

use super::{Jitter, Region};

/// All random choices of one view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// The region that the view shows.
    pub region: Region,
    /// Whether to flip horizontally.
    pub flip: bool,
    /// Colour jitter, if any.
    pub jitter: Option<Jitter>,
    /// Whether to convert to grey.
    pub grayscale: bool,
    /// Standard deviation of the blur in pixels, if any.
    pub blur: Option<f64>,
    /// Level from which on levels are inverted, if any.
    pub solarise: Option<u8>,
}

impl Draw {
    /// The whole image without any change of colour; only resized.
    pub fn plain(width: usize, height: usize) -> Self {
        Self {
            region: Region::whole(width, height),
            flip: false,
            jitter: None,
            grayscale: false,
            blur: None,
            solarise: None,
        }
    }
}
