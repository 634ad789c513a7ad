//! Line charts: one or more series over a horizontal axis.

use super::axis::Axis;
use super::frame::Frame;
use super::layout::{LINE, Layout, WIDTH, wrapped};
use super::legend;
use super::picture::Picture;
use super::reference::Reference;
use super::scale::Scale;
use super::series::{Point, Series, Shape};
use super::tooltip::Tooltips;
use super::{NUM_COLOURS, NUM_DASHES};
use crate::markup::escape;

/// Size of a chart in a page and in a standalone file, without title and legend.
const IN_PAGE: (f64, f64) = (WIDTH, 240.0);
const IN_FILE: (f64, f64) = (560.0, 320.0);

/// A line chart; see the [module](super) for an example.
#[derive(Debug, Clone)]
pub struct LineChart {
    title: String,
    description: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    references: Vec<Reference>,
    size: Option<(f64, f64)>,
    decimals: Option<usize>,
}

impl LineChart {
    /// Creates a chart without series. The description tells screen-reader users what the chart shows.
    pub fn new(title: impl Into<String>, description: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
            x,
            y,
            series: Vec::new(),
            references: Vec::new(),
            size: None,
            decimals: None,
        }
    }

    /// Adds series.
    pub fn with_series(mut self, series: impl IntoIterator<Item = Series>) -> Self {
        self.series.extend(series);
        self
    }

    /// Adds horizontal reference lines; a line too far from all series is left out.
    pub fn with_references(mut self, references: impl IntoIterator<Item = Reference>) -> Self {
        self.references.extend(references);
        self
    }

    /// Sets width and height of the chart in pixels, without title and legend; by default 380 by 240 in a page and 560 by 320 in a file.
    pub fn with_size(self, width: f64, height: f64) -> Self {
        let size = Some((width, height));
        Self { size, ..self }
    }

    /// Sets the number of decimals in tooltips; the default is four significant digits.
    pub fn with_decimals(self, decimals: usize) -> Self {
        let decimals = Some(decimals);
        Self { decimals, ..self }
    }

    /// Draws the chart as SVG for a page that provides [`PALETTE`](super::PALETTE), [`STYLE`](super::STYLE), a heading and a legend. `id`
    /// must be unique in the page. Returns `None` if there is no value that the axes can show.
    pub fn to_svg(&self, id: &str) -> Option<String> {
        let (layout, frame) = self.drawn(self.size.unwrap_or(IN_PAGE), 0)?;
        Some(self.picture(&layout, layout.height, &frame.into_body()).to_svg(id))
    }

    /// Draws the chart as a standalone SVG file with title and legend, in the reader's light or dark theme, also within an `<img>`.
    /// Returns `None` if there is no value that the axes can show.
    pub fn to_file(&self) -> Option<String> {
        let size = self.size.unwrap_or(IN_FILE);
        let title = wrapped(&self.title, size.0 - 20.0);
        let (layout, mut frame) = self.drawn(size, title.len())?;
        for (index, line) in title.iter().enumerate() {
            let baseline = 20.0 + index as f64 * LINE;
            frame.push(format_args!(
                "<text class=\"title\" x=\"10\" y=\"{baseline}\">{}</text>",
                escape(line)
            ));
        }
        let (legend, room) = legend::below(&layout, &legend::entries(&self.series, class));
        let body = frame.into_body() + &legend;
        Some(self.picture(&layout, layout.height + room, &body).to_file())
    }

    /// Returns whether `reference` is near enough to be drawn: it may cost the series at most half of the frame.
    pub(crate) fn shows(&self, reference: &Reference) -> bool {
        let share = self.y.scale(self.values(), true).share_beyond(reference.value);
        share > -1.0 && share < 2.0
    }

    fn picture<'a>(&'a self, layout: &Layout, height: f64, body: &'a str) -> Picture<'a> {
        Picture {
            width: layout.width,
            height,
            title: &self.title,
            description: &self.description,
            body,
        }
    }

    /// Draws axes, reference lines, series and tooltips, below room for a title of `lines` lines.
    fn drawn(&self, (width, height): (f64, f64), lines: usize) -> Option<(Layout, Frame)> {
        let layout = Layout::new(width, height).with_lines_above(lines);
        let x = self.x.scale(self.points().map(|point| point.x), false);
        let shown: Vec<&Reference> = self.references.iter().filter(|reference| self.shows(reference)).collect();
        let levels = shown.iter().map(|reference| reference.value);
        let y = self.y.scale(self.values().chain(levels), true);
        self.points().find(|point| x.holds(point.x) && y.holds(point.y))?;

        let labels = y.ticks(layout.ticks_upwards());
        let letters = labels
            .iter()
            .map(|(_, label)| label.chars().count())
            .max()
            .unwrap_or_default();
        let layout = layout.with_labels(letters, !self.y.name().is_empty());
        let places = x.ticks(layout.ticks_along());
        let last = places.last().map_or(0, |(_, label)| label.chars().count());
        let layout = layout.with_last_label(last);
        let mut frame = Frame::empty(x, y, layout);
        frame.vertical_axis(&labels, self.y.name());
        frame.horizontal_axis(&places, self.x.name());
        self.draw_into(&mut frame, &x, &shown);
        Some((layout, frame))
    }

    fn draw_into(&self, frame: &mut Frame, x: &Scale, references: &[&Reference]) {
        let curves: Vec<(f64, f64)> = self.points().map(|point| (point.x, point.y)).collect();
        let mut labels = Vec::new();
        for reference in references {
            reference.draw(frame, &curves, &mut labels);
        }
        let numbered = || self.series.iter().enumerate();
        for (place, series) in numbered() {
            draw_intervals(frame, series, &class(place, series));
        }
        // Faint lines are drawn first, marks last.
        for layer in [
            Shape::Faint,
            Shape::Line,
            Shape::MarkedLine,
            Shape::Dots,
            Shape::Rings,
            Shape::Mark,
        ] {
            for (place, series) in numbered().filter(|(_, series)| series.shape == layer) {
                draw(frame, series, &class(place, series));
            }
        }
        let tooltips = Tooltips {
            x_name: self.x.name(),
            series: &self.series,
            decimals: self.decimals,
        };
        frame.tooltips(&tooltips.columns(x));
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(Series::values)
    }
}

