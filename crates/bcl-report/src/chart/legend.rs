//! The legend of a standalone chart.

use super::layout::{LETTER, LINE, Layout};
use super::series::{Series, Shape};
use crate::markup::{each, escape};

/// Length of the line sample before a name, and the gap between the two.
const SWATCH: f64 = 28.0;
const GAP: f64 = 6.0;
/// Margin to the axis above and to the edge below.
const MARGIN: f64 = 8.0;

/// A name and the CSS classes and shape of its line.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) class: String,
    pub(super) shape: Shape,
}

/// Draws the entries below a chart, in as many columns as fit, and returns them with their height. A single series gets no legend.
pub(super) fn below(layout: &Layout, entries: &[Entry]) -> (String, f64) {
    if entries.len() < 2 {
        return (String::new(), 0.0);
    }
    let longest = entries
        .iter()
        .map(|entry| entry.name.chars().count())
        .max()
        .unwrap_or_default() as f64;
    let column = SWATCH + GAP + LETTER * longest + 2.0 * GAP;
    let room = layout.right - layout.left;
    let columns = ((room / column) as usize).clamp(1, entries.len());
    let numbered: Vec<(usize, &Entry)> = entries.iter().enumerate().collect();
    let drawn = each(&numbered, |(index, entry)| {
        let left = layout.left + (index % columns) as f64 * room / columns as f64;
        let middle = layout.height + MARGIN + (index / columns) as f64 * LINE + LINE / 2.0;
        format!(
            "{}<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            swatch(entry, left, middle),
            left + SWATCH + GAP,
            middle + 4.5,
            escape(entry.name)
        )
    });
    (drawn, entries.len().div_ceil(columns) as f64 * LINE + 2.0 * MARGIN)
}

fn swatch(Entry { class, shape, .. }: &Entry, left: f64, middle: f64) -> String {
    let line = format!("<path class=\"line {class}\" d=\"M{left:.1} {middle:.1}h{SWATCH}\"/>");
    let point = point(*shape, class, left + SWATCH / 2.0, middle);
    match shape {
        Shape::Line | Shape::Faint => line,
        Shape::MarkedLine => line + &point,
        Shape::Dots | Shape::Rings | Shape::Mark => point,
    }
}

/// A point of a series, in a chart or in its legend.
pub(super) fn point(shape: Shape, class: &str, left: f64, top: f64) -> String {
    let (kind, radius) = match shape {
        Shape::Rings => ("ring", 2.6),
        Shape::Mark => ("mark", 4.2),
        Shape::MarkedLine => ("dot", 3.0),
        _ => ("dot", 1.9),
    };
    format!("<circle class=\"{kind} {class}\" cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"{radius}\"/>")
}

/// The legend entries of `series`, each with its CSS classes.
pub(super) fn entries<'a>(series: &'a [Series], class: impl Fn(usize, &Series) -> String) -> Vec<Entry<'a>> {
    let named = series.iter().enumerate().filter(|(_, series)| series.is_named());
    let entry = |(place, series): (usize, &'a Series)| Entry {
        name: &series.name,
        class: class(place, series),
        shape: series.shape,
    };
    named.map(entry).collect()
}
