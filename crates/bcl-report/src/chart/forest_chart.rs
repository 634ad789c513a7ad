//! Forest charts: differences with their intervals, in groups, on one or more scales.

use super::frame::Frame;
use super::layout::{LETTER, LINE, Layout, wrapped};
use super::picture::Picture;
use super::scale::Scale;
use crate::Interval;
use crate::markup::escape;
use std::fmt::Write;

const WIDTH: f64 = 480.0;
/// Distance from the edges of the picture.
const EDGE: f64 = 12.0;
/// Height of a row, and of the axis below a panel.
const ROW: f64 = 17.0;
const AXIS: f64 = 42.0;
/// Half the length of the tick at the end of an interval.
const CAP: f64 = 3.0;

/// Differences from a reference, each with its interval. Panels have an axis each; all groups of a panel share it.
///
/// ```
/// use bcl_report::{Interval, chart::{ForestChart, ForestGroup, ForestPanel}};
///
/// let group = ForestGroup {
///     name: "MovieLens-100K".to_owned(),
///     rows: vec![("hard".to_owned(), Interval { mean: 0.0001, half_width: Some(0.002), count: 10 })],
///     bound: Some(0.002),
///     reference: None,
/// };
/// let panel = ForestPanel { axis: "NDCG@20 - InfoNCE's".to_owned(), groups: vec![group] };
/// let file = ForestChart { title: "Losses".to_owned(), description: "Losses beside InfoNCE.".to_owned(), panels: vec![panel] }.to_file();
/// assert!(file.contains(">hard</text>"));
/// ```
#[derive(Debug, Clone)]
pub struct ForestChart {
    /// Title.
    pub title: String,
    /// What the chart shows, for screen readers.
    pub description: String,
    /// Panels, from top to bottom.
    pub panels: Vec<ForestPanel>,
}

/// A part of a [`ForestChart`] with an axis.
#[derive(Debug, Clone)]
pub struct ForestPanel {
    /// Name of the axis.
    pub axis: String,
    /// Groups, from top to bottom.
    pub groups: Vec<ForestGroup>,
}

/// Rows that belong together, such as the rows of a table.
#[derive(Debug, Clone)]
pub struct ForestGroup {
    /// Heading.
    pub name: String,
    /// Names and differences.
    pub rows: Vec<(String, Interval)>,
    /// Shades differences up to this much, which count as none.
    pub bound: Option<f64>,
    /// A line across the group, such as what could be gained, with its name. It does not stretch the axis: beyond the end, it is an arrow.
    pub reference: Option<(String, f64)>,
}

impl ForestChart {
    /// Draws the chart as a standalone SVG file, in the reader's light or dark theme, also within an `<img>`. Each row has a tooltip.
    pub fn to_file(&self) -> String {
        let rows = self
            .panels
            .iter()
            .flat_map(|panel| &panel.groups)
            .flat_map(|group| &group.rows);
        let letters = rows.map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        let mut drawing = Drawing {
            left: EDGE + LETTER * letters as f64 + 10.0,
            top: EDGE,
            body: String::new(),
        };
        for line in wrapped(&self.title, WIDTH - 2.0 * EDGE) {
            drawing.line_of_text("title", &line);
        }
        for panel in &self.panels {
            drawing.panel(panel);
        }
        Picture {
            width: WIDTH,
            height: drawing.top + EDGE,
            title: &self.title,
            description: &self.description,
            body: &drawing.body,
        }
        .to_file()
    }
}

/// What was drawn so far, down to `top`.
struct Drawing {
    /// Left end of the axes.
    left: f64,
    top: f64,
    body: String,
}

