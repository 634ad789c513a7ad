//! Evaluation of trained encoders: ranking metrics and baselines for recommenders, linear probes and nearest neighbours for frozen
//! features, cross-validated classifiers for graph vectors.
//!
//! | to | use |
//! | --- | --- |
//! | measure precision, recall, NDCG, … of a recommender | [`ranking::RankingEvaluator`], with [`ranking::Scorer`] for your model |
//! | recommend items to a user | [`ranking::top_items`] |
//! | compare with popularity and EASE | [`baselines`] |
//! | classify frozen features by nearest neighbours or a linear probe | [`probe::knn()`], [`probe::probe_fixed`] |
//! | compute all metrics of an image encoder | [`images::ImageEvaluator`] |
//! | classify graph vectors by support vector machines, or graphs by a kernel | [`graphs::CrossValidator`] |
//! | find similar vectors, near-duplicates and diverse subsets | [`search`] |
//! | measure how an estimator weights the negatives of a batch | [`diagnostics::Diagnostics`] |
//! | measure alignment and uniformity of features | [`probe::alignment`], [`probe::uniformity`] |
//! | see whether features have collapsed | [`probe::spread()`] |
//!
//! Recommenders are evaluated on held-out interactions:
//!
//! ```
//! use bcl_data::Interactions;
//! use bcl_eval::baselines::Ease;
//! use bcl_eval::ranking::{RankingEvaluator, top_items};
//!
//! // Pairs (user, item) of three users and four items.
//! let train = Interactions::from_pairs(3, 4, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]);
//! let test = Interactions::from_pairs(3, 4, [(2, 1)]);
//!
//! let ease = Ease::fit(&train, 1.0)?;
//! let metrics = RankingEvaluator::new(&[1, 2], &train, &test).evaluate(&ease)?;
//! assert_eq!(metrics["recall@1"], 1.0);
//! assert_eq!(top_items(&ease, &train, 2, 1)?[0].item, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Frozen features are evaluated with their labels:
//!
//! ```
//! use bcl_eval::probe::{KnnConfig, Labelled, knn};
//! use burn::tensor::{Device, Tensor};
//!
//! let device = Device::flex();
//! let train = Labelled { features: Tensor::from_floats([[1.0, 0.1], [0.1, 1.0]], &device), labels: vec![0, 1] };
//! let test = Labelled { features: Tensor::from_floats([[3.0, 0.0], [0.0, 0.2]], &device), labels: vec![0, 1] };
//! assert_eq!(knn(&train, &test, 2, &KnnConfig::default())?.top1, 1.0);
//! # Ok::<(), bcl_eval::probe::ProbeError>(())
//! ```
//!
//! This crate trains no encoder, draws no negatives and touches no files. Results do not depend on the number of threads.

pub mod baselines;
pub mod diagnostics;
mod error;
pub mod graphs;
pub mod images;
mod interrupt;
mod map;
pub mod probe;
pub mod ranking;
pub mod search;
mod top_k;

pub use error::EvaluationError;
pub use interrupt::Interrupt;
