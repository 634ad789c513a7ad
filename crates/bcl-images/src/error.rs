//! Errors of images from outside.
//!
//! Each message says where (the file, and the entry of an archive), what is wrong, and what to do about it; `tests/bad_input.rs` checks
//! that.

use bcl_data::DataError;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file, or an entry of an archive, shown as `archive.tar.gz: entry train/cat/1.jpg`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// The file or archive.
    pub path: PathBuf,
    /// The entry, if the file is an archive.
    pub entry: Option<String>,
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.entry {
            Some(entry) => write!(f, ": entry {}", excerpt(entry)),
            None => Ok(()),
        }
    }
}

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

    /// A file cannot be opened or read.
    #[error("{at}: cannot be read: {source}. Check its permissions and the disk.")]
    Io {
        /// The file.
        at: FileLocation,
        /// The system's error.
        source: std::io::Error,
    },

    /// A file is not a supported archive.
    #[error("{}: is {found}. Name a folder, or a .tar, .tar.gz, .tgz or .zip archive.", path.display())]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },

    /// An archive, or an entry of one, is truncated.
    #[error("{at}: the archive is truncated here. Fetch or copy it again.")]
    TruncatedArchive {
        /// Where it ends.
        at: FileLocation,
    },

    /// An archive is damaged, or packed in an unsupported way.
    #[error("{at}: the archive cannot be read here: {reason}. Fetch it again, or repack it as .tar.gz or .zip.")]
    BadArchive {
        /// The last position that was read.
        at: FileLocation,
        /// What is wrong with it.
        reason: String,
    },

    /// The name of an entry is invalid, or points outside the archive.
    #[error("{at}: the name {problem}. Do not trust this archive; repack it with plain relative names.")]
    BadName {
        /// The entry.
        at: FileLocation,
        /// What is wrong with its name.
        problem: &'static str,
    },

    /// An archive contains a link or a device.
    #[error("{at}: is {what}. Repack the archive with the files themselves (`tar --dereference`).")]
    NotAFile {
        /// The entry.
        at: FileLocation,
        /// What it is.
        what: &'static str,
    },

    /// A link points to a folder that contains it.
    #[error("{at}: is a link to a folder that contains it, so its files would be read again and again. Remove the link.")]
    LinkLoop {
        /// The link.
        at: FileLocation,
    },

    /// An archive is a decompression bomb.
    #[error("{}: {}.", path.display(), bcl_files::input::DecompressionBomb)]
    DecompressionBomb {
        /// The archive.
        path: PathBuf,
    },

    /// An archive contains the same file twice.
    #[error("{at}: exists twice, so it is unclear which one to use. Remove one of the two.")]
    Twice {
        /// The second one.
        at: FileLocation,
    },

    /// A size exceeds its limit.
    #[error("{at}: {what} is {found}, more than the limit of {limit}. Remove it, or split or shrink the data.")]
    TooMuch {
        /// What is too large.
        at: FileLocation,
        /// Which size.
        what: &'static str,
        /// The size.
        found: u64,
        /// The limit.
        limit: u64,
    },

    /// A file is not a JPEG, PNG or WebP image.
    #[error("{at}: is {found}, but only JPEG, PNG and WebP images are read. Convert it, or remove it.")]
    NotAnImage {
        /// The file.
        at: FileLocation,
        /// What it is instead.
        found: String,
    },

    /// An image file is truncated.
    #[error("{at}: the image is truncated. Fetch or copy it again, or remove it.")]
    TruncatedImage {
        /// The file.
        at: FileLocation,
    },

    /// An image cannot be decoded.
    #[error("{at}: the image cannot be decoded: {reason}. Fetch it again, save it again as PNG, or remove it.")]
    BadImage {
        /// The file.
        at: FileLocation,
        /// The decoder's message.
        reason: String,
    },

    /// A file is another one than when its header was read.
    #[error("{at}: has changed since it was listed. Leave the images alone while a run reads them, and start again.")]
    ChangedImage {
        /// The file.
        at: FileLocation,
    },

    /// Images in a compressed archive cannot be decoded one by one.
    #[error("{}: is compressed, so its images cannot be read in any order. Unpack it (`tar -xf`), or name an uncompressed .tar file.", path.display())]
    Packed {
        /// The archive.
        path: PathBuf,
    },

    /// Only separate image files can be streamed.
    #[error("{}: is read as a whole in this format. Leave out data.stream.", path.display())]
    NotStreamed {
        /// The folder or archive.
        path: PathBuf,
    },

    /// An image has four colours (CMYK), whose RGB values are not defined.
    #[error("{at}: is a JPEG in four colours (CMYK), whose RGB values depend on the printer. Convert it to RGB, or remove it.")]
    FourColours {
        /// The file.
        at: FileLocation,
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

    /// There are no images, or none to train on.
    #[error("{}: no image in {wanted}. {}Check the layout: {layout}.", path.display(), found_instead(found))]
    NoPart {
        /// The folder or archive.
        path: PathBuf,
        /// Where images were expected.
        wanted: &'static str,
        /// The first folders and files found instead.
        found: Vec<String>,
        /// The supported layouts.
        layout: &'static str,
    },

    /// An image is outside the class folders, but images of the other part are in some.
    #[error(
        "{at}: the image is in no class folder, but train and test must either both have class folders or neither. Move it into the \
         folder of its class: train/CLASS/NAME.jpg. To train without evaluation, leave out test."
    )]
    NoClass {
        /// The image.
        at: FileLocation,
    },

    /// An image has no label beside it, but others have.
    #[error(
        "{at}: the image has no label, but others have. Add a file of the same name that ends in .cls, or remove all of those."
    )]
    NoLabel {
        /// The image.
        at: FileLocation,
    },

    /// A sample of a shard has two images.
    #[error(
        "{at}: its sample has another image already. Keep one image per name, or give the others a second extension (1.mask.png)."
    )]
    TwoImages {
        /// The second one.
        at: FileLocation,
    },

    /// The file of a label does not contain one.
    #[error("{at}: the label must be one line of text, such as a class number. Correct the file.")]
    NotALabel {
        /// The file.
        at: FileLocation,
    },

    /// A class folder contains no images.
    #[error("{}: the class folder {part}/{class} contains no JPEG, PNG or WebP image. Fill it or remove it.", path.display())]
    EmptyClass {
        /// The folder or archive.
        path: PathBuf,
        /// Train or test.
        part: &'static str,
        /// The class.
        class: String,
    },

    /// Test contains a class that train does not.
    #[error("{}: class `{class}` is in test but not in train{} Both must use the same class names; rename or remove it.", path.display(), did_you_mean(suggestion.as_deref()))]
    UntrainedClass {
        /// The folder or archive.
        path: PathBuf,
        /// The class.
        class: String,
        /// The most similar class of train.
        suggestion: Option<String>,
    },

    /// There is only one training image.
    #[error("{}: train has {found} image(s), but at least two are needed, because training compares images. Add images.", path.display())]
    TooFewImages {
        /// The folder or archive.
        path: PathBuf,
        /// Images there are.
        found: usize,
    },

    /// A file of the format is missing.
    #[error("{}: no file {file} in it. {remedy}.", path.display())]
    MissingPart {
        /// The folder or archive.
        path: PathBuf,
        /// The file's name.
        file: String,
        /// What to do.
        remedy: &'static str,
    },

    /// A binary file ends within an image.
    #[error(
        "{at}: has {bytes} bytes, which is not a multiple of the {record_bytes} of an image: image {record}, from byte {}, is cut \
         short. Fetch or unpack it again; it may also be a file of another data set.",
        bytes - bytes % u64::from(*record_bytes)
    )]
    WrongSize {
        /// The file.
        at: FileLocation,
        /// Its size.
        bytes: u64,
        /// The size of an image with its labels.
        record_bytes: u32,
        /// The image that is cut short, from 0.
        record: u64,
    },

    /// A binary file is empty.
    #[error("{at}: the file is empty. Fetch or unpack it again.")]
    EmptyFile {
        /// The file.
        at: FileLocation,
    },

    /// A label is out of range.
    #[error(
        "{at}: image {record} has the label {label} at byte {byte}, but labels are {low} to {high}. Check that it is a file of this \
         data set, and fetch it again."
    )]
    LabelOutOfRange {
        /// The file.
        at: FileLocation,
        /// The image, from 0.
        record: usize,
        /// Where the label is, from 0.
        byte: usize,
        /// The label.
        label: u8,
        /// The lowest label.
        low: usize,
        /// The highest label.
        high: usize,
    },

    /// The numbers of labels and images differ.
    #[error("{at}: {labels} labels for {images} images. Both files must be of the same release: fetch or unpack them again.")]
    LabelCount {
        /// The file of the labels.
        at: FileLocation,
        /// Labels.
        labels: usize,
        /// Images.
        images: usize,
    },

    /// There are too few, too many or repeated class names.
    #[error("{at}: names {found} different classes, but the data set has {expected}. Fetch or unpack it again.")]
    ClassNames {
        /// The file.
        at: FileLocation,
        /// Classes there must be.
        expected: usize,
        /// Different names.
        found: usize,
    },

    /// A line of a text file is invalid.
    #[error("{at}:{line}: `{text}` {problem}. Correct the line, or fetch the file again.")]
    BadLine {
        /// The file.
        at: FileLocation,
        /// The line, from 1.
        line: usize,
        /// Its text, shortened.
        text: String,
        /// What is wrong.
        problem: String,
    },

    /// A text file is not UTF-8.
    #[error("{at}: is not UTF-8 text. Fetch or unpack it again, or convert it, for example with `iconv -f LATIN1 -t UTF-8`.")]
    NotText {
        /// The file.
        at: FileLocation,
    },

    /// The annotations do not list a validation image.
    #[error("{at}: val_annotations.txt does not list its class. Fetch or unpack the data set again, or remove the image.")]
    NotAnnotated {
        /// The image.
        at: FileLocation,
    },

    /// An image has a class that the data set does not list.
    #[error("{at}: its class `{class}` is not in wnids.txt. Fetch or unpack the data set again, or remove the folder.")]
    NotListed {
        /// The image.
        at: FileLocation,
        /// The class.
        class: String,
    },

    /// No class has this name.
    #[error("there is no class `{name}`{} The classes are {known}.", did_you_mean(suggestion.as_deref()))]
    UnknownClass {
        /// The name.
        name: String,
        /// The most similar class.
        suggestion: Option<String>,
        /// All classes, shortened.
        known: String,
    },

    /// A choice of classes leaves fewer than two.
    #[error("{setting} chooses {found}, but {needed}. Change `{setting}`.")]
    BadChoice {
        /// The setting, as in recipes.
        setting: &'static str,
        /// What it chooses.
        found: String,
        /// What is needed.
        needed: &'static str,
    },

    /// A setting is out of range.
    #[error("{name} is {value}, but must be in {range}. Change it in the recipe or with `--set {name}=…`.")]
    OutOfRange {
        /// The setting, as in recipes.
        name: String,
        /// Its value.
        value: String,
        /// Its range.
        range: String,
    },
}

