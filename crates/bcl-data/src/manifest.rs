//! The data sets that are known by name.

use crate::load::Source;
use crate::{DataError, InteractionData};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A data set that is known by name: where it comes from, what is in it, how to read it.
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
    /// How the downloaded file is packed, if it is.
    pub archive: Option<Archive>,
    /// What to download.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
}

/// A file to download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Where it is.
    pub url: String,
    /// Name to store it under.
    pub file: String,
    /// Size, where the publisher tells it.
    pub bytes: Option<u64>,
    /// MD5 in lower-case hex, where the publisher tells it.
    pub md5: Option<String>,
    /// SHA-256 in lower-case hex.
    pub sha256: Option<String>,
}

/// How a downloaded file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Archive {
    /// A zip file, to be unpacked beside itself.
    Zip,
}

impl Manifest {
    /// All manifests, by name.
    pub fn all() -> &'static [Manifest] {
        &[]
    }

    /// The manifest called `name`.
    ///
    /// # Errors
    /// If there is none: the error lists those there are.
    pub fn find(name: &str) -> Result<&'static Manifest, DataError> {
        let _ = name;
        todo!()
    }

    /// Finds the files of this data set in `dir`.
    ///
    /// # Errors
    /// If they are not there.
    pub fn locate(&self, dir: &Path) -> Result<Source, DataError> {
        let _ = dir;
        todo!()
    }

    /// Reads this data set from where it was [located](Self::locate) and checks its counts.
    ///
    /// # Errors
    /// As [`load`](crate::load()), and if the counts are not those of the manifest.
    pub fn load(&self, source: &Source) -> Result<InteractionData, DataError> {
        let _ = source;
        todo!()
    }
}

/// Reads the data set called `name` from the folder `dir`.
///
/// # Errors
/// As [`Manifest::find`], [`Manifest::locate`] and [`Manifest::load`].
pub fn load_named(name: &str, dir: &Path) -> Result<InteractionData, DataError> {
    let manifest = Manifest::find(name)?;
    manifest.load(&manifest.locate(dir)?)
}
