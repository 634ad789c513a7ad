//! Everything that images from outside can do wrong.
//!
//! Each text says where (the file, and the entry where it is an archive), what, and what to do about it; `tests/bad_input.rs` holds
//! them to that.

use bcl_data::DataError;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file, or an entry of an archive, shown as `archive.tar.gz: entry train/cat/1.jpg`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file or archive.
    pub path: PathBuf,
    /// The entry, where it is an archive.
    pub entry: Option<String>,
}

impl fmt::Display for Place {
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
    /// The data set is not known by name, not there, or not one of images.
    #[error(transparent)]
    Data(#[from] DataError),

    /// A file or folder does not exist.
    #[error("{}: no such file or folder. Check the path; a relative one starts at the folder of the data sets.", path.display())]
    MissingFile {
        /// What was looked for.
        path: PathBuf,
    },

    /// A file cannot be opened or read.
    #[error("{at}: cannot be read: {source}. Check its permissions and the disk.")]
    Io {
        /// The file.
        at: Place,
        /// What the system says.
        source: std::io::Error,
    },

    /// A file that is no archive that can be read.
    #[error("{}: is {found}. Name a folder, or a .tar, .tar.gz, .tgz or .zip archive.", path.display())]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },

    /// An archive, or an entry of one, ends before its end.
    #[error("{at}: the archive is truncated here. Fetch or copy it again.")]
    TruncatedArchive {
        /// Where it ends.
        at: Place,
    },

    /// An archive is damaged, or packed in a way that cannot be read.
    #[error("{at}: the archive cannot be read here: {reason}. Fetch it again, or pack it anew as .tar.gz or .zip.")]
    BadArchive {
        /// The last place that was reached.
        at: Place,
        /// What is wrong with it.
        reason: String,
    },

    /// The name of an entry could reach outside of the archive, or is no name at all.
    #[error("{at}: the name {problem}. Do not trust this archive; pack it anew with plain relative names.")]
    BadName {
        /// The entry.
        at: Place,
        /// What is wrong with its name.
        problem: &'static str,
    },

    /// A link or device in an archive.
    #[error("{at}: is {what}. Pack the archive anew with the files themselves (`tar --dereference`).")]
    NotAFile {
        /// The entry.
        at: Place,
        /// What it is.
        what: &'static str,
    },

    /// A link that leads in a circle.
    #[error("{at}: is a link to a folder that it lies in, so its files would be read again and again. Remove the link.")]
    LinkLoop {
        /// The link.
        at: Place,
    },

    /// An archive that unpacks to far more than images do.
    #[error("{}: {}.", path.display(), bcl_data::input::Bomb)]
    Bomb {
        /// The archive.
        path: PathBuf,
    },

    /// The same file twice.
    #[error("{at}: is there twice, so it is unclear which one counts. Remove one of the two.")]
    Twice {
        /// The second.
        at: Place,
    },

    /// Larger than anything that is meant to be read.
    #[error("{at}: {what} is {found}, more than the {limit} that are read. Remove it, or split or shrink the data.")]
    TooMuch {
        /// What is too large.
        at: Place,
        /// Which of its sizes.
        what: &'static str,
        /// The size.
        found: u64,
        /// The most that is read.
        limit: u64,
    },

    /// An image in a format that is not read.
    #[error("{at}: is {found}, but only JPEG and PNG images are read. Convert it, or remove it.")]
    NotAnImage {
        /// The file.
        at: Place,
        /// What it is instead.
        found: String,
    },

    /// An image file ends before its end.
    #[error("{at}: the image is truncated. Fetch or copy it again, or remove it.")]
    TruncatedImage {
        /// The file.
        at: Place,
    },

    /// An image cannot be decoded.
    #[error("{at}: the image cannot be decoded: {reason}. Fetch it again, save it anew as PNG, or remove it.")]
    BadImage {
        /// The file.
        at: Place,
        /// What the decoder says.
        reason: String,
    },

    /// An image in colours that have no defined RGB values.
    #[error("{at}: is a JPEG in four colours (CMYK), whose RGB values depend on the printer. Convert it to RGB, or remove it.")]
    FourColours {
        /// The file.
        at: Place,
    },

    /// Files that are no image that can be read, all of them.
    #[error("{}", broken_images(path, *of, broken, *may_skip))]
    BrokenImages {
        /// The folder or archive.
        path: PathBuf,
        /// Number of all image files.
        of: usize,
        /// What is wrong with each, in the order of their names.
        broken: Vec<ImageError>,
        /// Whether the recipe can ask to go on without them.
        may_skip: bool,
    },

    /// There are no images, or none to learn from.
    #[error("{}: no image below {wanted}. {}Check the layout: {layout}.", path.display(), found_instead(found))]
    NoPart {
        /// The folder or archive.
        path: PathBuf,
        /// Where images were looked for.
        wanted: &'static str,
        /// The first folders and files there are.
        found: Vec<String>,
        /// What belongs there.
        layout: &'static str,
    },

    /// An image lies outside of the class folders, though those of the other part lie in some.
    #[error(
        "{at}: the image lies in no class folder, but classes are needed in train and test, or in neither. Move it into the folder of \
         its class: train/CLASS/NAME.jpg. To learn without judges, leave out test."
    )]
    NoClass {
        /// The image.
        at: Place,
    },

    /// A class folder without images.
    #[error("{}: the class folder {part}/{class} holds no JPEG or PNG image. Fill it or remove it.", path.display())]
    EmptyClass {
        /// The folder or archive.
        path: PathBuf,
        /// Train or test.
        part: &'static str,
        /// The class.
        class: String,
    },

    /// Test holds a class that train does not.
    #[error("{}: class `{class}` is in test but not in train{} Classes are called alike in both; rename or remove the folder.", path.display(), did_you_mean(suggestion.as_deref()))]
    UntrainedClass {
        /// The folder or archive.
        path: PathBuf,
        /// The class.
        class: String,
        /// A class of train that looks like it.
        suggestion: Option<String>,
    },

    /// Nothing to compare an image with.
    #[error("{}: train holds {found} image(s), but at least two are needed: an image is told apart from others. Add images.", path.display())]
    TooFewImages {
        /// The folder or archive.
        path: PathBuf,
        /// Images there are.
        found: usize,
    },

    /// A file of the format is not there.
    #[error("{}: no file {file} in it. {remedy}.", path.display())]
    MissingPart {
        /// The folder or archive.
        path: PathBuf,
        /// The file's name.
        file: String,
        /// What to do.
        remedy: &'static str,
    },

    /// A binary file that ends within an image.
    #[error(
        "{at}: has {bytes} bytes, which is not a multiple of the {record_bytes} of an image: image {record}, from byte {}, is cut \
         short. Fetch or unpack it again; it may also be a file of another data set.",
        bytes - bytes % u64::from(*record_bytes)
    )]
    WrongSize {
        /// The file.
        at: Place,
        /// Its size.
        bytes: u64,
        /// The size of an image with its labels.
        record_bytes: u32,
        /// The image that is cut short, from 0.
        record: u64,
    },

    /// A binary file without any image.
    #[error("{at}: the file is empty. Fetch or unpack it again.")]
    EmptyFile {
        /// The file.
        at: Place,
    },

    /// A label that no class has.
    #[error(
        "{at}: image {record} has the label {label} at byte {byte}, but labels are {low} to {high}. Check that it is a file of this \
         data set, and fetch it again."
    )]
    LabelOutOfRange {
        /// The file.
        at: Place,
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

    /// As many labels as images there must be.
    #[error("{at}: {labels} labels for {images} images. Both files must be of the same release: fetch or unpack them again.")]
    LabelCount {
        /// The file of the labels.
        at: Place,
        /// Labels.
        labels: usize,
        /// Images.
        images: usize,
    },

    /// Names of classes that are too few, too many, or repeated.
    #[error("{at}: names {found} different classes, but the data set has {expected}. Fetch or unpack it again.")]
    ClassNames {
        /// The file.
        at: Place,
        /// Classes there must be.
        expected: usize,
        /// Different names.
        found: usize,
    },

    /// A line of a text file that does not say what it should.
    #[error("{at}:{line}: `{text}` {problem}. Correct the line, or fetch the file again.")]
    BadLine {
        /// The file.
        at: Place,
        /// The line, from 1.
        line: usize,
        /// Its text, shortened.
        text: String,
        /// What is wrong.
        problem: String,
    },

    /// A text file that is not UTF-8.
    #[error("{at}: is not UTF-8 text. Fetch or unpack it again, or convert it, for example with `iconv -f LATIN1 -t UTF-8`.")]
    NotText {
        /// The file.
        at: Place,
    },

    /// A validation image that the annotations do not tell the class of.
    #[error("{at}: val_annotations.txt does not tell its class. Fetch or unpack the data set again, or remove the image.")]
    NotAnnotated {
        /// The image.
        at: Place,
    },

    /// An image of a class that the data set does not list.
    #[error("{at}: its class `{class}` is not in wnids.txt. Fetch or unpack the data set again, or remove the folder.")]
    NotListed {
        /// The image.
        at: Place,
        /// The class.
        class: String,
    },

    /// A class that is not there.
    #[error("there is no class `{name}`{} The classes are {known}.", did_you_mean(suggestion.as_deref()))]
    UnknownClass {
        /// The name asked for.
        name: String,
        /// A class that looks like it.
        suggestion: Option<String>,
        /// All classes, shortened.
        known: String,
    },

    /// A choice of classes that leaves none to tell apart.
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
    #[error("{name} is {value}, but must lie in {range}. Change it in the recipe or with `--set {name}=…`.")]
    OutOfRange {
        /// The setting, as in recipes.
        name: String,
        /// Its value.
        value: String,
        /// What it may be.
        range: String,
    },
}

