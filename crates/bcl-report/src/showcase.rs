//! What a run on images has to show beside figures, as `showcase.json` and `map.svg` in its folder.

use super::{ReportError, chart::FeatureMap};
use crate::files::{self, FileError, checksums};
use base64::{Engine, engine::general_purpose::STANDARD};
use image::{ImageFormat, RgbImage};
use serde::{Deserialize, Serialize};
use std::io::{Cursor, ErrorKind};
use std::path::Path;

const FILE: &str = "showcase.json";

/// The name of the drawing of the map.
pub const MAP_FILE: &str = "map.svg";

/// Pictures of what an encoder has learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Showcase {
    /// Names of the classes; empty where the images have none, and then every index of a class means nothing.
    pub classes: Vec<String>,
    /// Whether training images stand for test images, because there are none.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub of_train: bool,
    /// A place in the plane for each of some test images; empty where there are too few of them.
    pub map: Vec<MapPoint>,
    /// Some test images, each with the training images nearest to it.
    pub neighbours: Vec<NeighbourRow>,
}

/// An image on the map of features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapPoint {
    /// To the right; neither origin nor unit mean anything.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Index of the class.
    pub class: u32,
}

/// A test image and the training images nearest to it.
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
    /// Cosine of its features with those of the test image.
    pub similarity: f64,
}

/// A small picture of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thumbnail {
    /// Index of the class.
    pub class: u32,
    /// A PNG file in Base64.
    pub png: String,
}

impl Thumbnail {
    /// A picture as it is.
    pub fn new(class: u32, pixels: &RgbImage) -> Self {
        let mut png = Cursor::new(Vec::new());
        pixels
            .write_to(&mut png, ImageFormat::Png)
            .expect("memory takes whatever is written to it");
        let png = STANDARD.encode(png.into_inner());
        Self { class, png }
    }
}

impl Showcase {
    /// What the images on the map and at the head of each row are.
    pub(super) fn kind(&self) -> &'static str {
        if self.of_train { "training" } else { "test" }
    }

    /// The name of a class.
    pub(super) fn class(&self, index: u32) -> &str {
        self.classes.get(index as usize).map_or("unknown class", String::as_str)
    }

    /// Writes `showcase.json` and, where there is a map, `map.svg` into the folder of a run.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        self.write_map(dir)?;
        checksums::write(dir, FILE, &serde_json::to_vec(self).expect("a showcase is plain data"))
    }

    /// Writes `map.svg`, if there is a map.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub fn write_map(&self, dir: &Path) -> Result<(), FileError> {
        let title = if self.of_train {
            "Training images by their features"
        } else {
            "Test images by their features"
        };
        match FeatureMap::of(self, title).to_file() {
            Some(svg) => files::write_whole(&dir.join(MAP_FILE), svg.as_bytes()),
            None => Ok(()),
        }
    }

    /// Reads `showcase.json` from the folder of a run; `None` where there is none.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, ReportError> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ReportError::Read { path, source }),
            Ok(text) => {
                checksums::check(dir, FILE, &text)?;
                serde_json::from_slice(&text)
                    .map(Some)
                    .map_err(|error| super::read::malformed(&path, error.line(), &error))
            }
        }
    }
}
