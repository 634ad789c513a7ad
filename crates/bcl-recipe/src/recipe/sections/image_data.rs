//! The `[data]` table of a recipe that trains on images.

use super::{
    super::Refusal,
    dataset::{PLANTED, check_name},
};
use bcl_data::{DataError, SearchPath, manifest::Contents};
use bcl_files::notice;
use bcl_images::{
    Background, CacheBytes, Decoding, ImageData, ImageError, ImageSource, LoadOptions, Orientation, PlantedImagesConfig, Subset,
    load_named, load_with,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Memory for decoded images by default, in MiB.
const CACHE_MIB: u64 = 1024;
/// The most that a recipe may ask for: 1 TiB.
const MOST_CACHE_MIB: u64 = 1 << 20;

/// Which images to learn from: a data set by name, planted images, or your own folder or archive.
///
/// ```toml
/// [data]
/// dataset = "cifar10"                    # by name; its files are looked for in --data DIR
/// classes = ["frog", "truck"]            # these of its classes, numbered from 0 in this order
///
/// [data]
/// dataset = "planted"                    # generated, with known classes
/// planted.train = 2000
///
/// [data]
/// images = "my-images.tar.gz"            # a folder or an archive: *.jpg, CLASS/*.jpg, train/CLASS/*.jpg with or without test/CLASS/*.jpg
/// skip_broken = true
/// stream = true                          # they stay in their files
/// ```
///
/// An encoder learns without labels. Evaluation needs labels and held-out images: without `test/CLASS/*.jpg` it is off, because nothing is
/// split off from train.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageDataConfig {
    /// Name of a data set, or `planted` for generated data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Folder or archive of images; beside the recipe or in `--data`. [`ImageSource::Archive`] lists the layouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<PathBuf>,
    /// Whether to skip files of `images` that cannot be read as an image. They are counted and listed on stderr.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_broken: bool,
    /// What is behind transparent pixels of `images`: `white`, `black` or `grey`.
    #[serde(skip_serializing_if = "Background::is_default")]
    pub background: Background,
    /// Whether the orientation in Exif metadata of `images` is applied (`exif`), or pixels stay as they are stored (`stored`).
    #[serde(skip_serializing_if = "Orientation::is_default")]
    pub orientation: Orientation,
    /// Whether images stay in their files and are decoded when they are needed, for data sets that do not fit into memory. The images are
    /// the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// Most memory for decoded images in MiB, with `stream`; 1024 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_mib: Option<u64>,
    /// Names of the classes to use, numbered from 0 in this order; by default all. Other images are left out of train and test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// Seed that draws two classes to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_random_classes: Option<u64>,
    /// Training images of each class to use, the first ones; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_per_class: Option<usize>,
    /// How to generate planted images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planted: Option<PlantedImagesConfig>,
}

/// Where the images of an [`ImageDataConfig`] come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ImageDataSource {
    /// Generated data.
    Planted(PlantedImagesConfig),
    /// A data set with a manifest, by name.
    Named(String),
    /// A folder or an archive, as in the recipe.
    Files(PathBuf),
}

impl ImageDataConfig {
    /// The data source that the keys name.
    ///
    /// # Errors
    /// Returns an error if they name none or both, or if a key does not belong to the source.
    pub fn source(&self) -> Result<ImageDataSource, Refusal> {
        let source = match (&self.dataset, &self.images) {
            (Some(name), None) if name == PLANTED => ImageDataSource::Planted(self.planted.clone().unwrap_or_default()),
            (Some(name), None) => ImageDataSource::Named(name.clone()),
            (None, Some(path)) => ImageDataSource::Files(path.clone()),
            (Some(_), Some(_)) => {
                return Err(Refusal::new(
                    "data.images",
                    "cannot be combined with data.dataset; remove one of them",
                ));
            }
            (None, None) => {
                return Err(Refusal::new(
                    "data",
                    "names no images; set data.dataset (such as \"planted\"), or data.images to a folder or archive",
                ));
            }
        };
        if self.skip_broken && self.images.is_none() {
            return Err(Refusal::new(
                "data.skip_broken",
                "only works with data.images: a named data set is used whole or not at all; remove it",
            ));
        }
        let of_files = [
            ("data.background", self.background.is_default()),
            ("data.orientation", self.orientation.is_default()),
        ];
        if let Some((key, _)) = of_files
            .into_iter()
            .find(|(_, is_default)| !is_default && self.images.is_none())
        {
            return Err(Refusal::new(
                key,
                "only has a meaning with data.images: data sets with a name have neither transparency nor metadata; remove it",
            ));
        }
        if self.stream && self.images.is_none() {
            return Err(Refusal::new(
                "data.stream",
                "only works with data.images, a folder or an uncompressed .tar file of images; remove it",
            ));
        }
        if self.planted.is_some() && !matches!(source, ImageDataSource::Planted(_)) {
            return Err(Refusal::new(
                "data.planted",
                "only works with dataset = \"planted\"; remove it",
            ));
        }
        Ok(source)
    }

