//! Errors of images from outside.
//!
//! Each message says where (the file, and the entry of an archive), what is wrong, and what to do about it; `tests/bad_input.rs` checks
//! that.

use bcl_data::DataError;
use bcl_files::archive::{ArchiveError, FileLocation};
use bcl_files::input::NotRegular;
use std::io;
use std::path::{Path, PathBuf};

/// Why images cannot be used: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The data set is unknown, missing, or not one of images.
    #[error(transparent)]
    Data(#[from] DataError),

    /// A file or folder does not exist.
    #[error("{}: no such file or folder. Check the path; a relative one starts at the data folder.", path.display())]
    MissingFile {
        /// The path.
        path: PathBuf,
    },

    /// Images in a compressed archive cannot be decoded one by one.
    #[error("{}: is compressed, so its images cannot be read in any order. Unpack it (`tar -xf`), or name an uncompressed .tar file.", path.display())]
    Packed {
        /// The archive.
        path: PathBuf,
    },

    /// A single image file cannot be read.
    #[error("{at}: {problem}.")]
    Image {
        /// The file.
        at: FileLocation,
        /// The reason in a few words, for lists.
        reason: String,
        /// What is wrong, and what to do about it.
        problem: String,
    },

    /// Images cannot be read; lists all of them.
    #[error("{}", broken_images(path, *of, broken, *may_skip))]
    BrokenImages {
        /// The folder or archive.
        path: PathBuf,
        /// Number of image files.
        of: usize,
        /// The error of each, in the order of their names.
        broken: Vec<ImageError>,
        /// Whether the message may suggest to skip them.
        may_skip: bool,
    },

    /// Another file, a folder or an archive cannot be used.
    #[error("{at}: {problem}.")]
    File {
        /// The file.
        at: FileLocation,
        /// What is wrong, and what to do about it.
        problem: String,
    },

    /// A setting does not fit, or a line of a text file is invalid.
    #[error("{0}.")]
    Invalid(String),
}

/// The reason of [`ImageError::truncated`].
const TRUNCATED: &str = "truncated";

impl ImageError {
    /// A file, folder or archive that cannot be used.
    pub(crate) fn file(at: &FileLocation, problem: impl Into<String>) -> Self {
        Self::File {
            at: at.clone(),
            problem: problem.into(),
        }
    }

    /// Like [`file`](Self::file), of a path.
    pub(crate) fn path(path: &Path, problem: impl Into<String>) -> Self {
        Self::file(&FileLocation::file(path), problem)
    }

    /// A file that the system cannot read.
    pub(crate) fn io(at: FileLocation, source: io::Error) -> Self {
        ArchiveError::Io { at, source }.into()
    }

    /// Classifies a read error: the disk's or the archive's.
    pub(crate) fn reading(at: FileLocation, source: io::Error) -> Self {
        ArchiveError::reading(at, source).into()
    }

    /// A setting out of range.
    pub(crate) fn out_of_range(name: &str, value: impl std::fmt::Display, range: &str) -> Self {
        Self::Invalid(format!(
            "{name} is {value}, but must be in {range}. Change it in the recipe or with `--set {name}=…`"
        ))
    }

    fn image(at: &FileLocation, reason: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Image {
            at: at.clone(),
            reason: reason.into(),
            problem: problem.into(),
        }
    }

    /// A file that is not a JPEG, PNG or WebP image.
    pub(crate) fn not_an_image(at: &FileLocation, found: &str) -> Self {
        let problem = format!("is {found}, but only JPEG, PNG and WebP images are read. Convert it, or remove it");
        Self::image(at, found, problem)
    }

    /// An image file that ends too early.
    pub(crate) fn truncated(at: &FileLocation) -> Self {
        Self::image(at, TRUNCATED, "the image is truncated. Fetch or copy it again, or remove it")
    }

    /// An image that cannot be decoded.
    pub(crate) fn bad_image(at: &FileLocation, reason: &str) -> Self {
        let problem = format!("the image cannot be decoded: {reason}. Fetch it again, save it again as PNG, or remove it");
        Self::image(at, reason, problem)
    }

