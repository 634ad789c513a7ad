//! A kind of recipe for tests: two tables with kinds, one of which is optional.

use crate::{
    Builtin, Chain, DroppedKeys, Library, Origins, Override, RecipeError, RecipeKind, RecipeSource, Refusal, Rules, check_header,
};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use toml::Table;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) seed: u64,
    pub(crate) data: Data,
    #[serde(default)]
    pub(crate) encoder: Encoder,
    #[serde(default)]
    pub(crate) negatives: Negatives,
    pub(crate) loss: Loss,
    #[serde(default)]
    pub(crate) training: Training,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Data {
    dataset: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Encoder {
    Mf(Mf),
    LightGcn(LightGcn),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mf {
    dim: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LightGcn {
    dim: usize,
    layers: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Negatives {
    Uniform(Uniform),
    InBatch(InBatch),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Uniform {
    count: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct InBatch {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Loss {
    InfoNce(InfoNce),
    Hard(InfoNce),
    Debiased(Debiased),
    Bayesian(Bayesian),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct InfoNce {
    temperature: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Debiased {
    temperature: f64,
    tau_plus: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Bayesian {
    temperature: f64,
    alpha: f64,
    beta: f64,
    tau_plus: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Training {
    epochs: usize,
    batch_size: usize,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::Mf(Mf::default())
    }
}

impl Default for Mf {
    fn default() -> Self {
        Self { dim: 64 }
    }
}

impl Default for LightGcn {
    fn default() -> Self {
        Self { dim: 64, layers: 3 }
    }
}

impl Default for Negatives {
    fn default() -> Self {
        Self::Uniform(Uniform::default())
    }
}

impl Default for Uniform {
    fn default() -> Self {
        Self { count: 128 }
    }
}

impl Default for Training {
    fn default() -> Self {
        Self {
            epochs: 60,
            batch_size: 1024,
        }
    }
}

impl RecipeKind for Sample {
    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    fn defaults() -> Table {
        toml::toml! {
            encoder.kind = "mf"
            negatives.kind = "uniform"
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        check_header(&self.name, self.seed)
    }
}

/// The built-in recipes of the tests.
pub(crate) fn library() -> &'static Library {
    static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
        let file = |name, text| Builtin { name, text };
        let base = file("quickstart/_base", "data.dataset = 'planted'\n");
        let infonce = "# The plain loss.\nextends = '_base.toml'\nloss.kind = 'info_nce'\n";
        let bayesian = "# Bayesian weights.\nextends = '_base.toml'\nloss.kind = 'bayesian'\n";
        let files = vec![
            file("quickstart-images", infonce),
            file("quickstart/infonce", infonce),
            file("quickstart/bayesian", bayesian),
            base,
        ];
        Library::new(files, Rules::default())
    });
    &LIBRARY
}

impl Sample {
    pub(crate) fn parse(text: &str, flags: &[&str]) -> Result<Self, RecipeError> {
        let chain = Chain::parse(text, "recipe", library())?;
        chain.read(&overrides(flags), &mut Vec::new()).map(|(sample, _)| sample)
    }

    pub(crate) fn read(
        found: &RecipeSource,
        flags: &[&str],
        dropped: &mut Vec<DroppedKeys>,
    ) -> Result<(Self, Origins), RecipeError> {
        Chain::open(found, library())?.read(&overrides(flags), dropped)
    }
}

fn overrides(flags: &[&str]) -> Vec<Override> {
    flags.iter().map(|flag| flag.parse().unwrap()).collect()
}
