//! The binary version of STL-10: 96x96 pixels of red, green and blue planes, column by column; labels from 1 in a separate file.

use super::checks::{EMPTY, MEMORY, check_not_empty, cut_short, label_out_of_range, missing_part, once};
use super::store::{Entry, Store};
use super::text::Text;
use crate::error::ImageError;
use crate::{Collection, Image, ImageData};
use bcl_files::archive::{FileLocation, shallow};

const SIDE: usize = 96;
const PLANE: usize = SIDE * SIDE;
const RECORD: usize = 3 * PLANE;
const CLASSES: usize = 10;
/// Images allocated and freed together: the unlabelled ones alone take 2.6 GiB.
const BLOCK: usize = 256;

const ARCHIVE: &str = "STL-10 is read from its binary version, `stl10_binary.tar.gz`, packed or fully unpacked";
const UNLABELLED: &str = "Fetch or unpack it again, or set `unlabelled = false` to train on the labelled images alone";

/// The images of one file, `[96, 96, 3]` each.
pub(super) struct Images {
    at: FileLocation,
    blocks: Vec<Vec<u8>>,
    len: usize,
}

/// The labels of one file, from 0.
pub(super) struct Labels {
    at: FileLocation,
    labels: Vec<u8>,
}

/// Reads the data set from a folder or archive. The labelled training images come before the unlabelled ones.
pub(crate) fn read(store: &Store, unlabelled: bool) -> Result<ImageData, ImageError> {
    let (mut train_x, mut train_y, mut test_x, mut test_y, mut unlabelled_x, mut names) = (None, None, None, None, None, None);
    let mut left = store.limits().pixels;
    store.for_each(&mut |entry| {
        let name = entry.name.clone();
        let Some(file) = shallow(&name).filter(|_| !entry.is_folder) else {
            return Ok(());
        };
        let slot = match file {
            "train_X.bin" => &mut train_x,
            "test_X.bin" => &mut test_x,
            "unlabeled_X.bin" if unlabelled => &mut unlabelled_x,
            "train_y.bin" => return once(&mut train_y, Labels::read(entry)?, &entry.at),
            "test_y.bin" => return once(&mut test_y, Labels::read(entry)?, &entry.at),
            "class_names.txt" => return once(&mut names, Text::read(entry)?, &entry.at),
            _ => return Ok(()),
        };
        let images = Images::read(entry, left)?;
        left -= (images.len * RECORD) as u64;
        once(slot, images, &entry.at)
    })?;

    let missing = |file: &str, remedy| missing_part(store.path(), file, remedy);
    let train_x = train_x.ok_or_else(|| missing("train_X.bin", ARCHIVE))?;
    let train_y = train_y.ok_or_else(|| missing("train_y.bin", ARCHIVE))?;
    let test_x = test_x.ok_or_else(|| missing("test_X.bin", ARCHIVE))?;
    let test_y = test_y.ok_or_else(|| missing("test_y.bin", ARCHIVE))?;
    let names = names.ok_or_else(|| missing("class_names.txt", ARCHIVE))?;
    let classes = names.class_names(CLASSES)?;

    let mut data = ImageData {
        name: String::new(),
        train: Collection::new(classes.clone()),
        test: Collection::new(classes),
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    train_x.pour(Some(&train_y), &mut data.train)?;
    test_x.pour(Some(&test_y), &mut data.test)?;
    if unlabelled {
        let images = unlabelled_x.ok_or_else(|| missing("unlabeled_X.bin", UNLABELLED))?;
        images.pour(None, &mut data.train)?;
    }
    check_not_empty(store.path(), &data.train)?;
    Ok(data)
}

impl Images {
    /// Reads one file; its pixels may take at most `limit` bytes.
    pub(super) fn read(entry: &mut Entry, limit: u64) -> Result<Self, ImageError> {
        let mut images = Images {
            at: entry.at.clone(),
            blocks: Vec::new(),
            len: 0,
        };
        let mut record = vec![0; RECORD];
        loop {
            match entry.fill(&mut record)? {
                0 if images.len == 0 => return Err(ImageError::file(&images.at, EMPTY)),
                0 => return Ok(images),
                RECORD => images.push(&record),
                filled => return Err(cut_short(&images.at, images.len as u64, RECORD, filled)),
            }
            let found = (images.len * RECORD) as u64;
            if found > limit {
                return Err(ImageError::too_much(&images.at, MEMORY, found, limit));
            }
        }
    }

    /// Adds an image in the order of the file: columns of the red, green and blue planes.
    fn push(&mut self, record: &[u8]) {
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(Vec::new());
        }
        self.len += 1;
        let block = self.blocks.last_mut().expect("there is one by now");
        for row in 0..SIDE {
            for column in 0..SIDE {
                block.extend([0, 1, 2].map(|plane| record[plane * PLANE + column * SIDE + row]));
            }
        }
    }

    /// Moves the images to `collection`, freeing memory on the way.
    pub(super) fn pour(self, labels: Option<&Labels>, collection: &mut Collection) -> Result<(), ImageError> {
        if let Some(Labels { at, labels }) = labels.filter(|labels| labels.labels.len() != self.len) {
            let (labels, images) = (labels.len(), self.len);
            let remedy = "Both files must be of the same release: fetch or unpack them again";
            return Err(ImageError::file(at, format!("{labels} labels for {images} images. {remedy}")));
        }
        let mut labels = labels.map(|labels| labels.labels.iter());
        let file = self.at.file_name();
        let mut record = 0;
        for block in self.blocks {
            for pixels in block.chunks_exact(RECORD) {
                let label = labels.as_mut().and_then(Iterator::next).map(|&label| u32::from(label));
                let name = format!("{file}#{record}");
                record += 1;
                collection.push_named(
                    &name,
                    Image {
                        width: SIDE,
                        height: SIDE,
                        pixels,
                    },
                    label,
                );
            }
        }
        Ok(())
    }
}

impl Labels {
    /// Reads one file: one byte per image, from 1 to 10.
    pub(super) fn read(entry: &mut Entry) -> Result<Self, ImageError> {
        let at = entry.at.clone();
        let labels = entry.bytes(1 << 20)?;
        let in_range = |label: &u8| (1..=CLASSES).contains(&usize::from(*label));
        match labels.iter().position(|label| !in_range(label)) {
            Some(record) => Err(label_out_of_range(&at, record, record, labels[record], [1, CLASSES])),
            None => Ok(Self {
                at,
                labels: labels.into_iter().map(|label| label - 1).collect(),
            }),
        }
    }
}
