//! Data sets known by name. Each has a manifest, `datasets/NAME.toml`; all are built into the program.

mod counts;
mod graphs;
mod images;
mod locate;
mod options;

pub use counts::{Counts, PaperCounts};
pub use graphs::{GraphCounts, load_named_graphs};
pub use images::{ImageCounts, ImageFormat, PaperImageCounts};
pub use options::NamedOptions;

use crate::LoadReport;
use crate::load::{Source, load_all};
use crate::{DataError, Format, InteractionData, KnownIds, ReadOptions, SplitOptions};
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::OnceLock;

/// The folder of manifests, built into the program.
static FOLDER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/datasets");

/// A data set known by name: where it comes from, what it contains, and how to read it.
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
#[non_exhaustive]
pub struct Manifest {
    /// Name in recipes.
    pub name: String,
    /// Full name.
    pub title: String,
    /// Terms of use.
    pub licence: String,
    /// What to cite.
    pub citation: String,
    /// Web page that describes it.
    pub homepage: String,
    /// How to get it if it cannot be downloaded.
    pub access: Option<String>,
    /// How to unpack the downloaded file. `None` for images and graphs, which are read from their archive.
    pub archive: Option<Archive>,
    /// Files to download.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
    /// Which files contain the interactions, images or graphs.
    pub layout: Layout,
    /// Expected counts.
    pub counts: Counts,
}

/// A file to download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SourceFile {
    /// Address of the file.
    pub url: String,
    /// File name to store it under, in the data set's own folder.
    pub file: String,
    /// Size in bytes, if known.
    pub bytes: Option<u64>,
    /// MD5 in lower-case hex, if the publisher gives it.
    pub md5: Option<String>,
    /// SHA-256 in lower-case hex, if known.
    pub sha256: Option<String>,
}

/// Format of a downloaded archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Archive {
    /// A zip file, unpacked into the data set's own folder.
    Zip,
}

/// Which files contain the interactions (each also accepted gzipped, with `.gz` appended to its name), the images or the graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Layout {
    /// Split by the publisher.
    Split {
        /// Format of both files.
        format: Format,
        /// Further folders to search, below the data set's own and below the data folder.
        #[serde(default)]
        folders: Vec<String>,
        /// Training file.
        train: String,
        /// Test file.
        test: String,
    },
    /// One file, split when it is loaded.
    Whole {
        /// Format of the file.
        format: Format,
        /// Further folders to search, below the data set's own and below the data folder.
        #[serde(default)]
        folders: Vec<String>,
        /// Possible names of the file; the first one found is read.
        files: Vec<String>,
        /// How to split it.
        #[serde(default)]
        split: SplitOptions,
    },
    /// Images in an archive or a folder.
    Images {
        /// How they are stored.
        format: ImageFormat,
        /// Further folders to search, below the data set's own and below the data folder.
        #[serde(default)]
        folders: Vec<String>,
        /// Possible names of the archive or folder; the first one found is read.
        paths: Vec<String>,
    },
    /// Graphs in the text format of the TU collection, in an archive or a folder.
    Graphs {
        /// Further folders to search, below the data set's own and below the data folder.
        #[serde(default)]
        folders: Vec<String>,
        /// Possible names of the archive or folder; the first one found is read.
        paths: Vec<String>,
    },
}

/// What a data set consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Interactions of users with items.
    Interactions,
    /// Images.
    Images,
    /// Graphs.
    Graphs,
}

impl Contents {
    /// The plural, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interactions => "interactions",
            Self::Images => "images",
            Self::Graphs => "graphs",
        }
    }
}

impl Layout {
    /// What the files contain.
    pub fn contents(&self) -> Contents {
        match self {
            Self::Split { .. } | Self::Whole { .. } => Contents::Interactions,
            Self::Images { .. } => Contents::Images,
            Self::Graphs { .. } => Contents::Graphs,
        }
    }
}

