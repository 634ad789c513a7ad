//! A picture of views, to see what the encoder is trained on.

use super::Views;
use super::resize::shrunk;
use crate::{Collection, Image, ImageError};

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
        let mut sheet = Sheet::white(width + GAP, num_rows * pitch + GAP);
        for (row, &index) in indices.iter().enumerate() {
            sheet.paste_original(collection.read(index)?.as_image(), [GAP, GAP + row * pitch], cell);
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
                sheet.paste([left, GAP + row * pitch], [side * zoom; 2], colour);
            }
            left += side * zoom + GAP;
            rest = others;
        }
        Ok(sheet.png())
    }
}

struct Sheet {
    width: usize,
    /// Rows of pixels.
    pixels: Vec<[u8; 3]>,
}

impl Sheet {
    fn white(width: usize, height: usize) -> Self {
        Self {
            width,
            pixels: vec![[255; 3]; width * height],
        }
    }

    /// Pastes the whole image into the middle of a cell: enlarged by an integer factor, or shrunk if it does not fit.
    fn paste_original(&mut self, image: Image<'_>, [left, top]: [usize; 2], cell: usize) {
        let zoom = (cell / image.width.max(image.height)).max(1);
        let ([columns, rows], pixels) = shrunk(image, cell);
        let (pixels, _) = pixels.as_chunks::<3>();
        let size = [columns * zoom, rows * zoom];
        let middle = [left + (cell - size[0]) / 2, top + (cell - size[1]) / 2];
        self.paste(middle, size, |x, y| pixels[y / zoom * columns + x / zoom]);
    }

    fn paste(&mut self, [left, top]: [usize; 2], [width, height]: [usize; 2], colour: impl Fn(usize, usize) -> [u8; 3]) {
        for y in 0..height {
            for x in 0..width {
                self.pixels[(top + y) * self.width + left + x] = colour(x, y);
            }
        }
    }

    fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let height = self.pixels.len() / self.width;
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let written = encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(self.pixels.as_flattened()));
        written.expect("memory takes whatever is written to it");
        file
    }
}
