//! tinyImageNet as packed by its authors: one folder per class for train, one list of classes for val. The classes of its test images
//! were never published, so val serves as test.

use super::batch::{Decoder, Reading};
use super::checks::{check_not_empty, missing_part, once};
use super::content::Shelf;
use super::store::Store;
use super::text::Text;
use crate::error::{ImageError, excerpt};
use crate::{Collection, ImageData};
use bcl_files::archive::ArchiveError;
use std::collections::{BTreeMap, HashMap};

const ARCHIVE: &str = "tinyImageNet is read from `tiny-imagenet-200.zip`, packed or fully unpacked";

/// Reads the data set from a folder or archive. Classes are in the order of their `WordNet` ids and named by their first word.
pub(crate) fn read(store: &Store) -> Result<ImageData, ImageError> {
    let mut decoder = Decoder::new(store.limits(), Reading::STRICT.decoding);
    let mut images: BTreeMap<String, _> = BTreeMap::new();
    let (mut ids, mut words, mut annotations) = (None, None, None);
    store.for_each(&mut |entry| {
        let name = entry.name.clone();
        if entry.is_folder {
            return Ok(());
        }
        let Some(known) = below_root(&name) else { return Ok(()) };
        match known.split('/').collect::<Vec<_>>().as_slice() {
            ["wnids.txt"] => once(&mut ids, Text::read(entry)?, &entry.at),
            ["words.txt"] => once(&mut words, Text::read(entry)?, &entry.at),
            ["val", "val_annotations.txt"] => once(&mut annotations, Text::read(entry)?, &entry.at),
            ["train", _, "images", file] | ["val", "images", file] if is_image(file) => {
                if images.insert(known.to_string(), entry.at.clone()).is_some() {
                    return Err(ArchiveError::twice(entry.at.clone()).into());
                }
                decoder.push(known.to_string(), entry)
            }
            _ => Ok(()),
        }
    })?;

    let missing = |file: &str| missing_part(store.path(), file, ARCHIVE);
    let ids = sorted_ids(&ids.ok_or_else(|| missing("wnids.txt"))?)?;
    let words = words.ok_or_else(|| missing("words.txt"))?;
    let annotations = annotations.ok_or_else(|| missing("val/val_annotations.txt"))?;
    let of_val = classes_of_val(&annotations, &ids, &images)?;
    for (folder, file) in [("train/", "train/CLASS/images/*.JPEG"), ("val/", "val/images/*.JPEG")] {
        if !images.keys().any(|name| name.starts_with(folder)) {
            return Err(missing(file));
        }
    }

    let classes = names_of(&ids, &words);
    let mut data = ImageData {
        name: String::new(),
        train: Collection::new(classes.clone()),
        test: Collection::new(classes),
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    let mut shelf = Shelf::default();
    for (name, content) in decoder.finish(store.path(), Reading::STRICT.broken)?.images {
        let at = &images[&name];
        match name.split('/').collect::<Vec<_>>().as_slice() {
            ["train", id, ..] => {
                let label = ids.binary_search_by(|known| known.as_str().cmp(id));
                let label = label.map_err(|_| {
                    let what = format!("its class `{}` is not in wnids.txt", excerpt(id));
                    ImageError::file(
                        at,
                        format!("{what}. Fetch or unpack the data set again, or remove the folder"),
                    )
                })?;
                shelf.put(&mut data.train, &name, content, Some(label as u32));
            }
            [.., file] => {
                let label = of_val.get(*file).ok_or_else(|| {
                    let what = "val_annotations.txt does not list its class";
                    ImageError::file(at, format!("{what}. Fetch or unpack the data set again, or remove the image"))
                })?;
                shelf.put(&mut data.test, &name, content, Some(*label));
            }
            [] => {}
        }
    }
    check_not_empty(store.path(), &data.train)?;
    Ok(data)
}

/// The name without the enclosing folder.
fn below_root(name: &str) -> Option<&str> {
    let known = |name: &str| matches!(name.split('/').next(), Some("train" | "val" | "wnids.txt" | "words.txt"));
    let inner = name.split_once('/').map(|(_, inner)| inner);
    [Some(name), inner].into_iter().flatten().find(|name| known(name))
}

fn is_image(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["jpeg", "jpg", "png"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

fn sorted_ids(text: &Text) -> Result<Vec<String>, ImageError> {
    let count = text.lines().count();
    let mut ids = text.class_names(count.max(1))?;
    ids.sort();
    Ok(ids)
}

/// Reads the classes of val from lines of file, id and bounding box, separated by tabs.
fn classes_of_val<T>(text: &Text, ids: &[String], images: &BTreeMap<String, T>) -> Result<HashMap<String, u32>, ImageError> {
    let mut classes = HashMap::new();
    for (line, row) in text.lines() {
        let bad = |problem: String| {
            let at = format!("{}:{line}", text.at);
            ImageError::Invalid(format!(
                "{at}: `{}` {problem}. Correct the line, or fetch the file again",
                excerpt(row)
            ))
        };
        let mut fields = row.split('\t');
        let (Some(file), Some(id)) = (fields.next(), fields.next()) else {
            return Err(bad("does not name an image and its class, separated by a tab".to_string()));
        };
        let label = ids
            .binary_search_by(|known| known.as_str().cmp(id))
            .map_err(|_| bad(format!("names the class `{}`, which is not in wnids.txt", excerpt(id))))?;
        if !images.contains_key(&format!("val/images/{file}")) {
            return Err(bad("names an image that is not in val/images".to_string()));
        }
        if classes.insert(file.to_string(), label as u32).is_some() {
            return Err(bad("names an image for the second time".to_string()));
        }
    }
    Ok(classes)
}

/// The first word of each class, with its id if two classes share it, as the bird and the machine `crane` do.
fn names_of(ids: &[String], words: &Text) -> Vec<String> {
    let words: HashMap<&str, &str> = words.lines().filter_map(|(_, line)| line.split_once('\t')).collect();
    let first_words: Vec<&str> = ids
        .iter()
        .map(|id| words.get(id.as_str()).map_or(id.as_str(), |words| first_of(words)))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in &first_words {
        *counts.entry(word).or_default() += 1;
    }
    let name = |(id, word): (&String, &&str)| {
        if counts[word] > 1 {
            format!("{word} ({id})")
        } else {
            (*word).to_string()
        }
    };
    ids.iter().zip(&first_words).map(name).collect()
}

fn first_of(words: &str) -> &str {
    words.split(',').next().unwrap_or(words).trim()
}
