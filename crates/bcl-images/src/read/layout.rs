//! Detects the layout of a folder or archive from its folders and images.

use super::kind::{Kind, LABEL, extension, if_readable};
use super::part::{self, Part};
use super::store::Store;
use crate::error::ImageError;
use std::collections::{BTreeMap, BTreeSet};

const SHARDS: [&str; 3] = [".tar", ".tar.gz", ".tgz"];
/// Most folders around all images, if there are no parts.
const MOST_AROUND: usize = 2;

/// The layout of the images in a folder or archive.
#[derive(Debug)]
pub(super) struct Layout {
    /// The folders of `train`, `test` and `val`, and the folder within each that contains all of its images, if there is one. Without parts, all
    /// images are for training.
    parts: BTreeMap<String, (Part, Option<String>)>,
    /// The folders that enclose all images, if there are no parts.
    enclosing: Option<String>,
    /// Folders and files at the top level.
    pub(super) top: BTreeSet<String>,
    /// Archives in a folder, if it has no images.
    pub(super) shards: BTreeSet<String>,
    /// Whether there are files with labels beside the images.
    has_labels: bool,
}

/// The folders of a store, as far as they tell the layout.
#[derive(Default)]
struct Folders {
    all: BTreeSet<String>,
    /// Those with images in them; empty for images in no folder.
    of_images: BTreeSet<String>,
}

impl Layout {
    /// Detects the layout from the names in a store. This reads an archive once.
    pub(super) fn of(store: &Store) -> Result<Self, ImageError> {
        let (mut top, mut shards, mut has_labels) = (BTreeSet::new(), BTreeSet::new(), false);
        let mut folders = Folders::default();
        store.for_each(&mut |entry| {
            let first = entry.name.split('/').next().unwrap_or_default();
            if !top.contains(first) {
                top.insert(first.to_owned());
            }
            if entry.is_folder {
                add_with_enclosing(&mut folders.all, &entry.name);
                return Ok(());
            }
            let folder = folder_of(&entry.name).to_owned();
            add_with_enclosing(&mut folders.all, &folder);
            if if_readable(Kind::of(entry))? != Kind::Other && !folders.of_images.contains(&folder) {
                folders.of_images.insert(folder);
            }
            has_labels |= extension(&entry.name) == LABEL;
            if store.is_folder() && SHARDS.iter().any(|end| entry.name.to_ascii_lowercase().ends_with(end)) {
                shards.insert(entry.name.clone());
            }
            Ok(())
        })?;
        if !folders.of_images.is_empty() {
            shards.clear();
        }
        let parts = part::parts(&folders.all);
        if shards.is_empty() && !has_labels {
            check_one_place(store, &parts)?;
        }
        Ok(Self {
            enclosing: if parts.is_empty() { folders.enclosing() } else { None },
            parts: parts
                .into_iter()
                .map(|(path, part)| {
                    let inner = folders.inner(&path, part);
                    (path, (part, inner))
                })
                .collect(),
            top,
            shards,
            has_labels,
        })
    }

    /// Whether there are folders `train`, `test` or `val`.
    pub(super) fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The folders of a part.
    pub(super) fn folders_of(&self, wanted: Part) -> impl Iterator<Item = &str> {
        let of_part = self.parts.iter().filter(move |(_, (part, _))| *part == wanted);
        of_part.map(|(path, _)| path.as_str())
    }

    /// Whether images are in shards, or have their labels in files beside them.
    pub(super) fn has_samples(&self) -> bool {
        self.has_labels || !self.shards.is_empty()
    }

    /// The part of a file or folder, and its name within the part.
    pub(super) fn part_and_name<'a>(&self, name: &'a str) -> Option<(Part, &'a str)> {
        if !self.has_parts() {
            let inner = match &self.enclosing {
                Some(folder) => within(name, folder)?,
                None => name,
            };
            return Some((Part::Train, inner));
        }
        let ends = name.match_indices('/').map(|(end, _)| end).chain([name.len()]);
        let (path, (part, around)) = ends.take(3).find_map(|end| self.parts.get_key_value(&name[..end]))?;
        let inner = within(name, path).unwrap_or_default();
        let inner = match around {
            Some(around) if inner == around => "",
            Some(around) => within(inner, around).unwrap_or(inner),
            None => inner,
        };
        Some((*part, inner))
    }
}

/// Refuses parts in several places, as in `cat/test` and `dog/test`: without their folders, images of different classes would mix.
fn check_one_place(store: &Store, parts: &BTreeMap<String, Part>) -> Result<(), ImageError> {
    let mut places: BTreeMap<Part, &str> = BTreeMap::new();
    let is_inside = |path: &str| path.match_indices('/').any(|(end, _)| parts.contains_key(&path[..end]));
    for (path, part) in parts.iter().filter(|(path, _)| !is_inside(path)) {
        let first = places.entry(*part).or_insert(path);
        if folder_of(first) != folder_of(path) {
            return Err(ImageError::path(
                store.path(),
                format!(
                    "{first}/ and {path}/ are the same part in two places. If the folders around them are classes, put the classes inside the parts \
                     ({0}/CLASS/…); if they are data sets, name one of them, or put all images into one folder {0}",
                    part.name()
                ),
            ));
        }
    }
    Ok(())
}

/// The folder around a file or folder; empty at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name within a folder, or `None` if it is not in it.
fn within<'a>(name: &'a str, folder: &str) -> Option<&'a str> {
    name.strip_prefix(folder)?.strip_prefix('/')
}

/// Adds a folder and those around it.
fn add_with_enclosing(folders: &mut BTreeSet<String>, folder: &str) {
    let mut folder = folder;
    while !folder.is_empty() && !folders.contains(folder) {
        folders.insert(folder.to_owned());
        folder = folder_of(folder);
    }
}

impl Folders {
    /// The folders around all images.
    fn enclosing(&self) -> Option<String> {
        let first = self.of_images.first()?;
        let ends = first.match_indices('/').map(|(end, _)| end).chain([first.len()]);
        let around: Vec<&str> = ends.take(MOST_AROUND).map(|end| &first[..end]).collect();
        let encloses_all = |folder: &&&str| {
            let is_in = |other: &String| other == **folder || within(other, folder).is_some();
            !folder.is_empty() && self.of_images.iter().all(is_in)
        };
        around.iter().rev().find(encloses_all).map(|folder| (*folder).to_owned())
    }

    /// The one folder within the folder of a part that contains all of its images, unless its name could be a class.
    fn inner(&self, path: &str, part: Part) -> Option<String> {
        if self.of_images.contains(path) {
            return None;
        }
        let inside = self.of_images.iter().filter_map(|folder| within(folder, path));
        let mut folders: Vec<&str> = inside.map(|inner| inner.split('/').next().unwrap_or(inner)).collect();
        folders.dedup();
        match folders[..] {
            [one] if part::is_around(part, one) => Some(one.to_owned()),
            _ => None,
        }
    }
}
