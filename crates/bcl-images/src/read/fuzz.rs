//! Entry points for fuzzing: no input may panic, hang or fill the memory.

use super::store::{Entry, Store};
use super::streamed::CacheBytes;
use super::{Broken, Limits, Reading, cifar, image_folder, stl, tiny_imagenet};
use crate::Collection;
use crate::decoding::{Background, Decoding, Orientation};
use bcl_files::archive::FileLocation;
use std::path::Path;

/// Small limits, so that thousands of cases run per second.
const LIMITS: Limits = Limits {
    image_bytes: 1 << 20,
    side: 256,
    entries: 1000,
    unpacked: 16 << 20,
    pixels: 16 << 20,
};

/// An archive in any format, of any data set.
pub fn archive(bytes: &[u8]) {
    if let Ok(store) = Store::from_memory(Path::new("fuzzed"), bytes, LIMITS) {
        for stream in [None, Some(CacheBytes(1 << 20))] {
            let decoding = Decoding {
                background: Background::Grey,
                orientation: Orientation::Exif,
            };
            let reading = Reading {
                broken: Broken::Skip,
                stream,
                decoding,
            };
            let _ = image_folder::read(&store, reading);
        }
        let _ = cifar::read(&store, &cifar::CIFAR10);
        let _ = stl::read(&store, true);
        let _ = tiny_imagenet::read(&store);
    }
}

/// A file read as CIFAR-10 and as CIFAR-100.
pub fn cifar(bytes: &[u8]) {
    for layout in [cifar::CIFAR10, cifar::CIFAR100] {
        let _ = with_entry(bytes, |entry| cifar::Batch::read(entry, &layout, LIMITS.pixels).map(drop));
    }
}

/// A file of labels of STL-10, whose length is the first byte, then the file of their images.
pub fn stl(bytes: &[u8]) {
    let Some((&labels, rest)) = bytes.split_first() else { return };
    let (labels, images) = rest.split_at(rest.len().min(usize::from(labels)));
    let labels = with_entry(labels, stl::Labels::read);
    let images = with_entry(images, |entry| stl::Images::read(entry, LIMITS.pixels));
    if let (Ok(labels), Ok(images)) = (labels, images) {
        let mut collection = Collection::new((0..10).map(|class| class.to_string()).collect());
        let _ = images.pour(Some(&labels), &mut collection);
    }
}

fn with_entry<T>(mut bytes: &[u8], read: impl FnOnce(&mut Entry) -> T) -> T {
    let size = bytes.len() as u64;
    let at = FileLocation::file(Path::new("fuzzed"));
    read(&mut Entry {
        name: String::new(),
        at,
        is_folder: false,
        size,
        start: None,
        peeked: Vec::new(),
        content: &mut bytes,
    })
}
