//! The pixels of an image.

use crate::Image;

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
