//! Images in memory, with their names and, if known, their classes.

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

/// Images with names and optional classes, contiguous in memory. Images may differ in size.
///
/// Two collections are equal if their images, labels and classes are; names are ignored, because equal images may come from other files.
#[derive(Debug, Clone, Default)]
pub struct Collection {
    pixels: Vec<u8>,
    /// The start of each image in `pixels`, its width and its height.
    places: Vec<(usize, u32, u32)>,
    labels: Vec<Option<u32>>,
    classes: Vec<String>,
    names: Vec<Box<str>>,
}

impl PartialEq for Collection {
    fn eq(&self, other: &Self) -> bool {
        (&self.pixels, &self.places, &self.labels, &self.classes) == (&other.pixels, &other.places, &other.labels, &other.classes)
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
        let num_classes = self.classes.len();
        assert!(
            label.is_none_or(|label| (label as usize) < num_classes),
            "the label is {label:?}, but there are {num_classes} classes"
        );
        self.places.push((self.pixels.len(), width as u32, height as u32));
        self.pixels.extend_from_slice(pixels);
        self.labels.push(label);
        self.names.push(name.into());
    }

    /// Copies an image from another collection with its name, under a label of this one.
    ///
    /// # Panics
    /// Panics if the index or the label is out of range.
    pub fn push_from(&mut self, other: &Self, index: usize, label: Option<u32>) {
        self.push_named(other.name(index), other.get(index), label);
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The image at an index below [`len`](Self::len).
    pub fn get(&self, index: usize) -> Image<'_> {
        let (start, width, height) = self.places[index];
        let (width, height) = (width as usize, height as usize);
        Image {
            width,
            height,
            pixels: &self.pixels[start..start + width * height * 3],
        }
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
}
