//! The two orders of the im2col columns of a group of images.

use super::columns::{gather, scatter, swap};
use super::geometry::Geometry;
use super::interleaved::{TapIndices, transpose};
use crate::cpu::Value;

/// Group size from which it pays to interleave the images: planes are small then, so runs within one plane are short.
const SIDE_BY_SIDE: usize = 8;

/// The order of the im2col columns of a group of images.
pub(super) enum Order {
    /// Image by image.
    ByImage,
    /// Output pixel by output pixel, with the images side by side at each.
    ByPixel(TapIndices),
}

impl Order {
    /// Chooses the faster order for these sizes.
    pub(super) fn of(geometry: &Geometry) -> Self {
        if geometry.group() < SIDE_BY_SIDE {
            Self::ByImage
        } else {
            Self::ByPixel(TapIndices::of(geometry))
        }
    }

    /// im2col: writes the input windows of some images as columns, `[taps, columns]`. `buffer` must be at least as long as `images`.
    pub(super) fn see<T: Value>(&self, geometry: &Geometry, images: &[T], buffer: &mut [T], columns: &mut [T]) {
        match self {
            Self::ByImage => gather(geometry, images, columns),
            Self::ByPixel(taps) => {
                let transposed = &mut buffer[..images.len()];
                transpose(images, images.len() / geometry.image(), transposed);
                taps.gather(geometry, transposed, columns);
            }
        }
    }

    /// col2im: adds columns back into images that start at zero. The adjoint of [`see`](Self::see).
    pub(super) fn unsee<T: Value>(&self, geometry: &Geometry, columns: &[T], buffer: &mut [T], images: &mut [T]) {
        match self {
            Self::ByImage => scatter(geometry, columns, images),
            Self::ByPixel(taps) => {
                let transposed = &mut buffer[..images.len()];
                transposed.fill(T::ZERO);
                taps.scatter(geometry, columns, transposed);
                transpose(transposed, geometry.image(), images);
            }
        }
    }

    /// Reorders the outputs of some images to `[channels_out, columns]`.
    pub(super) fn rows<T: Value>(&self, geometry: &Geometry, outputs: &[T], rows: &mut [T]) {
        let count = outputs.len() / geometry.image_out();
        match self {
            Self::ByImage => swap(outputs, [geometry.channels_out, count], geometry.output_pixels(), rows),
            Self::ByPixel(_) => transpose(outputs, count, rows),
        }
    }

    /// Reorders `[channels_out, columns]` back to outputs, image by image.
    pub(super) fn outputs<T: Value>(&self, geometry: &Geometry, rows: &[T], outputs: &mut [T]) {
        let count = outputs.len() / geometry.image_out();
        match self {
            Self::ByImage => swap(rows, [count, geometry.channels_out], geometry.output_pixels(), outputs),
            Self::ByPixel(_) => transpose(rows, geometry.image_out(), outputs),
        }
    }
}
