//! im2col and col2im with the images of a group interleaved: each move copies one run of images, even if the planes are tiny.

use super::geometry::Geometry;
use crate::cpu::Value;

/// Rows and columns transposed at a time, so that both stay in the cache.
const BLOCK: usize = 16;

/// The input pixel under each kernel tap for each output pixel; `None` in the padding.
pub(super) struct TapIndices(Vec<Option<usize>>);

/// An output pixel that sees an input pixel through a tap.
pub(super) struct Seen {
    pub(super) output: usize,
    pub(super) input: usize,
    pub(super) tap: usize,
}

impl TapIndices {
    pub(super) fn of(geometry: &Geometry) -> Self {
        let pixel = |tap: [usize; 2], output: [usize; 2]| {
            let [row, column] = [0, 1].map(|axis| {
                let position = (output[axis] * geometry.stride + tap[axis]).checked_sub(geometry.padding)?;
                (position < geometry.input[axis]).then_some(position)
            });
            Some(row? * geometry.input[1] + column?)
        };
        let all = |[height, width]: [usize; 2]| (0..height).flat_map(move |y| (0..width).map(move |x| [y, x]));
        Self(
            all(geometry.kernel)
                .flat_map(|tap| all(geometry.output).map(move |output| pixel(tap, output)))
                .collect(),
        )
    }

    /// All that is seen of the input, without the padding.
    pub(super) fn seen(&self, geometry: &Geometry) -> impl Iterator<Item = Seen> {
        let output_pixels = geometry.output_pixels();
        self.0.iter().enumerate().filter_map(move |(index, &input)| {
            Some(Seen {
                output: index % output_pixels,
                input: input?,
                tap: index / output_pixels,
            })
        })
    }

    /// im2col: turns images `[channels · pixels, images]` into columns `[taps, output pixels · images]`.
    pub(super) fn gather<T: Value>(&self, geometry: &Geometry, images: &[T], columns: &mut [T]) {
        let channel = geometry.input_pixels();
        let count = images.len() / (geometry.channels_in * channel);
        let runs = columns.chunks_exact_mut(self.0.len() * count);
        for (columns, pixels) in runs.zip(images.chunks_exact(channel * count)) {
            for (run, pixel) in columns.chunks_exact_mut(count).zip(&self.0) {
                match pixel {
                    Some(pixel) => run.copy_from_slice(&pixels[pixel * count..][..count]),
                    None => run.fill(T::ZERO),
                }
            }
        }
    }

    /// col2im: adds columns back into the images they were gathered from.
    pub(super) fn scatter<T: Value>(&self, geometry: &Geometry, columns: &[T], images: &mut [T]) {
        let channel = geometry.input_pixels();
        let count = images.len() / (geometry.channels_in * channel);
        let runs = columns.chunks_exact(self.0.len() * count);
        for (columns, pixels) in runs.zip(images.chunks_exact_mut(channel * count)) {
            for (run, pixel) in columns.chunks_exact(count).zip(&self.0) {
                let Some(pixel) = pixel else { continue };
                for (pixel, &value) in pixels[pixel * count..][..count].iter_mut().zip(run) {
                    *pixel += value;
                }
            }
        }
    }
}

/// Transposes a row-major matrix.
pub(super) fn transpose<T: Value>(values: &[T], rows: usize, out: &mut [T]) {
    let columns = values.len() / rows;
    for first_row in (0..rows).step_by(BLOCK) {
        for first_column in (0..columns).step_by(BLOCK) {
            for row in first_row..rows.min(first_row + BLOCK) {
                for column in first_column..columns.min(first_column + BLOCK) {
                    out[column * rows + row] = values[row * columns + column];
                }
            }
        }
    }
}
