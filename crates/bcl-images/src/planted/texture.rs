//! Textures with equal areas of two colours.

/// A pattern that repeats with period 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texture {
    Stripes,
    Checks,
    Dots,
}

impl Texture {
    pub(super) const ALL: [Self; 3] = [Self::Stripes, Self::Checks, Self::Dots];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stripes => "stripes",
            Self::Checks => "checks",
            Self::Dots => "dots",
        }
    }

    /// Whether a point has the first colour.
    pub(super) fn is_first(self, x: f32, y: f32) -> bool {
        let (x, y) = (x - x.floor(), y - y.floor());
        match self {
            Self::Stripes => x < 0.5,
            Self::Checks => (x < 0.5) != (y < 0.5),
            // The radius at which the dot covers half of its cell.
            Self::Dots => (x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5) < 0.5 / std::f32::consts::PI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_colours_have_equal_shares() {
        for texture in Texture::ALL {
            let at = |i: u32| (i as f32 + 0.5) / 100.0 - 7.0;
            let first = (0..10_000_u32).filter(|i| texture.is_first(at(i % 100), at(i / 100))).count();
            assert!((4950..=5050).contains(&first), "{texture:?}: {first}");
        }
    }
}
