//! Loads files into an [`ImageData`].

use crate::decoding::Decoding;
use crate::error::ImageError;
use crate::read::store::Store;
use crate::read::{Broken, CacheBytes, Limits, Reading, cifar, image_folder, stl, tiny_imagenet};
use crate::{Collection, ImageData};
use bcl_data::manifest::{ImageCounts, ImageFormat, Layout};
use bcl_data::{DataError, Manifest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The location and format of images. A path is a folder or an archive (.tar, .tar.gz, .tgz, .zip; detected from its content), relative to
/// the data folder.
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
        /// Training images.
        train: PathBuf,
        /// Test images.
        test: PathBuf,
    },
    /// JPEG, PNG and WebP images, whatever their names, with at most two enclosing folders. Classes are in alphabetical order, images in the order of their paths.
    ///
    /// | layout | meaning |
    /// | --- | --- |
    /// | `train/CLASS/*.jpg` and `test/CLASS/*.jpg`, or `val` for `test` | labelled images for training and for evaluation |
    /// | `train/CLASS/*.jpg`, `CLASS/*.jpg` with at least two classes | labelled images for training, none for test |
    /// | `*.jpg`, `train/*.jpg`, anything deeper or mixed | images without labels |
    /// | a folder of `.tar` archives | shards as of the `WebDataset` library: `1.jpg` with its label in `1.cls`; `val` or `test` in the name of an archive holds it out |
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
        /// Whether to train on its 100,000 unlabelled images, too. They come after the labelled ones.
        #[serde(default = "yes")]
        unlabelled: bool,
    },
    /// tinyImageNet as packed by its authors; its validation images serve as test.
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
    /// The source for a format whose files are in one folder or archive.
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

/// Reads images as 8-bit RGB. Decoding is parallel; the result does not depend on the number of threads.
///
/// Grey becomes equal red, green and blue, transparent pixels are on white, 16 bits are rounded to 8; see [`Decoding`]. JPEG files in four colours (CMYK) are refused.
///
/// # Errors
/// Returns an error if a file cannot be read or is of no use: a broken image, no image at all, a class of test that train lacks.
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
    load_with(name, source, dir, LoadOptions::default())
}

/// How images are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// Whether JPEG, PNG and WebP files that cannot be read are skipped; [`ImageData::skipped`] lists them.
    pub skip_broken: bool,
    /// Whether images are decoded each time they are needed, with a cache of this size.
    pub stream: Option<CacheBytes>,
    /// How image files become pixels.
    pub decoding: Decoding,
}

/// Reads images like [`load`], with options.
///
/// With [`stream`](LoadOptions::stream), only the headers of image files are read; [`Collection::read`] decodes an image when it is needed.
/// Files in a folder and in uncompressed tar archives can be streamed.
///
/// # Errors
/// Returns the errors of [`load`], and an error for files that can only be read as a whole.
///
/// ```
/// use bcl_images::{CacheBytes, ImageSource, LoadOptions, load, load_with};
///
/// let dir = tempfile::tempdir()?;
/// for name in ["cat/1.png", "dog/2.png"] {
///     let path = dir.path().join("pets").join(name);
///     std::fs::create_dir_all(path.parent().unwrap())?;
///     image::GrayImage::from_pixel(4, 2, image::Luma([10])).save(path)?;
/// }
/// let source = ImageSource::Archive { path: "pets".into() };
///
/// let stream = LoadOptions { stream: Some(CacheBytes(1 << 20)), ..LoadOptions::default() };
/// let streamed = load_with("pets", &source, dir.path(), stream)?.train;
/// let in_memory = load("pets", &source, dir.path())?.train;
/// assert_eq!(streamed.read(1)?.as_image(), in_memory.get(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_with(name: &str, source: &ImageSource, dir: &Path, options: LoadOptions) -> Result<ImageData, ImageError> {
    let broken = if options.skip_broken {
        Broken::Skip
    } else {
        Broken::Refuse { may_skip: true }
    };
    let reading = Reading {
        broken,
        stream: options.stream,
        decoding: options.decoding,
    };
    read(name, source, dir, reading)
}

/// Reads images like [`load`], but skips JPEG, PNG and WebP files that cannot be read; [`ImageData::skipped`] lists them.
///
/// # Errors
/// Returns the errors of [`load`], except those about single images.
pub fn load_skipping_broken(name: &str, source: &ImageSource, dir: &Path) -> Result<ImageData, ImageError> {
    let skip_broken = LoadOptions {
        skip_broken: true,
        ..LoadOptions::default()
    };
    load_with(name, source, dir, skip_broken)
}

fn read(name: &str, source: &ImageSource, dir: &Path, reading: Reading) -> Result<ImageData, ImageError> {
    let stream = reading.stream;
    let limits = stream.map_or_else(Limits::default, |_| Limits::of_streams());
    let open = |path: &Path| {
        let store = Store::open(&dir.join(path), limits)?;
        Ok::<_, ImageError>(if stream.is_some() { store.skimming() } else { store })
    };
    let data = match source {
        ImageSource::Folder { train, test } => image_folder::read_parts(&open(train)?, &open(test)?, reading),
        ImageSource::Archive { path } => image_folder::read(&open(path)?, reading),
        ImageSource::Cifar10 { path }
        | ImageSource::Cifar100 { path }
        | ImageSource::Stl10 { path, .. }
        | ImageSource::TinyImageNet { path }
            if stream.is_some() =>
        {
            Err(ImageError::path(
                &dir.join(path),
                "is read as a whole in this format. Leave out data.stream",
            ))
        }
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

/// Reads the data set called `name` from the folder `dir`, which contains its archive or a folder with it, and checks its counts.
///
/// # Errors
/// Returns the errors of [`Manifest::find`], [`Manifest::locate_images`] and [`load`], and an error if the counts differ from the manifest.
pub fn load_named(name: &str, dir: &Path) -> Result<ImageData, ImageError> {
    load_manifest(Manifest::find(name)?, dir)
}

/// Reads the data set that a manifest describes, like [`load_named`].
///
/// # Errors
/// Returns the errors of [`load_named`].
pub fn load_manifest(manifest: &Manifest, dir: &Path) -> Result<ImageData, ImageError> {
    let path = manifest.locate_images(dir)?;
    let Layout::Images { format, .. } = manifest.layout else {
        unreachable!("a data set without images has no images to locate");
    };
    let source = ImageSource::of(format, path.clone());
    let data = read(&manifest.name, &source, Path::new(""), Reading::STRICT)?;
    if let Some(expected) = &manifest.counts.images {
        check_counts(&data, expected, &path)?;
    }
    Ok(data)
}

fn check_counts(data: &ImageData, expected: &ImageCounts, path: &Path) -> Result<(), ImageError> {
    let unlabelled = data.train.labels().iter().filter(|label| label.is_none()).count();
    let other_size = |images: &Collection| {
        (0..images.len())
            .flat_map(|index| images.size(index))
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
        Some((what, expected, found)) => Err(DataError::wrong_count(path, &data.name, found, what, expected).into()),
        None => Ok(()),
    }
}
