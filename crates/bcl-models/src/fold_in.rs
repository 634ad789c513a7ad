//! Vectors of users that were not there in training, from their items.

use crate::{LightGcn, Recommender, Similarity};
use bcl_kernels::{gather_rows, matmul, propagate};
use burn::tensor::{Int, Tensor, TensorData, activation::softmax};

/// Steps of gradient ascent for matrix factorisation.
const STEPS: usize = 200;

impl Recommender {
    /// The vectors of new users, prepared as [`embeddings`](Self::embeddings) are: their dot product with the vectors of items is the score.
    /// Nothing is drawn, and nothing of the encoder changes. All items of a new user must be known.
    ///
    /// **LightGCN**: what its layers give a node that is connected to the items, if the items keep their vectors `e_i^(k)` in each layer:
    ///
    /// ```text
    /// e_u = sum over k = 0..K-1, i in S of e_i^(k) / √(|S| (degree(i) + 1)) / (K + 1)
    /// ```
    ///
    /// The term of layer 0 is missing: it is the part of a user's vector that only training gives.
    ///
    /// **Matrix factorisation**: the vector of given length that makes the user's items most likely under a softmax over all items, with the
    /// items fixed, which is the limit of the contrastive loss for many negatives:
    ///
    /// ```text
    /// maximise over |u| = r:   mean over i in S of u'v_i / t - log(sum over all items j of exp(u'v_j / t))
    /// ```
    ///
    /// by 200 steps of projected gradient ascent from the mean of the items' vectors; `r` is 1 with cosine similarity, and the root mean
    /// square length of the users in the table with dot products.
    ///
    /// # Shapes
    /// - histories: the items of each new user, each item once
    /// - output:    `[num_new_users, dim]`
    ///
    /// # Panics
    /// Panics if a history is empty or names an item out of range, or the temperature is not positive.
    ///
    /// # Example
    /// ```
    /// use bcl_models::{Graph, RecommenderConfig};
    /// use burn::tensor::Device;
    ///
    /// let graph = Graph { num_users: 2, num_items: 4, edges: vec![(0, 0), (0, 1), (1, 2)] };
    /// let encoder = RecommenderConfig::default().init(&graph, 0, &Device::flex());
    /// assert_eq!(encoder.fold_in(&[&[0, 1], &[3]], 0.2).dims(), [2, 64]);
    /// ```
    pub fn fold_in(&self, histories: &[&[u32]], temperature: f64) -> Tensor<2> {
        assert!(temperature > 0.0, "temperature is {temperature}, but must be positive");
        let num_items = self.tables().items.val().dims()[0];
        for &item in histories.iter().copied().flatten() {
            assert!((item as usize) < num_items, "item is {item}, but must be below {num_items}");
        }
        assert!(
            histories.iter().all(|items| !items.is_empty()),
            "a new user must have an item"
        );
        match self {
            Self::LightGcn(model) => model.similarity.prepare(through_layers(model, histories)),
            Self::Mf(model) => {
                let similarity = model.similarity;
                let length = if similarity == Similarity::Cosine {
                    1.0
                } else {
                    root_mean_square_length(&model.tables.users.val())
                };
                let items = similarity.prepare(model.tables.items.val());
                most_likely(&items, histories, temperature, length)
            }
        }
    }
}

/// The layers of `LightGCN` with one more node.
fn through_layers(model: &LightGcn, histories: &[&[u32]]) -> Tensor<2> {
    let (users, items) = (model.tables.users.val(), model.tables.items.val());
    // The mean of the layers 0 to K - 1.
    let (_, items) = propagate(&model.interactions, users, items, model.layers - 1);
    let share = model.layers as f64 / (model.layers + 1) as f64;
    let mut degrees = vec![0_u32; items.dims()[0]];
    for &item in model.interactions.indices() {
        degrees[item as usize] += 1;
    }
    let weight = |history: &[u32], item: u32| {
        let degree = f64::from(degrees[item as usize]) + 1.0;
        (share / (history.len() as f64 * degree).sqrt()) as f32
    };
    weighted_sums(&items, histories, weight)
}

/// Sums of items' vectors, one row per history.
fn weighted_sums(items: &Tensor<2>, histories: &[&[u32]], weight: impl Fn(&[u32], u32) -> f32) -> Tensor<2> {
    let device = items.device();
    let rows = histories.iter().map(|history| {
        let ids: Vec<i32> = history.iter().map(|&item| item as i32).collect();
        let weights: Vec<f32> = history.iter().map(|&item| weight(history, item)).collect();
        let ids = Tensor::<1, Int>::from_data(TensorData::from(ids.as_slice()), &device);
        let weights = Tensor::<1>::from_data(TensorData::from(weights.as_slice()), &device);
        (gather_rows(items.clone(), ids) * weights.unsqueeze_dim::<2>(1)).sum_dim(0)
    });
    Tensor::cat(rows.collect(), 0)
}

