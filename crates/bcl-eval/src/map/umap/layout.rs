//! Stochastic gradient descent on the points.

use super::curve::Curve;
use super::graph::Edge;
use rand::RngExt;

/// Number of epochs.
const EPOCHS: usize = 500;

/// Number of random samples that repel a sample per sampled edge.
const NUM_NEGATIVES: usize = 5;

/// Largest step of a coordinate at a learning rate of 1.
const LARGEST_STEP: f64 = 4.0;

/// Minimises the cross-entropy between the edges' probabilities and the distances' probabilities, by negative sampling (Algorithm 5 of
/// the paper).
///
/// The most probable edges are sampled once per epoch, an edge of half the probability in every second epoch, and so on. The learning
/// rate decays from 1 to 0.
pub(super) fn optimise(points: &mut [[f64; 2]], edges: &[Edge], curve: Curve, rng: &mut impl RngExt) {
    let largest = edges.iter().map(|edge| edge.probability).fold(0.0, f64::max);
    let periods: Vec<f64> = edges.iter().map(|edge| largest / edge.probability).collect();
    let mut due = periods.clone();
    for epoch in 0..EPOCHS {
        let rate = 1.0 - epoch as f64 / EPOCHS as f64;
        for ((edge, period), due) in edges.iter().zip(&periods).zip(&mut due) {
            if *due > epoch as f64 {
                continue;
            }
            *due += period;
            let step = gradient_step(points, [edge.from, edge.to], rate, |squared| curve.attraction(squared));
            shift(&mut points[edge.from], step, 1.0);
            shift(&mut points[edge.to], step, -1.0);
            for _ in 0..NUM_NEGATIVES {
                let other = rng.random_range(0..points.len());
                if other != edge.from {
                    let step = gradient_step(points, [edge.from, other], rate, |squared| curve.repulsion(squared));
                    shift(&mut points[edge.from], step, 1.0);
                }
            }
        }
    }
}

/// The step of the first of two points, given the force as a function of their squared distance.
fn gradient_step(points: &[[f64; 2]], pair: [usize; 2], rate: f64, force: impl Fn(f64) -> f64) -> [f64; 2] {
    let [own, other] = pair.map(|sample| points[sample]);
    let difference = [own[0] - other[0], own[1] - other[1]];
    let force = force(difference[0].powi(2) + difference[1].powi(2));
    difference.map(|difference| rate * (force * difference).clamp(-LARGEST_STEP, LARGEST_STEP))
}

fn shift(point: &mut [f64; 2], step: [f64; 2], sign: f64) {
    for (value, step) in point.iter_mut().zip(step) {
        *value += sign * step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::Seed;

    fn edge(from: usize, to: usize, probability: f64) -> Edge {
        Edge { from, to, probability }
    }

    fn distance(points: &[[f64; 2]], i: usize, j: usize) -> f64 {
        (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1])
    }

    #[test]
    fn neighbours_end_closer_than_others() {
        let mut points = [[0.0, 0.0], [10.0, 0.0], [0.1, 0.0], [10.0, 0.1]];
        let edges = [edge(0, 1, 1.0), edge(1, 0, 1.0), edge(2, 3, 1.0), edge(3, 2, 1.0)];
        optimise(&mut points, &edges, Curve::fit(0.1, 1.0), &mut Seed(1).rng());
        let [linked, apart] = [[(0, 1), (2, 3)], [(0, 2), (1, 3)]].map(|pairs| pairs.map(|(i, j)| distance(&points, i, j)));
        assert!(
            linked.iter().all(|linked| apart.iter().all(|apart| 3.0 * linked < *apart)),
            "{points:?}"
        );
    }

    #[test]
    fn edges_too_improbable_for_one_sample_have_no_effect() {
        let start = [[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]];
        let (mut with, mut without) = (start, start);
        let strong = [edge(0, 1, 1.0), edge(1, 0, 1.0)];
        let weak = edge(2, 0, 0.9 / EPOCHS as f64);
        optimise(&mut without, &strong, Curve::fit(0.1, 1.0), &mut Seed(1).rng());
        optimise(
            &mut with,
            &[strong[0], strong[1], weak],
            Curve::fit(0.1, 1.0),
            &mut Seed(1).rng(),
        );
        assert_eq!(with, without);
        assert_ne!(with, start);
    }
}
