//! Tables that survive a referee: every row gets the same tuning budget on validation data, then several seeds, then test.
//!
//! | step | file | what it does |
//! | --- | --- | --- |
//! | ask | [`Plan`] | which recipes, which ranges, what budget, which seeds; kept as `plan.json` |
//! | tune | [`Search`], [`Space`] | draws settings, trains each on a part of train, judges on the rest |
//! | test | [`run`] | trains the best settings of each row with every seed and measures them on test |
//! | say | [`TableResult`] | means, intervals, paired differences corrected for their number, what wins and what ties |
//!
//! # Fairness
//! - All rows get the same number of trials, and trial `i` draws the same value of a parameter in every row that has it.
//! - What the rows of a table differ in (β in Table 5) is not searched.
//! - Test data choose nothing: tuning sees a part of train alone, and has a seed of its own.
//! - Built-in recipes are not among the trials: their values came from former work on the same data.
//!
//! # Going on
//! Every trial and every seed is a run in a folder of its own, with its recipe. The same command again takes up what is finished and
//! goes on with what is not, from its last checkpoint, and ends in the same table.

mod journal;
mod ladder;
mod making;
mod paper;
mod plan;
mod race;
mod result;
mod row;
mod sensitivity;
mod space;
mod statistics;
mod tell;
mod verdict;
mod workshop;

pub use ladder::{Rung, Search};
pub use making::run;
pub use paper::{Paper, Printed};
pub use plan::Plan;
pub use result::{RowResult, TableResult, Trial};
pub use row::Row;
pub use sensitivity::{Curve, Fixed, Sensitivity};
pub use space::{Range, Ranges, Space};
pub use statistics::{Paired, holm};
pub(crate) use tell::Parts;
pub use workshop::Workshop;
