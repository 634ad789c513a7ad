//! Points of one kind, and how they are drawn.

use crate::Interval;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line; intervals are a band around it.
    Line,
    /// A line with a point at each value; intervals are a band around it.
    MarkedLine,
    /// A faint line, in no legend and not under the pointer: one of several seeds behind their mean.
    Faint,
    /// Filled points; intervals are whiskers.
    Dots,
    /// Hollow points; intervals are whiskers.
    Rings,
    /// Larger points, in no legend and not under the pointer: an epoch that was chosen.
    Mark,
}

/// A point of a series. Plain pairs, and pairs with an [`Interval`], turn into it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The value; what is not finite leaves a gap.
    pub y: f64,
    /// Lower and upper end of its interval.
    pub interval: Option<(f64, f64)>,
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        let interval = None;
        Self { x, y, interval }
    }
}

impl From<(f64, Interval)> for Point {
    fn from((x, interval): (f64, Interval)) -> Self {
        Self {
            x,
            y: interval.mean,
            interval: interval.bounds(),
        }
    }
}

/// Points of one kind, by ascending x.
///
/// ```
/// use bcl_report::Interval;
/// use bcl_report::chart::{Series, Shape};
///
/// let seeds = [0.44, 0.45, 0.46];
/// let measured = Series::new("Bayesian", Shape::MarkedLine, [(0.2, Interval::of(&seeds).unwrap())]);
/// let wanted = Series::new("wanted", Shape::Line, [(0.2, 0.45), (0.4, 0.45)]).with_colour(7).with_dash(1);
/// # let _ = (measured, wanted);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) points: Vec<Point>,
    pub(super) colour: Option<usize>,
    pub(super) dash: Option<usize>,
}

impl Series {
    /// A series with a name for the legend and the pointer.
    pub fn new<P: Into<Point>>(name: impl Into<String>, shape: Shape, points: impl IntoIterator<Item = P>) -> Self {
        Self {
            name: name.into(),
            shape,
            points: points.into_iter().map(Into::into).collect(),
            colour: None,
            dash: None,
        }
    }

    /// The number of its colour, of which there are 8, and of its dash pattern, unless [`with_dash`](Self::with_dash) gives that. By
    /// default it is the place of the series in its chart.
    pub fn with_colour(self, colour: usize) -> Self {
        let colour = Some(colour);
        Self { colour, ..self }
    }

    /// The number of its dash pattern, of which there are 4: 0 is a solid line, 1 dashed, 2 dotted, 3 both.
    pub fn with_dash(self, dash: usize) -> Self {
        let dash = Some(dash);
        Self { dash, ..self }
    }

    /// Whether it has a name in the legend and under the pointer.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.shape, Shape::Faint | Shape::Mark)
    }

    /// Values and ends of intervals.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let ends = |point: &Point| point.interval.map_or([point.y; 2], |(low, high)| [low, high]);
        self.points.iter().flat_map(move |point| {
            let [low, high] = ends(point);
            [low, point.y, high]
        })
    }
}
