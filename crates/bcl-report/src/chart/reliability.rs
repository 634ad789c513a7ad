//! Reliability diagrams: predicted against observed probability.

use super::frame::Frame;
use super::scale::Scale;
use super::series_class;
use crate::markup::escape;
use crate::result::CalibrationBin;
use crate::units::count;

const HEIGHT: f64 = 300.0;
/// Radius of the point of the fullest bin. A point's area is proportional to its count, down to the smallest radius.
const LARGEST_RADIUS: f64 = 11.0;
const SMALLEST_RADIUS: f64 = 3.0;

/// A reliability diagram. Points on the diagonal are perfectly calibrated.
#[derive(Debug)]
pub(crate) struct ReliabilityDiagram<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// Colour number.
    pub(crate) colour: usize,
    pub(crate) bins: &'a [CalibrationBin],
}

impl ReliabilityDiagram<'_> {
    /// Draws the diagram; `None` if all bins are empty.
    pub(crate) fn to_svg(&self, id: &str) -> Option<String> {
        let bins: Vec<&CalibrationBin> = self
            .bins
            .iter()
            .filter(|bin| bin.count > 0 && bin.predicted.is_finite() && bin.observed.is_finite())
            .collect();
        let fullest = bins.iter().map(|bin| bin.count).max()? as f64;
        let unit = Scale::between(0.0, 1.0);
        let mut frame = Frame::new(unit, unit, HEIGHT, "predicted P(TN|x)");
        let class = series_class(self.colour);
        frame.line("ideal", &[(0.0, 0.0), (1.0, 1.0)]);
        let points: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.predicted, bin.observed)).collect();
        frame.line(&format!("c{}", self.colour % super::NUM_COLOURS), &points);
        for bin in bins {
            let radius = (LARGEST_RADIUS * (bin.count as f64 / fullest).sqrt()).max(SMALLEST_RADIUS);
            let (left, top) = (frame.left(bin.predicted), frame.top(bin.observed));
            let text = format!(
                "predicted {:.3}\nobserved {:.3}\n{} negatives",
                bin.predicted,
                bin.observed,
                count(bin.count as usize)
            );
            frame.push(format_args!(
                "<circle class=\"bin {class}\" cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
                escape(&text)
            ));
        }
        Some(frame.into_svg(id, self.title, self.description))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(predicted: f64, observed: f64, count: u64) -> CalibrationBin {
        CalibrationBin {
            predicted,
            observed,
            count,
        }
    }

    fn chart(bins: &[CalibrationBin]) -> Option<String> {
        let chart = ReliabilityDiagram {
            title: "T",
            description: "D",
            colour: 2,
            bins,
        };
        chart.to_svg("x")
    }

    #[test]
    fn areas_are_in_proportion_to_counts_and_empty_bins_left_out() {
        let svg = chart(&[bin(0.2, 0.1, 400), bin(0.5, f64::NAN, 0), bin(0.9, 0.9, 1600)]).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("r=\"11.0\"") && svg.contains("r=\"5.5\""), "{svg}");
        assert!(svg.contains("1,600 negatives"));
        assert_eq!(chart(&[bin(0.5, f64::NAN, 0)]), None);
    }
}
