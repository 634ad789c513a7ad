//! The frame of a chart: axes, grid, and the elements drawn inside.

use super::layout::{Layout, WIDTH};
use super::picture::Picture;
use super::scale::Scale;
use super::ticks::Tick;
use crate::markup::escape;
use std::fmt::Write;

/// Axes and the elements drawn between them.
#[derive(Debug)]
pub(super) struct Frame {
    x: Scale,
    y: Scale,
    layout: Layout,
    body: String,
}

impl Frame {
    /// A frame of `height` units with a grid, ticks and the name of the horizontal axis.
    pub(super) fn new(x: Scale, y: Scale, height: f64, x_name: &str) -> Self {
        let labels = y.ticks(4);
        Self::with_labels(x, y, height, x_name, &labels)
    }

    /// Like [`new`](Self::new), with the given ticks of the vertical axis.
    pub(super) fn with_labels(x: Scale, y: Scale, height: f64, x_name: &str, labels: &[Tick]) -> Self {
        let mut frame = Self::empty(x, y, Layout::new(WIDTH, height));
        frame.vertical_axis(labels, "");
        frame.horizontal_axis(&x.ticks(5), x_name);
        frame
    }

    /// A frame without axes.
    pub(super) fn empty(x: Scale, y: Scale, layout: Layout) -> Self {
        let body = String::new();
        Self { x, y, layout, body }
    }

    /// Draws the horizontal grid lines, their labels on the left, and the name of the vertical axis.
    pub(super) fn vertical_axis(&mut self, ticks: &[Tick], name: &str) {
        let Layout {
            left, right, top, floor, ..
        } = self.layout;
        for (value, label) in ticks {
            let height = self.top(*value);
            self.push(format_args!("<path class=\"grid\" d=\"M{left} {height:.1}H{right:.1}\"/>"));
            self.push(format_args!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                left - 6.0,
                height + 4.0
            ));
        }
        if !name.is_empty() {
            let middle = f64::midpoint(top, floor);
            self.push(format_args!(
                "<text class=\"tick\" transform=\"translate(14 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                escape(name)
            ));
        }
    }

    /// Draws the horizontal axis, with labels and its name below.
    pub(super) fn horizontal_axis(&mut self, ticks: &[Tick], name: &str) {
        let Layout {
            left,
            right,
            floor,
            height,
            ..
        } = self.layout;
        self.push(format_args!("<path class=\"axis\" d=\"M{left} {floor:.1}H{right:.1}\"/>"));
        for (value, label) in ticks {
            let place = self.left(*value);
            self.push(format_args!("<path class=\"axis\" d=\"M{place:.1} {floor:.1}v4\"/>"));
            self.push(format_args!(
                "<text class=\"tick\" x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                floor + 17.0
            ));
        }
        self.push(format_args!(
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(left, right),
            height - 6.0,
            escape(name)
        ));
    }

    /// Horizontal position of a value.
    pub(super) fn left(&self, value: f64) -> f64 {
        self.layout.left + self.x.share(value) * (self.layout.right - self.layout.left)
    }

    /// Vertical position of a value.
    pub(super) fn top(&self, value: f64) -> f64 {
        self.layout.floor - self.y.share(value) * (self.layout.floor - self.layout.top)
    }

    /// Returns whether both axes can show a point.
    pub(super) fn has_place(&self, x: f64, y: f64) -> bool {
        self.x.holds(x) && self.y.holds(y)
    }

    /// Left and right end for text in the plotted area, slightly inset on the left.
    pub(super) fn sides(&self) -> (f64, f64) {
        (self.layout.left + 4.0, self.layout.right)
    }

    /// Returns whether a line of text at `baseline` fits into the plotted area.
    pub(super) fn holds(&self, baseline: f64) -> bool {
        baseline > self.layout.top + 8.0 && baseline < self.layout.floor - 2.0
    }

    /// Appends an SVG element.
    pub(super) fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// Draws a line, with gaps at values that the axes cannot show.
    pub(super) fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        let mut pen_down = false;
        for &(x, y) in points {
            let has_place = self.has_place(x, y);
            if has_place {
                let command = if pen_down { 'L' } else { 'M' };
                let _ = write!(path, "{command}{:.1} {:.1}", self.left(x), self.top(y));
            }
            pen_down = has_place;
        }
        if !path.is_empty() {
            self.push(format_args!("<path class=\"line {class}\" d=\"{path}\"/>"));
        }
    }

    /// Draws the area from `low` to `high` at each `(x, low, high)`.
    pub(super) fn band(&mut self, class: &str, points: &[(f64, f64, f64)]) {
        let mut path = String::new();
        let there = points.iter().map(|&(x, _, high)| (x, high));
        let back = points.iter().rev().map(|&(x, low, _)| (x, low));
        for (index, (x, y)) in there.chain(back).enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", self.left(x), self.top(y));
        }
        if !path.is_empty() {
            self.push(format_args!("<path class=\"band {class}\" d=\"{path}Z\"/>"));
        }
    }

    /// Draws a horizontal line across the frame.
    pub(super) fn level(&mut self, class: &str, value: f64) {
        let Layout { left, right, .. } = self.layout;
        let top = self.top(value);
        self.push(format_args!("<path class=\"{class}\" d=\"M{left} {top:.1}H{right:.1}\"/>"));
    }

    /// Adds a tooltip over a column around each x. `columns` must be in ascending order.
    pub(super) fn tooltips(&mut self, columns: &[(f64, String)]) {
        let Layout {
            left, right, top, floor, ..
        } = self.layout;
        let lefts: Vec<f64> = columns.iter().map(|(x, _)| self.left(*x)).collect();
        for (index, (_, text)) in columns.iter().enumerate() {
            let start = if index == 0 {
                left
            } else {
                f64::midpoint(lefts[index - 1], lefts[index])
            };
            let end = lefts.get(index + 1).map_or(right, |next| f64::midpoint(lefts[index], *next));
            self.push(format_args!(
                "<rect class=\"column\" x=\"{start:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                end - start,
                floor - top,
                escape(text)
            ));
        }
    }

    /// The finished chart. `id` must be unique in the page.
    pub(super) fn into_svg(self, id: &str, title: &str, description: &str) -> String {
        Picture {
            width: self.layout.width,
            height: self.layout.height,
            title,
            description,
            body: &self.body,
        }
        .to_svg(id)
    }

    /// The SVG elements drawn so far.
    pub(super) fn into_body(self) -> String {
        self.body
    }
}