impl Manifest {
    /// All manifests, sorted by name.
    pub fn all() -> &'static [Manifest] {
        static ALL: OnceLock<Vec<Manifest>> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut manifests: Vec<Self> = FOLDER
                .files()
                .filter(|file| file.path().extension().is_some_and(|extension| extension == "toml"))
                .map(|file| {
                    let name = Path::new("datasets").join(file.path()).display().to_string();
                    let text = file.contents_utf8().expect("built-in manifests are tested");
                    Self::parse(&name, text).expect("built-in manifests are tested")
                })
                .collect();
            manifests.sort_by(|a, b| a.name.cmp(&b.name));
            manifests
        })
    }

    /// Finds the manifest called `name`.
    ///
    /// # Errors
    /// Returns an error that lists the known data sets and suggests the most similar name, if there is none.
    pub fn find(name: &str) -> Result<&'static Manifest, DataError> {
        let all = Self::all();
        all.iter().find(|manifest| manifest.name == name).ok_or_else(|| {
            let names = all.iter().map(|manifest| manifest.name.as_str());
            let likeness = |known: &str| strsim::jaro_winkler(&name.to_lowercase(), known);
            let closest = names.clone().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            let suggestion = closest
                .filter(|known| likeness(known) > 0.8)
                .map_or(".".to_owned(), |known| format!("; did you mean `{known}`?"));
            let known = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            DataError::Dataset(format!("unknown data set `{name}`{suggestion} Known data sets: {known}"))
        })
    }

    /// Parses a manifest; errors name `file`.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML, lacks a key, or has an unknown one.
    pub fn parse(file: &str, text: &str) -> Result<Manifest, DataError> {
        toml::from_str(text).map_err(|error| {
            let problem = format!("{error}. Correct the manifest; `Manifest` lists the keys");
            DataError::file(Path::new(file), problem)
        })
    }

    /// Reads this data set from its [location](Self::locate) and checks its counts.
    ///
    /// # Errors
    /// Returns the errors of [`load`](crate::load()), and an error if the counts differ from the manifest.
    pub fn load(&self, source: &Source) -> Result<InteractionData, DataError> {
        self.load_with(source, None).map(|(data, _)| data)
    }

    /// Reads this data set without the interactions rated below `min_rating`, and reports what was left out.
    ///
    /// The manifest counts the whole data set, so with a threshold only the number of rows is checked.
    ///
    /// # Errors
    /// Returns the errors of [`load`](Self::load). Also fails if the files have no ratings, or if the data set does not contain
    /// interactions.
    pub fn load_with(&self, source: &Source, min_rating: Option<f64>) -> Result<(InteractionData, LoadReport), DataError> {
        let options = NamedOptions {
            min_rating,
            ..NamedOptions::default()
        };
        self.load_all(source, &options, KnownIds::default())
    }

    fn load_all(&self, source: &Source, named: &NamedOptions, ids: KnownIds) -> Result<(InteractionData, LoadReport), DataError> {
        let (Layout::Split { format, .. } | Layout::Whole { format, .. }) = self.layout else {
            return Err(self.holds_no_interactions());
        };
        let options = ReadOptions {
            format,
            min_rating: named.min_rating,
            core: named.core,
            ..ReadOptions::default()
        };
        let (data, report) = load_all(&self.name, source, &options, ids)?;
        self.check_counts(source, &data, &report, named.leaves_out())?;
        Ok((data, report))
    }
}

/// Reads the data set called `name` from the folder `dir`, which contains its files or a folder with them.
///
/// # Errors
/// Returns the errors of [`Manifest::find`], [`Manifest::locate`] and [`Manifest::load`].
pub fn load_named(name: &str, dir: &Path) -> Result<InteractionData, DataError> {
    load_named_with_ids(name, dir, &NamedOptions::default(), KnownIds::default())
}

/// Like [`load_named`], with options, and with the ids of an earlier load; see [`load_with_ids`](crate::load_with_ids).
///
/// # Errors
/// Returns the errors of [`load_named`] and of [`NamedOptions::check`].
pub fn load_named_with_ids(name: &str, dir: &Path, options: &NamedOptions, ids: KnownIds) -> Result<InteractionData, DataError> {
    let manifest = Manifest::find(name)?;
    options.check(manifest)?;
    let source = options.source(manifest.locate(dir)?);
    let (data, _) = manifest.load_all(&source, options, ids)?;
    Ok(data)
}

#[cfg(test)]
mod tests;
