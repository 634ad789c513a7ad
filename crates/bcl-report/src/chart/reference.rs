//! Horizontal reference lines and the placement of their labels.

use super::frame::Frame;
use super::layout::LETTER;
use crate::markup::escape;
use std::ops::Range;

/// Height of a line of text, in the units of the chart.
const LINE: f64 = 13.0;

/// A horizontal reference line, such as a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Label of the line.
    pub name: String,
    /// Value on the vertical axis.
    pub value: f64,
}

/// A place for a label: its anchor at `left`, the horizontal range it covers, and its text baseline.
pub(super) struct LabelPosition {
    anchor: &'static str,
    left: f64,
    columns: Range<f64>,
    baseline: f64,
}

impl Reference {
    /// Draws the line and puts its label where `curves` leave the most room, apart from the `labels` that are there already. Without such a
    /// place, the line has no label.
    pub(super) fn draw(&self, frame: &mut Frame, curves: &[(f64, f64)], labels: &mut Vec<LabelPosition>) {
        frame.level("reference", self.value);
        let is_free =
            |position: &LabelPosition| frame.holds(position.baseline) && !labels.iter().any(|label| label.overlaps(position));
        let roomier = |best: LabelPosition, other: LabelPosition| {
            if other.room(frame, curves) > best.room(frame, curves) {
                other
            } else {
                best
            }
        };
        let at = |anchors: &[&'static str]| self.positions(frame, anchors).into_iter().filter(is_free).reduce(roomier);
        // Curves have points at their ends, which a label can stay away from; in the middle it may lie on a curve.
        if let Some(position) = at(&["end", "start"]).or_else(|| at(&["middle"])) {
            frame.push(format_args!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{}</text>",
                position.left,
                position.baseline,
                position.anchor,
                escape(&self.name)
            ));
            labels.push(position);
        }
    }

    /// The candidate positions: above and below the line, at these places along it.
    fn positions(&self, frame: &Frame, anchors: &[&'static str]) -> Vec<LabelPosition> {
        let width = LETTER * self.name.chars().count() as f64;
        let top = frame.top(self.value);
        let (start, end) = frame.sides();
        let middle = f64::midpoint(start, end);
        let at = |anchor: &'static str| {
            let (left, columns) = match anchor {
                "start" => (start, start..start + width),
                "middle" => (middle, middle - width / 2.0..middle + width / 2.0),
                _ => (end, end - width..end),
            };
            [top - 4.0, top + LINE].map(|baseline| LabelPosition {
                anchor,
                left,
                columns: columns.clone(),
                baseline,
            })
        };
        anchors.iter().flat_map(|anchor| at(anchor)).collect()
    }
}

impl LabelPosition {
    fn overlaps(&self, other: &Self) -> bool {
        let beside = self.columns.start < other.columns.end + LETTER && other.columns.start < self.columns.end + LETTER;
        beside && (self.baseline - other.baseline).abs() < LINE
    }

    /// Vertical distance from the middle of the text to the nearest curve, capped at two lines of text.
    fn room(&self, frame: &Frame, curves: &[(f64, f64)]) -> f64 {
        let middle = self.baseline - LINE / 3.0;
        let is_beside = |left: f64| left > self.columns.start - LETTER && left < self.columns.end + LETTER;
        let beside = curves
            .iter()
            .filter(|(x, y)| frame.has_place(*x, *y) && is_beside(frame.left(*x)));
        beside.map(|(_, y)| (frame.top(*y) - middle).abs()).fold(2.0 * LINE, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scale::Scale;
    use super::*;

    /// The label's position for a line at 0.5 next to `curves`.
    fn position(curves: &[(f64, f64)]) -> String {
        let mut frame = Frame::new(Scale::between(0.0, 10.0), Scale::between(0.0, 1.0), 240.0, "");
        let reference = Reference {
            name: "ease".to_owned(),
            value: 0.5,
        };
        reference.draw(&mut frame, curves, &mut Vec::new());
        let svg = frame.into_svg("x", "", "");
        let text = svg.split("<text").find(|text| text.contains(">ease<")).unwrap();
        text.split(" x=").nth(1).unwrap().split('>').next().unwrap().to_owned()
    }

    #[test]
    fn a_label_is_at_the_right_unless_a_curve_is_there() {
        assert!(position(&[(10.0, 0.0)]).contains("\"end\""));
        let both_sides_of_the_level = [(10.0, 0.53), (10.0, 0.46)];
        assert!(position(&both_sides_of_the_level).contains("\"start\""));
    }

    #[test]
    fn labels_of_lines_that_are_close_to_each_other_do_not_overlap() {
        let mut frame = Frame::new(Scale::between(0.0, 10.0), Scale::between(0.0, 1.0), 240.0, "");
        let mut labels = Vec::new();
        for (name, value) in [("ease", 0.5), ("item_knn", 0.503), ("popularity", 0.497)] {
            let name = name.to_owned();
            Reference { name, value }.draw(&mut frame, &[], &mut labels);
        }
        assert_eq!(labels.len(), 3);
        for (index, label) in labels.iter().enumerate() {
            assert!(!labels[..index].iter().any(|other| other.overlaps(label)), "{index}");
        }
    }

    #[test]
    fn a_label_is_below_the_line_if_a_curve_is_above_it() {
        let above = [(0.0, 0.53), (10.0, 0.53)];
        let height = |position: &str| {
            position
                .split("y=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        assert!(height(&position(&above)) > height(&position(&[])));
    }
}
