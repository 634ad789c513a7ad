//! From files to an [`ImageData`].

use crate::error::ImageError;
use crate::read::store::Store;
use crate::read::{Broken, Limits, cifar, image_folder, stl, tiny_imagenet};
use crate::{Collection, ImageData};
use bcl_data::manifest::{ImageCounts, ImageFormat, Layout};
use bcl_data::{DataError, Manifest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where images lie and how they are stored. A path is a folder or an archive (.tar, .tar.gz, .tgz, .zip), told apart by content, and
/// relative to the folder of the data sets.
///
/// ```toml
/// kind = "archive"
/// path = "pictures.tar.gz"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ImageSource {
    /// Two folders or archives with one folder per class each.
    Folder {
        /// What is learned from.
        train: PathBuf,
        /// What is held out.
        test: PathBuf,
    },
    /// JPEG and PNG images, in one enclosing folder at most. Classes come in alphabetical order, images in that of their paths.
    ///
    /// | layout | what it is |
    /// | --- | --- |
    /// | `train/CLASS/*.jpg` and `test/CLASS/*.jpg`, or `val` for `test` | labelled images to learn from, others to judge by |
    /// | `train/CLASS/*.jpg`, `CLASS/*.jpg` with two classes or more | labelled images, none held out |
    /// | `*.jpg`, `train/*.jpg`, anything deeper or mixed | images without labels |
    Archive {
        /// The folder or archive.
        path: PathBuf,
    },
    /// The binary version of CIFAR-10.
    Cifar10 {
        /// The folder or archive.
        path: PathBuf,
    },
    /// The binary version of CIFAR-100, with its fine classes.
    Cifar100 {
        /// The folder or archive.
        path: PathBuf,
    },
    /// The binary version of STL-10.
    Stl10 {
        /// The folder or archive.
        path: PathBuf,
        /// Whether to learn from its 100,000 unlabelled images too. They come behind the labelled ones.
        #[serde(default = "yes")]
        unlabelled: bool,
    },
    /// tinyImageNet as its authors pack it; its validation images are held out.
    #[serde(rename = "tiny_imagenet")]
    TinyImageNet {
        /// The folder or archive.
        path: PathBuf,
    },
}

fn yes() -> bool {
    true
}

impl ImageSource {
    /// The source of a format whose files lie in one folder or archive.
    pub fn of(format: ImageFormat, path: PathBuf) -> Self {
        match format {
            ImageFormat::ImageFolder => Self::Archive { path },
            ImageFormat::Cifar10 => Self::Cifar10 { path },
            ImageFormat::Cifar100 => Self::Cifar100 { path },
            ImageFormat::Stl10 => Self::Stl10 { path, unlabelled: true },
            ImageFormat::TinyImageNet => Self::TinyImageNet { path },
        }
    }
}

/// Reads images as 8-bit RGB, decoding in parallel: the same for any number of threads.
///
/// Grey becomes equal red, green and blue, alpha is dropped, 16 bits become 8; JPEG files in four colours (CMYK) are refused.
///
/// # Errors
/// If a file cannot be read, or what it holds cannot be learned from: a broken image, a single one, a class of test that train lacks.
///
/// ```
/// use bcl_images::{ImageSource, load};
///
/// let dir = tempfile::tempdir()?;
/// for (name, grey) in [("train/cat/1.png", 10_u8), ("train/dog/1.png", 20), ("test/cat/2.png", 30)] {
///     let path = dir.path().join("pets").join(name);
///     std::fs::create_dir_all(path.parent().unwrap())?;
///     image::GrayImage::from_pixel(4, 2, image::Luma([grey])).save(path)?;
/// }
///
/// let data = load("pets", &ImageSource::Archive { path: "pets".into() }, dir.path())?;
/// assert_eq!(data.train.classes(), ["cat", "dog"]);
/// assert_eq!(data.train.get(1).pixels[..3], [20, 20, 20]);
/// assert_eq!(data.test.labels(), [Some(0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(name: &str, source: &ImageSource, dir: &Path) -> Result<ImageData, ImageError> {
    load_with(name, source, dir, Broken::Refuse { may_skip: true })
}

/// Reads images as [`load`] does, but leaves out JPEG and PNG files that cannot be read; [`ImageData::skipped`] lists them.
///
/// # Errors
/// As [`load`], but for single images that are broken.
pub fn load_skipping_broken(name: &str, source: &ImageSource, dir: &Path) -> Result<ImageData, ImageError> {
    load_with(name, source, dir, Broken::Skip)
}

fn load_with(name: &str, source: &ImageSource, dir: &Path, broken: Broken) -> Result<ImageData, ImageError> {
    let open = |path: &Path| Store::open(&dir.join(path), Limits::default());
    let data = match source {
        ImageSource::Folder { train, test } => image_folder::read_parts(&open(train)?, &open(test)?, broken),
        ImageSource::Archive { path } => image_folder::read(&open(path)?, broken),
        ImageSource::Cifar10 { path } => cifar::read(&open(path)?, &cifar::CIFAR10),
        ImageSource::Cifar100 { path } => cifar::read(&open(path)?, &cifar::CIFAR100),
        ImageSource::Stl10 { path, unlabelled } => stl::read(&open(path)?, *unlabelled),
        ImageSource::TinyImageNet { path } => tiny_imagenet::read(&open(path)?),
    }?;
    Ok(ImageData {
        name: name.to_string(),
        ..data
    })
}

/// Reads the data set called `name` from the folder `dir`, which holds its archive or a folder with it, and checks its counts.
///
/// # Errors
/// As [`Manifest::find`], [`Manifest::locate_images`] and [`load`], and if the counts are not those of the manifest.
pub fn load_named(name: &str, dir: &Path) -> Result<ImageData, ImageError> {
    load_manifest(Manifest::find(name)?, dir)
}

/// Reads the data set that a manifest describes; otherwise as [`load_named`].
///
/// # Errors
/// As [`load_named`].
pub fn load_manifest(manifest: &Manifest, dir: &Path) -> Result<ImageData, ImageError> {
    let path = manifest.locate_images(dir)?;
    let Layout::Images { format, .. } = manifest.layout else {
        return Err(DataError::HoldsInteractions {
            name: manifest.name.clone(),
        }
        .into());
    };
    let source = ImageSource::of(format, path.clone());
    let data = load_with(&manifest.name, &source, Path::new(""), Broken::Refuse { may_skip: false })?;
    if let Some(expected) = &manifest.counts.images {
        check_counts(&data, expected, &path)?;
    }
    Ok(data)
}

fn check_counts(data: &ImageData, expected: &ImageCounts, path: &Path) -> Result<(), ImageError> {
    let unlabelled = data.train.labels().iter().filter(|label| label.is_none()).count();
    let other_size = |images: &Collection| {
        (0..images.len())
            .flat_map(|index| [images.get(index).width, images.get(index).height])
            .find(|side| *side != expected.side)
    };
    let side = other_size(&data.train).or(other_size(&data.test)).unwrap_or(expected.side);
    let counts = [
        ("training images", expected.train, data.train.len()),
        ("unlabelled training images", expected.unlabelled, unlabelled),
        ("test images", expected.test, data.test.len()),
        ("classes", expected.classes, data.train.classes().len()),
        ("rows or columns in an image", expected.side, side),
    ];
    match counts.into_iter().find(|(_, expected, found)| expected != found) {
        Some((what, expected, found)) => Err(DataError::Counts {
            name: data.name.clone(),
            path: path.to_path_buf(),
            what,
            expected,
            found,
        }
        .into()),
        None => Ok(()),
    }
}
