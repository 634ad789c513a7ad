//! Ranks all items for all users of a data set of the size of `MovieLens`-100K.

use crate::{movielens, training_device};
use bcl_eval::{
    baselines::Popularity,
    ranking::{EmbeddingScorer, RankingEvaluator, Scorer},
};
use bcl_models::Embeddings;
use burn::tensor::{Distribution, Tensor};
use criterion::{Criterion, Throughput};
use std::hint::black_box;

/// Embedding size.
const DIM: usize = 64;

/// The same scores as whole rows, as scorers without vectors give them.
struct WholeRows<'a>(&'a EmbeddingScorer);

impl Scorer for WholeRows<'_> {
    fn num_items(&self) -> usize {
        self.0.num_items()
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        self.0.score(users, out);
    }
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let data = movielens::planted();
    let evaluator = RankingEvaluator::new(&[10, 20], &data.train, &data.test);
    let device = training_device().inner();
    device.seed(0);
    let [users, items] = [data.train.num_users(), data.train.num_items()]
        .map(|rows| Tensor::<2>::random([rows, DIM], Distribution::Normal(0.0, 1.0), &device));
    let embeddings = EmbeddingScorer::new(Embeddings { users, items });
    let popularity = Popularity::new(&data.train);

    let mut group = criterion.benchmark_group("ranking");
    group.throughput(Throughput::Elements(evaluator.num_evaluated_users() as u64));
    let whole_rows = WholeRows(&embeddings);
    let scorers: [(&str, &dyn Scorer); 3] = [
        ("embeddings", &embeddings),
        ("embeddings_by_rows", &whole_rows),
        ("popularity", &popularity),
    ];
    for (name, scorer) in scorers {
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(evaluator.evaluate(scorer).expect("scores are numbers")));
        });
    }
}