fn most_likely(items: &Tensor<2>, histories: &[&[u32]], temperature: f64, length: f64) -> Tensor<2> {
    let wanted = weighted_sums(items, histories, |history, _| 1.0 / history.len() as f32);
    let on_sphere = |users: Tensor<2>| Similarity::Cosine.prepare(users) * length;
    // The curvature is at most the largest squared length of an item over t², so this step never goes too far. The gradient has a factor 1 / t.
    let largest: f32 = items.clone().powf_scalar(2.0).sum_dim(1).max().into_scalar();
    let step = temperature / f64::from(largest).max(f64::MIN_POSITIVE);
    let transposed = items.clone().transpose();
    let mut users = on_sphere(wanted.clone());
    for _ in 0..STEPS {
        let likely = softmax(matmul(users.clone(), transposed.clone()) / temperature, 1);
        let likely = matmul(likely, items.clone());
        users = on_sphere(users + (wanted.clone() - likely) * step);
    }
    users
}

fn root_mean_square_length(users: &Tensor<2>) -> f64 {
    let [num_users, _] = users.dims();
    let sum: f32 = users.clone().powf_scalar(2.0).sum().into_scalar();
    (f64::from(sum) / num_users.max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, LightGcnConfig, MatrixFactorisationConfig, RecommenderConfig};
    use burn::tensor::Device;

    fn graph() -> Graph {
        Graph {
            num_users: 3,
            num_items: 5,
            edges: vec![(0, 0), (0, 1), (1, 1), (1, 2), (2, 3)],
        }
    }

    fn values(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().iter::<f32>().collect()
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
    }

    #[test]
    fn one_layer_gives_what_the_graph_with_the_new_user_gives() {
        let device = Device::flex();
        let config = |similarity| {
            RecommenderConfig::LightGcn(LightGcnConfig {
                dim: 4,
                layers: 1,
                similarity,
                ..LightGcnConfig::default()
            })
        };
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let encoder = config(similarity).init(&graph(), 3, &device);
            let wider = Graph {
                num_users: 4,
                edges: [graph().edges, vec![(3, 1), (3, 4)]].concat(),
                ..graph()
            };
            let Recommender::LightGcn(mut model) = config(similarity).init(&wider, 0, &device) else {
                unreachable!()
            };
            let tables = encoder.tables();
            let users = Tensor::cat(vec![tables.users.val(), Tensor::zeros([1, 4], &device)], 0);
            model.tables.users = burn::module::Param::from_tensor(users);
            model.tables.items = burn::module::Param::from_tensor(tables.items.val());
            let expected = values(Recommender::LightGcn(model).embeddings().users);
            assert_close(&values(encoder.fold_in(&[&[1, 4]], 0.3)), &expected[12..]);
        }
    }

    #[test]
    fn the_vector_of_a_new_user_is_a_maximum_on_its_sphere() {
        let device = Device::flex();
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let config = MatrixFactorisationConfig {
                dim: 3,
                init_std: 1.0,
                similarity,
            };
            let encoder = RecommenderConfig::Mf(config).init(&graph(), 1, &device);
            let items: Vec<f32> = values(encoder.embeddings().items);
            let history = [0_u32, 2];
            let temperature = 0.5;
            let objective = |user: &[f32]| {
                let scores: Vec<f64> = items
                    .chunks(3)
                    .map(|item| item.iter().zip(user).map(|(a, b)| f64::from(a * b)).sum::<f64>() / temperature)
                    .collect();
                let normaliser = scores.iter().map(|score| score.exp()).sum::<f64>().ln();
                history.iter().map(|&item| scores[item as usize]).sum::<f64>() / 2.0 - normaliser
            };
            let found = values(encoder.fold_in(&[&history], temperature));
            let length = found.iter().map(|value| value * value).sum::<f32>().sqrt();
            for index in 0..200_u32 {
                let angle = |shift: u32| ((index * 7 + shift * 13) % 31) as f32 / 15.0 - 1.0;
                let moved: Vec<f32> = found.iter().zip(0..).map(|(value, axis)| value + 0.2 * angle(axis)).collect();
                let norm = moved.iter().map(|value| value * value).sum::<f32>().sqrt();
                let moved: Vec<f32> = moved.iter().map(|value| value / norm * length).collect();
                assert!(
                    objective(&moved) <= objective(&found) + 1e-6,
                    "{found:?} is beaten by {moved:?}"
                );
            }
        }
    }

    #[test]
    fn users_do_not_change_each_other() {
        let encoder = RecommenderConfig::default().init(&graph(), 0, &Device::flex());
        let both = values(encoder.fold_in(&[&[0, 1], &[3]], 0.2));
        assert_close(&values(encoder.fold_in(&[&[3]], 0.2)), &both[64..]);
    }

    #[test]
    #[should_panic(expected = "item is 5, but must be below 5")]
    fn an_unknown_item_is_named() {
        RecommenderConfig::default()
            .init(&graph(), 0, &Device::flex())
            .fold_in(&[&[5]], 0.2);
    }
}
