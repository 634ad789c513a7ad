//! In which order the columns of a group of images stand.

use super::columns::{gather, scatter, swap};
use super::geometry::Geometry;
use super::interleaved::{Sight, transpose};
use crate::cpu::Value;

/// Images in a group from which it pays to move them side by side: planes are small then, and runs within them short.
const SIDE_BY_SIDE: usize = 8;

/// The order of the columns of a group, and what lies in that order.
pub(super) enum Order {
    /// Image after image.
    ByImage,
    /// Place after place.
    ByPlace(Sight),
}

impl Order {
    /// The faster one.
    pub(super) fn of(geometry: &Geometry) -> Self {
        if geometry.group() < SIDE_BY_SIDE {
            Self::ByImage
        } else {
            Self::ByPlace(Sight::of(geometry))
        }
    }

    /// What each place sees of some images, `[taps, columns]`; `buffer` is at least as long as the images.
    pub(super) fn see<T: Value>(&self, geometry: &Geometry, images: &[T], buffer: &mut [T], columns: &mut [T]) {
        match self {
            Self::ByImage => gather(geometry, images, columns),
            Self::ByPlace(sight) => {
                let turned = &mut buffer[..images.len()];
                transpose(images, images.len() / geometry.image(), turned);
                sight.gather(geometry, turned, columns);
            }
        }
    }

    /// Sums what was seen into images that hold zeros: the adjoint of [`see`](Self::see).
    pub(super) fn unsee<T: Value>(&self, geometry: &Geometry, columns: &[T], buffer: &mut [T], images: &mut [T]) {
        match self {
            Self::ByImage => scatter(geometry, columns, images),
            Self::ByPlace(sight) => {
                let turned = &mut buffer[..images.len()];
                turned.fill(T::ZERO);
                sight.scatter(geometry, columns, turned);
                transpose(turned, geometry.image(), images);
            }
        }
    }

    /// Outputs of some images as `[channels_out, columns]`.
    pub(super) fn rows<T: Value>(&self, geometry: &Geometry, outputs: &[T], rows: &mut [T]) {
        let count = outputs.len() / geometry.image_out();
        match self {
            Self::ByImage => swap(outputs, [geometry.channels_out, count], geometry.places(), rows),
            Self::ByPlace(_) => transpose(outputs, count, rows),
        }
    }

    /// Outputs of some images out of `[channels_out, columns]`.
    pub(super) fn outputs<T: Value>(&self, geometry: &Geometry, rows: &[T], outputs: &mut [T]) {
        let count = outputs.len() / geometry.image_out();
        match self {
            Self::ByImage => swap(rows, [count, geometry.channels_out], geometry.places(), outputs),
            Self::ByPlace(_) => transpose(rows, geometry.image_out(), outputs),
        }
    }
}
