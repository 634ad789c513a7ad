//! Convolutions of images no larger than the kernel: one product with a matrix from all values of an image to all outputs.
//!
//! Most taps of such a kernel lie in the padding, where im2col copies zeros and multiplies them. The matrix has a kernel value for each
//! output pixel and each input pixel that it sees.

use faer::traits::ComplexField;
use rayon::prelude::*;

use super::geometry::{Geometry, SHARDS};
use super::interleaved::{Seen, TapIndices, transpose};
use crate::cpu::Value;
use crate::matrix::{Matrix, product};

/// The most values of the matrix per kernel value, so that building it costs little beside the products.
const VALUES_PER_TAP: usize = 2;
/// Images that one product should have at least, so that reading the matrix pays off.
const IMAGES: usize = 16;

/// A convolution by one matrix.
pub(super) struct Dense {
    geometry: Geometry,
    seen: Vec<Seen>,
}

impl Dense {
    /// The matrix of a convolution; `None` if another algorithm suits it better.
    pub(super) fn of(geometry: &Geometry) -> Option<Self> {
        let (taps, input_pixels) = (geometry.kernel[0] * geometry.kernel[1], geometry.input_pixels());
        let suits = input_pixels <= taps && input_pixels * geometry.output_pixels() <= VALUES_PER_TAP * taps;
        let is_empty = geometry.batch_size * geometry.image() * geometry.image_out() == 0;
        (suits && !is_empty).then(|| Self {
            geometry: *geometry,
            seen: TapIndices::of(geometry).seen(geometry).collect(),
        })
    }

    /// Convolves all images.
    pub(super) fn forward<T: Value + ComplexField>(&self, input: &[T], weight: &[T]) -> Vec<T> {
        let (inputs, outputs) = (self.geometry.image(), self.geometry.image_out());
        let matrix = self.matrix(weight);
        let matrix = Matrix::new(&matrix, outputs, inputs).transpose();
        self.by_images(input, inputs, matrix, outputs)
    }

    /// The gradient of all images.
    pub(super) fn input_gradient<T: Value + ComplexField>(&self, weight: &[T], grad: &[T]) -> Vec<T> {
        let (inputs, outputs) = (self.geometry.image(), self.geometry.image_out());
        let matrix = self.matrix(weight);
        self.by_images(grad, outputs, Matrix::new(&matrix, outputs, inputs), inputs)
    }

    /// The gradient of the kernels: the matrix's gradient, added over the pixels that share a kernel value.
    pub(super) fn weight_gradient<T: Value + ComplexField>(&self, input: &[T], grad: &[T]) -> Vec<T> {
        let (images, inputs, outputs) = (self.geometry.batch_size, self.geometry.image(), self.geometry.image_out());
        let mut by_output = vec![T::ZERO; grad.len()];
        transpose(grad, images, &mut by_output);
        let input = Matrix::new(input, images, inputs);
        let mut matrix = vec![T::ZERO; outputs * inputs];
        let panel = outputs.div_ceil(SHARDS);
        matrix
            .par_chunks_mut(panel * inputs)
            .zip(by_output.par_chunks(panel * images))
            .for_each(|(matrix, grad)| product(matrix, false, Matrix::new(grad, grad.len() / images, images), input, T::ONE));
        let mut total = vec![T::ZERO; self.geometry.channels_out * self.geometry.taps()];
        self.entries(|entry, tap| total[tap] += matrix[entry]);
        total
    }

    /// Multiplies the values of each image by a matrix.
    fn by_images<T: Value + ComplexField>(
        &self,
        values: &[T],
        of_an_image: usize,
        matrix: Matrix<'_, T>,
        outputs: usize,
    ) -> Vec<T> {
        // Independent of the number of threads, so that results are, too.
        let group = self.geometry.batch_size.div_ceil(SHARDS).max(IMAGES);
        let mut out = vec![T::ZERO; self.geometry.batch_size * outputs];
        out.par_chunks_mut(group * outputs)
            .zip(values.par_chunks(group * of_an_image))
            .for_each(|(out, values)| {
                let images = values.len() / of_an_image;
                if images == 1 {
                    // A product with one row adds in another order. With two, an image has the same bits as in a batch.
                    let mut twice = vec![T::ZERO; 2 * outputs];
                    product(
                        &mut twice,
                        false,
                        Matrix::new(&values.repeat(2), 2, of_an_image),
                        matrix,
                        T::ONE,
                    );
                    return out.copy_from_slice(&twice[..outputs]);
                }
                product(out, false, Matrix::new(values, images, of_an_image), matrix, T::ONE);
            });
        out
    }

    /// The matrix, `[values of an output, values of an image]`.
    fn matrix<T: Value>(&self, weight: &[T]) -> Vec<T> {
        let mut matrix = vec![T::ZERO; self.geometry.image_out() * self.geometry.image()];
        self.entries(|entry, tap| matrix[entry] = weight[tap]);
        matrix
    }

    /// Visits the entries of the matrix that are not in the padding: the index of each, and the index of its value among the kernels'.
    fn entries(&self, mut visit: impl FnMut(usize, usize)) {
        let Geometry {
            channels_in,
            channels_out,
            kernel,
            ..
        } = self.geometry;
        let (taps, input_pixels, output_pixels) = (
            kernel[0] * kernel[1],
            self.geometry.input_pixels(),
            self.geometry.output_pixels(),
        );
        for channel_out in 0..channels_out {
            for seen in &self.seen {
                let row = (channel_out * output_pixels + seen.output) * channels_in;
                for channel_in in 0..channels_in {
                    let entry = (row + channel_in) * input_pixels + seen.input;
                    visit(entry, (channel_out * channels_in + channel_in) * taps + seen.tap);
                }
            }
        }
    }
}
