//! The parts of a data set, by the names of their folders.

use std::collections::{BTreeMap, BTreeSet};

/// A part of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Train,
    Test,
    Val,
}

/// The words for each part in names of folders and shards. The first ones name a part also where no other part is beside it.
const WORDS: [(Part, &[&str], &[&str]); 3] = [
    (Part::Train, &["train", "training"], &["trn", "trainset"]),
    (Part::Test, &["test", "testing"], &["tst", "testset"]),
    (
        Part::Val,
        &["val", "validation"],
        &["valid", "validate", "dev", "eval", "evaluation", "holdout", "valset"],
    ),
];
/// Words that say nothing beside the word for a part: `train_set`, `Test Images`.
const NEUTRAL: [&str; 14] = [
    "set", "data", "dataset", "split", "part", "folder", "image", "images", "img", "imgs", "picture", "pictures", "photo",
    "photos",
];
/// Most folders around the parts.
const MOST_AROUND: usize = 2;

impl Part {
    /// The part with this key, which [`name`](Self::name) gives.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        [Self::Train, Self::Test, Self::Val]
            .into_iter()
            .find(|part| part.name() == key)
    }

    /// The part of a shard, by a word of its path, such as `imagenet-val-000003.tar`; train if there is none.
    pub(super) fn of_shard(path: &str) -> Self {
        words(path).find_map(|word| Self::of_word(&word)).unwrap_or(Self::Train)
    }

    fn of_word(word: &str) -> Option<Self> {
        let known = WORDS
            .iter()
            .find(|(_, firm, other)| firm.contains(&word) || other.contains(&word));
        known.map(|(part, ..)| *part)
    }

    /// The usual name of its folder.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
            Self::Val => "val",
        }
    }
}

/// The words of a name in lower case.
fn words(name: &str) -> impl Iterator<Item = String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphabetic());
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

/// The name of a folder that contains the word for a part.
struct PartName {
    part: Part,
    /// The other words, without neutral ones: `seg` of `seg_train`.
    rest: Vec<String>,
    /// Whether the name is the part's, whatever is beside the folder.
    is_firm: bool,
}

impl PartName {
    /// `None` if no word, or more than one, stands for a part.
    fn of(folder: &str) -> Option<Self> {
        // Letters beyond ASCII are words that are not known.
        if !folder.is_ascii() {
            return None;
        }
        let (of_part, rest): (Vec<String>, Vec<String>) = words(folder).partition(|word| Part::of_word(word).is_some());
        let [word] = &of_part[..] else { return None };
        let part = Part::of_word(word)?;
        let is_firm = WORDS.iter().any(|(_, firm, _)| firm.contains(&&*folder.to_ascii_lowercase()));
        let rest = rest.into_iter().filter(|word| !NEUTRAL.contains(&&**word)).collect();
        Some(Self { part, rest, is_firm })
    }
}

/// Finds the folders of parts among the paths of all folders, at most two folders deep.
///
/// A folder is a part if it is called `train`, `test` or `val` (or `training`, `Testing`, `validation`), or if its name has a word for a part and
/// training and held-out images are beside each other under such names, as in `seg_train` and `seg_test`.
pub(super) fn parts(folders: &BTreeSet<String>) -> BTreeMap<String, Part> {
    // Folders beside each other whose names are equal but for the word for a part.
    let mut groups: BTreeMap<_, Vec<(&str, Part)>> = BTreeMap::new();
    let mut parts = BTreeMap::new();
    for path in folders {
        let (around, folder) = path.rsplit_once('/').unwrap_or(("", path));
        let deep = around.split('/').filter(|part| !part.is_empty()).count();
        let Some(name) = PartName::of(folder).filter(|_| deep <= MOST_AROUND) else {
            continue;
        };
        if name.is_firm {
            parts.insert(path.clone(), name.part);
        }
        groups.entry((around, name.rest)).or_default().push((path, name.part));
    }
    for group in groups.values() {
        let is_train = |(_, part): &(&str, Part)| *part == Part::Train;
        if group.iter().any(is_train) && !group.iter().all(is_train) {
            parts.extend(group.iter().map(|(path, part)| ((*path).to_owned(), *part)));
        }
    }
    parts
}

/// Whether a folder that is not a part, and whose images are for training, seems to hold images for testing: `test_images` beside `cat`.
pub(super) fn seems_held_out(folder: &str) -> bool {
    PartName::of(folder).is_some_and(|name| {
        let firm = WORDS
            .iter()
            .filter(|(part, ..)| *part != Part::Train)
            .map(|(_, firm, _)| *firm);
        let has_firm_word = words(folder).any(|word| firm.clone().any(|firm| firm.contains(&&*word)));
        name.rest.is_empty() && has_firm_word
    })
}

/// Whether a folder inside the folder of a part may be one more folder around its images: `train/train`, `train/images`.
pub(super) fn is_around(part: Part, folder: &str) -> bool {
    let is_neutral = folder.is_ascii() && words(folder).all(|word| NEUTRAL.contains(&&*word)) && words(folder).next().is_some();
    is_neutral || PartName::of(folder).is_some_and(|name| name.part == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folders: &[&str]) -> Vec<(String, Part)> {
        parts(&folders.iter().map(ToString::to_string).collect())
            .into_iter()
            .collect()
    }

    #[test]
    fn parts_have_many_names() {
        for [train, test] in [
            ["train", "test"],
            ["Train", "Test"],
            ["TRAINING", "TESTING"],
            ["train_set", "test_set"],
            ["seg_train", "seg_test"],
            ["Training Images", "test1"],
            ["train2017", "test2017"],
            ["a/b/train", "a/b/Test"],
        ] {
            let expected = [(train.to_owned(), Part::Train), (test.to_owned(), Part::Test)];
            let mut found = found(&[train, test, "other"]);
            found.sort_by_key(|(_, part)| *part);
            assert_eq!(found, expected);
        }
        for val in ["val", "valid", "Validation", "dev", "val_images", "holdout"] {
            assert_eq!(
                found(&["train", val]).iter().filter(|(_, part)| *part == Part::Val).count(),
                1,
                "{val}"
            );
        }
    }

    #[test]
    fn classes_are_no_parts() {
        for classes in [
            ["valid", "invalid"],
            ["dev", "ops"],
            ["train station", "bus station"],
            ["test tube", "beaker"],
            ["steam train", "pregnancy test"],
        ] {
            assert_eq!(found(&classes), [], "{classes:?}");
        }
        assert!(!seems_held_out("test tube") && !seems_held_out("valid") && !seems_held_out("cat"));
        assert!(seems_held_out("test_images") && seems_held_out("Test-1"));
    }

    #[test]
    fn shards_are_held_out_by_any_word_for_a_part() {
        for (path, part) in [
            ("imagenet-val-000003.tar", Part::Val),
            ("Valid/0.tar", Part::Val),
            ("dev-0.tar", Part::Val),
            ("TESTING_1.tar", Part::Test),
            ("pets-0.tar", Part::Train),
            ("constest-0.tar", Part::Train),
        ] {
            assert_eq!(Part::of_shard(path), part, "{path}");
        }
    }
}
