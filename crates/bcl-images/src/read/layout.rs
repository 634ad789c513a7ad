//! Detects the layout of a folder or archive from the names of its images.

use super::store::Store;
use crate::error::ImageError;
use std::collections::BTreeSet;

const READ: [&str; 4] = ["jpg", "jpeg", "png", "webp"];
const NOT_READ: [&str; 10] = ["gif", "bmp", "tif", "tiff", "jp2", "avif", "heic", "ppm", "pgm", "tga"];

/// The extension of a file with the label of the image beside it.
pub(super) const LABEL: &str = "cls";
const SHARDS: [&str; 3] = [".tar", ".tar.gz", ".tgz"];

/// The kind of a file, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A supported image format.
    Image,
    /// An unsupported image format.
    OtherImage,
    /// Any other file.
    Other,
}

impl Kind {
    /// The kind of a file, and its extension in lower case.
    pub(super) fn of(name: &str) -> (Self, String) {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let extension = extension.to_ascii_lowercase();
        let kind = match extension.as_str() {
            known if READ.contains(&known) => Self::Image,
            known if NOT_READ.contains(&known) => Self::OtherImage,
            _ => Self::Other,
        };
        (kind, extension)
    }
}

/// A part of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Train,
    Test,
    Val,
}

impl Part {
    pub(super) fn of(folder: &str) -> Option<Self> {
        [Self::Train, Self::Test, Self::Val]
            .into_iter()
            .find(|part| part.name() == folder)
    }

    /// The part of a shard, by a word of its path, such as `imagenet-val-000003.tar`; train if there is none.
    pub(super) fn of_shard(path: &str) -> Self {
        let mut words = path.split(|letter: char| !letter.is_ascii_alphabetic());
        let part = words.find_map(|word| match word {
            "validation" => Some(Self::Val),
            word => Self::of(word),
        });
        part.unwrap_or(Self::Train)
    }

    /// The name of its folder.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
            Self::Val => "val",
        }
    }
}

/// The layout of the images in a folder or archive.
#[derive(Debug)]
pub(super) struct Layout {
    /// Whether there are folders `train`, `test` or `val`. Without them, all images are for training.
    pub(super) has_parts: bool,
    /// The folder that encloses all images, if there are no parts.
    enclosing: Option<String>,
    /// Folders and files at the top level.
    pub(super) top: BTreeSet<String>,
    /// Archives in a folder, if it has no images.
    pub(super) shards: BTreeSet<String>,
    /// Whether there are files with labels beside the images.
    has_labels: bool,
}

impl Layout {
    /// Detects the layout from the names in a store. This reads an archive once.
    pub(super) fn of(store: &Store) -> Result<Self, ImageError> {
        let mut layout = Self {
            has_parts: false,
            enclosing: None,
            top: BTreeSet::new(),
            shards: BTreeSet::new(),
            has_labels: false,
        };
        // The top-level folders of images. A single one encloses all images, unless an image is beside it.
        let mut around = BTreeSet::new();
        store.for_each(&mut |entry| {
            let (top, _) = entry.name.split_once('/').unwrap_or((&entry.name, ""));
            layout.top.insert(top.to_owned());
            layout.has_parts |= part_of(&entry.name).is_some_and(|(_, inner)| entry.is_folder || !inner.is_empty());
            if entry.is_folder {
                return Ok(());
            }
            let (kind, extension) = Kind::of(&entry.name);
            if kind != Kind::Other {
                around.insert(entry.name.contains('/').then(|| top.to_owned()));
            }
            layout.has_labels |= extension == LABEL;
            if store.is_folder() && SHARDS.iter().any(|end| entry.name.to_ascii_lowercase().ends_with(end)) {
                layout.shards.insert(entry.name.clone());
            }
            Ok(())
        })?;
        if !around.is_empty() {
            layout.shards.clear();
        }
        if let (1, Some(Some(_))) = (around.len(), around.first()) {
            layout.enclosing = around.pop_first().flatten();
        }
        Ok(layout)
    }

    /// Whether images are in shards, or have their labels in files beside them.
    pub(super) fn has_samples(&self) -> bool {
        self.has_labels || !self.shards.is_empty()
    }

    /// The part of a file or folder, and its name within the part.
    pub(super) fn part_and_name<'a>(&self, name: &'a str) -> Option<(Part, &'a str)> {
        if self.has_parts {
            return part_of(name);
        }
        let inner = match &self.enclosing {
            Some(folder) => name.strip_prefix(folder.as_str())?.strip_prefix('/')?,
            None => name,
        };
        Some((Part::Train, inner))
    }
}

/// The part whose folder contains `name`, inside at most one enclosing folder, and the name within the part.
fn part_of(name: &str) -> Option<(Part, &str)> {
    let mut rest = name;
    for _ in 0..2 {
        let (folder, inner) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some(part) = Part::of(folder) {
            return Some((part, inner));
        }
        rest = inner;
    }
    None
}
