//! Synthetic hard negatives: mixtures of the stored keys that are most similar to a query.

use bcl_core::{ParameterError, Scores, parameter::count_in};
use bcl_data::Seed;
use burn::tensor::{Bool, Int, Tensor, TensorData};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of synthetic negatives, as in recipes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SyntheticConfig {
    /// Number of the most similar negatives of a query that are mixed, 1 to 65,536.
    pub hardest: usize,
    /// Number of mixtures of two of them, 0 to 65,536.
    pub mixed: usize,
    /// Number of mixtures of the query with one of them, 0 to 65,536.
    pub with_query: usize,
}

/// The authors' setting.
impl Default for SyntheticConfig {
    fn default() -> Self {
        Self {
            hardest: 1024,
            mixed: 1024,
            with_query: 128,
        }
    }
}

impl SyntheticConfig {
    const MOST: usize = 1 << 16;

    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("synthetic.hardest", self.hardest, 1, Self::MOST)?;
        count_in("synthetic.mixed", self.mixed, 0, Self::MOST)?;
        count_in("synthetic.with_query", self.with_query, 0, Self::MOST)
    }

    /// Number of synthetic negatives per query.
    pub fn count(&self) -> usize {
        self.mixed + self.with_query
    }

    /// Adds the scores of synthetic negatives to the scores of queries:
    ///
    /// ```text
    /// h = unit(a n_i + (1 - a) n_j),   a ~ U(0, 1)       mixed
    /// h = unit(b q + (1 - b) n_j),     b ~ U(0, 1/2)     with the query
    /// ```
    ///
    /// for keys n that are drawn from the `hardest` of the query. The two of a mixture differ if the query has two. No gradient flows through a mixture, so its score has the gradient of
    /// `q · h`. Columns of a query without any negative are masked out.
    ///
    /// The draws of an anchor are a function of the seed and of its number.
    ///
    /// # Shapes
    /// - queries:   `[num_anchors, dim]`, unit rows
    /// - keys:      `[num_keys, dim]`, unit rows, the negatives of `scores`
    /// - available: how many keys of each anchor count
    /// - output:    `[num_anchors, num_keys + count]`
    pub(crate) fn extend(
        &self,
        scores: Scores,
        [queries, keys]: [Tensor<2>; 2],
        available: &[usize],
        (seed, anchors): (Seed, Range<usize>),
    ) -> Scores {
        if self.count() == 0 {
            return scores;
        }
        let device = queries.device();
        let [num_anchors, num_keys] = scores.negatives.dims();
        let hardest = self.hardest(&scores);
        let choices: Vec<usize> = available.iter().map(|&count| count.min(self.hardest)).collect();
        let draws = self.draws(seed, anchors, &choices);
        let matrix = |values: Vec<f32>, columns| {
            Tensor::<2>::from_data(TensorData::new(values, [num_anchors, columns]), (&device, queries.dtype()))
        };
        let chosen = |places: Vec<i64>, columns| {
            let places = Tensor::<2, Int>::from_data(TensorData::new(places, [num_anchors, columns]), &device);
            hardest.clone().gather(1, places)
        };

        let mut columns = vec![scores.negatives.clone()];
        if self.mixed > 0 {
            let share = matrix(draws.shares, self.mixed);
            let pair = [draws.firsts, draws.seconds].map(|places| chosen(places, self.mixed));
            columns.push(mixed(&scores, &keys.detach(), share, pair));
        }
        if self.with_query > 0 {
            let share = matrix(draws.query_shares, self.with_query);
            columns.push(with_query(&scores, queries, share, chosen(draws.partners, self.with_query)));
        }
        let mask = added_mask(&scores, &choices, self.count());
        let mut extended = scores;
        extended.negatives = Tensor::cat(columns, 1);
        debug_assert_eq!(extended.negatives.dims(), [num_anchors, num_keys + self.count()]);
        extended.with_mask(mask)
    }

    /// The most similar keys of each query, in descending order; keys that do not count come last.
    fn hardest(&self, scores: &Scores) -> Tensor<2, Int> {
        let similarities = scores.negatives.clone().detach();
        let similarities = match &scores.mask {
            Some(mask) => similarities.mask_fill(mask.clone().bool_not(), f64::NEG_INFINITY),
            None => similarities,
        };
        let [_, num_keys] = similarities.dims();
        similarities.topk_with_indices(self.hardest.min(num_keys), 1).1
    }

    /// The draws of some anchors, row after row.
    fn draws(&self, seed: Seed, anchors: Range<usize>, choices: &[usize]) -> Draws {
        let mut draws = Draws::default();
        for (anchor, &choices) in anchors.zip(choices) {
            let mut rng = seed.index(anchor as u64).rng();
            let mut below = |count: usize| (rng.random::<f64>() * count as f64) as usize;
            for _ in 0..self.mixed {
                let first = below(choices);
                // Another one, if there is any: a key mixed with itself would tie with the key up to rounding, and ranks would depend on that.
                let second = (first + 1 + below(choices.saturating_sub(1))) % choices.max(1);
                draws.firsts.push(first as i64);
                draws.seconds.push(second as i64);
            }
            draws.partners.extend((0..self.with_query).map(|_| below(choices) as i64));
            draws.shares.extend((0..self.mixed).map(|_| rng.random::<f32>()));
            draws
                .query_shares
                .extend((0..self.with_query).map(|_| 0.5 * rng.random::<f32>()));
        }
        draws
    }
}

