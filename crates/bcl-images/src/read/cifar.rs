//! The binary versions of CIFAR-10 and CIFAR-100: one or two label bytes, then 32x32 pixels of red, green and blue planes.

use super::checks::{EMPTY, MEMORY, check_not_empty, cut_short, label_out_of_range, missing_part, once};
use super::store::{Entry, Store};
use super::text::Text;
use crate::error::ImageError;
use crate::{Collection, Image, ImageData};
use bcl_files::archive::{FileLocation, shallow};

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;

/// The differences between the two data sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    train: &'static [&'static str],
    test: &'static str,
    names: &'static str,
    /// Number of values of each label byte; the last one is the class.
    labels: &'static [usize],
    archive: &'static str,
}

pub(crate) const CIFAR10: Layout = Layout {
    train: &[
        "data_batch_1.bin",
        "data_batch_2.bin",
        "data_batch_3.bin",
        "data_batch_4.bin",
        "data_batch_5.bin",
    ],
    test: "test_batch.bin",
    names: "batches.meta.txt",
    labels: &[10],
    archive: "CIFAR-10 is read from its binary version, `cifar-10-binary.tar.gz`, packed or fully unpacked",
};

pub(crate) const CIFAR100: Layout = Layout {
    train: &["train.bin"],
    test: "test.bin",
    names: "fine_label_names.txt",
    labels: &[20, 100],
    archive: "CIFAR-100 is read from its binary version, `cifar-100-binary.tar.gz`, packed or fully unpacked",
};

/// The images of one file.
pub(super) struct Batch {
    at: FileLocation,
    /// The class of each image.
    labels: Vec<u8>,
    /// `[images, 32, 32, 3]`.
    pixels: Vec<u8>,
}

/// Reads the data set from a folder or archive.
pub(crate) fn read(store: &Store, layout: &Layout) -> Result<ImageData, ImageError> {
    let mut train: Vec<Option<Batch>> = layout.train.iter().map(|_| None).collect();
    let (mut test, mut names) = (None, None);
    let mut left = store.limits().pixels;
    store.for_each(&mut |entry| {
        let name = entry.name.clone();
        let Some(file) = shallow(&name).filter(|_| !entry.is_folder) else {
            return Ok(());
        };
        let slot = match layout.train.iter().position(|known| *known == file) {
            Some(batch) => &mut train[batch],
            None if file == layout.test => &mut test,
            None if file == layout.names => return once(&mut names, Text::read(entry)?, &entry.at),
            None => return Ok(()),
        };
        let batch = Batch::read(entry, layout, left)?;
        left -= batch.pixels.len() as u64;
        once(slot, batch, &entry.at)
    })?;

    let missing = |file: &str| missing_part(store.path(), file, layout.archive);
    let names = names.ok_or_else(|| missing(layout.names))?;
    let classes = names.class_names(layout.labels[layout.labels.len() - 1])?;
    let mut data = ImageData {
        name: String::new(),
        train: Collection::new(classes.clone()),
        test: Collection::new(classes),
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    for (batch, file) in train.into_iter().zip(layout.train) {
        batch.ok_or_else(|| missing(file))?.pour(&mut data.train);
    }
    test.ok_or_else(|| missing(layout.test))?.pour(&mut data.test);
    check_not_empty(store.path(), &data.train)?;
    Ok(data)
}

impl Batch {
    /// Reads one file; its pixels may take at most `limit` bytes.
    pub(super) fn read(entry: &mut Entry, layout: &Layout, limit: u64) -> Result<Self, ImageError> {
        let num_labels = layout.labels.len();
        let mut batch = Batch {
            at: entry.at.clone(),
            labels: Vec::new(),
            pixels: Vec::new(),
        };
        let mut record = vec![0; num_labels + 3 * PLANE];
        for number in 0_u64.. {
            let filled = entry.fill(&mut record)?;
            if filled == 0 {
                break;
            }
            if filled < record.len() {
                return Err(cut_short(&batch.at, number, record.len(), filled));
            }
            let (labels, planes) = record.split_at(num_labels);
            batch.check_labels(labels, layout, number as usize, record.len())?;
            batch.labels.extend_from_slice(labels);
            for pixel in 0..PLANE {
                batch.pixels.extend([0, 1, 2].map(|plane| planes[plane * PLANE + pixel]));
            }
            let found = batch.pixels.len() as u64;
            if found > limit {
                return Err(ImageError::too_much(&batch.at, MEMORY, found, limit));
            }
        }
        if batch.labels.is_empty() {
            return Err(ImageError::file(&batch.at, EMPTY));
        }
        batch.labels = batch.labels.into_iter().skip(num_labels - 1).step_by(num_labels).collect();
        Ok(batch)
    }

    fn check_labels(&self, labels: &[u8], layout: &Layout, record: usize, record_bytes: usize) -> Result<(), ImageError> {
        for (position, (&label, &values)) in labels.iter().zip(layout.labels).enumerate() {
            if usize::from(label) >= values {
                let byte = record * record_bytes + position;
                return Err(label_out_of_range(&self.at, record, byte, label, [0, values - 1]));
            }
        }
        Ok(())
    }

    /// Adds the images to `collection`.
    fn pour(self, collection: &mut Collection) {
        for (record, (pixels, label)) in self.pixels.chunks_exact(3 * PLANE).zip(self.labels).enumerate() {
            collection.push_named(
                &format!("{}#{record}", self.at.file_name()),
                Image {
                    width: SIDE,
                    height: SIDE,
                    pixels,
                },
                Some(u32::from(label)),
            );
        }
    }
}
