//! Exact search among feature vectors: nearest neighbours, groups of near-duplicates, and diverse subsets.
//!
//! | to | use |
//! | --- | --- |
//! | find the vectors most similar to some queries | [`nearest`] |
//! | group vectors that are almost equal | [`near_duplicates`] |
//! | choose vectors that cover all others | [`farthest_first`], and [`quotas`] for equal numbers per class |
//!
//! Similarities are cosines. They are computed as blocked matrix products, one block per thread at a time, so memory beside the vectors is a
//! few MiB per thread; [`near_duplicates`] of many vectors sorts a copy of them. Results do not depend on the number of threads: ties go to the lower row.
//!
//! ```
//! use bcl_eval::search::{UnitRows, farthest_first, near_duplicates, nearest};
//!
//! let rows = UnitRows::new(vec![1.0, 0.0, 2.0, 0.01, 0.0, 3.0], 2)?;
//! let query = UnitRows::new(vec![0.1, 0.9], 2)?;
//! assert_eq!(nearest(&rows, &query, 2)[0].iter().map(|near| near.row).collect::<Vec<_>>(), [2, 1]);
//! assert_eq!(near_duplicates(&rows, 0.99)[0].len(), 2);
//! assert_eq!(farthest_first(&rows, &[0, 1, 2], &[], 2, 0).chosen, [0, 2]);
//! # Ok::<(), bcl_eval::search::NotFiniteRow>(())
//! ```

mod duplicates;
mod farthest;
mod groups;
mod nearest;
mod pivots;
mod quotas;
mod unit_rows;

pub use duplicates::{near_duplicates, near_duplicates_of_all_pairs};
pub use farthest::{Cover, farthest_first, medoid};
pub use groups::Duplicate;
pub use nearest::{Near, nearest};
pub use quotas::quotas;
pub use unit_rows::{NotFiniteRow, UnitRows};
