//! `ImageFolder`: a folder a class, below `train` and `test` (or `val`).

use super::batch::Decoder;
use super::store::{Entry, Store};
use crate::error::ImageError;
use crate::subset::most_alike;
use crate::{Collection, ImageData};
use std::collections::BTreeSet;
use std::path::Path;

const LAYOUT: &str =
    "train/CLASS/*.jpg and test/CLASS/*.jpg, or val for test, in one enclosing folder at most; .jpeg and .png too";
const READ: [&str; 3] = ["jpg", "jpeg", "png"];
const NOT_READ: [&str; 11] = [
    "gif", "bmp", "webp", "tif", "tiff", "jp2", "avif", "heic", "ppm", "pgm", "tga",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Train,
    Test,
    Val,
}

/// Reads both parts from one folder or archive. `test` goes before `val`.
pub(crate) fn read(store: &Store) -> Result<ImageData, ImageError> {
    let mut folder = Folder::new(store);
    store.for_each(&mut |entry| {
        let name = entry.name.clone();
        let parts: Vec<&str> = name.split('/').collect();
        let mut outer = parts.iter().take(2).enumerate();
        if let Some((place, part)) = outer.find_map(|(place, name)| Some((place, Part::of(name)?))) {
            return folder.take(part, &parts[place + 1..].join("/"), entry);
        }
        folder.others.insert(parts[0].to_string());
        Ok(())
    })?;
    let held_out = if folder.holds("test/") { Part::Test } else { Part::Val };
    folder.finish(held_out)
}

/// Reads train and test from a folder or archive each, which hold the class folders.
pub(crate) fn read_parts(train: &Store, test: &Store) -> Result<ImageData, ImageError> {
    let mut folder = Folder {
        test_path: test.path(),
        ..Folder::new(train)
    };
    for (store, part) in [(train, Part::Train), (test, Part::Test)] {
        store.for_each(&mut |entry| {
            let name = entry.name.clone();
            folder.take(part, &name, entry)
        })?;
    }
    folder.finish(Part::Test)
}

/// What was met so far.
struct Folder<'s> {
    path: &'s Path,
    test_path: &'s Path,
    decoder: Decoder,
    /// Class folders, whether or not there is an image in them.
    classes: BTreeSet<(Part, String)>,
    /// Folders and files that are of neither part.
    others: BTreeSet<String>,
    /// Images: `PART/CLASS/…/FILE`.
    seen: BTreeSet<String>,
}

impl<'s> Folder<'s> {
    fn new(store: &'s Store) -> Self {
        Self {
            path: store.path(),
            test_path: store.path(),
            decoder: Decoder::new(store.limits()),
            classes: BTreeSet::new(),
            others: BTreeSet::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Takes what is called `name` in `part`: `CLASS`, or `CLASS/…/FILE`.
    fn take(&mut self, part: Part, name: &str, entry: &mut Entry) -> Result<(), ImageError> {
        let class = name.split_once('/').map(|(class, _)| class);
        if entry.is_folder {
            let class = class.unwrap_or(name);
            if !class.is_empty() {
                self.classes.insert((part, class.to_string()));
            }
            return Ok(());
        }
        let extension = name
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension)
            .to_ascii_lowercase();
        if NOT_READ.contains(&extension.as_str()) {
            return Err(ImageError::NotAnImage {
                at: entry.at.clone(),
                found: format!("a .{extension} file"),
            });
        }
        if !READ.contains(&extension.as_str()) {
            return Ok(());
        }
        let Some(class) = class else {
            return Err(ImageError::NoClass { at: entry.at.clone() });
        };
        self.classes.insert((part, class.to_string()));
        let key = format!("{}/{name}", part.name());
        if !self.seen.insert(key.clone()) {
            return Err(ImageError::Twice { at: entry.at.clone() });
        }
        self.decoder.push(key, entry)
    }

    /// Whether there is an image whose key begins so.
    fn holds(&self, prefix: &str) -> bool {
        let first = self.seen.range(prefix.to_string()..).next();
        first.is_some_and(|key| key.starts_with(prefix))
    }

    fn finish(self, held_out: Part) -> Result<ImageData, ImageError> {
        let classes = self.classes_of(Part::Train, self.path, "train/")?;
        for class in self.classes_of(held_out, self.test_path, "test/ or val/")? {
            if !classes.contains(&class) {
                let (path, suggestion) = (self.test_path.to_path_buf(), most_alike(&class, &classes));
                return Err(ImageError::UntrainedClass { path, class, suggestion });
            }
        }

        let mut train = Collection::new(classes.clone());
        let mut test = Collection::new(classes.clone());
        for (key, picture) in self.decoder.finish()? {
            let mut parts = key.split('/');
            let part = parts.next().and_then(Part::of).expect("keys begin with a part");
            let class = parts.next().expect("and go on with a class");
            let images = match part {
                Part::Train => &mut train,
                part if part == held_out => &mut test,
                _ => continue,
            };
            let label = classes.binary_search_by(|known| known.as_str().cmp(class));
            images.push(picture.as_image(), Some(label.expect("others were refused") as u32));
        }
        check_enough(self.path, &train)?;
        Ok(ImageData {
            name: String::new(),
            train,
            test,
        })
    }

    /// The classes of a part, in alphabetical order, none of which may be empty.
    fn classes_of(&self, part: Part, path: &Path, wanted: &'static str) -> Result<Vec<String>, ImageError> {
        let of_part = self.classes.iter().filter(|(other, _)| *other == part);
        let classes: Vec<String> = of_part.map(|(_, class)| class.clone()).collect();
        if classes.is_empty() {
            return Err(ImageError::NoPart {
                path: path.to_path_buf(),
                wanted,
                found: self.others.iter().take(5).cloned().collect(),
                layout: LAYOUT,
            });
        }
        match classes.iter().find(|class| !self.holds(&format!("{}/{class}/", part.name()))) {
            Some(class) => Err(ImageError::EmptyClass {
                path: path.to_path_buf(),
                part: part.name(),
                class: class.clone(),
            }),
            None => Ok(classes),
        }
    }
}

/// Refuses a training part of a single image.
pub(super) fn check_enough(path: &Path, train: &Collection) -> Result<(), ImageError> {
    match train.len() {
        found @ 0..=1 => Err(ImageError::TooFewImages {
            path: path.to_path_buf(),
            found,
        }),
        _ => Ok(()),
    }
}

impl Part {
    fn of(folder: &str) -> Option<Self> {
        [Self::Train, Self::Test, Self::Val]
            .into_iter()
            .find(|part| part.name() == folder)
    }

    /// The folder's name.
    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
            Self::Val => "val",
        }
    }
}
