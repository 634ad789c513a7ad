//! Tables that survive a referee: every row gets the same tuning budget on validation data, then several seeds, then the test
//! data.
//!
//! | step | file | what it does |
//! | --- | --- | --- |
//! | plan | [`TablePlan`] | which recipes, ranges, budget and seeds; saved as `plan.json` |
//! | tune | [`Search`], [`Space`] | draws settings, trains each on a part of train, evaluates on the rest |
//! | test | [`run`] | trains the best settings of each row with every seed and measures them on the test set |
//! | report | [`TableResult`] | means, intervals, paired differences corrected for their number, what is better, worse, equivalent, and not known |
//!
//! # Fairness
//! - All rows get the same number of trials, and trial `i` draws the same value of a parameter in every row that has it.
//! - A parameter in which the rows of a table differ (β in Table 5) is not searched.
//! - Test data choose nothing: tuning uses parts of train alone, and has its own seeds. Each trial is trained with several of them, each of
//!   which holds out another part of train.
//! - Built-in recipes are not among the trials, because their values come from earlier work on the same data.
//!
//! # Resuming
//! Every trial and every seed is a run in its own folder, with its recipe. The same command run again keeps what is finished,
//! continues the rest from the last checkpoints, and ends in the same table.
//!
//! # Several processes
//! The processes of [`RunPool::processes`] split the trials and the tests of a table. Each trains its runs by itself, in the folders that a single
//! process would use, so any number of processes can continue a table. The processes exchange results before each choice, and process 0 writes
//! the table, with the same bytes as a single process.

mod candidates;
mod check;
mod family;
mod format;
mod look;
mod make;
mod outcome;
mod paper;
mod plan;
mod published;
mod recovery;
mod result;
mod row;
mod run_pool;
mod samples;
mod search;
mod sensitivity;
mod space;
mod statistics;
mod verdict;

pub(crate) use check::differences;
pub use family::Family;
pub(crate) use format::Parts;
pub use look::Look;
pub use make::run;
pub use paper::{Paper, Printed};
pub use plan::TablePlan;
pub use published::Published;
pub use recovery::{Headroom, Recovery};
pub use result::{RowResult, TableResult, Trial};
pub use row::Row;
pub use run_pool::RunPool;
pub(crate) use samples::Samples;
pub use search::{Rung, Search};
pub use sensitivity::{Curve, Fixed, Sensitivity};
pub use space::{Range, Ranges, Space};
pub use statistics::{FEWEST_SEEDS, Paired, Test, Verdict, expected_best, holm};