impl Drawing {
    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    fn line_of_text(&mut self, class: &str, text: &str) {
        self.top += LINE;
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{EDGE}\" y=\"{:.1}\">{}</text>",
            self.top - 5.0,
            escape(text)
        ));
    }

    fn panel(&mut self, panel: &ForestPanel) {
        let rows = panel.groups.iter().flat_map(|group| &group.rows);
        let ends = rows.flat_map(|(_, interval)| {
            let (low, high) = interval.bounds().unwrap_or((interval.mean, interval.mean));
            [low, high]
        });
        let scale = Scale::around(ends.chain([0.0]));
        let (left, width) = (self.left, WIDTH - EDGE - self.left);
        let place = |value: f64| left + width * scale.share(value);
        let start = self.top;
        for group in &panel.groups {
            self.top += 6.0;
            for line in wrapped(&group.name, WIDTH - 2.0 * EDGE) {
                self.line_of_text("label", &line);
            }
            self.group(group, scale, &place);
        }
        let floor = self.top + 4.0;
        self.push(format_args!(
            "<path class=\"axis\" d=\"M{:.1} {start:.1}V{floor:.1}\"/>",
            place(0.0)
        ));
        let layout = Layout {
            width: WIDTH,
            height: floor + AXIS,
            left,
            right: WIDTH - EDGE,
            top: start,
            floor,
        };
        let mut axis = Frame::empty(scale, scale, layout);
        axis.horizontal_axis(&scale.ticks(layout.ticks_along()), &panel.axis);
        self.body.push_str(&axis.into_body());
        self.top = layout.height;
    }

    fn group(&mut self, group: &ForestGroup, scale: Scale, place: &impl Fn(f64) -> f64) {
        let (start, height) = (self.top, ROW * group.rows.len() as f64);
        if let Some(bound) = group.bound {
            let (low, high) = (place(-bound), place(bound));
            self.push(format_args!(
                "<rect class=\"band b0 c0\" x=\"{low:.1}\" y=\"{start:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>± {bound}</title></rect>",
                high - low
            ));
        }
        for (name, interval) in &group.rows {
            let middle = self.top + ROW / 2.0;
            let mean = place(interval.mean);
            self.push(format_args!(
                "<g><title>{}: {}</title>",
                escape(name),
                escape(&interval.to_string())
            ));
            self.push(format_args!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                self.left - 8.0,
                middle + 4.0,
                escape(name)
            ));
            if let Some((low, high)) = interval.bounds() {
                let (low, high) = (place(low), place(high));
                let (above, tick) = (middle - CAP, 2.0 * CAP);
                self.push(format_args!(
                    "<path class=\"whisker c0\" d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {above:.1}v{tick}M{high:.1} {above:.1}v{tick}\"/>"
                ));
            }
            self.push(format_args!(
                "<circle class=\"mark c0\" cx=\"{mean:.1}\" cy=\"{middle:.1}\" r=\"4\"/></g>"
            ));
            self.top += ROW;
        }
        if let Some((name, value)) = &group.reference {
            self.reference(name, *value, start, scale, place(*value));
        }
    }

    /// A line across the rows from `start` on, with its name below.
    fn reference(&mut self, name: &str, value: f64, start: f64, scale: Scale, at: f64) {
        let share = scale.share_beyond(value);
        let arrow = match share {
            share if share < 0.0 => "← ",
            share if share > 1.0 => "→ ",
            _ => "",
        };
        let floor = self.top;
        if arrow.is_empty() {
            self.push(format_args!(
                "<path class=\"reference\" d=\"M{at:.1} {start:.1}V{floor:.1}\"/>"
            ));
        }
        let anchor = if share < 0.5 { "start" } else { "end" };
        self.push(format_args!(
            "<text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{arrow}{} {value:+.4}</text>",
            floor + 12.0,
            escape(name)
        ));
        self.top = floor + LINE - 3.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(reference: f64) -> String {
        let interval = |mean| Interval {
            mean,
            half_width: Some(0.01),
            count: 5,
        };
        let group = ForestGroup {
            name: "a table".to_owned(),
            rows: vec![("hard".to_owned(), interval(0.02)), ("<b>".to_owned(), interval(-0.01))],
            bound: Some(0.005),
            reference: Some(("supervised".to_owned(), reference)),
        };
        let panel = ForestPanel {
            axis: "accuracy".to_owned(),
            groups: vec![group],
        };
        ForestChart {
            title: "t".to_owned(),
            description: "d".to_owned(),
            panels: vec![panel.clone(), panel],
        }
        .to_file()
    }

    #[test]
    fn every_row_has_its_interval_and_names_are_escaped() {
        let svg = chart(0.015);
        assert_eq!(svg.matches("<circle class=\"mark").count(), 4);
        assert_eq!(svg.matches("<path class=\"whisker").count(), 4);
        assert!(svg.contains("hard: 0.0200 ± 0.0100") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
    }

    #[test]
    fn a_reference_beyond_the_axis_is_an_arrow() {
        let line = "<path class=\"reference\"";
        assert!(chart(0.015).contains(line) && chart(0.015).contains(">supervised +0.0150<"));
        for (value, arrow) in [(0.5, ">→ supervised +0.5000<"), (-0.5, ">← supervised -0.5000<")] {
            let svg = chart(value);
            assert!(svg.contains(arrow) && !svg.contains(line), "{value}");
        }
    }
}
