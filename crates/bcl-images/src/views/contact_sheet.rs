//! A picture of views, to see what the encoder is trained on.

use super::resize::Resizer;
use super::{Region, Views};
use crate::{Collection, Image};
use image::{ImageFormat, Rgb, RgbImage};
use std::io::Cursor;

/// Views are enlarged by an integer factor to about this side, in pixels.
const CELL: usize = 96;
/// Space between and around pictures, in pixels.
const GAP: usize = 4;
/// Original, first view, second view.
const COLUMNS: usize = 3;

impl Views {
    /// Draws the output of [`batch`](Self::batch) as a PNG file, with one row per sample: the original, the first and the second view, in
    /// their colours before normalisation.
    ///
    /// # Shapes
    /// - indices: `[batch]`
    /// - batch: `[2, batch, 3, side, side]`
    ///
    /// # Panics
    /// Panics if an index is out of range, or the batch has another size.
    pub fn contact_sheet(&self, collection: &Collection, indices: &[usize], batch: &[f32]) -> Vec<u8> {
        let num_rows = indices.len();
        assert_eq!(
            batch.len(),
            2 * num_rows * self.view_len(),
            "length of a batch with two views of {num_rows} images"
        );
        let side = self.config().side;
        let zoom = (CELL / side).max(1);
        let pitch = side * zoom + GAP;
        let mut sheet = RgbImage::from_pixel(
            (COLUMNS * pitch + GAP) as u32,
            (num_rows * pitch + GAP) as u32,
            Rgb([255, 255, 255]),
        );
        for (row, &index) in indices.iter().enumerate() {
            let top = GAP + row * pitch;
            paste_original(&mut sheet, collection.get(index), [GAP, top], side * zoom);
            for which in 0..2 {
                let view = &batch[(which * num_rows + row) * self.view_len()..][..self.view_len()];
                let colour = |x: usize, y: usize| {
                    let pixel = y / zoom * side + x / zoom;
                    [0, 1, 2].map(|channel| self.normalisation.level(channel, view[channel * side * side + pixel]))
                };
                paste(&mut sheet, [GAP + (1 + which) * pitch, top], [side * zoom; 2], colour);
            }
        }
        let mut png = Cursor::new(Vec::new());
        sheet
            .write_to(&mut png, ImageFormat::Png)
            .expect("memory takes whatever is written to it");
        png.into_inner()
    }
}

/// Pastes the whole image into the middle of a cell: enlarged by an integer factor, or shrunk if it does not fit.
fn paste_original(sheet: &mut RgbImage, image: Image<'_>, [left, top]: [usize; 2], cell: usize) {
    let Image { width, height, .. } = image;
    let longer = width.max(height);
    let zoom = (cell / longer).max(1);
    // A thin image keeps at least one pixel.
    let [columns, rows] = [width, height].map(|length| {
        if longer > cell {
            (length * cell / longer).max(1)
        } else {
            length
        }
    });
    let mut planes = vec![0; 3 * columns * rows];
    Resizer::default().resize(image, Region::whole(width, height), columns, rows, &mut planes);
    let size = [columns * zoom, rows * zoom];
    let middle = [left + (cell - size[0]) / 2, top + (cell - size[1]) / 2];
    let colour = |x: usize, y: usize| {
        let pixel = y / zoom * columns + x / zoom;
        [0, 1, 2].map(|channel| planes[channel * columns * rows + pixel])
    };
    paste(sheet, middle, size, colour);
}

fn paste(sheet: &mut RgbImage, [left, top]: [usize; 2], [width, height]: [usize; 2], colour: impl Fn(usize, usize) -> [u8; 3]) {
    for y in 0..height {
        for x in 0..width {
            sheet.put_pixel((left + x) as u32, (top + y) as u32, Rgb(colour(x, y)));
        }
    }
}
