//! The frame of a chart: size, axes, grid, names for screen readers.

use super::scale::Scale;
use crate::report::markup::escape;
use std::fmt::Write;

/// Width of every chart, in its own units.
const WIDTH: f64 = 380.0;
/// Room for the labels of the vertical axis.
const LEFT: f64 = 48.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
/// Room for the labels and the name of the horizontal axis.
const BOTTOM: f64 = 42.0;

/// Axes and what is drawn between them.
#[derive(Debug)]
pub(super) struct Frame {
    x: Scale,
    y: Scale,
    height: f64,
    body: String,
}

impl Frame {
    /// A frame of `height` units with a grid, ticks and the name of the horizontal axis.
    pub(super) fn new(x: Scale, y: Scale, height: f64, x_name: &str) -> Self {
        let labels = y.ticks(4);
        Self::with_labels(x, y, height, x_name, labels)
    }

    /// The same with ticks of the vertical axis, value and label, as they are given.
    pub(super) fn with_labels(x: Scale, y: Scale, height: f64, x_name: &str, labels: Vec<(f64, String)>) -> Self {
        let mut frame = Self {
            x,
            y,
            height,
            body: String::new(),
        };
        for (value, label) in labels {
            let top = frame.top(value);
            frame.push(format_args!(
                "<path class=\"grid\" d=\"M{LEFT} {top:.1}H{:.1}\"/>",
                WIDTH - RIGHT
            ));
            frame.push(format_args!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                top + 4.0
            ));
        }
        let floor = height - BOTTOM;
        frame.push(format_args!(
            "<path class=\"axis\" d=\"M{LEFT} {floor:.1}H{:.1}\"/>",
            WIDTH - RIGHT
        ));
        for (value, label) in x.ticks(5) {
            let left = frame.left(value);
            frame.push(format_args!("<path class=\"axis\" d=\"M{left:.1} {floor:.1}v4\"/>"));
            frame.push(format_args!(
                "<text class=\"tick\" x=\"{left:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                floor + 17.0
            ));
        }
        frame.push(format_args!(
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, WIDTH - RIGHT),
            height - 6.0,
            escape(x_name)
        ));
        frame
    }

    /// Horizontal place of a value.
    pub(super) fn left(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - RIGHT - LEFT)
    }

    /// Vertical place of a value.
    pub(super) fn top(&self, value: f64) -> f64 {
        let floor = self.height - BOTTOM;
        floor - self.y.share(value) * (floor - TOP)
    }

    /// Left and right end of the plotted area, a little inside.
    pub(super) const SIDES: (f64, f64) = (LEFT + 4.0, WIDTH - RIGHT);

    /// Whether a line of text fits above `baseline` within the plotted area.
    pub(super) fn holds(&self, baseline: f64) -> bool {
        baseline > TOP + 8.0 && baseline < self.height - BOTTOM - 2.0
    }

    /// Draws an element.
    pub(super) fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// Draws a line; it is broken where a value is not finite.
    pub(super) fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        let mut pen_down = false;
        for &(x, y) in points {
            if y.is_finite() {
                let command = if pen_down { 'L' } else { 'M' };
                let _ = write!(path, "{command}{:.1} {:.1}", self.left(x), self.top(y));
            }
            pen_down = y.is_finite();
        }
        if !path.is_empty() {
            self.push(format_args!("<path class=\"line {class}\" d=\"{path}\"/>"));
        }
    }

    /// Draws a horizontal line through the whole frame.
    pub(super) fn level(&mut self, class: &str, value: f64) {
        let top = self.top(value);
        self.push(format_args!(
            "<path class=\"{class}\" d=\"M{LEFT} {top:.1}H{:.1}\"/>",
            WIDTH - RIGHT
        ));
    }

    /// Lets the pointer find `text` over a column around each of `columns`, which ascend.
    pub(super) fn tooltips(&mut self, columns: &[(f64, String)]) {
        let lefts: Vec<f64> = columns.iter().map(|(x, _)| self.left(*x)).collect();
        for (index, (_, text)) in columns.iter().enumerate() {
            let start = if index == 0 {
                LEFT
            } else {
                f64::midpoint(lefts[index - 1], lefts[index])
            };
            let end = lefts
                .get(index + 1)
                .map_or(WIDTH - RIGHT, |next| f64::midpoint(lefts[index], *next));
            self.push(format_args!(
                "<rect class=\"column\" x=\"{start:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                end - start,
                self.height - BOTTOM - TOP,
                escape(text)
            ));
        }
    }

    /// The whole chart. `id` is unique in the page.
    pub(super) fn into_svg(self, id: &str, title: &str, description: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{}</svg>\n",
            self.height,
            escape(title),
            escape(description),
            self.body
        )
    }
}