impl ImageError {
    /// The file and the reason, if the error concerns a single image file.
    pub(crate) fn of_one_image(&self) -> Option<(&FileLocation, String)> {
        match self {
            Self::NotAnImage { at, found } => Some((at, found.clone())),
            Self::TruncatedImage { at } => Some((at, "truncated".to_string())),
            Self::BadImage { at, reason } => Some((at, reason.clone())),
            Self::FourColours { at } => Some((at, "four colours (CMYK)".to_string())),
            Self::TooMuch { at, what, found, limit } => Some((at, format!("{what} is {found}, more than the limit of {limit}"))),
            _ => None,
        }
    }

    /// Formats the error as `NAME (reason)`, with the name relative to `path`.
    pub(crate) fn in_short(&self, path: &Path) -> Option<String> {
        let (at, reason) = self.of_one_image()?;
        let name = match &at.entry {
            Some(entry) => entry.clone(),
            None => at.path.strip_prefix(path).unwrap_or(&at.path).display().to_string(),
        };
        Some(format!("{} ({})", excerpt(&name), excerpt(&reason)))
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
fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or(".".to_string(), |name| format!("; did you mean `{name}`?"))
}

fn found_instead(found: &[String]) -> String {
    if found.is_empty() {
        return "It is empty. ".to_string();
    }
    format!("It contains {}. ", excerpt(&found.join(", ")))
}

/// Shortens text from outside, to keep errors readable.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 120;
    let shown: String = text.chars().take(LONGEST + 1).flat_map(char::escape_debug).collect();
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