    /// Checks that the keys name one source, and that its parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first key that does not fit, and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        match self.source()? {
            ImageDataSource::Planted(config) => config.check().map_err(|error| Refusal::of_text(&error.to_string()))?,
            ImageDataSource::Named(name) => check_name(&name, |layout| layout.contents() == Contents::Images)?,
            ImageDataSource::Files(_) => {}
        }
        match self.cache_mib {
            Some(_) if !self.stream => Err(Refusal::new("data.cache_mib", "only works with data.stream; remove it"))?,
            Some(mib) if mib > MOST_CACHE_MIB => Err(Refusal::new(
                "data.cache_mib",
                format!("is {mib}, but must be in [0, {MOST_CACHE_MIB}]"),
            ))?,
            _ => {}
        }
        self.subset().check().map_err(|error| Refusal::of_text(&error.to_string()))
    }

    /// Fills in defaults, so that a resolved recipe shows them.
    pub(crate) fn resolve(&mut self) {
        if let Ok(ImageDataSource::Planted(config)) = self.source() {
            self.planted = Some(config);
        }
        if self.stream {
            self.cache_mib.get_or_insert(CACHE_MIB);
        }
    }

    /// Generates or reads the images.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, or a requested class does not exist.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn load(&self, search: &SearchPath) -> Result<ImageData, ImageError> {
        let data = match self.source().unwrap_or_else(|refusal| panic!("{refusal}")) {
            ImageDataSource::Planted(config) => config.generate(),
            ImageDataSource::Named(name) => load_named(&name, search.data_dir())?,
            ImageDataSource::Files(path) => {
                let stem = path.file_name().map(|name| name.to_string_lossy().into_owned());
                let name = stem.map_or_else(
                    || "images".to_owned(),
                    |name| name.split('.').next().unwrap_or_default().to_owned(),
                );
                let path = search.find("data.images", &path).map_err(DataError::from)?;
                let options = LoadOptions {
                    skip_broken: self.skip_broken,
                    stream: self.stream.then(|| CacheBytes(self.cache_mib.unwrap_or(CACHE_MIB) << 20)),
                    decoding: self.decoding(),
                };
                load_with(&name, &ImageSource::Archive { path }, Path::new(""), options)?
            }
        };
        if let Some(text) = skipped(&data) {
            notice::warn(text);
        }
        say_notes(&data);
        self.subset().apply(data)
    }

    /// How image files become pixels.
    pub fn decoding(&self) -> Decoding {
        Decoding {
            background: self.background,
            orientation: self.orientation,
        }
    }

    /// What is loaded, for messages: equal configurations with equal words load the same files.
    ///
    /// # Errors
    /// When a file is missing.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn described(&self, search: &SearchPath) -> Result<String, ImageError> {
        Ok(match self.source().unwrap_or_else(|refusal| panic!("{refusal}")) {
            ImageDataSource::Planted(_) => "the generator of planted images".to_owned(),
            ImageDataSource::Named(name) => format!("{name} in {}", search.data_dir().display()),
            ImageDataSource::Files(path) => search
                .find("data.images", &path)
                .map_err(DataError::from)?
                .display()
                .to_string(),
        })
    }

    fn subset(&self) -> Subset {
        Subset {
            classes: self.classes.clone(),
            two_random_classes: self.two_random_classes,
            train_per_class: self.train_per_class,
        }
    }
}

/// Says what was left out of a folder or an archive, or not done with its images.
pub fn say_notes(data: &ImageData) {
    for note in &data.notes {
        notice::note(format_args!("{}: {note}", data.name));
    }
}

/// What to say of files that were skipped.
fn skipped(data: &ImageData) -> Option<String> {
    /// More names than these help nobody.
    const LISTED: usize = 10;
    let (number, listed) = (data.skipped.len(), data.skipped.iter().take(LISTED));
    let listed = listed.cloned().collect::<Vec<_>>().join(", ");
    let more = if number > LISTED { ", …" } else { "" };
    (number > 0).then(|| {
        format!(
            "{}: {number} files were skipped because they cannot be read as images: {listed}{more}",
            data.name
        )
    })
}
