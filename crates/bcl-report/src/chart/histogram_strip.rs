//! Histograms of weights over epochs: one column per epoch; darker cells contain more weights.

use super::frame::Frame;
use super::scale::Scale;
use super::series_class;
use crate::histogram::{BINS, centre};
use std::fmt::Write;

const HEIGHT: f64 = 240.0;
/// Maximum number of columns; with more epochs, neighbours share a column.
const MOST_COLUMNS: usize = 60;

/// A chart of histograms over epochs.
#[derive(Debug)]
pub(crate) struct HistogramStrip<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// Colour number.
    pub(crate) colour: usize,
    /// Epochs with their counts, in ascending order.
    pub(crate) epochs: &'a [(usize, &'a [u64])],
}

impl HistogramStrip<'_> {
    /// Draws the chart; `None` if no epoch has a histogram.
    pub(crate) fn to_svg(&self, id: &str) -> Option<String> {
        let known: Vec<(usize, &[u64])> = self
            .epochs
            .iter()
            .copied()
            .filter(|(_, counts)| counts.len() == BINS)
            .collect();
        let (first, last) = (known.first()?.0 as f64, known.last()?.0 as f64);
        let per_column = known.len().div_ceil(MOST_COLUMNS);
        // In powers of two, half a bin beyond the outermost centre.
        let outermost = centre(BINS - 1).log2() + 0.25;
        let y = Scale::between(-outermost, outermost);
        let name = |power: f64| match power {
            below if below < 0.0 => format!("1/{}", (-power).exp2()),
            _ => power.exp2().to_string(),
        };
        let labels = y.ticks(4).into_iter().map(|(power, _)| (power, name(power)));
        let mut frame = Frame::with_labels(Scale::columns(first, last), y, HEIGHT, "epoch", &labels.collect::<Vec<_>>());
        let class = series_class(self.colour);
        let columns: Vec<Column> = known.chunks(per_column).filter_map(Column::of).collect();
        columns.first()?;
        let fullest = columns.iter().flat_map(|column| &column.shares).copied().fold(0.0, f64::max);
        for column in &columns {
            let (left, right) = (frame.left(column.from - 0.5), frame.left(column.to + 0.5));
            for (bin, share) in column.shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                let power = centre(bin).log2();
                // The square root keeps rare weights visible.
                let opacity = (share / fullest).sqrt().max(0.04);
                let (top, bottom) = (frame.top(power + 0.25), frame.top(power - 0.25));
                frame.push(format_args!(
                    "<rect class=\"cell {class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                     fill-opacity=\"{opacity:.2}\"/>",
                    right - left,
                    bottom - top
                ));
            }
        }
        frame.level("unit", 0.0);
        let tooltips: Vec<(f64, String)> = columns
            .iter()
            .map(|column| (f64::midpoint(column.from, column.to), column.tooltip()))
            .collect();
        frame.tooltips(&tooltips);
        Some(frame.into_svg(id, self.title, self.description))
    }
}

/// One or more neighbouring epochs, drawn as one column.
struct Column {
    from: f64,
    to: f64,
    /// Share of the weights in each bin.
    shares: Vec<f64>,
}

impl Column {
    fn of(epochs: &[(usize, &[u64])]) -> Option<Self> {
        let sum = |bin: usize| epochs.iter().map(|(_, counts)| counts[bin]).sum::<u64>();
        let sums: Vec<u64> = (0..BINS).map(sum).collect();
        let total: u64 = sums.iter().sum();
        (total > 0).then_some(Self {
            from: epochs.first()?.0 as f64,
            to: epochs.last()?.0 as f64,
            shares: sums.iter().map(|&sum| sum as f64 / total as f64).collect(),
        })
    }

    /// The three fullest bins, as text.
    fn tooltip(&self) -> String {
        let mut text = if self.from == self.to {
            format!("epoch {}", self.from)
        } else {
            format!("epochs {} to {}", self.from, self.to)
        };
        let mut bins: Vec<usize> = (0..BINS).filter(|&bin| self.shares[bin] > 0.0).collect();
        bins.sort_by(|&a, &b| self.shares[b].total_cmp(&self.shares[a]));
        for bin in bins.into_iter().take(3) {
            let _ = write!(text, "\nω about {:.2}: {:.1} %", centre(bin), 100.0 * self.shares[bin]);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(epochs: &[(usize, &[u64])]) -> Option<String> {
        let chart = HistogramStrip {
            title: "T",
            description: "D",
            colour: 3,
            epochs,
        };
        chart.to_svg("x")
    }

    #[test]
    fn cells_are_as_dark_as_they_are_full_and_empty_ones_left_out() {
        let mut counts = [0; BINS];
        (counts[BINS / 2], counts[0]) = (80, 20);
        let svg = chart(&[(1, &counts), (2, &counts)]).unwrap();
        assert_eq!(svg.matches("class=\"cell c3").count(), 4);
        assert_eq!(svg.matches("fill-opacity=\"1.00\"").count(), 2);
        assert_eq!(svg.matches("fill-opacity=\"0.50\"").count(), 2);
        assert!(
            [">1/16<", ">1/4<", ">1<", ">4<", ">16<"]
                .iter()
                .all(|label| svg.contains(label))
        );
        assert!(svg.contains("ω about 1.00: 80.0 %\nω about 0.06: 20.0 %"), "{svg}");
    }

    #[test]
    fn many_epochs_share_columns() {
        let counts = [1; BINS];
        let epochs: Vec<(usize, &[u64])> = (1..=400).map(|epoch| (epoch, &counts[..])).collect();
        let svg = chart(&epochs).unwrap();
        assert!(svg.matches("class=\"cell").count() <= MOST_COLUMNS * BINS);
        assert!(svg.contains("epochs 1 to 7"));
    }

    #[test]
    fn histograms_of_another_layout_are_not_drawn() {
        assert_eq!(chart(&[(1, &[1, 2, 3])]), None);
        assert_eq!(chart(&[(1, &[0; BINS])]), None);
        assert_eq!(chart(&[]), None);
    }
}
