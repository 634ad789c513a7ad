//! Pictures of a run on images or graphs: a map of their vectors and nearest images, stored as `showcase.json` and `map.svg` in its folder.

use super::ReportError;
use base64::{Engine, engine::general_purpose::STANDARD};
use bcl_files::{FileError, checksums};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = "showcase.json";

/// File name of the drawn t-SNE map, which is the last picture to be written.
pub const MAP_FILE: &str = "map.svg";

/// Pictures of what an encoder has learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Showcase {
    /// Class names; empty if the images have no labels, and then class indices have no meaning.
    pub classes: Vec<String>,
    /// Whether training images are shown in place of test images, because there are no test images.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub of_train: bool,
    /// Whether graphs are shown, and not images.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub of_graphs: bool,
    /// A sample of test images, or of graphs, as points in the plane, by t-SNE; empty if there are too few.
    pub map: Vec<MapPoint>,
    /// A few test images, each with its nearest training images; empty for graphs.
    pub neighbours: Vec<NeighbourRow>,
    /// The largest clusters of training images, largest first, if the run detects classes by clusters.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub clusters: Vec<Cluster>,
}

/// Training images that a detector takes for one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Number of images.
    pub size: usize,
    /// Index of the most frequent class, and its number of images; `None` without labels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub most_frequent: Option<(u32, usize)>,
    /// Some of the images, from all parts of the cluster.
    pub images: Vec<Thumbnail>,
}

/// An image or a graph on a map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapPoint {
    /// Horizontal coordinate, to the right; origin and unit are arbitrary.
    pub x: f64,
    /// Vertical coordinate, upwards.
    pub y: f64,
    /// Index of the class.
    pub class: u32,
}

/// A test image and its nearest training images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourRow {
    /// The test image.
    pub query: Thumbnail,
    /// Training images, nearest first.
    pub nearest: Vec<NearImage>,
}

/// A training image near a test image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearImage {
    /// The image.
    pub image: Thumbnail,
    /// Cosine similarity to the features of the test image.
    pub similarity: f64,
}

/// A small copy of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thumbnail {
    /// Index of the class.
    pub class: u32,
    /// A PNG file in Base64.
    pub png: String,
}

impl Thumbnail {
    /// Encodes pixels without scaling: rows of red, green and blue.
    ///
    /// # Panics
    /// Panics if there are no pixels, or not three bytes for each.
    pub fn new(class: u32, [width, height]: [u32; 2], pixels: &[u8]) -> Self {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(png::Filter::Adaptive);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
        written.unwrap_or_else(|error| panic!("{} bytes are no image of {width} x {height}: {error}", pixels.len()));
        let png = STANDARD.encode(file);
        Self { class, png }
    }
}

impl Showcase {
    /// The split of the mapped and query images: `training` or `test`.
    pub(super) fn kind(&self) -> &'static str {
        if self.of_train { "training" } else { "test" }
    }

    /// What is mapped: `test images`, `training images` or `graphs`.
    pub(super) fn samples(&self) -> String {
        if self.of_graphs {
            "graphs".to_owned()
        } else {
            format!("{} images", self.kind())
        }
    }

    /// The name of a class.
    pub(super) fn class(&self, index: u32) -> &str {
        self.classes.get(index as usize).map_or("unknown class", String::as_str)
    }

    /// Writes `showcase.json` into a run folder.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        checksums::write(dir, FILE, &serde_json::to_vec(self).expect("a showcase is plain data"))
    }

    /// Reads `showcase.json` from a run folder; `None` if there is none.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, ReportError> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ReportError::Read { path, source }),
            Ok(text) => {
                checksums::check(dir, FILE, &text)?;
                serde_json::from_slice(&text)
                    .map(Some)
                    .map_err(|error| ReportError::malformed(&path, error.line(), &error))
            }
        }
    }
}
