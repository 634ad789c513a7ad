//! Shards in the layout of the `WebDataset` library: files that share a name up to its first dot are one sample, and `.cls` is its label.

use super::batch::{Broken, Decoded, Decoder};
use super::checks::{check_enough, untrained_class};
use super::content::Shelf;
use super::layout::{Kind, LABEL, Layout, Part};
use super::store::{Entry, Store};
use super::streamed::CacheBytes;
use super::text::Text;
use crate::error::ImageError;
use crate::{Collection, ImageData};
use bcl_files::archive::{ArchiveError, FileLocation};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Reads the shards of a folder, or a single archive with labels beside its images.
pub(super) fn read(store: &Store, layout: &Layout, broken: Broken, stream: Option<CacheBytes>) -> Result<ImageData, ImageError> {
    let mut samples = Samples {
        stream,
        decoder: Decoder::new(store.limits()),
        images: BTreeMap::new(),
        labels: HashMap::new(),
    };
    if layout.shards.is_empty() {
        store.for_each(&mut |entry| {
            let name = entry.name.clone();
            samples.take(
                layout.part_and_name(&name).map_or(Part::Train, |(part, _)| part),
                &name,
                entry,
            )
        })?;
    }
    for shard in &layout.shards {
        let part = Part::of_shard(shard);
        store.shard(shard)?.for_each(&mut |entry| {
            let name = format!("{shard}/{}", entry.name);
            samples.take(part, &name, entry)
        })?;
    }
    samples.finish(store, broken)
}

/// What has been found so far.
struct Samples {
    /// The cache, if images are decoded when they are needed.
    stream: Option<CacheBytes>,
    decoder: Decoder,
    /// Maps samples to the part and the file of their image.
    images: BTreeMap<String, (Part, FileLocation)>,
    /// Maps samples to their labels.
    labels: HashMap<String, String>,
}

impl Samples {
    fn take(&mut self, part: Part, name: &str, entry: &mut Entry) -> Result<(), ImageError> {
        if entry.is_folder {
            return Ok(());
        }
        let (sample, extension) = sample_and_extension(name);
        if extension == LABEL {
            let label = label(entry)?;
            return match self.labels.insert(sample.to_string(), label) {
                Some(_) => Err(ArchiveError::twice(entry.at.clone()).into()),
                None => Ok(()),
            };
        }
        let (kind, _) = Kind::of(name);
        // With two extensions it is something else of the sample, such as `mask.png`.
        if kind == Kind::Other || extension.contains('.') {
            return Ok(());
        }
        if self.images.insert(sample.to_string(), (part, entry.at.clone())).is_some() {
            return Err(ImageError::file(
                &entry.at,
                "its sample has another image already. Keep one image per name, or give the others a second extension (1.mask.png)",
            ));
        }
        match (kind, self.stream) {
            (Kind::OtherImage, _) => self.decoder.reject(
                name.to_string(),
                ImageError::not_an_image(&entry.at, &format!("a .{extension} file")),
            ),
            (_, Some(_)) => self.decoder.list(name.to_string(), entry),
            (_, None) => self.decoder.push(name.to_string(), entry),
        }
    }

    fn finish(self, store: &Store, broken: Broken) -> Result<ImageData, ImageError> {
        let has = |wanted| self.images.values().any(|(part, _)| *part == wanted);
        let held_out = if has(Part::Test) || !has(Part::Val) {
            Part::Test
        } else {
            Part::Val
        };
        let classes = self.classes(store, held_out)?;

        let numbers: HashMap<&str, u32> = classes.iter().map(String::as_str).zip(0..).collect();
        let [mut train, mut test] = [(); 2].map(|()| Collection::new(classes.clone()));
        let mut shelf = Shelf::default();
        let Decoded { images, skipped } = self.decoder.finish(store.path(), broken)?;
        for (name, content) in images {
            let (sample, _) = sample_and_extension(&name);
            let images = match self.images[sample].0 {
                Part::Train => &mut train,
                part if part == held_out => &mut test,
                _ => continue,
            };
            let label = self.labels.get(sample).and_then(|label| numbers.get(label.as_str()));
            shelf.put(images, &name, content, label.copied());
        }
        shelf.finish([&mut train, &mut test], store.limits(), self.stream.unwrap_or(CacheBytes(0)));
        check_enough(store.path(), &train)?;
        Ok(ImageData {
            name: String::new(),
            train,
            test,
            skipped,
        })
    }

    /// The labels of train, which must include the labels of test: numbers in their order, or words in alphabetical order.
    fn classes(&self, store: &Store, held_out: Part) -> Result<Vec<String>, ImageError> {
        let used = || {
            self.images
                .iter()
                .filter(|(_, (part, _))| [Part::Train, held_out].contains(part))
        };
        let missing = used().find(|(sample, _)| !self.labels.contains_key(*sample));
        let labels = |wanted| {
            let of_part = used().filter(move |(_, (part, _))| *part == wanted);
            of_part
                .filter_map(|(sample, _)| self.labels.get(sample))
                .collect::<BTreeSet<_>>()
        };
        let [train, test] = [Part::Train, held_out].map(labels);
        match missing {
            Some(_) if train.is_empty() && test.is_empty() => return Ok(Vec::new()),
            Some((_, (_, at))) => {
                let remedy = "Add a file of the same name that ends in .cls, or remove all .cls files";
                return Err(ImageError::file(
                    at,
                    format!("the image has no label, but others have. {remedy}"),
                ));
            }
            None => {}
        }
        let mut classes: Vec<String> = train.iter().map(ToString::to_string).collect();
        if let Some(class) = test.difference(&train).next() {
            return Err(untrained_class(store.path(), class, &classes));
        }
        if classes.iter().all(|class| class.parse::<u64>().is_ok()) {
            classes.sort_by_key(|class| class.parse::<u64>().ok());
        }
        Ok(classes)
    }
}

/// Splits the path of a file after the first dot of its last part: `a/0001.seg.png` is `seg.png` of the sample `a/0001`.
fn sample_and_extension(name: &str) -> (&str, String) {
    let file = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[file..].find('.') {
        Some(dot) => (&name[..file + dot], name[file + dot + 1..].to_ascii_lowercase()),
        None => (name, String::new()),
    }
}

/// Reads a label: one line of text, most often a number.
fn label(entry: &mut Entry) -> Result<String, ImageError> {
    let text = Text::read(entry)?;
    let mut lines = text.lines();
    match (lines.next(), lines.next()) {
        (Some((_, label)), None) => Ok(label.to_string()),
        _ => Err(ImageError::file(
            &entry.at,
            "the label must be one line of text, such as a class number. Correct the file",
        )),
    }
}
