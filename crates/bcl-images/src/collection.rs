//! Images with their names and, if known, their classes.

use crate::ImageError;
use std::{borrow::Cow, fmt::Debug, sync::Arc};

/// A borrowed 8-bit RGB image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image<'a> {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// `[height, width, 3]`, row-major; red, green and blue from 0 to 255.
    pub pixels: &'a [u8],
}

/// An image of a [`Collection`]: borrowed from memory, or decoded from its file just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded<'a> {
    width: usize,
    height: usize,
    pixels: Cow<'a, [u8]>,
}

impl Loaded<'_> {
    /// The image.
    pub fn as_image(&self) -> Image<'_> {
        Image {
            width: self.width,
            height: self.height,
            pixels: &self.pixels,
        }
    }
}

/// Images with names and optional classes. Images may differ in size. They are contiguous in memory, or stay in their files
/// ([`load_with`](crate::load_with)).
///
/// Two collections are equal if their images, labels and classes are; names are ignored, because equal images may come from other files.
#[derive(Debug, Clone, Default)]
pub struct Collection {
    pixels: Vec<u8>,
    places: Vec<Place>,
    /// The files of images that are not in memory.
    files: Option<Arc<dyn PixelSource>>,
    labels: Vec<Option<u32>>,
    classes: Vec<String>,
    names: Vec<Box<str>>,
}

/// Images that are not in memory, by number.
pub(crate) trait PixelSource: Debug + Send + Sync {
    /// Size of the image's file in bytes.
    fn length(&self, number: usize) -> u64;

    /// The pixels of the image, `[height, width, 3]`.
    fn pixels(&self, number: usize) -> Result<Cow<'_, [u8]>, ImageError>;

    /// The image's file as it is.
    fn bytes(&self, number: usize) -> Result<Vec<u8>, ImageError>;
}

/// Where an image is, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    at: At,
    width: u32,
    height: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// The start in `pixels`.
    Memory(usize),
    /// The number of its file.
    File(usize),
}

impl PartialEq for Collection {
    fn eq(&self, other: &Self) -> bool {
        let lengths = |images: &Self| (0..images.len()).map(|index| images.file_length(index)).collect::<Vec<_>>();
        (&self.pixels, &self.places, &self.labels, &self.classes) == (&other.pixels, &other.places, &other.labels, &other.classes)
            && lengths(self) == lengths(other)
    }
}

impl Eq for Collection {}

impl Collection {
    /// Creates an empty collection. Labels are indices into `classes`.
    pub fn new(classes: Vec<String>) -> Self {
        Self {
            classes,
            ..Self::default()
        }
    }

    /// Adds an image without a name. Its label is an index into the classes, or `None` if its class is not known.
    ///
    /// # Panics
    /// Panics if the pixels are not `[height, width, 3]`, or the label is out of range.
    pub fn push(&mut self, image: Image<'_>, label: Option<u32>) {
        self.push_named("", image, label);
    }

    /// Adds an image with a name: the path of its file, or its file and index in it.
    ///
    /// # Panics
    /// Panics in the same cases as [`push`](Self::push).
    pub fn push_named(&mut self, name: &str, image: Image<'_>, label: Option<u32>) {
        let Image { width, height, pixels } = image;
        assert!(
            width > 0 && height > 0 && pixels.len() == width * height * 3,
            "an image of {height} rows and {width} columns in RGB has {} bytes, not {}",
            width * height * 3,
            pixels.len()
        );
        let at = At::Memory(self.pixels.len());
        self.pixels.extend_from_slice(pixels);
        self.push_place(name, at, [width as u32, height as u32], label);
    }

    /// Adds an image that stays in a file of [`open_files`](Self::open_files), with its columns and rows.
    pub(crate) fn push_file(&mut self, name: &str, number: usize, size: [u32; 2], label: Option<u32>) {
        self.push_place(name, At::File(number), size, label);
    }

    /// Sets the files of the images that are not in memory.
    pub(crate) fn open_files(&mut self, files: Arc<dyn PixelSource>) {
        self.files = Some(files);
    }

