//! Shards in the layout of the `WebDataset` library: files that share a name up to its first dot are one sample, and `.cls` is its label.

use super::batch::{Decoded, Decoder, Reading};
use super::checks::{check_look_alikes, check_not_empty, untrained_class};
use super::content::Shelf;
use super::kind::{Kind, LABEL, if_readable, is_beside};
use super::layout::Layout;
use super::left_out::{LeftOut, note_of_turned};
use super::part::Part;
use super::store::{Entry, Store};
use super::streamed::CacheBytes;
use super::text::Text;
use crate::error::ImageError;
use crate::{Collection, ImageData};
use bcl_files::archive::{ArchiveError, FileLocation};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Reads the shards of a folder, or a single archive with labels beside its images.
pub(super) fn read(store: &Store, layout: &Layout, reading: Reading) -> Result<ImageData, ImageError> {
    let mut samples = Samples {
        stream: reading.stream,
        decoder: Decoder::new(store.limits(), reading.decoding),
        images: BTreeMap::new(),
        labels: HashMap::new(),
        labels_alone: HashMap::new(),
        with_dots: BTreeMap::new(),
        no_images: LeftOut::default(),
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
    samples.finish(store, reading)
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
    /// Maps samples to the files of their labels until their images are found: few at a time, because the files of a sample are neighbours.
    labels_alone: HashMap<String, FileLocation>,
    /// Maps samples to the first of their images with more than one extension.
    with_dots: BTreeMap<String, FileLocation>,
    /// Files that are of no kind that samples have.
    no_images: LeftOut,
}

impl Samples {
    fn take(&mut self, part: Part, name: &str, entry: &mut Entry) -> Result<(), ImageError> {
        if entry.is_folder {
            return Ok(());
        }
        let (sample, extension) = sample_and_extension(name);
        if extension == LABEL {
            let label = label(entry)?;
            if !self.images.contains_key(sample) {
                self.labels_alone.insert(sample.to_owned(), entry.at.clone());
            }
            return match self.labels.insert(sample.to_string(), label) {
                Some(_) => Err(ArchiveError::twice(entry.at.clone()).into()),
                None => Ok(()),
            };
        }
        let kind = if_readable(Kind::of(entry))?;
        if kind == Kind::Other {
            // Texts beside images are what shards usually have.
            if !is_beside(&extension) {
                self.no_images.add(name);
            }
            return Ok(());
        }
        // With two extensions it is something else of the sample, such as `mask.png`.
        if extension.contains('.') {
            self.with_dots.entry(sample.to_owned()).or_insert_with(|| entry.at.clone());
            return Ok(());
        }
        if self.images.insert(sample.to_string(), (part, entry.at.clone())).is_some() {
            return Err(ImageError::file(
                &entry.at,
                "its sample has another image already. Keep one image per name, or give the others a second extension (1.mask.png)",
            ));
        }
        self.labels_alone.remove(sample);
        match (kind, self.stream) {
            (Kind::OtherImage(what), _) => self
                .decoder
                .reject(name.to_string(), ImageError::not_an_image(&entry.at, &what)),
            (_, Some(_)) => self.decoder.list(name.to_string(), entry),
            (_, None) => self.decoder.push(name.to_string(), entry),
        }
    }

    /// Refuses images whose names have dots, unless they belong to another image.
    fn check_dots(&self) -> Result<(), ImageError> {
        let mut alone = self.with_dots.iter().filter(|(sample, _)| !self.images.contains_key(*sample));
        let Some((sample, at)) = alone.next() else { return Ok(()) };
        let sample = sample_name(sample);
        let file = at.file_name();
        let extension = &file[(sample.len() + 1).min(file.len())..];
        Err(ImageError::file(
            at,
            format!(
                "in shards, the name of a sample ends at its first dot, so this is the file `{extension}` of the sample `{sample}`, which has no \
                 image. Pack the files under names without other dots ({} for {file})",
                file.replacen('.', "_", file.matches('.').count().saturating_sub(1))
            ),
        ))
    }

    /// Counts labels whose image is missing as broken images: otherwise samples would be lost without a word.
    fn reject_labels_alone(&mut self) -> Result<(), ImageError> {
        for (sample, at) in std::mem::take(&mut self.labels_alone) {
            let error = ImageError::no_image_of_label(&at, sample_name(&sample));
            self.decoder.reject(format!("{sample}.{LABEL}"), error)?;
        }
        Ok(())
    }

    fn finish(mut self, store: &Store, reading: Reading) -> Result<ImageData, ImageError> {
        self.check_dots()?;
        self.reject_labels_alone()?;
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
        let Decoded { images, skipped, turned } = self.decoder.finish(store.path(), reading.broken)?;
        let mut unused = LeftOut::default();
        for (name, content) in images {
            let (sample, _) = sample_and_extension(&name);
            let images = match self.images[sample].0 {
                Part::Train => &mut train,
                part if part == held_out => &mut test,
                _ => {
                    unused.add(&name);
                    continue;
                }
            };
            let label = self.labels.get(sample).and_then(|label| numbers.get(label.as_str()));
            shelf.put(images, &name, content, label.copied());
        }
        shelf.finish([&mut train, &mut test], store.limits(), self.stream.unwrap_or(CacheBytes(0)));
        check_not_empty(store.path(), &train)?;
        Ok(ImageData {
            name: String::new(),
            train,
            test,
            skipped,
            notes: [
                self.no_images
                    .note("file", "left out, because they are neither images nor labels"),
                unused.note("image", "of val left out, because there is a test"),
                note_of_turned(turned),
            ]
            .into_iter()
            .flatten()
            .collect(),
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
        check_look_alikes(store.path(), train.union(&test).copied())?;
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

/// The name of a sample without its shard and its folder.
fn sample_name(sample: &str) -> &str {
    sample.rsplit_once('/').map_or(sample, |(_, name)| name)
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
