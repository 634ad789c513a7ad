//! How to use a data set with a name in another way than its manifest says.

use super::{Layout, Manifest};
use crate::{CoreOptions, DataError, Format, Source, SplitKind, SplitOptions, split::Times};

/// How to use a data set with a name. The default is what its manifest says: the split that is published, or a fixed one.
///
/// ```
/// use bcl_data::{Manifest, NamedOptions, SplitOptions};
///
/// let split: SplitOptions = toml::from_str("kind = \"temporal\"")?;
/// let options = NamedOptions { split: Some(split), ..NamedOptions::default() };
/// assert!(options.check(Manifest::find("ml-100k")?).is_ok());
/// let error = options.check(Manifest::find("gowalla")?).unwrap_err().to_string();
/// assert!(error.contains("has no timestamps"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NamedOptions {
    /// A split of all interactions, in place of the manifest's split. Files that are split already are joined first.
    pub split: Option<SplitOptions>,
    /// Minimum rating: interactions with a lower one are left out.
    pub min_rating: Option<f64>,
    /// Which users and items have too few interactions to be kept.
    pub core: CoreOptions,
}

impl NamedOptions {
    /// Checks the ranges, and that the files of a data set have what the options need.
    ///
    /// # Errors
    /// Returns an error that names the key and the remedy.
    pub fn check(&self, manifest: &Manifest) -> Result<(), DataError> {
        self.core.check()?;
        self.split.map_or(Ok(()), |split| split.check())?;
        let name = &manifest.name;
        let refuse = |key: &str, problem: String| Err(DataError::setting(key, problem));
        let Layout::Split { format, .. } = &manifest.layout else {
            return Ok(());
        };
        if let (Some((key, _)), None) = (self.core.named().next(), self.split) {
            let problem = format!(
                "cannot be used with the published split of {name}, which would not be the same without some users and items; set data.split, \
                 such as data.split.kind = \"ratio\", to join its two files and split them here"
            );
            return refuse(key, problem);
        }
        match self.split {
            Some(split) if *format == Format::Ngcf && split.times() == Times::Needed => {
                let (key, remedy) = match split.kind {
                    SplitKind::Temporal => ("data.split.kind", "data.split.kind = \"ratio\""),
                    _ => ("data.split.order", "data.split.order = \"random\""),
                };
                let problem =
                    format!("is a split by time, but {name} is published as lists of items and has no timestamps; set {remedy}");
                refuse(key, problem)
            }
            _ => Ok(()),
        }
    }

    /// The files with the split that is asked for.
    pub(super) fn source(&self, found: Source) -> Source {
        match self.split {
            None => found,
            Some(split) => Source::Whole {
                files: found.files().into_iter().map(std::path::Path::to_path_buf).collect(),
                split,
            },
        }
    }

    /// Whether interactions are left out, so that the manifest's counts do not apply.
    pub(super) fn leaves_out(&self) -> bool {
        self.min_rating.is_some() || self.core.is_given()
    }
}
