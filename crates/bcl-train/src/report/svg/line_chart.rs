//! Values over epochs, several series in one frame.

use super::frame::Frame;
use super::reference::Reference;
use super::scale::Scale;
use super::series_class;

const HEIGHT: f64 = 240.0;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Shape {
    /// A line, named under the pointer.
    Line,
    /// A faint line: one of several seeds behind their mean.
    Faint,
    /// Filled points, named under the pointer.
    Dots,
    /// Hollow points, named under the pointer.
    Rings,
    /// One larger point: an epoch that was chosen.
    Mark,
}

/// Points of one kind.
#[derive(Debug, Clone)]
pub(in crate::report) struct Series {
    /// Name under the pointer.
    pub(in crate::report) name: String,
    /// Number of its colour and dash pattern.
    pub(in crate::report) colour: usize,
    pub(in crate::report) shape: Shape,
    /// (epoch, value), by epoch.
    pub(in crate::report) points: Vec<(f64, f64)>,
}

/// A chart over epochs.
#[derive(Debug)]
pub(in crate::report) struct LineChart<'a> {
    pub(in crate::report) title: &'a str,
    pub(in crate::report) description: &'a str,
    pub(in crate::report) series: &'a [Series],
    pub(in crate::report) references: &'a [Reference],
    /// Digits of values under the pointer.
    pub(in crate::report) decimals: usize,
}

impl LineChart<'_> {
    /// Draws the chart; `None` where no series has a finite value.
    pub(in crate::report) fn to_svg(&self, id: &str) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        points().find(|(_, y)| y.is_finite())?;
        let x = Scale::counting(points().map(|(x, _)| *x));
        let shown: Vec<&Reference> = self.references.iter().filter(|reference| self.shows(reference)).collect();
        let y = Scale::around(points().map(|(_, y)| *y).chain(shown.iter().map(|reference| reference.value)));

        let mut frame = Frame::new(x, y, HEIGHT, "epoch");
        let curves: Vec<(f64, f64)> = points().copied().collect();
        for reference in shown {
            reference.draw(&mut frame, &curves);
        }
        // Faint lines lie behind, marks in front.
        for layer in [Shape::Faint, Shape::Line, Shape::Dots, Shape::Rings, Shape::Mark] {
            for series in self.series.iter().filter(|series| series.shape == layer) {
                draw(&mut frame, series);
            }
        }
        frame.tooltips(&self.tooltips());
        Some(frame.into_svg(id, self.title, self.description))
    }

    /// Whether `reference` lies near enough to be drawn: it may take at most half of the frame from the series.
    pub(in crate::report) fn shows(&self, reference: &Reference) -> bool {
        let own = Scale::around(self.series.iter().flat_map(|series| &series.points).map(|(_, y)| *y));
        let span = own.high - own.low;
        reference.value > own.low - span && reference.value < own.high + span
    }

    /// One text per epoch with the values of all series there.
    fn tooltips(&self) -> Vec<(f64, String)> {
        let named = || {
            self.series
                .iter()
                .filter(|series| !matches!(series.shape, Shape::Faint | Shape::Mark))
        };
        let mut epochs: Vec<f64> = named().flat_map(|series| series.points.iter().map(|(x, _)| *x)).collect();
        epochs.sort_by(f64::total_cmp);
        epochs.dedup();
        let value_at = |series: &Series, epoch: f64| series.points.iter().find(|(x, _)| *x == epoch).map(|(_, y)| *y);
        epochs
            .into_iter()
            .map(|epoch| {
                let values = named().filter_map(|series| {
                    let value = value_at(series, epoch)?;
                    Some(format!("\n{}: {value:.*}", series.name, self.decimals))
                });
                (epoch, format!("epoch {epoch}") + &values.collect::<String>())
            })
            .collect()
    }
}

fn draw(frame: &mut Frame, series: &Series) {
    let class = series_class(series.colour);
    match series.shape {
        Shape::Line => frame.line(&class, &series.points),
        Shape::Faint => frame.line(&format!("faint {class}"), &series.points),
        Shape::Dots | Shape::Rings | Shape::Mark => {
            let (kind, radius) = match series.shape {
                Shape::Rings => ("ring", 2.6),
                Shape::Mark => ("mark", 4.2),
                _ => ("dot", 1.9),
            };
            for &(x, y) in series.points.iter().filter(|(_, y)| y.is_finite()) {
                let (left, top) = (frame.left(x), frame.top(y));
                frame.push(format_args!(
                    "<circle class=\"{kind} {class}\" cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"{radius}\"/>"
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(shape: Shape, points: &[(f64, f64)]) -> Series {
        Series {
            name: "a <b>".to_owned(),
            colour: 1,
            shape,
            points: points.to_vec(),
        }
    }

    fn chart(series: &[Series], references: &[Reference]) -> Option<String> {
        let chart = LineChart {
            title: "T & t",
            description: "D",
            series,
            references,
            decimals: 2,
        };
        chart.to_svg("x")
    }

    #[test]
    fn a_line_breaks_where_a_value_is_missing() {
        let points = [(1.0, 0.0), (2.0, 1.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 0.0)];
        let svg = chart(&[series(Shape::Line, &points)], &[]).unwrap();
        let path = svg
            .split("class=\"line c1 d1\" d=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 2));
        assert!(!svg.contains("NaN\""));
    }

    #[test]
    fn charts_are_named_for_screen_readers_and_escaped() {
        let svg = chart(&[series(Shape::Line, &[(1.0, 0.5)])], &[]).unwrap();
        assert!(svg.contains("aria-labelledby=\"x-title x-desc\""));
        assert!(svg.contains("<title id=\"x-title\">T &amp; t</title>"));
        assert!(svg.contains("<title>epoch 1\na &lt;b&gt;: 0.50</title>"), "{svg}");
    }

    #[test]
    fn a_far_reference_does_not_squeeze_the_curves() {
        let line = series(Shape::Line, &[(1.0, 0.40), (2.0, 0.45)]);
        let reference = |name: &str, value| Reference {
            name: name.to_owned(),
            value,
        };
        let svg = chart(&[line], &[reference("near", 0.46), reference("far", 0.05)]).unwrap();
        assert!(svg.contains(">near<") && !svg.contains(">far<"));
    }

    #[test]
    fn nothing_to_draw_is_no_chart() {
        assert_eq!(chart(&[], &[]), None);
        assert_eq!(chart(&[series(Shape::Line, &[(1.0, f64::NAN)])], &[]), None);
    }
}
