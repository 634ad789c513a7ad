//! The similarities of true and false negatives: densities and distribution functions, drawn and by formula.

use super::drawing::{Csv, Drawing};
use bcl_core::simulation::{Anchor, Proposal, SimulationConfig};
use bcl_data::Seed;
use bcl_report::chart::{Axis, LineChart, Series, Shape};

/// The separations to draw, with one figure each.
pub(super) const ALPHAS: [f64; 4] = [0.5, 0.7, 0.9, 1.0];
/// Bins of a histogram.
const BINS: usize = 40;
/// Number of score intervals over which a formula is averaged.
const PROPOSALS: usize = 2000;

/// Similarities of both classes for one `alpha`, in bins from `-1/t²` to `1/t²`.
struct Classes {
    alpha: f64,
    edges: Vec<f64>,
    /// Shares of true and of false negatives in each bin, as drawn.
    drawn: [Vec<f64>; 2],
    /// The same shares by formula.
    expected: [Vec<f64>; 2],
}

/// The class-conditional densities for several α.
pub(super) fn densities(seed: Seed, base: &SimulationConfig) -> Vec<Drawing> {
    each(seed, base).iter().map(Classes::density).collect()
}

/// The class-conditional distribution functions for several α.
pub(super) fn distributions(seed: Seed, base: &SimulationConfig) -> Vec<Drawing> {
    each(seed, base).iter().map(Classes::distribution).collect()
}

fn each(seed: Seed, base: &SimulationConfig) -> Vec<Classes> {
    ALPHAS
        .iter()
        .map(|&alpha| Classes::draw(seed, &SimulationConfig { alpha, ..*base }))
        .collect()
}

pub(super) const NAMES: [&str; 2] = ["true negatives", "false negatives"];

/// The points and the line of a class, whose values are also rows of the data.
pub(super) fn drawn_and_formula(class: usize, places: &[f64], [drawn, formula]: [&[f64]; 2], csv: &mut Csv) -> [Series; 2] {
    let name = NAMES[class];
    for ((place, drawn), formula) in places.iter().zip(drawn).zip(formula) {
        csv.row(&[place, &name.replace(' ', "_"), drawn, formula]);
    }
    let points = |values: &[f64]| places.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>();
    let line = Series::new(format!("{name}, formula"), Shape::Line, points(formula));
    let dots = Series::new(format!("{name}, drawn"), [Shape::Dots, Shape::Rings][class], points(drawn));
    [line, dots].map(|series| series.with_colour(class).with_dash(class))
}

impl Classes {
    fn draw(seed: Seed, config: &SimulationConfig) -> Self {
        let mut rng = seed.named("classes").rng();
        let largest = config.largest_similarity();
        let edges: Vec<f64> = (0..=BINS)
            .map(|edge| largest * (2.0 * edge as f64 / BINS as f64 - 1.0))
            .collect();
        let mut counts = [vec![0.0; BINS], vec![0.0; BINS]];
        for _ in 0..config.num_anchors {
            let anchor = Anchor::draw(config, &mut rng);
            for (score, is_false) in anchor.scores.iter().zip(anchor.is_false_negative) {
                let share = f64::midpoint(score.ln() * config.temperature / largest, 1.0);
                let bin = ((share * BINS as f64) as usize).min(BINS - 1);
                counts[usize::from(is_false)][bin] += 1.0;
            }
        }
        let proposals: Vec<Proposal> = (0..PROPOSALS).map(|_| Proposal::draw(config, &mut rng)).collect();
        let shares = |counts: &Vec<f64>| {
            let total: f64 = counts.iter().sum::<f64>().max(1.0);
            counts.iter().map(|count| count / total).collect()
        };
        Self {
            alpha: config.alpha,
            drawn: [shares(&counts[0]), shares(&counts[1])],
            expected: [config.alpha, 1.0 - config.alpha].map(|lowest| expected(&edges, &proposals, lowest)),
            edges,
        }
    }

    fn density(&self) -> Drawing {
        let width = self.edges[1] - self.edges[0];
        let places: Vec<f64> = self.edges.windows(2).map(|edges| f64::midpoint(edges[0], edges[1])).collect();
        let scaled = |shares: &[f64]| shares.iter().map(|share| share / width).collect();
        self.drawing("densities", "Density", &places, scaled)
    }

    fn distribution(&self) -> Drawing {
        let summed = |shares: &[f64]| {
            let sums = shares.iter().scan(0.0, |sum, share| {
                *sum += share;
                Some(*sum)
            });
            sums.collect()
        };
        self.drawing("ecdf", "Distribution function", &self.edges[1..], summed)
    }

    fn drawing(&self, kind: &str, title: &str, places: &[f64], of_shares: impl Fn(&[f64]) -> Vec<f64>) -> Drawing {
        let mut csv = Csv::new("similarity,class,drawn,formula");
        let mut series = Vec::new();
        for class in 0..2 {
            let (drawn, expected) = (of_shares(&self.drawn[class]), of_shares(&self.expected[class]));
            series.extend(drawn_and_formula(class, places, [&drawn, &expected], &mut csv));
        }
        let alpha = self.alpha;
        let chart = LineChart::new(
            format!("{title} of similarities of true and false negatives, α = {alpha}"),
            format!("{title} of drawn similarities as points, and by formula as lines, for each class."),
            Axis::linear("similarity s"),
            Axis::linear(&title.to_lowercase()).including(0.0),
        );
        Drawing::new(format!("{kind}-alpha-{alpha:.1}"), chart.with_series(series), csv)
    }
}

/// The share of a class in each bin, averaged over intervals. A member of the class is the smaller of two draws from the
/// interval with probability `lowest`, otherwise the larger.
fn expected(edges: &[f64], proposals: &[Proposal], lowest: f64) -> Vec<f64> {
    let below = |edge: f64| {
        let of = |proposal: &Proposal| {
            let phi = ((edge - proposal.low) / (proposal.high - proposal.low)).clamp(0.0, 1.0);
            lowest * (2.0 * phi - phi * phi) + (1.0 - lowest) * phi * phi
        };
        proposals.iter().map(of).sum::<f64>() / proposals.len() as f64
    };
    edges.windows(2).map(|edges| below(edges[1]) - below(edges[0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawn_curves_follow_the_formula() {
        let classes = Classes::draw(Seed(1), &SimulationConfig::default());
        for (drawn, expected) in classes.drawn.iter().zip(&classes.expected) {
            assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (drawn, expected) in drawn.iter().zip(expected) {
                assert!((drawn - expected).abs() < 0.01, "{drawn} is far from {expected}");
            }
        }
        let [true_negatives, false_negatives] = &classes.drawn;
        assert!(true_negatives[5] > 2.0 * false_negatives[5] && true_negatives[34] < 0.5 * false_negatives[34]);
    }
}
