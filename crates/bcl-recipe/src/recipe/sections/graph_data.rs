//! The `[data]` table of a recipe that trains on graphs.

use super::{
    super::Refusal,
    dataset::{PLANTED, check_name},
};
use bcl_data::{
    DataError, SearchPath,
    graphs::{GraphData, GraphOptions, NodeFeatures, PlantedGraphsConfig, load_graphs_with_report},
    load_named_graphs,
    manifest::Contents,
};
use bcl_files::notice;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which graphs to learn from: a data set by name, planted graphs, or your own folder or archive.
///
/// ```toml
/// [data]
/// dataset = "ptc-mr"                     # by name; its files are looked for in --data DIR
///
/// [data]
/// dataset = "planted"                    # generated, with known classes
/// planted.graphs = 600
///
/// [data]
/// graphs = "MY_GRAPHS.zip"               # a folder or an archive with MY_GRAPHS_A.txt, MY_GRAPHS_graph_indicator.txt, …
/// features = "degree"
/// ```
///
/// Encoders learn from all graphs without their classes. Evaluation cross-validates classifiers of the vectors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphDataConfig {
    /// Name of a data set, or `planted` for generated data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Folder or archive of graphs in the format of the TU collection; beside the recipe or in `--data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphs: Option<PathBuf>,
    /// What becomes a node's features.
    pub features: NodeFeatures,
    /// Whether node attributes are features, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub node_attributes: bool,
    /// Whether to add the reverse of edges of `graphs` that are given in one direction only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub symmetrise: bool,
    /// How to generate planted graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planted: Option<PlantedGraphsConfig>,
}

/// Where the graphs of a [`GraphDataConfig`] come from.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphDataSource {
    /// Generated data.
    Planted(PlantedGraphsConfig),
    /// A data set with a manifest, by name.
    Named(String),
    /// A folder or an archive, as in the recipe.
    Files(PathBuf),
}

impl GraphDataConfig {
    /// The data source that the keys name.
    ///
    /// # Errors
    /// Returns an error if they name none or both, or if a key does not belong to the source.
    pub fn source(&self) -> Result<GraphDataSource, Refusal> {
        let source = match (&self.dataset, &self.graphs) {
            (Some(name), None) if name == PLANTED => GraphDataSource::Planted(self.planted.clone().unwrap_or_default()),
            (Some(name), None) => GraphDataSource::Named(name.clone()),
            (None, Some(path)) => GraphDataSource::Files(path.clone()),
            (Some(_), Some(_)) => {
                return Err(Refusal::new(
                    "data.graphs",
                    "cannot be combined with data.dataset; remove one of them",
                ));
            }
            (None, None) => {
                return Err(Refusal::new(
                    "data",
                    "names no graphs; set data.dataset (such as \"planted\"), or data.graphs to a folder or archive",
                ));
            }
        };
        if self.planted.is_some() && !matches!(source, GraphDataSource::Planted(_)) {
            return Err(Refusal::new(
                "data.planted",
                "only works with dataset = \"planted\"; remove it",
            ));
        }
        if self.symmetrise && !matches!(source, GraphDataSource::Files(_)) {
            return Err(Refusal::new(
                "data.symmetrise",
                "only works with data.graphs: the edges of other data have both directions; remove it",
            ));
        }
        if self.node_attributes && matches!(source, GraphDataSource::Planted(_)) {
            return Err(Refusal::new(
                "data.node_attributes",
                "is true, but planted graphs have no node attributes; remove it",
            ));
        }
        Ok(source)
    }

    /// Checks that the keys name one source, and that its parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first key that does not fit, and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        match self.source()? {
            GraphDataSource::Planted(config) => config.check().map_err(|error| Refusal::of_text(&error.to_string())),
            GraphDataSource::Named(name) => check_name(&name, |layout| layout.contents() == Contents::Graphs),
            GraphDataSource::Files(_) => Ok(()),
        }
    }

    /// Fills in defaults, so that a resolved recipe shows them.
    pub(crate) fn resolve(&mut self) {
        if let Ok(GraphDataSource::Planted(config)) = self.source() {
            self.planted = Some(config);
        }
    }

    /// Generates or reads the graphs.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, or lacks what the features need.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn load(&self, search: &SearchPath) -> Result<GraphData, DataError> {
        let options = GraphOptions {
            features: self.features,
            node_attributes: self.node_attributes,
            symmetrise: self.symmetrise,
        };
        match self.source().unwrap_or_else(|refusal| panic!("{refusal}")) {
            GraphDataSource::Planted(config) => config.generate().with_features(self.features, false),
            GraphDataSource::Named(name) => load_named_graphs(&name, search.data_dir(), &options),
            GraphDataSource::Files(path) => {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                let name = name.as_deref().and_then(|name| name.split('.').next()).unwrap_or("graphs");
                let (data, report) = load_graphs_with_report(name, &search.find("data.graphs", &path)?, &options)?;
                for note in report.notes(&data) {
                    notice::note(format_args!("{name}: {note}"));
                }
                Ok(data)
            }
        }
    }

    /// What is loaded, for messages: equal configurations with equal words load the same files.
    ///
    /// # Errors
    /// Returns an error if a file is missing.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn described(&self, search: &SearchPath) -> Result<String, DataError> {
        Ok(match self.source().unwrap_or_else(|refusal| panic!("{refusal}")) {
            GraphDataSource::Planted(_) => "the generator of planted graphs".to_owned(),
            GraphDataSource::Named(name) => format!("{name} in {}", search.data_dir().display()),
            GraphDataSource::Files(path) => search.find("data.graphs", &path)?.display().to_string(),
        })
    }
}
