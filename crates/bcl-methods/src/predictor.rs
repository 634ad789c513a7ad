//! Methods that predict the projection of one view from the projection of the other.

use super::{Embeddings, MethodSizes, MethodStart, Objective, image::wide, rows_of};
use bcl_core::{Losses, ParameterError, joint_embedding::negative_cosine, parameter::count_in};
use bcl_models::vision::{ProjectionHead, ProjectionHeadConfig};
use burn::tensor::Tensor;
use std::ops::Range;

/// Largest hidden size.
const MOST_HIDDEN: usize = 1 << 16;

/// Names of the tables of either view: predictions and targets.
const TABLES: [[&str; 2]; 2] = [
    ["first_predictions", "first_targets"],
    ["second_predictions", "second_targets"],
];

/// Checks the hidden size of a predictor.
pub(super) fn check(hidden: usize) -> Result<(), ParameterError> {
    count_in("hidden", hidden, 1, MOST_HIDDEN)
}

/// Number of weights of a predictor.
pub(super) fn memory(hidden: usize, sizes: &MethodSizes) -> u64 {
    2 * hidden as u64 * sizes.dim
}

/// Creates a predictor: two linear layers with batch normalisation and ReLU between, from projections to predictions of the same size.
pub(super) fn predictor(hidden: usize, start: &MethodStart) -> ProjectionHead {
    let config = ProjectionHeadConfig {
        hidden,
        out: start.dim,
        ..ProjectionHeadConfig::default()
    };
    let predictor = config.init(start.dim, start.seed.named("predictor").0, &start.device);
    predictor.with_norms_over_processes(start.norm_processes.as_ref())
}

/// Fills the [tables](TABLES) from the predictions and targets of a view.
pub(super) fn embed(of_view: impl Fn(usize) -> [Tensor<2>; 2]) -> Embeddings {
    (0..2).fold(Embeddings::new(), |embeddings, view| {
        let [predictions, targets] = of_view(view).map(wide);
        embeddings
            .with(TABLES[view][0], predictions)
            .with_constant(TABLES[view][1], targets)
    })
}

/// The negative cosine of the prediction of each view and the target of the other.
pub(super) fn cross_predictions(embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
    let stacked = |tables: [&str; 2]| Tensor::cat(tables.map(|name| embeddings.rows(name)).to_vec(), 0);
    let [[first_predictions, first_targets], [second_predictions, second_targets]] = TABLES;
    let predictions = rows_of(stacked([first_predictions, second_predictions]), anchors.clone());
    let targets = rows_of(stacked([second_targets, first_targets]), anchors);
    Objective::Losses(Losses::new(negative_cosine(predictions, targets), None))
}