    fn push_place(&mut self, name: &str, at: At, [width, height]: [u32; 2], label: Option<u32>) {
        let num_classes = self.classes.len();
        assert!(
            label.is_none_or(|label| (label as usize) < num_classes),
            "the label is {label:?}, but there are {num_classes} classes"
        );
        self.places.push(Place { at, width, height });
        self.labels.push(label);
        self.names.push(name.into());
    }

    /// Copies an image from another collection with its name, under a label of this one.
    ///
    /// # Panics
    /// Panics if the index or the label is out of range, or if the images of the two come from different files.
    pub fn push_from(&mut self, other: &Self, index: usize, label: Option<u32>) {
        let Place { at, width, height } = other.places[index];
        if let At::Memory(_) = at {
            return self.push_named(other.name(index), other.get(index), label);
        }
        let theirs = other.files();
        let ours = self.files.get_or_insert_with(|| theirs.clone());
        assert!(
            Arc::ptr_eq(ours, theirs),
            "the images of a collection are in the files of one load"
        );
        self.push_place(other.name(index), at, [width, height], label);
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The image at an index below [`len`](Self::len), from memory.
    ///
    /// # Panics
    /// Panics if the image is in a file; [`read`](Self::read) decodes it.
    pub fn get(&self, index: usize) -> Image<'_> {
        let [width, height] = self.size(index);
        let At::Memory(start) = self.places[index].at else {
            panic!("image {index} is in a file, so it must be read");
        };
        Image {
            width,
            height,
            pixels: &self.pixels[start..start + width * height * 3],
        }
    }

    /// The image at an index below [`len`](Self::len), from memory or from its file.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be read any more, or has changed.
    pub fn read(&self, index: usize) -> Result<Loaded<'_>, ImageError> {
        let [width, height] = self.size(index);
        let pixels = match self.places[index].at {
            At::Memory(_) => Cow::Borrowed(self.get(index).pixels),
            At::File(number) => self.files().pixels(number)?,
        };
        Ok(Loaded { width, height, pixels })
    }

    /// Columns and rows of the image at an index below [`len`](Self::len).
    pub fn size(&self, index: usize) -> [usize; 2] {
        let Place { width, height, .. } = self.places[index];
        [width as usize, height as usize]
    }

    /// Size of the image's file in bytes; `None` if the image is in memory.
    pub fn file_length(&self, index: usize) -> Option<u64> {
        match self.places[index].at {
            At::Memory(_) => None,
            At::File(number) => Some(self.files().length(number)),
        }
    }

    /// The image's file as it is, without decoding it; `None` if the image is in memory.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be read any more, or has become shorter.
    pub fn file_bytes(&self, index: usize) -> Result<Option<Vec<u8>>, ImageError> {
        match self.places[index].at {
            At::Memory(_) => Ok(None),
            At::File(number) => self.files().bytes(number).map(Some),
        }
    }

    fn files(&self) -> &Arc<dyn PixelSource> {
        self.files.as_ref().expect("set by the reader that lists files")
    }

    /// The label of each image, if known.
    pub fn labels(&self) -> &[Option<u32>] {
        &self.labels
    }

    /// The name of the image at an index below [`len`](Self::len): the path of its file within the folder or archive, or `file.bin#index`.
    /// Empty for an image that was added without a name.
    pub fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// Whether every image has a label, and there is at least one image.
    pub fn is_labelled(&self) -> bool {
        !self.is_empty() && self.labels.iter().all(Option::is_some)
    }

    /// Names of the classes; empty if no image has a label.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }
}

/// A data set with training and test images. Labels are optional, because encoders train without them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageData {
    /// Name in results.
    pub name: String,
    /// Training images. Their labels are used for evaluation, never to train an encoder.
    pub train: Collection,
    /// Test images; may be empty.
    pub test: Collection,
    /// One line per file that was skipped because it could not be read: its name and the reason.
    pub skipped: Vec<String>,
    /// What else was left out or not done, in a sentence each, for the user.
    pub notes: Vec<String>,
}
