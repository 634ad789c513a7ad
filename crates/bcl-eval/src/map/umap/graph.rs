//! The graph of nearest neighbours, with a probability per edge (a fuzzy simplicial set).

use bhtsne::Neighbor;

/// Number of bisections of a bandwidth.
const BISECTIONS: usize = 64;

/// Minimum bandwidth, as a share of the mean distance to the neighbours.
const LEAST_BANDWIDTH: f64 = 1e-3;

/// Two samples that may be neighbours. Each pair has two edges, one per direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The probability that they are neighbours, above 0.
    pub(super) probability: f64,
}

/// The edges of all samples, in order, given the nearest neighbours of each sample.
///
/// A sample's neighbour at distance d has the probability exp(-(d - ρ) / σ), with ρ the distance of the nearest one and σ such that the
/// probabilities of a sample add up to log2(number of neighbours, including the sample). A pair is an edge if either sample considers the
/// other a neighbour: p + q - p q (Algorithms 2 and 3 of the paper).
pub(super) fn edges(neighbours: &[Vec<Neighbor<f32>>]) -> Vec<Edge> {
    let num_samples = neighbours.len();
    let mut directed = vec![0.0; num_samples * num_samples];
    for (row, others) in directed.chunks_exact_mut(num_samples).zip(neighbours) {
        let distances: Vec<f64> = others.iter().map(|other| f64::from(other.distance)).collect();
        for (other, probability) in others.iter().zip(probabilities(&distances)) {
            row[other.index] = probability;
        }
    }
    let pairs = (0..num_samples).flat_map(|from| (0..num_samples).map(move |to| (from, to)));
    let edge = |(from, to)| {
        let (p, q) = (directed[from * num_samples + to], directed[to * num_samples + from]);
        let probability: f64 = p + q - p * q;
        (probability > 0.0).then_some(Edge { from, to, probability })
    };
    pairs.filter_map(edge).collect()
}

/// The probability of each neighbour of one sample, given their distances.
fn probabilities(distances: &[f64]) -> impl Iterator<Item = f64> {
    // Copies of the sample do not set the scale.
    let nearest = distances
        .iter()
        .copied()
        .filter(|&distance| distance > 0.0)
        .fold(f64::INFINITY, f64::min);
    let beyond = move |distance: f64| if distance > nearest { distance - nearest } else { 0.0 };
    let beyond: Vec<f64> = distances.iter().map(|&distance| beyond(distance)).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let bandwidth = bandwidth(&beyond).max(LEAST_BANDWIDTH * mean);
    beyond.into_iter().map(move |beyond| decay(beyond, bandwidth))
}

/// The bandwidth for which the probabilities add up to log2(number of neighbours, including the sample).
fn bandwidth(beyond: &[f64]) -> f64 {
    let wanted = (beyond.len() as f64 + 1.0).log2();
    let (mut low, mut high, mut middle) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..BISECTIONS {
        let sum: f64 = beyond.iter().map(|&beyond| decay(beyond, middle)).sum();
        if sum > wanted {
            high = middle;
        } else {
            low = middle;
        }
        middle = if high.is_finite() {
            f64::midpoint(low, high)
        } else {
            2.0 * low
        };
    }
    middle
}

/// exp(-`beyond` / `bandwidth`), which is 1 at distance 0 for every bandwidth.
fn decay(beyond: f64, bandwidth: f64) -> f64 {
    if beyond == 0.0 { 1.0 } else { (-beyond / bandwidth).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three nearest neighbours of numbers on a line.
    fn neighbours(line: &[f32]) -> Vec<Vec<Neighbor<f32>>> {
        let of = |own: usize| {
            let others = (0..line.len()).filter(|&index| index != own);
            let mut others: Vec<_> = others
                .map(|index| Neighbor {
                    index,
                    distance: (line[own] - line[index]).abs(),
                })
                .collect();
            others.sort_by(|a, b| a.distance.total_cmp(&b.distance));
            others.truncate(3);
            others
        };
        (0..line.len()).map(of).collect()
    }

    #[test]
    fn probabilities_are_those_of_umap_learn() {
        // `fuzzy_simplicial_set` of umap-learn 0.5.12 with 4 neighbours; entries above the diagonal.
        let wanted = [
            (0, 1, 1.0),
            (0, 2, 0.827_022_7),
            (0, 3, 0.345_956_4),
            (1, 2, 1.0),
            (1, 3, 0.552_236_2),
            (2, 3, 1.0),
            (2, 4, 0.317_667_5),
            (2, 5, 0.404_128_3),
            (3, 4, 1.0),
            (3, 5, 0.595_873_2),
            (4, 5, 1.0),
        ];
        let found = edges(&neighbours(&[0.0, 1.0, 3.0, 6.0, 10.0, 15.0]));
        assert_eq!(found.len(), 2 * wanted.len());
        let probability = |from, to| {
            let edge = found.iter().find(|edge| (edge.from, edge.to) == (from, to));
            edge.expect("the pair has an edge").probability
        };
        for (from, to, wanted) in wanted {
            // umap-learn stops to bisect at an error of 1e-5 of the sum.
            assert!((probability(from, to) - wanted).abs() < 1e-5, "{from} {to}");
            assert_eq!(probability(from, to), probability(to, from));
        }
    }

    #[test]
    fn copies_are_neighbours_for_certain() {
        let found = edges(&neighbours(&[2.0; 6]));
        assert!(!found.is_empty() && found.iter().all(|edge| edge.probability == 1.0));
        let found = edges(&neighbours(&[0.0, 0.0, 1.0, 5.0, 9.0]));
        let copies = found.iter().find(|edge| (edge.from, edge.to) == (0, 1)).unwrap();
        assert_eq!(copies.probability, 1.0);
    }
}
