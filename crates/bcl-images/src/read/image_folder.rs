//! Folders of images: `train` and `test` (or `val`) with one folder per class. Test, parts and classes are optional.

use super::batch::{Decoded, Decoder, Reading};
use super::checks::{check_look_alikes, check_not_empty, untrained_class};
use super::content::Shelf;
use super::kind::{Kind, if_readable};
use super::layout::{Layout, folder_of};
use super::left_out::{LeftOut, note_of_turned};
use super::limits::Limits;
use super::part::{Part, seems_held_out};
use super::samples;
use super::store::{Entry, Store};
use super::streamed::CacheBytes;
use crate::error::{ImageError, excerpt};
use crate::{Collection, ImageData};
use bcl_files::archive::{ArchiveError, FileLocation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const LAYOUT: &str = "*.jpg, CLASS/*.jpg, train/*.jpg, or train/CLASS/*.jpg with or without test/CLASS/*.jpg, or val for test, with at \
                      most two enclosing folders, or a folder of WebDataset shards (.tar); also PNG and WebP";

/// Reads a folder or archive of images, in any of the layouts. `test` takes precedence over `val`.
pub(crate) fn read(store: &Store, reading: Reading) -> Result<ImageData, ImageError> {
    let layout = Layout::of(store)?;
    if layout.has_samples() {
        return samples::read(store, &layout, reading);
    }
    let mut folder = Folder::new(store, layout.has_parts(), reading);
    folder.top = layout.top.iter().take(5).cloned().collect();
    store.for_each(&mut |entry| {
        let name = entry.name.clone();
        match layout.part_and_name(&name) {
            Some((part, name)) => folder.take(part, name, entry),
            None => folder.leave(entry),
        }
    })?;
    folder.check_parts(&layout)?;
    folder.finish(reading)
}

/// Reads train and test from two folders or archives of class folders.
pub(crate) fn read_parts(train: &Store, test: &Store, reading: Reading) -> Result<ImageData, ImageError> {
    let mut folder = Folder {
        test_path: test.path(),
        ..Folder::new(train, true, reading)
    };
    for (store, part) in [(train, Part::Train), (test, Part::Test)] {
        store.for_each(&mut |entry| {
            let name = entry.name.clone();
            folder.take(part, &name, entry)
        })?;
    }
    if !folder.holds(Part::Test) {
        return Err(folder.no_part(Part::Test));
    }
    folder.finish(reading)
}

/// What has been found so far.
struct Folder<'s> {
    path: &'s Path,
    test_path: &'s Path,
    decoder: Decoder,
    limits: Limits,
    /// The cache, if images are decoded when they are needed.
    stream: Option<CacheBytes>,
    /// Whether there are folders `train`, `test` or `val`.
    has_parts: bool,
    /// Some of the names at the top level.
    top: Vec<String>,
    /// Class folders, with or without images.
    classes: BTreeSet<(Part, String)>,
    /// The first image of each part outside the class folders.
    strays: BTreeMap<Part, FileLocation>,
    /// Whether an image is deeper than `CLASS/FILE`.
    is_deep: bool,
    /// Maps images, `PART/CLASS/…/FILE`, to their names in the folder or archive.
    seen: BTreeMap<String, String>,
    /// Files that are no images.
    no_images: LeftOut,
    /// Images outside the folders of parts.
    outside: LeftOut,
    /// The folders of those, as far as the images are directly in them.
    folders_outside: BTreeSet<String>,
}

impl<'s> Folder<'s> {
    fn new(store: &'s Store, has_parts: bool, reading: Reading) -> Self {
        Self {
            path: store.path(),
            test_path: store.path(),
            decoder: Decoder::new(store.limits(), reading.decoding),
            limits: store.limits(),
            stream: reading.stream,
            has_parts,
            top: Vec::new(),
            classes: BTreeSet::new(),
            strays: BTreeMap::new(),
            is_deep: false,
            seen: BTreeMap::new(),
            no_images: LeftOut::default(),
            outside: LeftOut::default(),
            folders_outside: BTreeSet::new(),
        }
    }

