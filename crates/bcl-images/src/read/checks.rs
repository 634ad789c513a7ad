//! What is checked in several formats.

use crate::Collection;
use crate::error::{ImageError, did_you_mean};
use crate::subset::most_alike;
use bcl_files::archive::{ArchiveError, FileLocation};
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

/// The error for fewer than two training images.
pub(crate) fn too_few_images(path: &Path, found: usize) -> ImageError {
    let what = format!("train has {found} image(s), but at least two are needed, because training compares images");
    ImageError::path(path, format!("{what}. Add images"))
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

/// Returns an error if there are fewer than two training images.
pub(super) fn check_enough(path: &Path, train: &Collection) -> Result<(), ImageError> {
    match train.len() {
        found @ 0..=1 => Err(too_few_images(path, found)),
        _ => Ok(()),
    }
}
