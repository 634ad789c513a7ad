//! Small text files that come with images: class names and annotations.

use super::store::Entry;
use crate::error::ImageError;
use bcl_files::archive::FileLocation;
use std::collections::HashSet;

/// Size limit in bytes, larger than any such file.
const LARGEST: u64 = 16 << 20;

/// A text file and its location.
pub(super) struct Text {
    pub(super) at: FileLocation,
    text: String,
}

impl Text {
    pub(super) fn read(entry: &mut Entry) -> Result<Self, ImageError> {
        let bytes = entry.bytes(LARGEST)?;
        let at = entry.at.clone();
        let text = String::from_utf8(bytes).map_err(|_| {
            let remedy = "Fetch or unpack it again, or convert it, for example with `iconv -f LATIN1 -t UTF-8`";
            ImageError::file(&at, format!("is not UTF-8 text. {remedy}"))
        })?;
        Ok(Self { at, text })
    }

    /// The lines that are not blank, trimmed, with their numbers from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..)
            .zip(self.text.lines().map(str::trim))
            .filter(|(_, line)| !line.is_empty())
    }

    /// Reads `expected` different class names, one per line.
    pub(super) fn class_names(&self, expected: usize) -> Result<Vec<String>, ImageError> {
        let names: Vec<String> = self.lines().map(|(_, line)| line.to_string()).collect();
        let found = names.iter().collect::<HashSet<_>>().len();
        if found == expected && names.len() == expected {
            return Ok(names);
        }
        let problem = format!("names {found} different classes, but the data set has {expected}. Fetch or unpack it again");
        Err(ImageError::file(&self.at, problem))
    }
}
