//! im2col and col2im, image by image.

use super::geometry::Geometry;
use crate::cpu::Value;

/// im2col: the input windows of some images as columns, with one row per tap, `[taps, images · output pixels]`.
pub(super) fn gather<T: Value>(geometry: &Geometry, images: &[T], columns: &mut [T]) {
    if geometry.shifts() {
        return shift(geometry, images, columns);
    }
    walk(geometry, images.len() / geometry.image(), |column, pixel, count| {
        let Some(pixel) = pixel else {
            columns[column..column + count].fill(T::ZERO);
            return;
        };
        let row = &mut columns[column..column + count];
        if geometry.stride == 1 {
            row.copy_from_slice(&images[pixel..pixel + count]);
        } else {
            for (value, &pixel) in row.iter_mut().zip(images[pixel..].iter().step_by(geometry.stride)) {
                *value = pixel;
            }
        }
    });
}

/// [`gather`] for the case that each tap reads the image shifted by a constant offset: copies one run per plane, then clears what
/// wrapped around a border.
fn shift<T: Value>(geometry: &Geometry, images: &[T], columns: &mut [T]) {
    let ([height, width], [_, kernel_width]) = (geometry.input, geometry.kernel);
    let (length, taps) = (height * width, geometry.kernel[0] * kernel_width);
    let num_images = images.len() / geometry.image();
    let (padding, length_of_row) = (geometry.padding as isize, width as isize);
    for (index, out) in columns.chunks_exact_mut(length).enumerate() {
        let (row, image) = (index / num_images, index % num_images);
        let (channel, tap) = (row / taps, row % taps);
        let [tap_y, tap_x] = [tap / kernel_width, tap % kernel_width];
        let plane = &images[(image * geometry.channels_in + channel) * length..][..length];
        // Output pixel (y, x) reads input pixel (y + down, x + right).
        let [down, right] = [tap_y, tap_x].map(|tap| tap as isize - padding);
        let offset = down * length_of_row + right;
        let start = (-offset).clamp(0, length as isize) as usize;
        let end = (length as isize - offset).clamp(start as isize, length as isize) as usize;
        out[..start].fill(T::ZERO);
        if start < end {
            let from = (start as isize + offset) as usize;
            out[start..end].copy_from_slice(&plane[from..from + end - start]);
        }
        out[end..].fill(T::ZERO);
        let (visible, _) = geometry.visible(1, tap_x);
        if visible.len() < width {
            for row in out.chunks_exact_mut(width) {
                row[..visible.start].fill(T::ZERO);
                row[visible.end..].fill(T::ZERO);
            }
        }
    }
}

/// col2im: adds columns back into the images they were gathered from.
pub(super) fn scatter<T: Value>(geometry: &Geometry, columns: &[T], images: &mut [T]) {
    walk(geometry, images.len() / geometry.image(), |column, pixel, count| {
        let Some(pixel) = pixel else { return };
        let row = &columns[column..column + count];
        if geometry.stride == 1 {
            for (pixel, &value) in images[pixel..pixel + count].iter_mut().zip(row) {
                *pixel += value;
            }
        } else {
            for (pixel, &value) in images[pixel..].iter_mut().step_by(geometry.stride).zip(row) {
                *pixel += value;
            }
        }
    });
}

/// Visits all runs of values in the columns: the start of the run, its first input pixel (`None` in the padding) and its length.
#[inline]
fn walk(geometry: &Geometry, num_images: usize, mut visit: impl FnMut(usize, Option<usize>, usize)) {
    let Geometry {
        input, output, kernel, ..
    } = *geometry;
    let [height, width] = input;
    let mut column = 0;
    for channel in 0..geometry.channels_in {
        for (tap_y, tap_x) in (0..kernel[0]).flat_map(|y| (0..kernel[1]).map(move |x| (y, x))) {
            let (rows, first_row) = geometry.visible(0, tap_y);
            let (columns, first_column) = geometry.visible(1, tap_x);
            for image in 0..num_images {
                let plane = (image * geometry.channels_in + channel) * height * width;
                let above = rows.start * output[1];
                let below = (output[0] - rows.end) * output[1];
                visit(column, None, above);
                column += above;
                for row in 0..rows.len() {
                    let pixel = plane + (first_row + row * geometry.stride) * width + first_column;
                    visit(column, None, columns.start);
                    // A tap that is beyond the image for all outputs has no first pixel.
                    if !columns.is_empty() {
                        visit(column + columns.start, Some(pixel), columns.len());
                    }
                    visit(column + columns.end, None, output[1] - columns.end);
                    column += output[1];
                }
                visit(column, None, below);
                column += below;
            }
        }
    }
}

/// Reorders `[images, channels, pixels]` to `[channels, images · pixels]`, or back.
pub(super) fn swap<T: Value>(values: &[T], channels_and_images: [usize; 2], output_pixels: usize, out: &mut [T]) {
    let [outer, inner] = channels_and_images;
    for i in 0..outer {
        for j in 0..inner {
            let (from, to) = ((j * outer + i) * output_pixels, (i * inner + j) * output_pixels);
            out[to..to + output_pixels].copy_from_slice(&values[from..from + output_pixels]);
        }
    }
}
