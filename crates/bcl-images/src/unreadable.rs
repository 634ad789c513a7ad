//! Images that stay in their files and cannot be decoded: finds them, and leaves them out.

use crate::read::check_not_empty;
use crate::{Collection, ImageData, ImageError};
use rayon::prelude::*;
use std::path::Path;

impl ImageData {
    /// Decodes every image that stays in its file ([`load_with`](crate::load_with)) and returns those that cannot be: their numbers, with `train` before
    /// `test`, and the errors. The pixels are discarded, so that each thread holds one image at a time.
    ///
    /// # Errors
    /// Returns an error that does not concern a single image, such as one of the disk.
    pub fn unreadable(&self) -> Result<Vec<(usize, ImageError)>, ImageError> {
        self.unreadable_among(0..self.train.len() + self.test.len())
    }

    /// Decodes some images like [`unreadable`](Self::unreadable), by their numbers.
    ///
    /// # Errors
    /// Returns the errors of [`unreadable`](Self::unreadable).
    ///
    /// # Panics
    /// Panics if a number is out of range.
    pub fn unreadable_among(&self, numbers: impl IntoIterator<Item = usize>) -> Result<Vec<(usize, ImageError)>, ImageError> {
        let failed: Vec<(usize, ImageError)> = numbers
            .into_iter()
            .collect::<Vec<_>>()
            .into_par_iter()
            .filter_map(|number| Some((number, self.decode_again(number).err()?)))
            .collect();
        let (broken, mut others): (Vec<_>, Vec<_>) = failed.into_iter().partition(|(_, error)| error.is_of_one_image());
        if others.is_empty() {
            Ok(broken)
        } else {
            Err(others.swap_remove(0).1)
        }
    }

    fn decode_again(&self, number: usize) -> Result<(), ImageError> {
        let (images, number) = match number.checked_sub(self.train.len()) {
            Some(number) => (&self.test, number),
            None => (&self.train, number),
        };
        match images.file_length(number) {
            Some(_) => images.read(number).map(drop),
            None => Ok(()),
        }
    }

    /// The same data without the images that [`unreadable`](Self::unreadable) found, which [`skipped`](Self::skipped) then lists, with names
    /// relative to `path`: what [`load_skipping_broken`](crate::load_skipping_broken) reads.
    ///
    /// # Errors
    /// Returns an error if no training image is left.
    pub fn without(&self, unreadable: &[(usize, ImageError)], path: &Path) -> Result<Self, ImageError> {
        let is_left = |number: usize| unreadable.binary_search_by_key(&number, |(number, _)| *number).is_err();
        let left_of = |images: &Collection, first: usize| {
            let mut left = Collection::new(images.classes().to_vec());
            for index in (0..images.len()).filter(|index| is_left(first + index)) {
                left.push_from(images, index, images.labels()[index]);
            }
            left
        };
        let train = left_of(&self.train, 0);
        check_not_empty(path, &train)?;
        let lines = unreadable.iter().filter_map(|(_, error)| error.in_short(path));
        let mut skipped: Vec<String> = self.skipped.iter().cloned().chain(lines).collect();
        skipped.sort();
        Ok(Self {
            name: self.name.clone(),
            test: left_of(&self.test, self.train.len()),
            train,
            skipped,
            notes: self.notes.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheBytes, ImageSource, LoadOptions, load_skipping_broken, load_with};
    use image::{Rgb, RgbImage};
    use std::fs;

    /// A folder whose third and last images end too early, behind their headers.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "train/cat/1",
            "train/cat/2",
            "train/dog/3",
            "train/dog/4",
            "test/cat/5",
            "test/dog/6",
        ];
        for (shade, name) in names.iter().enumerate() {
            let path = folder.path().join(name).with_extension("png");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            RgbImage::from_fn(40, 30, |x, y| Rgb([x as u8, (x * y) as u8, shade as u8]))
                .save(&path)
                .unwrap();
            if [2, 5].contains(&shade) {
                let bytes = fs::read(&path).unwrap();
                fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
            }
        }
        folder
    }

    fn streamed(folder: &Path) -> ImageData {
        let options = LoadOptions {
            stream: Some(CacheBytes(0)),
            ..LoadOptions::default()
        };
        load_with("pets", &ImageSource::Archive { path: folder.into() }, Path::new(""), options).unwrap()
    }

    #[test]
    fn images_that_break_behind_their_headers_are_found_and_left_out_as_from_memory() {
        let folder = folder();
        let data = streamed(folder.path());
        let broken = data.unreadable().unwrap();
        assert_eq!(broken.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 5]);
        assert!(broken[1].1.to_string().contains("6.png"), "{}", broken[1].1);

        let left = data.without(&broken, folder.path()).unwrap();
        let source = ImageSource::Archive {
            path: folder.path().into(),
        };
        let expected = load_skipping_broken("pets", &source, Path::new("")).unwrap();
        assert_eq!(left.skipped, expected.skipped);
        for (left, expected) in [(&left.train, &expected.train), (&left.test, &expected.test)] {
            assert_eq!(left.labels(), expected.labels());
            for index in 0..expected.len() {
                assert_eq!(left.name(index), expected.name(index));
                assert_eq!(left.read(index).unwrap().as_image(), expected.get(index));
            }
        }
        assert!(left.unreadable().unwrap().is_empty());
    }

    #[test]
    fn no_image_that_is_left_is_an_error_and_so_is_a_file_that_is_gone() {
        let folder = folder();
        let data = streamed(folder.path());
        let gone = || ImageError::MissingFile { path: "x".into() };
        let all = [0, 1, 2, 3].map(|number| (number, gone()));
        assert_eq!(data.without(&all[..3], folder.path()).unwrap().train.len(), 1);
        assert!(matches!(data.without(&all, folder.path()), Err(ImageError::File { .. })));
        fs::remove_file(folder.path().join("train/cat/1.png")).unwrap();
        assert!(matches!(data.unreadable(), Err(ImageError::MissingFile { .. })));
    }
}
