//! Brightness, contrast, saturation and hue, changed in random order.

use super::brightness::adjust_brightness;
use super::contrast::adjust_contrast;
use super::error::{ViewsError, holds, is_probability};
use super::hue::adjust_hue;
use super::saturation::adjust_saturation;
use super::{happens, uniform};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Describes changes of colour: torchvision's `ColorJitter`, applied to a share of the views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JitterConfig {
    /// The factor is uniform in `[max(1 - brightness, 0), 1 + brightness]`; in [0, 100].
    pub brightness: f64,
    /// The same for contrast.
    pub contrast: f64,
    /// The same for saturation.
    pub saturation: f64,
    /// The turn is uniform in `[-hue, hue]` of the colour wheel; in [0, 0.5]. At 0 the step is left out.
    pub hue: f64,
    /// Probability that a view is changed at all, in [0, 1].
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

/// One of the four changes.
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

/// A change of colour: what is done to how much, and in which order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter {
    /// The order; it matters, as each step rounds and cuts off.
    pub order: [Adjustment; 4],
    /// Factor of brightness.
    pub brightness: f64,
    /// Factor of contrast.
    pub contrast: f64,
    /// Factor of saturation.
    pub saturation: f64,
    /// Turn of the hue; none leaves out the way through 8-bit hues, which changes colours even without a turn.
    pub hue: Option<f64>,
}

impl JitterConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value, and the range.
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

    /// Draws a change of colour, or none.
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
    /// Changes the colours.
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
