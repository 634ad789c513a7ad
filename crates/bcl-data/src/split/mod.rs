//! Splits of interactions into train and test, and of train into a part to fit and one to validate.

mod options;
mod part;
mod per_user;

pub(crate) use options::Times;
pub use options::{SplitKind, SplitOptions, SplitOrder};
pub(crate) use part::ranks;
pub use part::{HoldOut, divide};
pub(crate) use per_user::held_out_count;
pub use per_user::{hold_out, split_per_user};
