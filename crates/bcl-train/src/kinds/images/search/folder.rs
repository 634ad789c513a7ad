//! The images that are searched: a folder's, an archive's, or the run's.

use super::{super::super::SavedRun, SearchOptions, contents};
use crate::error::Error;
use bcl_files::notice;
use bcl_files::printable;
use bcl_images::{CacheBytes, Collection, Decoding, ImageData, ImageError, ImageSource, LoadOptions, Loaded, load_with};
use bcl_recipe::{ImageRecipe, say_notes};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Images, with `train` before `test`. Images in a folder or an uncompressed tar file stay there and are decoded when they are needed.
#[derive(Debug)]
pub struct SearchedImages {
    data: Arc<ImageData>,
    /// The folder on disk; `None` for the data of the run, whose files may be generated or packed.
    path: Option<PathBuf>,
    skips_broken: bool,
}

/// Every image is needed once or twice, so none is kept.
const UNCACHED: CacheBytes = CacheBytes(0);

impl SearchedImages {
    /// Lists the images of a folder, or loads the run's images as its recipe says.
    pub(super) fn open(searched: &SearchOptions, run: &SavedRun<ImageRecipe>) -> Result<Self, Error> {
        let data = match &searched.folder {
            Some(path) => {
                let listed = list(path, searched.skip_broken, run.recipe.data.decoding())?;
                say_notes(&listed);
                listed
            }
            None => run.data()?,
        };
        Ok(Self {
            data: Arc::new(data),
            path: searched.folder.clone(),
            skips_broken: searched.skip_broken,
        })
    }

    pub(super) fn data(&self) -> &Arc<ImageData> {
        &self.data
    }

    /// A checksum of names, contents and labels.
    pub(super) fn checksum(&self) -> Result<String, Error> {
        contents::checksum(&self.data)
    }

    /// Leaves out images whose files cannot be decoded. They have a header, so listing them was no problem.
    ///
    /// # Errors
    /// Returns an error about all of them if they are not to be skipped, or if too few images are left.
    pub(super) fn leave_out(&mut self, unreadable: Vec<(usize, ImageError)>) -> Result<(), Error> {
        let path = PathBuf::from(self.described());
        if !unreadable.is_empty() && !self.skips_broken {
            let errors = unreadable.into_iter().map(|(_, error)| error).collect();
            let error = refused(path, self.len(), errors);
            return Err(error.into());
        }
        if !unreadable.is_empty() {
            self.data = Arc::new(self.data.without(&unreadable, &path)?);
        }
        if let (Some(first), Some(_)) = (self.data.skipped.first(), &self.path) {
            let number = self.data.skipped.len();
            notice::warn(format_args!(
                "{number} files are skipped because they cannot be read as images, {} first",
                printable(first)
            ));
        }
        Ok(())
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.data.train.len() + self.data.test.len()
    }

    fn part(&self, index: usize) -> (&Collection, usize) {
        let ImageData { train, test, .. } = &*self.data;
        match index.checked_sub(train.len()) {
            Some(index) => (test, index),
            None => (train, index),
        }
    }

    /// Reads an image from memory or from its file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read any more.
    pub fn image(&self, index: usize) -> Result<Loaded<'_>, ImageError> {
        let (images, index) = self.part(index);
        images.read(index)
    }

    /// Columns and rows of an image.
    pub fn size(&self, index: usize) -> [usize; 2] {
        let (images, index) = self.part(index);
        images.size(index)
    }

    /// The path of an image within the folder, or its number if it has no file.
    pub fn name(&self, index: usize) -> String {
        let (images, own) = self.part(index);
        match images.name(own) {
            "" => format!("#{index}"),
            name => name.to_owned(),
        }
    }

    /// The index of each name.
    pub fn indices(&self) -> HashMap<String, usize> {
        (0..self.len()).map(|index| (self.name(index), index)).collect()
    }

    /// The label of an image, if it has one.
    pub fn label(&self, index: usize) -> Option<u32> {
        let (images, index) = self.part(index);
        images.labels()[index]
    }

    /// The name of the class of an image, if it has one.
    pub fn class(&self, index: usize) -> Option<&str> {
        let label = self.label(index)?;
        Some(&self.data.train.classes()[label as usize])
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        self.data.train.classes()
    }

    /// What is searched, in words.
    pub fn described(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => self.data.name.clone(),
        }
    }
}

/// Lists the images of a folder or archive in any layout. Images in a compressed archive are read at once.
fn list(path: &Path, skip_broken: bool, decoding: Decoding) -> Result<ImageData, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let source = ImageSource::Archive { path: path.to_owned() };
    let load = |stream, skip_broken| {
        load_with(
            &name,
            &source,
            Path::new(""),
            LoadOptions {
                skip_broken,
                stream,
                decoding,
            },
        )
    };
    let listed = load(Some(UNCACHED), skip_broken);
    let data = match listed {
        Err(ImageError::Packed { .. }) => load(None, skip_broken),
        // Only broken headers are known so far, but the message is to be about all broken files.
        Err(ImageError::BrokenImages {
            path, of, mut broken, ..
        }) => {
            let others = load(Some(UNCACHED), true).and_then(|data| data.unreadable());
            broken.extend(others.unwrap_or_default().into_iter().map(|(_, error)| error));
            Err(refused(path, of, broken))
        }
        listed => listed,
    };
    Ok(data?)
}

fn refused(path: PathBuf, of: usize, broken: Vec<ImageError>) -> ImageError {
    ImageError::BrokenImages {
        path,
        of,
        broken,
        may_skip: false,
    }
}
