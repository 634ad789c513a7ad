//! A picture of views, to see what the encoder is trained on.

use super::resize::Resizer;
use super::{Region, Views};
use crate::{Collection, Image, ImageError};
use image::{ImageFormat, Rgb, RgbImage};
use std::io::Cursor;

/// Views are enlarged by an integer factor to about this side, in pixels.
const CELL: usize = 96;
/// Space between and around pictures, in pixels.
const GAP: usize = 4;

impl Views {
    /// Draws the output of [`batch`](Self::batch) as a PNG file, with one row per image: the original and its views, in the colours that
    /// they had before normalisation and change of colour space. All views are enlarged alike, so local crops look as small as they are.
    ///
    /// # Shapes
    /// - indices: `[batch]`
    /// - batch: for each view `[batch, 3, side, side]`, one after the other
    ///
    /// # Errors
    /// Returns an error if an image cannot be read from its file.
    ///
    /// # Panics
    /// Panics if an index is out of range, or the batch has another size.
    pub fn contact_sheet(&self, collection: &Collection, indices: &[usize], batch: &[f32]) -> Result<Vec<u8>, ImageError> {
        let num_rows = indices.len();
        let sides = self.layout();
        assert_eq!(
            batch.len(),
            self.batch_len(num_rows),
            "length of a batch with {} views of {num_rows} images",
            sides.len()
        );
        let largest = sides.iter().copied().max().expect("at least one view");
        let zoom = (CELL / largest).max(1);
        let cell = largest * zoom;
        let pitch = cell + GAP;
        let width = pitch + sides.iter().map(|side| side * zoom + GAP).sum::<usize>();
        let mut sheet = RgbImage::from_pixel((width + GAP) as u32, (num_rows * pitch + GAP) as u32, Rgb([255, 255, 255]));
        for (row, &index) in indices.iter().enumerate() {
            paste_original(&mut sheet, collection.read(index)?.as_image(), [GAP, GAP + row * pitch], cell);
        }
        let mut left = GAP + pitch;
        let mut rest = batch;
        for side in sides {
            let (views, others) = rest.split_at(num_rows * 3 * side * side);
            for (row, view) in views.chunks_exact(3 * side * side).enumerate() {
                let colour = |x: usize, y: usize| {
                    let pixel = y / zoom * side + x / zoom;
                    self.normalisation
                        .restored([0, 1, 2].map(|channel| view[channel * side * side + pixel]))
                };
                paste(&mut sheet, [left, GAP + row * pitch], [side * zoom; 2], colour);
            }
            left += side * zoom + GAP;
            rest = others;
        }
        let mut png = Cursor::new(Vec::new());
        sheet
            .write_to(&mut png, ImageFormat::Png)
            .expect("memory takes whatever is written to it");
        Ok(png.into_inner())
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
