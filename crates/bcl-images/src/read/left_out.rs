//! Counts files that are left out, so that the user is told once.

use crate::error::excerpt;

/// Files that were left out for one reason.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    count: usize,
    /// The first names in alphabetical order.
    first: Vec<String>,
}

/// More names than these help nobody.
const LISTED: usize = 5;

impl LeftOut {
    pub(super) fn add(&mut self, name: &str) {
        self.count += 1;
        let place = self.first.partition_point(|other| other.as_str() < name);
        if place < LISTED {
            self.first.insert(place, name.to_owned());
            self.first.truncate(LISTED);
        }
    }

    /// A sentence about the files, without its full stop: `2 files WHAT: a.txt, b.txt`. `None` if there are none.
    pub(super) fn note(&self, thing: &str, what: &str) -> Option<String> {
        let plural = if self.count == 1 { "" } else { "s" };
        let more = if self.count > LISTED { ", …" } else { "" };
        let listed = excerpt(&self.first.join(", "));
        (self.count > 0).then(|| format!("{} {thing}{plural} {what}: {listed}{more}", self.count))
    }
}

/// What to say of images that stay turned.
pub(super) fn note_of_turned(turned: usize) -> Option<String> {
    (turned > 0).then(|| {
        format!(
            "{turned} images have an orientation in their Exif metadata, which is not applied; set data.orientation = \"exif\" to turn them upright"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_the_first_are_named() {
        let mut files = LeftOut::default();
        assert_eq!(files.note("file", "are no images"), None);
        files.add("b");
        assert_eq!(files.note("file", "left out").unwrap(), "1 file left out: b");
        for name in ["g", "c", "a", "f", "e", "d"] {
            files.add(name);
        }
        assert_eq!(files.note("file", "left out").unwrap(), "7 files left out: a, b, c, d, e, …");
    }
}
