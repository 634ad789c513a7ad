//! Colour jitter: brightness, contrast, saturation and hue, changed in random order.

use super::brightness::adjust_brightness;
use super::contrast::adjust_contrast;
use super::error::{ViewsError, holds, is_probability};
use super::hue::adjust_hue;
use super::saturation::adjust_saturation;
use super::{happens, uniform};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Configuration of colour jitter: torchvision's `ColorJitter`, applied with a probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JitterConfig {
    /// Strength of brightness, in [0, 100]: the factor is uniform in `[max(1 - brightness, 0), 1 + brightness]`.
    pub brightness: f64,
    /// Strength of contrast, like brightness.
    pub contrast: f64,
    /// Strength of saturation, like brightness.
    pub saturation: f64,
    /// Strength of hue, in [0, 0.5]: the shift is uniform in `[-hue, hue]` of the colour wheel. At 0 the step is left out.
    pub hue: f64,
    /// Probability of changing the colours of a view, in [0, 1].
    pub probability: f64,
}

impl Default for JitterConfig {
    fn default() -> Self {
        Self {
            brightness: 0.4,
            contrast: 0.4,
            saturation: 0.4,
            hue: 0.1,
            probability: 0.8,
        }
    }
}

/// One of the four steps of colour jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adjustment {
    /// [`adjust_brightness`].
    Brightness,
    /// [`adjust_contrast`].
    Contrast,
    /// [`adjust_saturation`].
    Saturation,
    /// [`adjust_hue`].
    Hue,
}

/// Drawn parameters of colour jitter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter {
    /// Order of the steps. It matters, because each step rounds and clips.
    pub order: [Adjustment; 4],
    /// Brightness factor.
    pub brightness: f64,
    /// Contrast factor.
    pub contrast: f64,
    /// Saturation factor.
    pub saturation: f64,
    /// Hue shift. `None` skips the conversion to 8-bit hues, which changes colours even at a shift of 0.
    pub hue: Option<f64>,
}

impl JitterConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        for (name, value) in [
            ("jitter.brightness", self.brightness),
            ("jitter.contrast", self.contrast),
            ("jitter.saturation", self.saturation),
        ] {
            holds(name, value, (0.0..=100.0).contains(&value), "[0, 100]")?;
        }
        holds("jitter.hue", self.hue, (0.0..=0.5).contains(&self.hue), "[0, 0.5]")?;
        is_probability("jitter.probability", self.probability)
    }

    /// Draws the parameters, or `None` for a view without colour jitter.
    pub fn draw(&self, rng: &mut impl Rng) -> Option<Jitter> {
        if !happens(self.probability, rng) {
            return None;
        }
        let mut order = [
            Adjustment::Brightness,
            Adjustment::Contrast,
            Adjustment::Saturation,
            Adjustment::Hue,
        ];
        order.shuffle(rng);
        let mut factor = |strength: f64| uniform([(1.0 - strength).max(0.0), 1.0 + strength], rng);
        Some(Jitter {
            order,
            brightness: factor(self.brightness),
            contrast: factor(self.contrast),
            saturation: factor(self.saturation),
            hue: (self.hue > 0.0).then(|| uniform([-self.hue, self.hue], rng)),
        })
    }
}

impl Jitter {
    /// Applies the steps in order.
    ///
    /// # Shapes
    /// - planes: `[3, height, width]`
    pub fn apply(&self, planes: &mut [u8]) {
        for adjustment in self.order {
            match adjustment {
                Adjustment::Brightness => adjust_brightness(planes, self.brightness),
                Adjustment::Contrast => adjust_contrast(planes, self.contrast),
                Adjustment::Saturation => adjust_saturation(planes, self.saturation),
                Adjustment::Hue => {
                    if let Some(turn) = self.hue {
                        adjust_hue(planes, turn);
                    }
                }
            }
        }
    }
}
