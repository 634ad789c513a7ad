//! The `[method]` table of recipes, which names a method for encoders of images.

use super::{ImageMethod, Precision};
use bcl_collective::Collective;
use bcl_core::ParameterError;
use bcl_data::Seed;
use bcl_models::vision::ImageEncoder;
use burn::tensor::Device;
use std::sync::Arc;

/// Code that is generic over the method. [`MethodConfig::init`](super::MethodConfig::init) calls it with the method of the recipe.
pub trait WithMethod {
    /// The return type.
    type Output;

    /// Runs the code with a method.
    fn call<M: ImageMethod>(self, method: M) -> Self::Output;
}

/// What a method needs of the rest of a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Number of global views per image.
    pub views: usize,
    /// Whether it uses local views, too, if there are any.
    pub local_views: bool,
    /// Whether the encoder must be two networks, for different channels.
    pub split_encoder: bool,
    /// Number of images of which a batch, and each part of it, must be a multiple.
    pub group: usize,
    /// The positives of an anchor.
    pub positives: Positives,
    /// The only loss that makes sense with it, by its name in recipes.
    pub only_loss: Option<&'static str>,
}

/// The positives of an anchor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Positives {
    /// One view of its image.
    #[default]
    One,
    /// Several views of its image.
    OfImage,
    /// Views of all images of its class, so that training images need labels.
    OfClass,
}

impl Default for Needs {
    fn default() -> Self {
        Self {
            views: 2,
            local_views: false,
            split_encoder: false,
            group: 1,
            positives: Positives::One,
            only_loss: None,
        }
    }
}

/// Sizes on which the memory of a method depends.
#[derive(Debug, Clone, Copy)]
pub struct MethodSizes {
    /// Size of an embedding.
    pub dim: u64,
    /// Number of training images.
    pub images: u64,
    /// Number of parameters of the encoder.
    pub parameters: u64,
}

/// What a method is built from.
#[derive(Debug)]
pub struct MethodStart {
    /// The encoder to train.
    pub encoder: ImageEncoder,
    /// Size of an embedding.
    pub dim: usize,
    /// Number of training images.
    pub num_images: usize,
    /// The class of each training image, if all have one.
    pub classes: Option<Arc<[u32]>>,
    /// Number of optimizer steps per epoch.
    pub steps_per_epoch: usize,
    /// Number of optimizer steps of the whole training.
    pub num_steps: usize,
    /// Precision of the encoder.
    pub precision: Precision,
    /// The processes whose samples batch normalisation covers, if not this process alone. The encoder has them, too.
    pub norm_processes: Option<Arc<dyn Collective>>,
    /// Seed of the method's own parameters and draws.
    pub seed: Seed,
    /// The device.
    pub device: Device,
}

impl MethodStart {
    /// A start in f32 without what only some methods need: images and classes for CMC, steps for schedules of BYOL, SwAV and DINO.
    pub fn new(encoder: ImageEncoder, dim: usize, device: &Device) -> Self {
        Self {
            encoder,
            dim,
            num_images: 0,
            classes: None,
            steps_per_epoch: 1,
            num_steps: 1,
            precision: Precision::F32,
            norm_processes: None,
            seed: Seed(0),
            device: device.clone(),
        }
    }
}

/// The parameters of a method, as in recipes.
pub trait MethodSettings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the parameter that is out of range.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// The number of negatives per anchor in batches of `batch_size` images; `None` if the method has a loss of its own.
    fn num_negatives(&self, _batch_size: usize) -> Option<usize> {
        None
    }

    /// As [`ImageMethod::is_recordable`].
    fn is_recordable(&self) -> bool {
        false
    }

    /// Lower bound on the number of values that the method keeps beside its encoder.
    fn memory(&self, _: &MethodSizes) -> u64 {
        0
    }

    /// Lower bound on the number of values that a step keeps per anchor beside its scores, with embeddings of this size.
    fn values_per_anchor(&self, _dim: u64) -> u64 {
        0
    }

    /// The setting, if any, that spreads a parameter over all steps, so that a longer training differs from its first step on.
    fn spread_over_epochs(&self) -> Option<&'static str> {
        None
    }

    /// What the method needs of the rest of a recipe.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// Parameters that build a method.
pub trait ImageMethodConfig: MethodSettings {
    /// The method.
    type Method: ImageMethod;

    /// Builds the method.
    fn init(&self, start: MethodStart) -> Self::Method;
}

/// Defines [`MethodConfig`](super::MethodConfig) from a list of methods. The first is the default.
macro_rules! image_methods {
    ($first:ident($first_config:ident) = $first_name:literal, $($method:ident($config:ident) = $name:literal,)*) => {
        /// A method with its parameters: the `[method]` table of a recipe, where `kind` names the method.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum MethodConfig {
            #[doc = concat!("`", $first_name, "`: [`", stringify!($first_config), "`].")]
            #[serde(rename = $first_name)]
            $first($first_config),
            $(
                #[doc = concat!("`", $name, "`: [`", stringify!($config), "`].")]
                #[serde(rename = $name)]
                $method($config),
            )*
        }

        impl Default for MethodConfig {
            fn default() -> Self {
                Self::$first(<$first_config>::default())
            }
        }

        impl MethodConfig {
            /// The default kind.
            pub const DEFAULT: &'static str = $first_name;

            /// All methods with default parameters.
            pub fn all() -> Vec<Self> {
                vec![Self::default() $(, Self::$method(<$config>::default()))*]
            }

            /// The name that recipes use.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::$first(_) => $first_name,
                    $(Self::$method(_) => $name,)*
                }
            }

            /// Whether this is the default with default parameters, which recipes need not name.
            pub fn is_default(&self) -> bool {
                *self == Self::default()
            }

            /// The parameters.
            pub fn settings(&self) -> &dyn MethodSettings {
                match self {
                    Self::$first(config) => config,
                    $(Self::$method(config) => config,)*
                }
            }

            /// Builds the method and passes it to `user`.
            pub fn init<U: WithMethod>(&self, start: MethodStart, user: U) -> U::Output {
                match self {
                    Self::$first(config) => user.call(ImageMethodConfig::init(config, start)),
                    $(Self::$method(config) => user.call(ImageMethodConfig::init(config, start)),)*
                }
            }
        }
    };
}

pub(crate) use image_methods;
