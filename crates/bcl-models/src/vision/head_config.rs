//! Parameters of a projection head: the `[encoder.head]` table of a recipe.

use super::HeadActivation;
use crate::check::count_in;
use serde::{Deserialize, Serialize};

/// The maximum size of a layer.
const MOST_HEAD: usize = 65_536;
/// The maximum number of linear layers: one more than any published head has.
const MOST_LAYERS: usize = 4;
/// The number of linear layers by default.
const LAYERS: usize = 2;

/// Which linear layers of a head are followed by batch normalisation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HeadNorm {
    /// All layers but the last.
    #[default]
    Hidden,
    /// No layer.
    None,
    /// All layers.
    All,
    /// All layers; the last norm has no scale and shift.
    AllPlain,
}

impl HeadNorm {
    pub(super) fn is_on_hidden(self) -> bool {
        self != Self::None
    }

    pub(super) fn is_on_out(self) -> bool {
        matches!(self, Self::All | Self::AllPlain)
    }

    /// Whether the norm of the last layer, if any, has a scale and a shift.
    pub(super) fn is_affine_on_out(self) -> bool {
        self == Self::All
    }
}

/// Configuration of [`ProjectionHead`](super::ProjectionHead).
///
/// | head | layers | norm | activation |
/// | --- | --- | --- | --- |
/// | `SimCLR` in the released code of DCL, HCL and BCL (the default) | 2 | hidden | relu |
/// | `MoCo` v1 and CMC | 1 | none | |
/// | `MoCo` v2 | 2 | none | relu |
/// | projector of `SimSiam` for `ImageNet` | 3 | `all_plain` | relu |
/// | projector of NNCLR | 3 | all | relu |
/// | DINO, with norms as for convolutional networks | 3 | hidden | gelu |
///
/// ```
/// use bcl_models::vision::{HeadNorm, ProjectionHeadConfig};
///
/// let linear = ProjectionHeadConfig { layers: 1, norm: HeadNorm::None, ..ProjectionHeadConfig::default() };
/// linear.check().unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectionHeadConfig {
    /// Size of each hidden layer, 1 to 65,536.
    pub hidden: usize,
    /// Size of a projection, 1 to 65,536.
    pub out: usize,
    /// Number of linear layers, 1 to 4.
    #[serde(skip_serializing_if = "is_default_depth")]
    pub layers: usize,
    /// Which layers are followed by batch normalisation.
    #[serde(skip_serializing_if = "is_default")]
    pub norm: HeadNorm,
    /// The activation after each hidden layer.
    #[serde(skip_serializing_if = "is_default")]
    pub activation: HeadActivation,
}

impl Default for ProjectionHeadConfig {
    fn default() -> Self {
        Self {
            hidden: 512,
            out: 128,
            layers: LAYERS,
            norm: HeadNorm::default(),
            activation: HeadActivation::default(),
        }
    }
}

impl ProjectionHeadConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        count_in("hidden", self.hidden, MOST_HEAD)?;
        count_in("out", self.out, MOST_HEAD)?;
        count_in("layers", self.layers, MOST_LAYERS)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_depth(layers: &usize) -> bool {
    *layers == LAYERS
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
