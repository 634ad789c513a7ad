//! What a reader found of an image: its pixels, or where they are.

use super::streamed::{CacheBytes, Files};
use super::{limits::Limits, origin::Origin, picture::Picture};
use crate::Collection;
use std::sync::Arc;

/// An image, or the file it can be decoded from.
pub(crate) enum Content {
    /// Decoded.
    Pixels(Picture),
    /// Listed.
    File(Origin),
}

/// Puts images into collections, which share the files of listed ones.
#[derive(Default)]
pub(super) struct Shelf {
    origins: Vec<Origin>,
}

impl Shelf {
    /// Adds an image to a collection.
    pub(super) fn put(&mut self, collection: &mut Collection, name: &str, content: Content, label: Option<u32>) {
        match content {
            Content::Pixels(picture) => collection.push_named(name, picture.as_image(), label),
            Content::File(origin) => {
                collection.push_file(name, self.origins.len(), origin.size(), label);
                self.origins.push(origin);
            }
        }
    }

    /// Gives the collections their files. All of them share a cache.
    pub(super) fn finish(self, collections: [&mut Collection; 2], limits: Limits, cache: CacheBytes) {
        if self.origins.is_empty() {
            return;
        }
        let files = Arc::new(Files::new(self.origins, limits, cache));
        for collection in collections {
            collection.open_files(files.clone());
        }
    }
}
