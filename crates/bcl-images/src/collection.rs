//! Images in memory, with their names and, as far as they are known, their classes.

/// An 8-bit RGB image, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image<'a> {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `[height, width, 3]`, row-major; red, green and blue from 0 to 255.
    pub pixels: &'a [u8],
}

/// Images with their names and classes, one behind the other in memory. They may differ in size, and need not have a class.
///
/// Two collections are equal when their images, labels and classes are: the same images may have come from other files.
#[derive(Debug, Clone, Default)]
pub struct Collection {
    pixels: Vec<u8>,
    /// Where each image begins in `pixels`, and its width and height.
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
    /// An empty collection with the names of its classes, which labels index.
    pub fn new(classes: Vec<String>) -> Self {
        Self {
            classes,
            ..Self::default()
        }
    }

    /// Adds an image without a name; its label is an index into the classes, or none where the class is not known.
    ///
    /// # Panics
    /// When the pixels are not `[height, width, 3]`, or there is no such class.
    pub fn push(&mut self, image: Image<'_>, label: Option<u32>) {
        self.push_named("", image, label);
    }

    /// Adds an image that is known by the path of its file, or by its file and place in it.
    ///
    /// # Panics
    /// As [`push`](Self::push).
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

    /// Adds an image of another collection with its name, under a label of this one.
    ///
    /// # Panics
    /// When there is no such image or class.
    pub fn push_from(&mut self, other: &Self, index: usize, label: Option<u32>) {
        self.push_named(other.name(index), other.get(index), label);
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no image.
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

    /// The class of each image, where it is known.
    pub fn labels(&self) -> &[Option<u32>] {
        &self.labels
    }

    /// The name of the image at an index below [`len`](Self::len): the path of its file within the folder or archive, or
    /// `file.bin#place`; empty for an image that came without one.
    pub fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// Whether there are images, and each has a class.
    pub fn is_labelled(&self) -> bool {
        !self.is_empty() && self.labels.iter().all(Option::is_some)
    }

    /// Names of the classes; none where no image has one.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }
}

/// A data set: what is learned from, and what is held out, if anything is. Neither needs labels: an encoder learns without them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageData {
    /// Name, for results.
    pub name: String,
    /// Images that are learned from. Their labels serve to measure, never to train an encoder.
    pub train: Collection,
    /// Images that are held out; empty where nothing is.
    pub test: Collection,
    /// A line for each file that was left out because it is no image that can be read: which, and why.
    pub skipped: Vec<String>,
}
