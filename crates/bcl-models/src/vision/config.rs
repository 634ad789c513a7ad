//! Parameters of an image encoder: the `[encoder]` table of a recipe.

use super::ProjectionHeadConfig;
use crate::check::count_in;
use serde::{Deserialize, Serialize};

/// The maximum number of channels of the first stage: 64 times as many as in the published network.
const MOST_WIDTH: usize = 4096;
/// Channels of an image.
pub(super) const CHANNELS: usize = 3;

/// Number of layers with weights; recipes give the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
#[non_exhaustive]
pub enum ResNetDepth {
    /// Basic blocks, 2 per stage.
    ResNet18,
    /// Basic blocks, 3, 4, 6 and 3 per stage.
    ResNet34,
    /// Bottleneck blocks, 3, 4, 6 and 3 per stage.
    ResNet50,
}

impl ResNetDepth {
    /// Blocks in each of the four stages.
    pub fn blocks(self) -> [usize; 4] {
        match self {
            Self::ResNet18 => [2, 2, 2, 2],
            Self::ResNet34 | Self::ResNet50 => [3, 4, 6, 3],
        }
    }

    /// Ratio of a block's output channels to its inner channels.
    pub fn expansion(self) -> usize {
        match self {
            Self::ResNet18 | Self::ResNet34 => 1,
            Self::ResNet50 => 4,
        }
    }
}

impl TryFrom<u64> for ResNetDepth {
    type Error = String;

    fn try_from(depth: u64) -> Result<Self, String> {
        match depth {
            18 => Ok(Self::ResNet18),
            34 => Ok(Self::ResNet34),
            50 => Ok(Self::ResNet50),
            _ => Err(format!("depth is {depth}, but must be 18, 34 or 50")),
        }
    }
}

impl From<ResNetDepth> for u64 {
    fn from(depth: ResNetDepth) -> Self {
        match depth {
            ResNetDepth::ResNet18 => 18,
            ResNetDepth::ResNet34 => 34,
            ResNetDepth::ResNet50 => 50,
        }
    }
}

/// The layers before the first stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stem {
    /// 7x7 convolution of stride 2, then 3x3 max-pooling of stride 2: for images of about 224 pixels.
    Imagenet,
    /// 3x3 convolution of stride 1 without pooling: for images of 32 to 96 pixels.
    Cifar,
}

/// Configuration of [`ResNet`](super::ResNet).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResNetConfig {
    /// Number of layers with weights.
    pub depth: ResNetDepth,
    /// The layers before the first stage.
    pub stem: Stem,
    /// Channels of the first stage, 1 to 4096; each later stage doubles them. The published network has 64; 16 suits a CPU.
    pub width: usize,
}

impl Default for ResNetConfig {
    fn default() -> Self {
        Self {
            depth: ResNetDepth::ResNet50,
            stem: Stem::Cifar,
            width: 64,
        }
    }
}

impl ResNetConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        count_in("width", self.width, MOST_WIDTH)
    }

    /// Size of a feature vector: 8 times the width, times 4 for bottleneck blocks.
    ///
    /// ```
    /// use bcl_models::vision::ResNetConfig;
    ///
    /// assert_eq!(ResNetConfig::default().num_features(), 2048);
    /// ```
    pub fn num_features(&self) -> usize {
        8 * self.width * self.depth.expansion()
    }
}

/// Configuration of [`ImageEncoder`](super::ImageEncoder).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageEncoderConfig {
    /// The residual network.
    pub trunk: ResNetConfig,
    /// The projection head on top of it.
    pub head: ProjectionHeadConfig,
    /// Splits images between two networks without shared weights, 1 or 2: the first network reads this many channels, the second reads
    /// the rest. One network reads all channels if absent.
    ///
    /// Source: Tian et al., [Contrastive Multiview Coding](https://arxiv.org/abs/1906.05849), which compares lightness with colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_channels: Option<usize>,
}

impl ImageEncoderConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range with its table (`head.out`), its value and the range.
    pub fn check(&self) -> Result<(), String> {
        let inside = |table| move |message| format!("{table}.{message}");
        self.trunk.check().map_err(inside("trunk"))?;
        self.head.check().map_err(inside("head"))?;
        self.split_channels
            .map_or(Ok(()), |channels| count_in("split_channels", channels, CHANNELS - 1))
    }

    /// Number of channels that each network reads; they add up to 3.
    ///
    /// ```
    /// use bcl_models::vision::ImageEncoderConfig;
    ///
    /// let config = ImageEncoderConfig { split_channels: Some(1), ..ImageEncoderConfig::default() };
    /// assert_eq!(config.channels(), [1, 2]);
    /// assert_eq!(ImageEncoderConfig::default().channels(), [3]);
    /// ```
    pub fn channels(&self) -> Vec<usize> {
        match self.split_channels {
            Some(first) => vec![first, CHANNELS - first],
            None => vec![CHANNELS],
        }
    }

    /// Size of a feature vector: the trunk's number of features, twice if channels are split.
    pub fn num_features(&self) -> usize {
        self.trunk.num_features() * self.channels().len()
    }

    /// Size of a projection: the head's number of outputs, twice if channels are split.
    pub fn dim(&self) -> usize {
        self.head.out * self.channels().len()
    }
}
