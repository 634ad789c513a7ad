//! The data sets that are known by name: `datasets/*.toml`, built into the program.

mod counts;
mod images;
mod locate;

pub use counts::{Counts, PaperCounts};
pub use images::{ImageCounts, ImageFormat, PaperImageCounts};

use crate::load::{LoadReport, Source, load_all};
use crate::{DataError, Format, InteractionData, KnownIds, ReadOptions, SplitOptions};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::OnceLock;

/// A manifest's file and text.
macro_rules! embedded {
    ($name:literal) => {
        (
            concat!("datasets/", $name, ".toml"),
            include_str!(concat!("../../../../datasets/", $name, ".toml")),
        )
    };
}

/// The manifests' files and texts, by name.
const EMBEDDED: [(&str, &str); 15] = [
    embedded!("cifar10"),
    embedded!("cifar10-2class"),
    embedded!("cifar10-jpg"),
    embedded!("cifar10-tiny"),
    embedded!("cifar100"),
    embedded!("gowalla"),
    embedded!("ml-100k"),
    embedded!("ml-100k-authors"),
    embedded!("ml-100k-ngcf"),
    embedded!("ml-1m"),
    embedded!("ml-1m-ngcf"),
    embedded!("stl10"),
    embedded!("tiny-imagenet"),
    embedded!("yahoo-r3"),
    embedded!("yelp2018"),
];

/// A data set that is known by name: where it comes from, what is in it, how to read it.
///
/// ```
/// use bcl_data::Manifest;
///
/// let gowalla = Manifest::find("gowalla")?;
/// assert_eq!(gowalla.counts.users, Some(29_858));
///
/// let error = Manifest::find("gowala").unwrap_err();
/// assert!(error.to_string().contains("did you mean `gowalla`?"));
/// # Ok::<(), bcl_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name, as in recipes.
    pub name: String,
    /// Name, in full.
    pub title: String,
    /// Terms of use.
    pub licence: String,
    /// What to cite.
    pub citation: String,
    /// Where it is described.
    pub homepage: String,
    /// How to get it when it cannot be downloaded.
    pub access: Option<String>,
    /// How the downloaded file is to be unpacked, if it is: images are read from their archive as it is.
    pub archive: Option<Archive>,
    /// What to download.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
    /// Which files hold the interactions or images.
    pub layout: Layout,
    /// What must be in them.
    pub counts: Counts,
}

/// A file to download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Where it is.
    pub url: String,
    /// Name to store it under, in the data set's own folder.
    pub file: String,
    /// Size, where it is known.
    pub bytes: Option<u64>,
    /// MD5 in lower-case hex, where the publisher tells it.
    pub md5: Option<String>,
    /// SHA-256 in lower-case hex, where it is known.
    pub sha256: Option<String>,
}

/// How a downloaded file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Archive {
    /// A zip file, to be unpacked in the data set's own folder.
    Zip,
}

/// Which files hold the interactions, each of which may also be gzipped with `.gz` behind its name, or the images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Layout {
    /// Split by whoever published it.
    Split {
        /// How both files are written.
        format: Format,
        /// Further folders to look in, below the data set's own and below that of all data.
        #[serde(default)]
        folders: Vec<String>,
        /// File that is learned from.
        train: String,
        /// File that is held out.
        test: String,
    },
    /// One file, to be split when it is loaded.
    Whole {
        /// How the file is written.
        format: Format,
        /// Further folders to look in, below the data set's own and below that of all data.
        #[serde(default)]
        folders: Vec<String>,
        /// Names of the file; the first that is there is read.
        files: Vec<String>,
        /// How to split it.
        #[serde(default)]
        split: SplitOptions,
    },
    /// Images, in an archive or a folder.
    Images {
        /// How they are stored.
        format: ImageFormat,
        /// Further folders to look in, below the data set's own and below that of all data.
        #[serde(default)]
        folders: Vec<String>,
        /// Names of the archive or of the folder that holds its files; the first that is there is read.
        paths: Vec<String>,
    },
}

impl Manifest {
    /// All manifests, by name.
    pub fn all() -> &'static [Manifest] {
        static ALL: OnceLock<Vec<Manifest>> = OnceLock::new();
        ALL.get_or_init(|| {
            EMBEDDED
                .iter()
                .map(|(file, text)| Self::parse(file, text).expect("built-in manifests are tested"))
                .collect()
        })
    }

    /// The manifest called `name`.
    ///
    /// # Errors
    /// If there is none: the error lists those there are, and the one that looks most like it.
    pub fn find(name: &str) -> Result<&'static Manifest, DataError> {
        let all = Self::all();
        all.iter().find(|manifest| manifest.name == name).ok_or_else(|| {
            let names = all.iter().map(|manifest| manifest.name.as_str());
            let likeness = |known: &str| strsim::jaro_winkler(&name.to_lowercase(), known);
            let closest = names.clone().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            DataError::UnknownDataset {
                name: name.to_string(),
                suggestion: closest.filter(|known| likeness(known) > 0.8),
                known: names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            }
        })
    }

    /// Reads a manifest from its text; `file` is named in errors.
    ///
    /// # Errors
    /// If the text is not TOML, lacks a key, or has one that is not known.
    pub fn parse(file: &str, text: &str) -> Result<Manifest, DataError> {
        toml::from_str(text).map_err(|source| DataError::BadManifest {
            file: file.to_string(),
            source: Box::new(source),
        })
    }

    /// Reads this data set from where it was [located](Self::locate) and checks its counts.
    ///
    /// # Errors
    /// As [`load`](crate::load()), and if the counts are not those of the manifest.
    pub fn load(&self, source: &Source) -> Result<InteractionData, DataError> {
        self.load_with(source, None).map(|(data, _)| data)
    }

    /// Reads this data set without the interactions rated below `min_rating`, and tells what was left out.
    ///
    /// The counts are those of the whole data set; with a threshold, only the number of rows is checked.
    ///
    /// # Errors
    /// As [`load`](Self::load), if there are no ratings to compare with `min_rating`, and if the data set holds images.
    pub fn load_with(&self, source: &Source, min_rating: Option<f64>) -> Result<(InteractionData, LoadReport), DataError> {
        self.load_all(source, min_rating, KnownIds::default())
    }

    fn load_all(
        &self,
        source: &Source,
        min_rating: Option<f64>,
        ids: KnownIds,
    ) -> Result<(InteractionData, LoadReport), DataError> {
        let (Layout::Split { format, .. } | Layout::Whole { format, .. }) = self.layout else {
            return Err(self.holds_images());
        };
        let options = ReadOptions { format, min_rating };
        let (data, report) = load_all(&self.name, source, &options, ids)?;
        self.check_counts(source, &data, &report, min_rating.is_some())?;
        Ok((data, report))
    }
}

/// Reads the data set called `name` from the folder `dir`, which holds its files or a folder with them.
///
/// # Errors
/// As [`Manifest::find`], [`Manifest::locate`] and [`Manifest::load`].
pub fn load_named(name: &str, dir: &Path) -> Result<InteractionData, DataError> {
    load_named_with_ids(name, dir, KnownIds::default())
}

/// As [`load_named`], with the ids that an earlier load gave: see [`load_with_ids`](crate::load_with_ids).
///
/// # Errors
/// As [`load_named`].
pub fn load_named_with_ids(name: &str, dir: &Path, ids: KnownIds) -> Result<InteractionData, DataError> {
    let manifest = Manifest::find(name)?;
    let (data, _) = manifest.load_all(&manifest.locate(dir)?, None, ids)?;
    Ok(data)
}

#[cfg(test)]
mod tests;