    /// The file `at` with the label of `sample`, which has no image.
    pub(crate) fn no_image_of_label(at: &FileLocation, sample: &str) -> Self {
        Self::image(
            at,
            "a label without an image",
            format!(
                "is the label of the sample `{sample}`, which has no image. Add the image (such as {sample}.jpg), or remove the label"
            ),
        )
    }

    /// An image in four colours, whose RGB values are not defined.
    pub(crate) fn four_colours(at: &FileLocation) -> Self {
        Self::image(
            at,
            "four colours (CMYK)",
            "is a JPEG in four colours (CMYK), whose RGB values depend on the printer. Convert it to RGB, or remove it",
        )
    }

    /// A size that exceeds its limit.
    pub(crate) fn too_much(at: &FileLocation, what: &str, found: u64, limit: u64) -> Self {
        let reason = format!("{what} is {found}, more than the limit of {limit}");
        let problem = format!("{reason}. Remove it, or split or shrink the data");
        Self::image(at, reason, problem)
    }

    /// Whether it is a [truncated](Self::truncated) image.
    pub(crate) fn is_truncated_image(&self) -> bool {
        matches!(self, Self::Image { reason, .. } if reason == TRUNCATED)
    }

    /// Whether the error concerns a single image file.
    pub(crate) fn is_of_one_image(&self) -> bool {
        matches!(self, Self::Image { .. })
    }

    /// Formats the error of a single image as `NAME (reason)`, with the name relative to `path`.
    pub(crate) fn in_short(&self, path: &Path) -> Option<String> {
        let Self::Image { at, reason, .. } = self else {
            return None;
        };
        let name = match &at.entry {
            Some(entry) => entry.clone(),
            None => at.path.strip_prefix(path).unwrap_or(&at.path).display().to_string(),
        };
        Some(format!("{} ({})", excerpt(&name), excerpt(reason)))
    }
}

impl From<ArchiveError> for ImageError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Bomb { at } => Self::path(&at.path, bcl_files::input::DecompressionBomb.to_string()),
            ArchiveError::Unusable { at, what, remedy } => Self::file(&at, format!("{what}. {remedy}")),
            ArchiveError::Io { at, source } if source.kind() == io::ErrorKind::NotFound && at.path.is_symlink() => {
                let what = "a link that leads nowhere";
                Self::image(&at, what, format!("is {what}. Remove it, or put back the file that it names"))
            }
            ArchiveError::Io { at, source } => match NotRegular::of(&source) {
                Some(NotRegular { found }) => Self::not_an_image(&at, found),
                None => Self::file(&at, format!("cannot be read: {source}. Check its permissions and the disk")),
            },
        }
    }
}

fn broken_images(path: &Path, of: usize, broken: &[ImageError], may_skip: bool) -> String {
    /// Longer lists are of no use.
    const LISTED: usize = 10;
    let skip = |them: &str| {
        if may_skip {
            format!(" Set `data.skip_broken = true` to skip {them}.")
        } else {
            String::new()
        }
    };
    if let [error] = broken {
        return format!("{error}{}", skip("it"));
    }
    let listed: Vec<String> = broken.iter().take(LISTED).filter_map(|error| error.in_short(path)).collect();
    let more = match broken.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(
        "{}: {} of {of} images cannot be read: {}{more}. Repair or remove them.{}",
        path.display(),
        broken.len(),
        listed.join(", "),
        skip("them")
    )
}

/// Ends a sentence about an unknown name with a suggestion, if there is one.
pub(crate) fn did_you_mean(suggestion: Option<String>) -> String {
    suggestion.map_or(".".to_owned(), |name| format!("; did you mean `{name}`?"))
}

/// Shortens text from outside, to keep errors readable.
pub(crate) fn excerpt(text: &str) -> String {
    bcl_files::excerpt(text, 120)
}