/// Places in the order of similarity, and shares.
#[derive(Default)]
struct Draws {
    firsts: Vec<i64>,
    seconds: Vec<i64>,
    shares: Vec<f32>,
    partners: Vec<i64>,
    query_shares: Vec<f32>,
}

/// A mixture whose parts cancel has no direction.
const LEAST_LENGTH: f64 = 1e-6;

/// `q · unit(a n_i + (1 - a) n_j)` from the scores of the keys: a product is linear in both. If the keys are equal, so are the scores, bit for bit:
/// ranks do not depend on rounding.
fn mixed(scores: &Scores, keys: &Tensor<2>, share: Tensor<2>, [first, second]: [Tensor<2, Int>; 2]) -> Tensor<2> {
    let [num_anchors, count] = share.dims();
    let [of_first, of_second] = [&first, &second].map(|index| scores.negatives.clone().gather(1, index.clone()));
    let [first, second] = [first, second].map(|index| keys.clone().select(0, index.reshape([num_anchors * count])));
    let apart: Tensor<2> = (first - second).square().sum_dim(1).reshape([num_anchors, count]);
    // |a n_i + (1 - a) n_j|² of unit rows.
    let squared = -(share.clone() * (-share.clone() + 1.0) * apart) + 1.0;
    let length = squared.clamp_min(LEAST_LENGTH * LEAST_LENGTH).sqrt();
    (of_second.clone() + share * (of_first - of_second)) / length
}

/// `q · unit(b q' + (1 - b) n_j)`, where q' is the query as a constant.
fn with_query(scores: &Scores, queries: Tensor<2>, share: Tensor<2>, partner: Tensor<2, Int>) -> Tensor<2> {
    let rest = -share.clone() + 1.0;
    let of_query = (queries.clone() * queries.detach()).sum_dim(1);
    let of_partner = scores.negatives.clone().gather(1, partner);
    // |b q + (1 - b) n|² of unit rows.
    let cosine = of_partner.clone().detach();
    let squared = share.clone().square() + rest.clone().square() + share.clone() * rest.clone() * cosine * 2.0;
    let length = squared.clamp_min(LEAST_LENGTH * LEAST_LENGTH).sqrt();
    of_query * (share / length.clone()) + of_partner * (rest / length)
}

