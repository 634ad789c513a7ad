//! The baselines of a data set, computed once for all runs on it.

use crate::{
    baselines::{Ease, Popularity},
    error::Error,
    evaluation::RankingEvaluator,
    recipe::{BaselineKind, EvaluationConfig},
    training::Baselines,
};
use bcl_data::InteractionData;

/// The test figures of the baselines that a recipe asks for.
///
/// # Errors
/// When a baseline cannot be fitted to these data.
pub fn baselines(data: &InteractionData, config: &EvaluationConfig) -> Result<Baselines, Error> {
    let evaluator = RankingEvaluator::new(&config.cutoffs, &data.train, &data.test);
    let figures = |kind: &BaselineKind| {
        let metrics = match kind {
            BaselineKind::Popularity => evaluator.evaluate(&Popularity::new(&data.train))?,
            BaselineKind::Ease => evaluator.evaluate(&Ease::fit(&data.train, config.ease_lambda)?)?,
        };
        Ok((kind.name().to_owned(), metrics))
    };
    config.baselines.iter().map(figures).collect()
}