impl ImageError {
    /// The file and what is wrong with it, where the error is about one image file alone.
    pub(crate) fn of_one_image(&self) -> Option<(&Place, String)> {
        match self {
            Self::NotAnImage { at, found } => Some((at, found.clone())),
            Self::TruncatedImage { at } => Some((at, "truncated".to_string())),
            Self::BadImage { at, reason } => Some((at, reason.clone())),
            Self::FourColours { at } => Some((at, "four colours (CMYK)".to_string())),
            Self::TooMuch { at, what, found, limit } => Some((at, format!("{what} is {found}, more than {limit}"))),
            _ => None,
        }
    }

    /// The same as `NAME (reason)`, with the name below `path`.
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
    /// More names than these help nobody.
    const LISTED: usize = 10;
    let skip = |them: &str| {
        if may_skip {
            format!(" Set `data.skip_broken = true` to go on without {them}.")
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

/// The end of a sentence about an unknown name.
fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or(".".to_string(), |name| format!("; did you mean `{name}`?"))
}

fn found_instead(found: &[String]) -> String {
    if found.is_empty() {
        return "It is empty. ".to_string();
    }
    format!("It holds {}. ", excerpt(&found.join(", ")))
}

/// Shortens text from outside so that an error stays readable.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 120;
    let shown: String = text.chars().take(LONGEST + 1).flat_map(char::escape_debug).collect();
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
