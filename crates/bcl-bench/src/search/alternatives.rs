//! The methods that are compared.

use super::{naive, vectors::Vectors};
use crate::memory;
use bcl_eval::search::{near_duplicates, near_duplicates_of_all_pairs, nearest};
use serde::{Deserialize, Serialize};
use std::{fmt, hint::black_box, time::Instant};

/// Queries and neighbours of each.
const QUERIES: usize = 10;
const TOP: usize = 12;
/// The most vectors of which all pairs are compared; more are scaled up.
const ALL_PAIRS: usize = 20_000;
const LOOP: usize = 3000;

/// A way to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// `bcl_eval::search::nearest`, of ten queries.
    Neighbours,
    /// A loop on one thread, of the same queries.
    NeighboursLoop,
    /// `bcl_eval::search::near_duplicates`.
    Duplicates,
    /// `bcl_eval::search::near_duplicates_of_all_pairs`.
    DuplicatesAllPairs,
    /// Two nested loops on one thread.
    DuplicatesLoop,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 5] = [
        Self::Neighbours,
        Self::NeighboursLoop,
        Self::Duplicates,
        Self::DuplicatesAllPairs,
        Self::DuplicatesLoop,
    ];

    /// What the program uses for the same question.
    pub(super) fn ours(self) -> Self {
        match self {
            Self::Neighbours | Self::NeighboursLoop => Self::Neighbours,
            Self::Duplicates | Self::DuplicatesAllPairs | Self::DuplicatesLoop => Self::Duplicates,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Neighbours => "neighbours",
            Self::NeighboursLoop => "neighbours, loop",
            Self::Duplicates => "duplicates",
            Self::DuplicatesAllPairs => "duplicates, all pairs",
            Self::DuplicatesLoop => "duplicates, loop",
        })
    }
}

/// A method with its input.
pub(super) struct Alternative<'a> {
    pub(super) method: Method,
    /// Number of vectors among which it searches.
    pub(super) measured: usize,
    /// Factor from its time to that for all vectors.
    pub(super) scale: f64,
    work: Box<dyn Fn() + 'a>,
}

/// One measurement.
pub(super) struct Turn {
    pub(super) seconds: f64,
    pub(super) extra_mib: Option<f64>,
}

impl<'a> Alternative<'a> {
    pub(super) fn all(vectors: &'a Vectors, threshold: f32) -> Vec<Self> {
        let queries = vectors.part(QUERIES);
        let [pairs, looped] = [ALL_PAIRS, LOOP].map(|most| vectors.part(most));
        let [num_pairs, num_looped] = [pairs.len(), looped.len()];
        let of = |method, measured: usize, work: Box<dyn Fn() + 'a>| Self {
            method,
            measured,
            scale: (vectors.rows.len() as f64 / measured as f64).powi(2),
            work,
        };
        let all = vectors.rows.len();
        let own_queries = queries.clone();
        vec![
            of(
                Method::Neighbours,
                all,
                Box::new(move || drop(black_box(nearest(&vectors.rows, &queries, TOP)))),
            ),
            of(
                Method::NeighboursLoop,
                all,
                Box::new(move || drop(black_box(naive::nearest(&vectors.rows, &own_queries, TOP)))),
            ),
            of(
                Method::Duplicates,
                all,
                Box::new(move || drop(black_box(near_duplicates(&vectors.rows, threshold)))),
            ),
            of(
                Method::DuplicatesAllPairs,
                num_pairs,
                Box::new(move || drop(black_box(near_duplicates_of_all_pairs(&pairs, threshold)))),
            ),
            of(
                Method::DuplicatesLoop,
                num_looped,
                Box::new(move || drop(black_box(naive::duplicates(&looped, threshold)))),
            ),
        ]
    }

    /// Runs it once.
    pub(super) fn turn(&self) -> Turn {
        memory::forget_peak();
        let before = memory::resident();
        let start = Instant::now();
        (self.work)();
        Turn {
            seconds: start.elapsed().as_secs_f64() * self.scale,
            extra_mib: memory::peak().zip(before).map(|(peak, before)| peak - before),
        }
    }
}
