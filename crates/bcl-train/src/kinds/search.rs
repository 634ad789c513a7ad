//! What is asked about a folder of images.

use crate::cli::{Duplicates, Neighbours, Searched, Subset};

/// A question about a folder of images, with its arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Search<'a> {
    /// Which images are most similar to given ones.
    Neighbours(&'a Neighbours),
    /// Which images are near-duplicates.
    Duplicates(&'a Duplicates),
    /// Which images are a diverse subset.
    Subset(&'a Subset),
}

impl<'a> Search<'a> {
    /// The verb that asks.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Neighbours(_) => "neighbours",
            Self::Duplicates(_) => "duplicates",
            Self::Subset(_) => "subset",
        }
    }

    /// Which images are searched.
    pub fn searched(&self) -> &'a Searched {
        match self {
            Self::Neighbours(args) => &args.searched,
            Self::Duplicates(args) => &args.searched,
            Self::Subset(args) => &args.searched,
        }
    }
}
