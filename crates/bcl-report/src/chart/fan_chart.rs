//! Quantiles over epochs as nested bands around the median.

use super::frame::Frame;
use super::scale::Scale;
use super::series_class;

const HEIGHT: f64 = 240.0;

/// Quantiles 0, 5, 25, 50, 75, 95 and 100 %.
pub(crate) type Quantiles = [f64; 7];

/// A chart of quantiles over epochs.
#[derive(Debug)]
pub(crate) struct FanChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// Colour number.
    pub(crate) colour: usize,
    /// Epochs with their quantiles.
    pub(crate) quantiles: &'a [(f64, Quantiles)],
    /// Value of the reference line.
    pub(crate) reference: f64,
}

impl FanChart<'_> {
    /// Draws the chart; `None` if no epoch has finite quantiles.
    ///
    /// The outermost band is cut off at four times the 95 % quantile, so that a few extreme values do not squeeze the rest.
    pub(crate) fn to_svg(&self, id: &str) -> Option<String> {
        let epochs: Vec<(f64, Quantiles)> = self
            .quantiles
            .iter()
            .copied()
            .filter(|(_, quantiles)| quantiles.iter().all(|quantile| quantile.is_finite()))
            .collect();
        let x = Scale::counting(epochs.iter().map(|(epoch, _)| *epoch));
        let bulk = epochs.iter().map(|(_, quantiles)| quantiles[5]).reduce(f64::max)?;
        let values = epochs.iter().flat_map(|(_, quantiles)| *quantiles);
        let y = Scale::around(values.map(|value| value.min(4.0 * bulk)).chain([self.reference]));

        let mut frame = Frame::new(x, y, HEIGHT, "epoch");
        let class = series_class(self.colour);
        for (band, (low, high)) in [(0, 6), (1, 5), (2, 4)].into_iter().enumerate() {
            let ends = epochs
                .iter()
                .map(|(epoch, quantiles)| (*epoch, quantiles[low], quantiles[high]));
            frame.band(&format!("b{band} {class}"), &ends.collect::<Vec<_>>());
        }
        frame.level("reference", self.reference);
        let median: Vec<(f64, f64)> = epochs.iter().map(|(epoch, quantiles)| (*epoch, quantiles[3])).collect();
        frame.line(&format!("c{}", self.colour % super::NUM_COLOURS), &median);
        let tooltips: Vec<(f64, String)> = epochs
            .iter()
            .map(|(epoch, [q0, q5, q25, q50, q75, q95, q100])| {
                let text = format!(
                    "epoch {epoch}\nmedian {q50:.3}\n25–75 %: {q25:.3} to {q75:.3}\n5–95 %: {q5:.3} to {q95:.3}\nfull range: {q0:.3} to {q100:.3}"
                );
                (*epoch, text)
            })
            .collect();
        frame.tooltips(&tooltips);
        Some(frame.into_svg(id, self.title, self.description))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(quantiles: &[(f64, Quantiles)]) -> Option<String> {
        let chart = FanChart {
            title: "T",
            description: "D",
            colour: 0,
            quantiles,
            reference: 1.0,
        };
        chart.to_svg("x")
    }

    #[test]
    fn bands_are_nested_and_closed() {
        let quantiles = [
            (1.0, [0.1, 0.2, 0.5, 1.0, 1.2, 1.5, 2.0]),
            (2.0, [0.1, 0.2, 0.5, 1.0, 1.2, 1.5, 2.0]),
        ];
        let svg = chart(&quantiles).unwrap();
        let heights: Vec<f64> = (0..3)
            .map(|band| {
                let start = format!("class=\"band b{band} c0 d0\" d=\"M48.0 ");
                let path = svg.split(&start).nth(1).unwrap();
                path.split('L').next().unwrap().parse().unwrap()
            })
            .collect();
        assert!(heights[0] < heights[1] && heights[1] < heights[2], "{heights:?}");
        assert_eq!(svg.matches("Z\"/>").count(), 3);
    }

    #[test]
    fn one_huge_weight_does_not_flatten_the_rest() {
        let svg = chart(&[
            (1.0, [0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 900.0]),
            (2.0, [0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 1.6]),
        ])
        .unwrap();
        assert!(svg.contains(">4</text>") && !svg.contains(">200</text>"), "{svg}");
        assert!(svg.contains("full range: 0.500 to 900.000"));
    }

    #[test]
    fn without_quantiles_there_is_no_chart() {
        assert_eq!(chart(&[]), None);
        assert_eq!(chart(&[(1.0, [f64::NAN; 7])]), None);
    }
}