/// The CSS classes of the series with index `place`.
fn class(place: usize, series: &Series) -> String {
    let colour = series.colour.unwrap_or(place);
    let dash = series.dash.unwrap_or(colour);
    format!("c{} d{}", colour % NUM_COLOURS, dash % NUM_DASHES)
}

fn draw_intervals(frame: &mut Frame, series: &Series, class: &str) {
    let ends: Vec<(f64, f64, f64)> = series
        .points
        .iter()
        .filter(|point| frame.has_place(point.x, point.y))
        .filter_map(|point| point.interval.map(|(low, high)| (point.x, low, high)))
        .collect();
    if matches!(series.shape, Shape::Line | Shape::MarkedLine) && ends.len() > 1 {
        frame.band(&format!("b1 {class}"), &ends);
        return;
    }
    for (x, low, high) in ends {
        let (left, bottom, top) = (frame.left(x), frame.top(low), frame.top(high));
        frame.push(format_args!(
            "<path class=\"whisker {class}\" d=\"M{:.1} {top:.1}h6m-3 0V{bottom:.1}m-3 0h6\"/>",
            left - 3.0
        ));
    }
}

fn draw(frame: &mut Frame, series: &Series, class: &str) {
    let points: Vec<(f64, f64)> = series.points.iter().map(|point| (point.x, point.y)).collect();
    match series.shape {
        Shape::Line | Shape::MarkedLine => frame.line(class, &points),
        Shape::Faint => frame.line(&format!("faint {class}"), &points),
        _ => {}
    }
    if matches!(series.shape, Shape::Line | Shape::Faint) {
        return;
    }
    for (x, y) in points {
        if frame.has_place(x, y) {
            let point = legend::point(series.shape, class, frame.left(x), frame.top(y));
            frame.push(format_args!("{point}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_epochs(series: Series) -> LineChart {
        LineChart::new("T & t", "D", Axis::counting("epoch"), Axis::linear(""))
            .with_decimals(2)
            .with_series([series])
    }

    fn line(points: &[(f64, f64)]) -> Series {
        Series::new("a <b>", Shape::Line, points.iter().copied()).with_colour(1)
    }

    /// The path data of the first element of `class`.
    fn path<'a>(svg: &'a str, class: &str) -> &'a str {
        let start = format!("class=\"{class}\" d=\"");
        let found = svg.split(&start).nth(1).unwrap_or_else(|| panic!("no {class} in {svg}"));
        found.split('"').next().unwrap()
    }

    #[test]
    fn a_line_breaks_where_a_value_is_missing() {
        let points = [(1.0, 0.0), (2.0, 1.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 0.0)];
        let svg = over_epochs(line(&points)).to_svg("x").unwrap();
        let path = path(&svg, "line c1 d1");
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 2));
        assert!(!svg.contains("NaN\""));
    }

    #[test]
    fn charts_are_named_for_screen_readers_and_escaped() {
        let svg = over_epochs(line(&[(1.0, 0.5)])).to_svg("x").unwrap();
        assert!(svg.contains("aria-labelledby=\"x-title x-desc\""));
        assert!(svg.contains("<title id=\"x-title\">T &amp; t</title>"));
        assert!(svg.contains("<title>epoch 1\na &lt;b&gt;: 0.50</title>"), "{svg}");
    }

    #[test]
    fn a_far_reference_does_not_squeeze_the_curves() {
        let reference = |name: &str, value| Reference {
            name: name.to_owned(),
            value,
        };
        let chart = over_epochs(line(&[(1.0, 0.40), (2.0, 0.45)]));
        let svg = chart
            .with_references([reference("near", 0.46), reference("far", 0.05)])
            .to_svg("x");
        assert!(svg.is_some_and(|svg| svg.contains(">near<") && !svg.contains(">far<")));
    }

    #[test]
    fn without_values_there_is_no_chart() {
        assert_eq!(over_epochs(line(&[])).to_svg("x"), None);
        assert_eq!(over_epochs(line(&[(1.0, f64::NAN)])).to_file(), None);
        let logarithmic = LineChart::new("", "", Axis::logarithmic("", 10), Axis::linear(""));
        assert_eq!(logarithmic.with_series([line(&[(0.0, 1.0)])]).to_file(), None);
    }

    #[test]
    fn intervals_are_bands_around_lines_and_whiskers_at_points() {
        let point = |x, y| Point {
            x,
            y,
            interval: Some((y - 1.0, y + 1.0)),
        };
        let series = |shape| Series::new("a", shape, [point(1.0, 5.0), point(2.0, 6.0)]);
        let svg = over_epochs(series(Shape::MarkedLine)).to_svg("x").unwrap();
        let heights: Vec<f64> = path(&svg, "band b1 c0 d0")
            .trim_end_matches('Z')
            .split(['M', 'L'])
            .skip(1)
            .map(|place| place.split(' ').nth(1).unwrap().parse().unwrap())
            .collect();
        // The path runs along the upper ends and back along the lower ones, which are two units below.
        assert_eq!(heights.len(), 4);
        assert!((heights[3] - heights[0] - (heights[2] - heights[1])).abs() < 0.2 && heights[3] > heights[0]);
        let svg = over_epochs(series(Shape::Dots)).to_svg("x").unwrap();
        assert_eq!(svg.matches("class=\"whisker").count(), 2);
    }

    #[test]
    fn lines_end_where_a_logarithmic_axis_has_no_place_and_bands_at_the_frame() {
        let axes = || (Axis::logarithmic("N", 2), Axis::logarithmic("error", 10));
        let chart = LineChart::new("T", "D", axes().0, axes().1);
        let low = Point {
            x: 4.0,
            y: 0.1,
            interval: Some((-0.1, 0.3)),
        };
        let points = [Point::from((2.0, 0.0)), low, Point::from((8.0, 1.0))];
        let svg = chart
            .with_series([Series::new("a", Shape::Line, points)])
            .to_svg("x")
            .unwrap();
        assert_eq!(path(&svg, "line c0 d0").matches(['M', 'L']).count(), 2);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(path(&svg, "whisker c0 d0").contains("V198.0"), "{svg}");
    }

    #[test]
    fn an_svg_file_contains_its_style_title_and_legend() {
        let chart = over_epochs(line(&[(1.0, 0.4), (2.0, 0.5)]));
        assert!(!chart.to_file().unwrap().contains("class=\"label\""));
        let second = Series::new("second", Shape::Dots, [(1.0, 0.4)]);
        let faint = Series::new("faint", Shape::Faint, [(1.0, 0.4)]);
        let file = chart.with_series([second, faint]).to_file().unwrap();
        for part in [
            "xmlns=\"http://www.w3.org/2000/svg\"",
            "--c7:",
            "prefers-color-scheme: dark",
            "class=\"title\" x=\"10\" y=\"20\">T &amp; t<",
            ">a &lt;b&gt;</text>",
            ">second</text>",
        ] {
            assert!(file.contains(part), "{part}");
        }
        assert!(!file.contains(">faint</text>"));
    }
}
