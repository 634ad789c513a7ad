//! Shapes of equal area, so that the amount of background does not reveal the shape.

/// A shape around the origin, with an area of 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Disc,
    Square,
    Triangle,
    Ring,
    Cross,
}

impl Shape {
    pub(super) const ALL: [Self; 5] = [Self::Disc, Self::Square, Self::Triangle, Self::Ring, Self::Cross];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Disc => "disc",
            Self::Square => "square",
            Self::Triangle => "triangle",
            Self::Ring => "ring",
            Self::Cross => "cross",
        }
    }

    /// Whether a point is inside.
    pub(super) fn contains(self, x: f32, y: f32) -> bool {
        let square = x * x + y * y;
        match self {
            Self::Disc => square < 0.7003,
            Self::Square => x.abs().max(y.abs()) < 0.7416,
            // Equilateral and centred at the origin: the distance to each side is half of the distance to a corner, which is 1.3013.
            Self::Triangle => {
                const SIDE: f32 = 0.6507;
                const HALF_ROOT_3: f32 = 0.866_025_4;
                y > -SIDE && HALF_ROOT_3 * x.abs() + 0.5 * y < SIDE
            }
            Self::Ring => (0.2997..1.0).contains(&square),
            Self::Cross => x.abs().max(y.abs()) < 1.05 && x.abs().min(y.abs()) < 0.3067,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_equal_areas() {
        for shape in Shape::ALL {
            let at = |i: u32| (i as f32 + 0.5) / 100.0 - 1.5;
            let inside = (0..90_000_u32).filter(|i| shape.contains(at(i % 300), at(i / 300))).count();
            let area = inside as f32 / 10_000.0;
            assert!((area - 2.2).abs() < 0.03, "{shape:?}: {area}");
        }
    }

    #[test]
    fn shapes_are_their_own_mirror_images() {
        for shape in Shape::ALL {
            for i in 0..1500_u32 {
                let (x, y) = ((i % 30) as f32 / 10.0 - 1.5, (i / 30) as f32 / 16.0 - 1.5);
                assert_eq!(shape.contains(x, y), shape.contains(-x, y), "{shape:?} at {x}, {y}");
            }
        }
    }
}
