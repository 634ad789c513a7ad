//! Encoders against straightforward dense computations.

use bcl_kernels::SparseMatrix;
use bcl_models::{Graph, LightGcnConfig, MatrixFactorisationConfig, Recommender, RecommenderConfig, Similarity};
use burn::{
    module::Module,
    tensor::{Device, Int, Tensor},
};

/// A graph in which user 2 and item 3 have no interaction.
fn graph() -> Graph {
    Graph {
        num_users: 3,
        num_items: 4,
        edges: vec![(0, 0), (0, 1), (0, 2), (1, 1)],
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn assert_close(left: &[f32], right: &[f32]) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= 1e-5 * (1.0 + r.abs()), "{left:?}\n{right:?}");
    }
}

fn configs() -> Vec<RecommenderConfig> {
    [Similarity::Cosine, Similarity::Dot]
        .into_iter()
        .flat_map(|similarity| {
            [
                RecommenderConfig::Mf(MatrixFactorisationConfig {
                    dim: 5,
                    init_std: 0.5,
                    similarity,
                }),
                RecommenderConfig::LightGcn(LightGcnConfig {
                    dim: 5,
                    layers: 2,
                    init_std: 0.5,
                    similarity,
                }),
            ]
        })
        .collect()
}

/// The adjacency matrix `[[0, R], [Rᵀ, 0]]` over users and items.
fn adjacency(interactions: &SparseMatrix, device: &Device) -> Tensor<2> {
    let [num_users, num_items] = interactions.shape();
    let block = interactions.to_dense(device);
    let to_users = Tensor::cat(vec![Tensor::zeros([num_users, num_users], device), block.clone()], 1);
    let to_items = Tensor::cat(vec![block.transpose(), Tensor::zeros([num_items, num_items], device)], 1);
    Tensor::cat(vec![to_users, to_items], 0)
}

/// All embeddings, `[num_users + num_items, dim]`, by dense matrix products.
fn dense_embeddings(encoder: &Recommender) -> Tensor<2> {
    let tables = Tensor::cat(vec![encoder.tables().users.val(), encoder.tables().items.val()], 0);
    let embeddings = if let Recommender::LightGcn(model) = encoder {
        let adjacency = adjacency(&model.interactions, &tables.device());
        let first = adjacency.clone().matmul(tables.clone());
        (tables + first.clone() + adjacency.matmul(first)) / 3.0
    } else {
        tables
    };
    if encoder.similarity() == Similarity::Cosine {
        embeddings.clone() / embeddings.square().sum_dim(1).sqrt()
    } else {
        embeddings
    }
}

fn ids(values: &[i32], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(values, device)
}

#[test]
fn interactions_are_normalised_by_the_degrees_of_both_ends() {
    let dense = values(graph().normalised().to_dense(&Device::flex()));
    let at = |user: usize, item: usize| dense[user * 4 + item];
    assert_close(
        &[at(0, 0), at(0, 1), at(1, 1)],
        &[3.0, 6.0, 2.0].map(|degrees: f32| degrees.sqrt().recip()),
    );
    assert!((0..4).all(|item| at(2, item) == 0.0) && (0..3).all(|user| at(user, 3) == 0.0));
}

#[test]
#[should_panic(expected = "the edge (3, 0) is outside the graph of 3 users and 4 items")]
fn an_edge_of_an_unknown_user_is_refused() {
    Graph {
        edges: vec![(3, 0)],
        ..graph()
    }
    .normalised();
}

#[test]
fn embeddings_and_scores_equal_the_dense_reference() {
    let device = Device::flex();
    for config in configs() {
        let encoder = config.init(&graph(), 7, &device);
        let dense = dense_embeddings(&encoder);
        let embeddings = encoder.embeddings();
        let both = Tensor::cat(vec![embeddings.users, embeddings.items], 0);
        assert_close(&values(both), &values(dense.clone()));

        let all = values(dense.clone().matmul(dense.transpose()));
        let score = |user: usize, item: usize| all[user * 7 + 3 + item];
        let negatives = Tensor::<2, Int>::from_data([[3, 2], [0, 0]], &device);
        let (positive, negative) = encoder.score_batch(ids(&[0, 2], &device), ids(&[1, 3], &device), negatives);
        assert_close(&values(positive), &[score(0, 1), score(2, 3)]);
        assert_close(&values(negative), &[score(0, 3), score(0, 2), score(2, 0), score(2, 0)]);

        let (positive, negative) = encoder.score_shared(ids(&[0, 2], &device), ids(&[1, 3], &device), ids(&[3, 2], &device));
        assert_close(&values(positive), &[score(0, 1), score(2, 3)]);
        assert_close(&values(negative), &[score(0, 3), score(0, 2), score(2, 3), score(2, 2)]);
    }
}

#[test]
fn gradients_equal_those_of_the_dense_reference() {
    let device = Device::flex().autodiff();
    for config in configs() {
        let encoder = config.init(&graph(), 7, &device);
        let negatives = Tensor::<2, Int>::from_data([[3, 2], [0, 0]], &device);
        let (positive, negative) = encoder.score_batch(ids(&[0, 2], &device), ids(&[1, 3], &device), negatives);
        let gradients = (positive.exp().sum() + negative.exp().sum()).backward();

        let dense = dense_embeddings(&encoder);
        let all = dense.clone().matmul(dense.transpose()).exp();
        let at = |user: usize, item: usize| all.clone().slice([user..=user, 3 + item..=3 + item]).sum();
        let total = at(0, 1) + at(2, 3) + at(0, 3) + at(0, 2) + at(2, 0) + at(2, 0);
        let expected = total.backward();
        for table in [&encoder.tables().users, &encoder.tables().items] {
            let got = table.val().grad(&gradients).expect("a gradient");
            assert_close(&values(got), &values(table.val().grad(&expected).expect("a gradient")));
        }
    }
}

#[test]
fn nodes_without_an_edge_keep_a_finite_embedding() {
    for config in configs() {
        let embeddings = config.init(&graph(), 3, &Device::flex()).embeddings();
        assert!(
            values(embeddings.users)
                .into_iter()
                .chain(values(embeddings.items))
                .all(f32::is_finite)
        );
    }
}

#[test]
fn the_seed_alone_determines_the_start() {
    let device = Device::flex();
    let config = RecommenderConfig::default();
    let users = |seed| values(config.init(&graph(), seed, &device).embeddings().users);
    assert_eq!(users(1), users(1));
    assert_ne!(users(1), users(2));
}

#[test]
fn a_record_carries_the_tables_into_another_model() {
    let device = Device::flex();
    for config in configs() {
        let first = config.init(&graph(), 1, &device);
        let second = config.init(&graph(), 2, &device).load_record(first.clone().into_record());
        assert_eq!(values(first.embeddings().items), values(second.embeddings().items));
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let bad = [
        (r#"{ "kind": "mf", "dim": 0 }"#, "dim is 0"),
        (r#"{ "kind": "light_gcn", "layers": 0 }"#, "layers is 0"),
        (r#"{ "kind": "mf", "init_std": -1.0 }"#, "init_std is -1"),
    ];
    for (text, expected) in bad {
        let config: RecommenderConfig = serde_json::from_str(text).expect("well-formed");
        assert!(config.check().expect_err("out of range").contains(expected));
    }
    assert!(serde_json::from_str::<RecommenderConfig>(r#"{ "kind": "mf", "layers": 3 }"#).is_err());
}
