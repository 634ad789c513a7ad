//! How image encoders are evaluated: the `[evaluation]` table of a recipe.

use crate::probe::{KnnConfig, LinearProbeConfig};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_closed},
};
use bcl_images::LARGEST_SIDE;
use bcl_report::few_labels_probe;
use serde::{Deserialize, Serialize};

/// How frozen features are evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageEvaluationConfig {
    /// Epochs between two nearest-neighbour evaluations during training, at most 1,000,000; 0 evaluates after the last epoch only.
    pub every: usize,
    /// Height and width of whole images in evaluation, 1 to 4096; by default the side of the training views.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<usize>,
    /// How linear probes are trained.
    pub protocols: Vec<Protocol>,
    /// Fractions of the training labels on which the linear probe is trained again, each in [1e-6, 0.999999]; by default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub label_fractions: Vec<f64>,
    /// Baselines to compare with.
    pub baselines: Vec<ImageBaselineKind>,
    /// The linear probe.
    pub probe: LinearProbeConfig,
    /// Nearest neighbours.
    pub knn: KnnConfig,
}

/// The features on which a linear probe is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Features of whole images under the running statistics of batch normalisation, computed once.
    Clean,
    /// The protocol of the authors' code: each epoch trains on features of new random views, from an encoder in training mode. This
    /// updates the running statistics, with which whole test images are then encoded.
    Official,
}

/// Features that need no training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageBaselineKind {
    /// Raw pixel values.
    RawPixels,
    /// The encoder before training.
    RandomEncoder,
}

impl ImageBaselineKind {
    /// The name in recipes and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::RawPixels => "raw_pixels",
            Self::RandomEncoder => "random_encoder",
        }
    }
}

impl Default for ImageEvaluationConfig {
    fn default() -> Self {
        Self {
            every: 10,
            side: None,
            protocols: vec![Protocol::Clean],
            label_fractions: Vec::new(),
            baselines: vec![ImageBaselineKind::RawPixels, ImageBaselineKind::RandomEncoder],
            probe: LinearProbeConfig::default(),
            knn: KnnConfig::default(),
        }
    }
}

impl ImageEvaluationConfig {
    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the remedy.
    pub fn check(&self) -> Result<(), String> {
        let below = |table| move |error: ParameterError| format!("{table}{error}");
        count_in("every", self.every, 0, MOST_EPOCHS).map_err(below(""))?;
        self.probe.check().map_err(below("probe."))?;
        self.knn.check().map_err(below("knn."))?;
        if let Some(side) = self.side {
            count_in("side", side, 1, LARGEST_SIDE).map_err(below(""))?;
        }
        check_label_fractions(&self.label_fractions)?;
        each_once("protocols", &self.protocols)?;
        each_once("baselines", &self.baselines)
    }
}

/// Checks that each fraction leaves some labels out, and that no two of them would have the same metrics.
///
/// # Errors
/// Returns an error that names the key, the fraction and the remedy.
pub fn check_label_fractions(fractions: &[f64]) -> Result<(), String> {
    for (i, &fraction) in fractions.iter().enumerate() {
        in_closed("label_fractions", fraction, 1e-6, 0.999_999).map_err(|error| error.to_string())?;
        let name = few_labels_probe(fraction);
        if fractions[..i].iter().any(|&earlier| few_labels_probe(earlier) == name) {
            return Err(format!("label_fractions lists {fraction} twice; list each fraction once"));
        }
    }
    Ok(())
}

fn each_once<T: PartialEq>(key: &str, names: &[T]) -> Result<(), String> {
    if names.iter().enumerate().any(|(i, name)| names[..i].contains(name)) {
        return Err(format!("{key} lists a name twice; list each once"));
    }
    Ok(())
}
