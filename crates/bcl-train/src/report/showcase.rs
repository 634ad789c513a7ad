//! What a run on images has to show beside figures, as `showcase.json` and `map.svg` in its folder.

use super::{ReportError, chart::FeatureMap};
use base64::{Engine, engine::general_purpose::STANDARD};
use image::{ImageFormat, RgbImage};
use serde::{Deserialize, Serialize};
use std::io::{Cursor, ErrorKind};
use std::path::Path;

/// Pictures of what an encoder has learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Showcase {
    /// Names of the classes.
    pub classes: Vec<String>,
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
    /// The name of a class.
    pub(super) fn class(&self, index: u32) -> &str {
        self.classes.get(index as usize).map_or("unknown class", String::as_str)
    }

    /// Writes `showcase.json` and, where there is a map, `map.svg` into the folder of a run.
    ///
    /// # Errors
    /// [`ReportError::Write`], naming the file.
    pub fn write(&self, dir: &Path) -> Result<(), ReportError> {
        let write = |name: &str, text: &[u8]| {
            let path = dir.join(name);
            std::fs::write(&path, text).map_err(|source| ReportError::Write { path, source })
        };
        if let Some(svg) = FeatureMap::of(self, "Test images by their features").to_file() {
            write("map.svg", svg.as_bytes())?;
        }
        write("showcase.json", &serde_json::to_vec(self).expect("a showcase is plain data"))
    }

    /// Reads `showcase.json` from the folder of a run; `None` where there is none.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, ReportError> {
        let path = dir.join("showcase.json");
        match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ReportError::Read { path, source }),
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| super::read::malformed(&path, error.line(), &error)),
        }
    }
}
