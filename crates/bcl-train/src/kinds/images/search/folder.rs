//! The images that are searched: those of a folder or archive, or those of the run.

use super::super::super::SavedRun;
use crate::{cli::Searched, error::Error, recipe::ImageRecipe, training::DataIdentity};
use bcl_data::printable;
use bcl_images::{Collection, Image, ImageData, ImageError, ImageSource, load, load_skipping_broken};
use bcl_report::notice;
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Images, those of `train` before those of `test`.
pub(super) struct Folder {
    data: Arc<ImageData>,
    /// The folder on disk; `None` for the data of the run, whose files may be generated or packed.
    path: Option<PathBuf>,
}

impl Folder {
    pub(super) fn load(searched: &Searched, run: &SavedRun<ImageRecipe>) -> Result<Self, Error> {
        let data = match &searched.folder {
            Some(path) => read(path, searched.skip_broken)?,
            None => run.data()?,
        };
        Ok(Self {
            data: Arc::new(data),
            path: searched.folder.clone(),
        })
    }

    pub(super) fn data(&self) -> &Arc<ImageData> {
        &self.data
    }

    /// A checksum of names, pixels and labels.
    pub(super) fn identity(&self) -> String {
        DataIdentity::of_images(&self.data).digest()
    }

    pub(super) fn len(&self) -> usize {
        self.data.train.len() + self.data.test.len()
    }

    fn part(&self, index: usize) -> (&Collection, usize) {
        let ImageData { train, test, .. } = &*self.data;
        match index.checked_sub(train.len()) {
            Some(index) => (test, index),
            None => (train, index),
        }
    }

    pub(super) fn image(&self, index: usize) -> Image<'_> {
        let (images, index) = self.part(index);
        images.get(index)
    }

    /// The path of an image within the folder, or its number if it has no file.
    pub(super) fn name(&self, index: usize) -> String {
        let (images, own) = self.part(index);
        match images.name(own) {
            "" => format!("#{index}"),
            name => name.to_owned(),
        }
    }

    /// The index of each name.
    pub(super) fn indices(&self) -> HashMap<String, usize> {
        (0..self.len()).map(|index| (self.name(index), index)).collect()
    }

    pub(super) fn label(&self, index: usize) -> Option<u32> {
        let (images, index) = self.part(index);
        images.labels()[index]
    }

    /// The name of the class of an image, if it has one.
    pub(super) fn class(&self, index: usize) -> Option<&str> {
        let label = self.label(index)?;
        Some(&self.data.train.classes()[label as usize])
    }

    pub(super) fn classes(&self) -> &[String] {
        self.data.train.classes()
    }

    /// What is searched, in words.
    pub(super) fn described(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => self.data.name.clone(),
        }
    }

    /// The index of the image that is the file `path`, if it is in the folder.
    pub(super) fn position(&self, path: &Path, indices: &HashMap<String, usize>) -> Option<usize> {
        let folder = fs::canonicalize(self.path.as_ref()?).ok()?;
        let path = fs::canonicalize(path).ok()?;
        let name = path.strip_prefix(folder).ok()?.to_str()?.replace('\\', "/");
        indices.get(&name).copied()
    }
}

/// Reads a folder or archive in any layout.
fn read(path: &Path, skip_broken: bool) -> Result<ImageData, Error> {
    if !path.exists() {
        return Err(Error::Input(format!(
            "--in {}: no such folder or archive; correct the path",
            path.display()
        )));
    }
    let read = if skip_broken { load_skipping_broken } else { load };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let source = ImageSource::Archive { path: path.to_owned() };
    let data = read(&name, &source, Path::new("")).map_err(with_flag)?;
    if let Some(first) = data.skipped.first() {
        let number = data.skipped.len();
        notice::warn(format_args!(
            "{number} files are skipped because they cannot be read as images, {} first",
            printable(first)
        ));
    }
    Ok(data)
}

/// The reader suggests a key of a recipe, but here the remedy is a flag.
fn with_flag(mut error: ImageError) -> Error {
    if let ImageError::BrokenImages { may_skip, .. } = &mut error {
        *may_skip = false;
        return Error::Input(format!("{error} Or add --skip-broken to leave them out."));
    }
    error.into()
}
