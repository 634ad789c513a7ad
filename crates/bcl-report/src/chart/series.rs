//! Data series and how they are drawn.

use crate::Interval;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line; intervals are a band around it.
    Line,
    /// A line with a point at each value; intervals are a band around it.
    MarkedLine,
    /// A faint line without legend entry or tooltip: one of several seeds behind their mean.
    Faint,
    /// Filled points; intervals are whiskers.
    Dots,
    /// Hollow points; intervals are whiskers.
    Rings,
    /// Larger points without legend entry or tooltip: a chosen epoch.
    Mark,
}

/// A point of a series. Converts from `(x, y)` and from `(x, Interval)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Value on the vertical axis; a value that is not finite leaves a gap.
    pub y: f64,
    /// Lower and upper end of the value's interval.
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

/// A named series of points, in ascending order of x.
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
    /// Creates a series. `name` appears in the legend and in tooltips.
    pub fn new<P: Into<Point>>(name: impl Into<String>, shape: Shape, points: impl IntoIterator<Item = P>) -> Self {
        Self {
            name: name.into(),
            shape,
            points: points.into_iter().map(Into::into).collect(),
            colour: None,
            dash: None,
        }
    }

    /// Sets the number of the colour (there are 8) and of the dash pattern, unless [`with_dash`](Self::with_dash) sets that. The default
    /// is the index of the series in its chart.
    pub fn with_colour(self, colour: usize) -> Self {
        let colour = Some(colour);
        Self { colour, ..self }
    }

    /// Sets the number of the dash pattern: 0 is solid, 1 dashed, 2 dotted, 3 dash-dotted.
    pub fn with_dash(self, dash: usize) -> Self {
        let dash = Some(dash);
        Self { dash, ..self }
    }

    /// Returns whether it appears in the legend and in tooltips.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.shape, Shape::Faint | Shape::Mark)
    }

    /// All values and ends of intervals.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let ends = |point: &Point| point.interval.map_or([point.y; 2], |(low, high)| [low, high]);
        self.points.iter().flat_map(move |point| {
            let [low, high] = ends(point);
            [low, point.y, high]
        })
    }
}
