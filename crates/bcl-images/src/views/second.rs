//! What differs for the second global view.

use super::augmentation::Augmentation;
use super::{BlurConfig, CropConfig, JitterConfig, SolariseConfig, ViewsError, is_default};
use serde::{Deserialize, Serialize};

/// Defines a table whose keys, if given, replace the same keys of a configuration.
macro_rules! replaces {
    ($(#[$doc:meta])* $name:ident: $config:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                #[doc = concat!("Replaces [`", stringify!($config), "::", stringify!($field), "`].")]
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
        }

        impl $name {
            fn replace_in(&self, config: &mut $config) {
                $(
                    if let Some(value) = self.$field {
                        config.$field = value;
                    }
                )*
            }
        }
    };
}

replaces! {
    /// Random crop of the second view.
    SecondCrop: CropConfig { scale: [f64; 2], ratio: [f64; 2] }
}

replaces! {
    /// Colour jitter of the second view.
    SecondJitter: JitterConfig { brightness: f64, contrast: f64, saturation: f64, hue: f64, probability: f64 }
}

replaces! {
    /// Gaussian blur of the second view.
    SecondBlur: BlurConfig { kernel_fraction: f64, sigma: [f64; 2], probability: f64 }
}

replaces! {
    /// Solarisation of the second view.
    SecondSolarise: SolariseConfig { threshold: usize, probability: f64 }
}

/// What differs for the second global view: a key that is given replaces the same key of `views`; all others hold for both views.
///
/// BYOL and Barlow Twins always blur the first view, rarely blur the second, and solarise only the second:
///
/// ```
/// use bcl_images::ViewsConfig;
///
/// let config: ViewsConfig = toml::from_str(
///     "blur = { probability = 1.0 }
///      second = { blur = { probability = 0.1 }, solarise = { probability = 0.2 } }",
/// )?;
/// assert_eq!(config.second.blur.probability, Some(0.1));
/// assert_eq!(config.second.blur.sigma, None); // as in the first view
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SecondViewConfig {
    /// Random crop.
    #[serde(skip_serializing_if = "is_default")]
    pub crop: SecondCrop,
    /// Colour jitter.
    #[serde(skip_serializing_if = "is_default")]
    pub jitter: SecondJitter,
    /// Probability of conversion to grey, in [0, 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grayscale: Option<f64>,
    /// Gaussian blur.
    #[serde(skip_serializing_if = "is_default")]
    pub blur: SecondBlur,
    /// Solarisation.
    #[serde(skip_serializing_if = "is_default")]
    pub solarise: SecondSolarise,
}

impl SecondViewConfig {
    /// The augmentation of the second view, from the augmentation of the first.
    pub(super) fn augmentation(&self, first: &Augmentation) -> Augmentation {
        let mut second = first.clone();
        self.crop.replace_in(&mut second.crop);
        self.jitter.replace_in(&mut second.jitter);
        self.blur.replace_in(&mut second.blur);
        self.solarise.replace_in(&mut second.solarise);
        if let Some(grayscale) = self.grayscale {
            second.grayscale = grayscale;
        }
        second
    }

    /// Checks that every field is in its range, where the first view's are.
    pub(super) fn check(&self, first: &Augmentation) -> Result<(), ViewsError> {
        self.augmentation(first).check().map_err(|error| error.within("second"))
    }
}