/// The mask with the columns of synthetic negatives; `None` if all count.
fn added_mask(scores: &Scores, choices: &[usize], count: usize) -> Option<Tensor<2, Bool>> {
    let device = scores.negatives.device();
    if scores.mask.is_none() && choices.iter().all(|&choices| choices > 0) {
        return None;
    }
    let [num_anchors, num_keys] = scores.negatives.dims();
    let mask = match &scores.mask {
        Some(mask) => mask.clone(),
        None => Tensor::full([num_anchors, num_keys], true, &device),
    };
    let marks: Vec<bool> = choices
        .iter()
        .flat_map(|&choices| std::iter::repeat_n(choices > 0, count))
        .collect();
    let added = Tensor::from_data(TensorData::new(marks, [num_anchors, count]), &device);
    Some(Tensor::cat(vec![mask, added], 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{InfoNceLossConfig, Reduction};
    use burn::tensor::{Device, Tensor};

    const DIM: usize = 3;
    const KEYS: usize = 9;
    const ANCHORS: usize = 4;

    fn unit_rows(count: usize, phase: f32) -> Vec<Vec<f32>> {
        let row = |row: usize| unit((0..DIM).map(|i| (1.7 * (row * DIM + i) as f32 + phase).sin()).collect());
        (0..count).map(row).collect()
    }

    fn unit(row: Vec<f32>) -> Vec<f32> {
        let length = dot(&row, &row).sqrt();
        row.iter().map(|x| x / length).collect()
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn tensor(rows: &[Vec<f32>]) -> Tensor<2> {
        let shape = [rows.len(), rows[0].len()];
        Tensor::from_data(TensorData::new(rows.concat(), shape), &Device::flex().autodiff())
    }

    fn config() -> SyntheticConfig {
        SyntheticConfig {
            hardest: 4,
            mixed: 5,
            with_query: 3,
        }
    }

    /// Queries against all keys; the last anchor has none that counts, the first lacks two.
    fn scores(queries: &Tensor<2>, keys: &Tensor<2>) -> (Scores, Vec<bool>, Vec<usize>) {
        let counts: Vec<bool> = (0..ANCHORS * KEYS)
            .map(|i| i / KEYS + 1 < ANCHORS && i != 2 && i != 5)
            .collect();
        let available = counts.chunks(KEYS).map(|row| row.iter().filter(|&&count| count).count());
        let mask = Tensor::<2, Bool>::from_data(TensorData::new(counts.clone(), [ANCHORS, KEYS]), &queries.device());
        let negatives = queries.clone().matmul(keys.clone().transpose());
        let scores = Scores::new(Tensor::full([ANCHORS], 0.5, &queries.device()), negatives);
        (scores.with_mask(mask), counts.clone(), available.collect())
    }

    fn values(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().iter().collect()
    }

    #[test]
    fn scores_and_gradients_are_those_of_unit_mixtures_built_one_by_one() {
        let (query_rows, key_rows) = (unit_rows(ANCHORS, 0.2), unit_rows(KEYS, 1.1));
        let (queries, keys) = (tensor(&query_rows).require_grad(), tensor(&key_rows));
        let (scores, counts, available) = scores(&queries, &keys);
        let (config, seed) = (config(), Seed(7));
        let draws = config.draws(
            seed,
            0..ANCHORS,
            &available.iter().map(|&count| count.min(4)).collect::<Vec<_>>(),
        );
        let extended = config.extend(scores, [queries.clone(), keys], &available, (seed, 0..ANCHORS));
        assert_eq!(extended.negatives.dims(), [ANCHORS, KEYS + 8]);

        let found = values(extended.negatives.clone());
        let synthetic = extended.negatives.slice([0..ANCHORS - 1, KEYS..KEYS + 8]);
        let gradients = synthetic.sum().backward();
        let gradient = values(queries.grad(&gradients).expect("queries take part").unsqueeze());
        let mask: Vec<bool> = extended.mask.expect("a mask").into_data().iter().collect();
        for anchor in 0..ANCHORS {
            let query = &query_rows[anchor];
            let mut own: Vec<usize> = (0..KEYS).filter(|key| counts[anchor * KEYS + key]).collect();
            own.sort_by(|&a, &b| dot(query, &key_rows[b]).total_cmp(&dot(query, &key_rows[a])));
            let is_last = anchor + 1 == ANCHORS;
            assert_eq!(mask[anchor * (KEYS + 8) + KEYS..][..8], [!is_last; 8]);
            if is_last {
                continue;
            }
            let mixture = |a: f32, first: &[f32], second: &[f32]| {
                unit(first.iter().zip(second).map(|(x, y)| a * x + (1.0 - a) * y).collect())
            };
            let key = |place: i64| &key_rows[own[place as usize]];
            let mixed =
                (anchor * 5..anchor * 5 + 5).map(|i| mixture(draws.shares[i], key(draws.firsts[i]), key(draws.seconds[i])));
            let with_query = (anchor * 3..anchor * 3 + 3).map(|i| mixture(draws.query_shares[i], query, key(draws.partners[i])));
            let mixtures: Vec<Vec<f32>> = mixed.chain(with_query).collect();
            for (column, mixture) in mixtures.iter().enumerate() {
                let score = found[anchor * (KEYS + 8) + KEYS + column];
                assert!((score - dot(query, mixture)).abs() < 1e-5, "{anchor}, {column}: {score}");
            }
            // A constant mixture is the gradient of its score.
            for i in 0..DIM {
                let expected: f32 = mixtures.iter().map(|mixture| mixture[i]).sum();
                assert!((gradient[anchor * DIM + i] - expected).abs() < 1e-4, "{anchor}, {i}");
            }
        }
    }

    #[test]
    fn mixtures_of_equal_keys_have_the_bits_of_their_score() {
        let queries = tensor(&unit_rows(ANCHORS, 0.2));
        let keys = tensor(&vec![unit_rows(1, 1.1).concat(); KEYS]);
        let negatives = queries.clone().matmul(keys.clone().transpose());
        let scores = Scores::new(Tensor::full([ANCHORS], 0.5, &queries.device()), negatives);
        let extended = config().extend(scores, [queries, keys], &[KEYS; ANCHORS], (Seed(7), 0..ANCHORS));
        for row in values(extended.negatives).chunks(KEYS + 8) {
            assert_eq!(row[KEYS..KEYS + 5], [row[0]; 5]);
        }
    }

    #[test]
    fn draws_reach_all_places_and_keep_their_ranges() {
        let config = SyntheticConfig {
            hardest: 5,
            mixed: 400,
            with_query: 400,
        };
        let draws = config.draws(Seed(3), 0..2, &[5, 1]);
        for places in [&draws.firsts, &draws.seconds, &draws.partners] {
            let mut of_first = places[..400].to_vec();
            of_first.sort_unstable();
            of_first.dedup();
            assert_eq!(of_first, [0, 1, 2, 3, 4]);
            assert!(places[400..].iter().all(|&place| place == 0));
        }
        assert!(
            draws.firsts[..400]
                .iter()
                .zip(&draws.seconds)
                .all(|(first, second)| first != second)
        );
        let most = |shares: &[f32]| shares.iter().copied().fold(0.0, f32::max);
        assert!((0.95..1.0).contains(&most(&draws.shares)) && (0.48..0.5).contains(&most(&draws.query_shares)));
        assert_ne!(draws.shares[..400], draws.shares[400..]);
    }

    #[test]
    fn draws_of_an_anchor_do_not_depend_on_which_others_are_computed() {
        let whole = config().draws(Seed(5), 0..4, &[4; 4]);
        let part = config().draws(Seed(5), 2..4, &[4; 2]);
        assert_eq!(
            (&part.firsts[..], &part.shares[..]),
            (&whole.firsts[10..], &whole.shares[10..])
        );
        assert_eq!(part.query_shares[..], whole.query_shares[6..]);
    }

    #[test]
    fn synthetic_negatives_are_hard_and_raise_the_loss() {
        let (queries, keys) = (tensor(&unit_rows(ANCHORS, 0.2)), tensor(&unit_rows(KEYS, 1.1)));
        let (scores, _, available) = scores(&queries, &keys);
        let loss = |scores: Scores| {
            let loss = InfoNceLossConfig::new().init().forward(scores, Reduction::Mean);
            loss.into_scalar::<f32>()
        };
        let extended = config().extend(scores.clone(), [queries, keys], &available, (Seed(1), 0..ANCHORS));
        assert!(loss(extended) > loss(scores));
    }
}