    /// Counts a file outside the folders of parts.
    fn leave(&mut self, entry: &mut Entry) -> Result<(), ImageError> {
        if entry.is_folder {
            return Ok(());
        }
        if if_readable(Kind::of(entry))? == Kind::Other {
            self.no_images.add(&entry.name);
            return Ok(());
        }
        self.outside.add(&entry.name);
        self.folders_outside.insert(folder_of(&entry.name).to_owned());
        Ok(())
    }

    /// Checks that what is for training cannot be meant otherwise: a class called `train`, or images for testing among those for training.
    fn check_parts(&self, layout: &Layout) -> Result<(), ImageError> {
        if !self.has_parts {
            let mut classes = self.classes.iter().map(|(_, class)| class);
            return match classes.find(|class| seems_held_out(class)) {
                Some(folder) if self.classes.len() > 1 => Err(ImageError::path(
                    self.path,
                    format!(
                        "the folder {} seems to hold images for testing, but would be a class for training. Call the folder of training images \
                         train and this one test; if it is a class, put the folders of all classes into a folder train",
                        excerpt(folder)
                    ),
                )),
                _ => Ok(()),
            };
        }
        let holds_out = [Part::Test, Part::Val]
            .into_iter()
            .any(|part| layout.folders_of(part).next().is_some());
        let sibling = |train: &str| {
            let beside = |folder: &&String| !folder.is_empty() && folder_of(folder) == folder_of(train);
            self.folders_outside.iter().find(beside)
        };
        let of_train = layout
            .folders_of(Part::Train)
            .find_map(|train| Some((train, sibling(train)?)));
        match of_train {
            // Images directly in `train` are a class if other folders beside it are classes, too.
            Some((train, sibling)) if !holds_out && self.strays.contains_key(&Part::Train) => Err(ImageError::path(
                self.path,
                format!(
                    "has images in {train}/ and in {}/, so {train} may be a class or the images for training. If it is a class, put the folders of \
                     all classes into a folder train ({train}/… becomes train/{train}/…); if not, move the other folders elsewhere",
                    excerpt(sibling)
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Adds the entry called `name` in `part`: `CLASS`, `FILE`, or `CLASS/…/FILE`.
    fn take(&mut self, part: Part, name: &str, entry: &mut Entry) -> Result<(), ImageError> {
        let class = name.split_once('/').map(|(class, _)| class);
        if entry.is_folder {
            let class = class.unwrap_or(name);
            // A folder without images is an empty class only if folders are known to be classes.
            if !class.is_empty() && self.has_parts {
                self.classes.insert((part, class.to_string()));
            }
            return Ok(());
        }
        let key = format!("{}/{name}", part.name());
        let kind = match Kind::of(entry) {
            Err(error) => return self.decoder.reject(key, error),
            Ok(kind) => kind,
        };
        if kind == Kind::Other {
            self.no_images.add(&entry.name);
            return Ok(());
        }
        if let Some(class) = class {
            self.classes.insert((part, class.to_string()));
        } else {
            self.strays.entry(part).or_insert_with(|| entry.at.clone());
        }
        self.is_deep |= name.split('/').count() > 2;
        if self.seen.insert(key.clone(), entry.name.clone()).is_some() {
            return Err(ArchiveError::twice(entry.at.clone()).into());
        }
        if let Kind::OtherImage(what) = kind {
            let error = ImageError::not_an_image(&entry.at, &what);
            return self.decoder.reject(key, error);
        }
        match self.stream {
            Some(_) => self.decoder.list(key, entry),
            None => self.decoder.push(key, entry),
        }
    }

    /// Whether a folder `PART/` or `PART/CLASS/` contains an image.
    fn has_image(&self, below: &str) -> bool {
        let first = self.seen.range(below.to_string()..).next();
        first.is_some_and(|(key, _)| key.starts_with(below))
    }

    /// Whether a part has an image, or at least a class folder.
    fn holds(&self, part: Part) -> bool {
        self.has_image(&format!("{}/", part.name())) || self.classes.iter().any(|(other, _)| *other == part)
    }

    fn finish(self, reading: Reading) -> Result<ImageData, ImageError> {
        if !self.holds(Part::Train) {
            return Err(self.no_part(Part::Train));
        }
        let held_out = if self.has_image("test/") || !self.holds(Part::Val) {
            Part::Test
        } else {
            Part::Val
        };
        let classes = if self.is_labelled(held_out)? {
            self.common_classes(held_out)?
        } else {
            Vec::new()
        };

        let mut train = Collection::new(classes.clone());
        let mut test = Collection::new(classes.clone());
        let mut shelf = Shelf::default();
        let Decoded { images, skipped, turned } = self.decoder.finish(self.path, reading.broken)?;
        let mut unused = LeftOut::default();
        for (key, content) in images {
            let mut parts = key.split('/');
            let part = parts.next().and_then(Part::of_key).expect("keys begin with a part");
            let class = parts.next().expect("and go on with a class or the file");
            let images = match part {
                Part::Train => &mut train,
                part if part == held_out => &mut test,
                _ => {
                    unused.add(&self.seen[&key]);
                    continue;
                }
            };
            // Without classes the search fails, so there are no labels.
            let label = classes.binary_search_by(|known| known.as_str().cmp(class)).ok();
            shelf.put(images, &self.seen[&key], content, label.map(|label| label as u32));
        }
        shelf.finish([&mut train, &mut test], self.limits, self.stream.unwrap_or(CacheBytes(0)));
        check_not_empty(self.path, &train)?;
        Ok(ImageData {
            name: String::new(),
            train,
            test,
            skipped,
            notes: [
                self.no_images.note("file", "left out, because they are no images"),
                self.outside
                    .note("image", "left out, because they are not in the folders of train, test or val"),
                unused.note("image", "of val left out, because there is a test"),
                note_of_turned(turned),
            ]
            .into_iter()
            .flatten()
            .collect(),
        })
    }

    /// Whether folders are classes, which requires that every image is in one. Without `train` and `test` there must be at least two folders
    /// without subfolders, because folders of pictures may mean anything.
    fn is_labelled(&self, held_out: Part) -> Result<bool, ImageError> {
        let stray = |part| self.strays.get(&part);
        if !self.has_parts {
            return Ok(stray(Part::Train).is_none() && !self.is_deep && self.classes.len() > 1);
        }
        match (stray(Part::Train), stray(held_out)) {
            (None, None) => Ok(true),
            (Some(_), Some(_)) => Ok(false),
            (Some(_), None) if !self.holds(held_out) => Ok(false),
            // Evaluation needs classes in both parts, so this is probably a mistake.
            (Some(at), None) | (None, Some(at)) => Err(ImageError::file(
                at,
                "the image is in no class folder, but train and test must either both have class folders or neither. Move it into the \
                 folder of its class: train/CLASS/NAME.jpg. To train without evaluation, leave out test",
            )),
        }
    }

    /// The classes of train, which must include the classes of test.
    fn common_classes(&self, held_out: Part) -> Result<Vec<String>, ImageError> {
        let classes = self.classes_of(Part::Train, self.path)?;
        let held_out = self.classes_of(held_out, self.test_path)?;
        check_look_alikes(self.path, classes.iter().chain(&held_out))?;
        for class in held_out {
            if !classes.contains(&class) {
                return Err(untrained_class(self.test_path, &class, &classes));
            }
        }
        Ok(classes)
    }

    /// The classes of a part, in alphabetical order. Returns an error if one is empty.
    fn classes_of(&self, part: Part, path: &Path) -> Result<Vec<String>, ImageError> {
        let of_part = self.classes.iter().filter(|(other, _)| *other == part);
        let classes: Vec<String> = of_part.map(|(_, class)| class.clone()).collect();
        match classes
            .iter()
            .find(|class| !self.has_image(&format!("{}/{class}/", part.name())))
        {
            Some(class) => Err(ImageError::path(
                path,
                format!(
                    "the class folder {}/{class} contains no JPEG, PNG or WebP image. Fill it or remove it",
                    part.name()
                ),
            )),
            None => Ok(classes),
        }
    }

    /// The error for a part without images.
    fn no_part(&self, part: Part) -> ImageError {
        let (path, wanted) = match part {
            Part::Train if !self.has_parts => (self.path, "it"),
            Part::Train => (self.path, "train/"),
            _ => (self.test_path, "test/ or val/"),
        };
        let found = match self.top.as_slice() {
            [] => "It is empty".to_owned(),
            found => format!("It contains {}", excerpt(&found.join(", "))),
        };
        ImageError::path(path, format!("no image in {wanted}. {found}. Check the layout: {LAYOUT}"))
    }
}
