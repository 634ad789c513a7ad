//! What is checked in several formats.

use crate::Collection;
use crate::error::{ImageError, did_you_mean, excerpt};
use crate::subset::most_alike;
use bcl_files::archive::{ArchiveError, FileLocation};
use std::collections::BTreeSet;
use std::path::Path;

/// Fills `slot`; returns an error if it has been filled before.
pub(super) fn once<T>(slot: &mut Option<T>, value: T, at: &FileLocation) -> Result<(), ImageError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(ArchiveError::twice(at.clone()).into()),
    }
}

/// What exceeds the limit of [`ImageError::too_much`].
pub(super) const MEMORY: &str = "the memory for its images in bytes";
/// The error of a file without an image.
pub(super) const EMPTY: &str = "the file is empty. Fetch or unpack it again";

/// The error for a missing file of the format.
pub(super) fn missing_part(path: &Path, file: &str, remedy: &str) -> ImageError {
    ImageError::path(path, format!("no file {file} in it. {remedy}"))
}

/// The error for a file that ends `filled` bytes into an image.
pub(super) fn cut_short(at: &FileLocation, record: u64, record_bytes: usize, filled: usize) -> ImageError {
    let start = record * record_bytes as u64;
    let bytes = start + filled as u64;
    ImageError::file(
        at,
        format!(
            "has {bytes} bytes, which is not a multiple of the {record_bytes} of an image: image {record}, from byte {start}, is cut \
             short. Fetch or unpack it again; it may also be a file of another data set"
        ),
    )
}

/// The error for a label out of range.
pub(super) fn label_out_of_range(
    at: &FileLocation,
    record: usize,
    byte: usize,
    label: u8,
    [low, high]: [usize; 2],
) -> ImageError {
    ImageError::file(
        at,
        format!(
            "image {record} has the label {label} at byte {byte}, but labels are {low} to {high}. Check that it is a file of this \
             data set, and fetch it again"
        ),
    )
}

/// The error for a class of test that train does not have.
pub(super) fn untrained_class(path: &Path, class: &str, classes: &[String]) -> ImageError {
    let suggestion = did_you_mean(most_alike(class, classes));
    ImageError::path(
        path,
        format!(
            "class `{class}` is in test but not in train{suggestion} Both must use the same class names; rename or remove it"
        ),
    )
}

/// Returns an error if two class names look alike and differ in their Unicode form: macOS writes `é` as two characters, other systems as one.
pub(super) fn check_look_alikes<'a>(path: &Path, classes: impl Iterator<Item = &'a String>) -> Result<(), ImageError> {
    let not_ascii: BTreeSet<&String> = classes.filter(|class| !class.is_ascii()).collect();
    let not_ascii: Vec<&String> = not_ascii.into_iter().collect();
    for (index, first) in not_ascii.iter().enumerate() {
        if let Some(second) = not_ascii[index + 1..].iter().find(|second| look_alike(first, second)) {
            return Err(ImageError::path(
                path,
                format!(
                    "the classes `{}` ({}) and `{}` ({}) look alike, but differ in their Unicode form (NFC, NFD). Give both the same form: \
                     `convmv -f utf8 -t utf8 --nfc -r --notest FOLDER`, or rename one of them",
                    excerpt(first),
                    code_points(first),
                    excerpt(second),
                    code_points(second)
                ),
            ));
        }
    }
    Ok(())
}

/// The code points beyond ASCII, which show how the names differ.
fn code_points(name: &str) -> String {
    let points = name.chars().filter(|letter| !letter.is_ascii());
    let points: Vec<String> = points.take(4).map(|letter| format!("U+{:04X}", u32::from(letter))).collect();
    points.join(" ")
}

/// Whether two names are equal but for letters that one of them composes of several characters. No table of letters is needed for that: a letter
/// with its marks stands against a single letter, while all others are equal.
fn look_alike(first: &str, second: &str) -> bool {
    let [first, second] = [first, second].map(letters);
    let is_one = |letter: &str| letter.chars().count() == 1 && !letter.is_ascii();
    let are_alike =
        |(a, b): (&&str, &&str)| a == b || (is_one(a) && b.chars().count() > 1) || (is_one(b) && a.chars().count() > 1);
    first.len() == second.len() && first != second && first.iter().zip(&second).all(are_alike)
}

/// Splits a name into letters with the marks behind them.
fn letters(name: &str) -> Vec<&str> {
    // Marks of Latin, Cyrillic and Greek; of kana; and the vowels and finals of Hangul syllables.
    let is_mark = |letter: char| matches!(letter, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{1160}'..='\u{11ff}');
    let starts = name.char_indices().filter(|(_, letter)| !is_mark(*letter)).map(|(at, _)| at);
    let starts: Vec<usize> = starts.chain([name.len()]).collect();
    starts.windows(2).map(|ends| &name[ends[0]..ends[1]]).collect()
}

/// Returns an error if there are no training images. One is enough to be searched; training checks that it has two.
pub(crate) fn check_not_empty(path: &Path, train: &Collection) -> Result<(), ImageError> {
    if train.is_empty() {
        return Err(ImageError::path(path, "train has no image that can be read. Add images"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_two_unicode_forms_look_alike() {
        for (first, second) in [
            ("caf\u{e9}", "cafe\u{301}"),
            ("\u{d55c}", "\u{1112}\u{1161}\u{11ab}"),
            ("\u{304c}", "\u{304b}\u{3099}"),
        ] {
            assert!(look_alike(first, second) && look_alike(second, first), "{first} {second}");
            let names = [first.to_owned(), "dog".to_owned(), second.to_owned()];
            let text = check_look_alikes(Path::new("pics"), names.iter()).unwrap_err().to_string();
            assert!(
                text.contains("pics") && text.contains("look alike") && text.contains("U+"),
                "{text}"
            );
        }
        for (first, second) in [
            ("café", "café"),
            ("café", "cafés"),
            ("cafe", "café"),
            ("é", "è"),
            ("über", "uber"),
        ] {
            assert!(!look_alike(first, second), "{first} {second}");
        }
    }
}
