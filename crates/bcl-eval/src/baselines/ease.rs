//! EASE: a linear item-to-item model with a closed-form solution, hard to beat on small catalogues.

use crate::ranking::Scorer;
use bcl_data::Interactions;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use rayon::prelude::*;
use thiserror::Error;

/// An error while fitting EASE.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum EaseError {
    /// The catalogue is too large to invert its items x items matrix.
    #[error(
        "EASE inverts a dense items x items matrix: {num_items} items would take about {gigabytes:.0} GB of memory, and the limit \
         is {limit} items; remove \"ease\" from evaluation.baselines for this data set"
    )]
    TooManyItems {
        /// Number of items in the data set.
        num_items: usize,
        /// [`Ease::MAX_ITEMS`].
        limit: usize,
        /// Peak memory of a fit, in units of 10^9 bytes.
        gigabytes: f64,
    },
    /// λ is out of range.
    #[error("evaluation.ease_lambda is {lambda}, but must be finite and positive (400 suits MovieLens 100K)")]
    Lambda {
        /// The value given.
        lambda: f64,
    },
    /// The regularised Gram matrix is not positive definite in floating point.
    #[error(
        "evaluation.ease_lambda is {lambda}, which is too small for this data: the items' Gram matrix cannot be inverted; raise it \
         (400 suits MovieLens 100K)"
    )]
    NotInvertible {
        /// The value given.
        lambda: f64,
    },
}

/// The EASE recommender ("Embarrassingly shallow autoencoders for sparse data", Steck, WWW 2019).
///
/// EASE regresses each item's interactions on the interactions of all other items, with an L2 penalty λ. With `X` the
/// `[num_users, num_items]` matrix of training interactions,
///
/// ```text
/// P = (X'X + λ I)⁻¹       B[i, j] = -P[i, j] / P[j, j],   B[j, j] = 0       scores = X B
/// ```
///
/// The solution is computed in f64 and stored in f32. The time of a fit grows with the cube of the number of items; its peak memory is
/// three f64 matrices of items x items.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::{baselines::Ease, ranking::top_items};
///
/// // Whoever took item 0 also took item 1.
/// let train = Interactions::from_pairs(4, 3, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 0)]);
/// let ease = Ease::fit(&train, 1.0)?;
/// assert_eq!(top_items(&ease, &train, 3, 1)?[0].item, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ease {
    train: Interactions,
    /// B, `[num_items, num_items]`, row-major.
    weights: Vec<f32>,
}

impl Ease {
    /// Maximum number of items that [`fit`](Self::fit) accepts; its peak memory is then 3.5 GB.
    pub const MAX_ITEMS: usize = 12_000;

    /// Fits the model: solves for B.
    ///
    /// # Errors
    /// Returns [`EaseError::TooManyItems`] above [`MAX_ITEMS`](Self::MAX_ITEMS), [`EaseError::Lambda`] if λ is out of range, and
    /// [`EaseError::NotInvertible`] if λ is too small for the data.
    pub fn fit(train: &Interactions, lambda: f64) -> Result<Self, EaseError> {
        let num_items = train.num_items();
        if num_items > Self::MAX_ITEMS {
            return Err(EaseError::TooManyItems {
                num_items,
                limit: Self::MAX_ITEMS,
                gigabytes: 3.0 * 8e-9 * (num_items as f64).powi(2),
            });
        }
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(EaseError::Lambda { lambda });
        }

        let gram = regularised_gram(train, lambda);
        let factor = gram.llt(Side::Lower).map_err(|_| EaseError::NotInvertible { lambda })?;
        // Free the memory before the inverse is allocated.
        drop(gram);
        let inverse = factor.inverse();
        drop(factor);

        let diagonal: Vec<f64> = (0..num_items).map(|item| inverse[(item, item)]).collect();
        let mut weights = vec![0.0; num_items * num_items];
        // P is symmetric and stored by column, so row i of B can read column i of P.
        weights.par_chunks_mut(num_items.max(1)).enumerate().for_each(|(item, row)| {
            for (other, weight) in row.iter_mut().enumerate() {
                *weight = (-inverse[(other, item)] / diagonal[other]) as f32;
            }
            row[item] = 0.0;
        });
        Ok(Self {
            train: train.clone(),
            weights,
        })
    }
}

/// The lower triangle of X'X + λ I.
fn regularised_gram(train: &Interactions, lambda: f64) -> Mat<f64> {
    let num_items = train.num_items();
    let mut gram = Mat::zeros(num_items, num_items);
    for user in 0..train.num_users() as u32 {
        let items = train.items_of(user);
        for (index, &column) in items.iter().enumerate() {
            // Items are sorted, so later items of the list are below the diagonal.
            for &row in &items[index..] {
                gram[(row as usize, column as usize)] += 1.0;
            }
        }
    }
    for item in 0..num_items {
        gram[(item, item)] += lambda;
    }
    gram
}

impl Scorer for Ease {
    fn num_items(&self) -> usize {
        self.train.num_items()
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        let num_items = self.train.num_items();
        out.clear();
        out.resize(users.len() * num_items, 0.0);
        if num_items == 0 {
            return;
        }
        out.par_chunks_mut(num_items).zip(users).for_each(|(scores, &user)| {
            for &item in self.train.items_of(user) {
                let start = item as usize * num_items;
                let row = &self.weights[start..start + num_items];
                for (score, weight) in scores.iter_mut().zip(row) {
                    *score += weight;
                }
            }
        });
    }
}
