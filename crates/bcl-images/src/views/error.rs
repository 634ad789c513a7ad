//! Errors of settings of views and of the images they are made from.

/// Why views cannot be made: what is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewsError {
    /// A setting is out of range.
    #[error("{name} is {value}, but must be in {range}. Change it in the recipe or with `--set {name}=…`.")]
    OutOfRange {
        /// The setting, as in recipes.
        name: String,
        /// Its value.
        value: String,
        /// Its range.
        range: String,
    },

    /// A setting that another one makes meaningless.
    #[error("{name} has no effect with {because}.")]
    Meaningless {
        /// The setting, as in recipes.
        name: String,
        /// The other setting and its value, and what to do.
        because: String,
    },

    /// Images of different sizes are evaluated in one batch at their native size.
    #[error(
        "image {index} has {found} rows and columns, but image {first} of the same batch has {expected}. Evaluate at a fixed side instead of \
         the native size.",
        found = Size(*found),
        expected = Size(*expected)
    )]
    SizesDiffer {
        /// The first image of the batch, by its index in the collection.
        first: usize,
        /// Its rows and columns.
        expected: [usize; 2],
        /// The image that differs, by its index in the collection.
        index: usize,
        /// Its rows and columns.
        found: [usize; 2],
    },

    /// An image cannot be read from its file; the text comes from the [`ImageError`](crate::ImageError).
    #[error("{0}")]
    Unreadable(String),
}

impl From<crate::ImageError> for ViewsError {
    fn from(error: crate::ImageError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl ViewsError {
    /// The error of a table within `views`.
    pub(super) fn within(mut self, table: &str) -> Self {
        if let Self::OutOfRange { name, .. } = &mut self {
            *name = name.replacen("views", &format!("views.{table}"), 1);
        }
        self
    }
}

/// Rows and columns, shown as `96 x 96`.
struct Size([usize; 2]);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.0[0], self.0[1])
    }
}

/// Checks a setting of the section `views`.
pub(super) fn holds(name: &str, value: impl std::fmt::Debug, holds: bool, range: &str) -> Result<(), ViewsError> {
    if holds {
        return Ok(());
    }
    Err(ViewsError::OutOfRange {
        name: format!("views.{name}"),
        value: format!("{value:?}"),
        range: range.to_string(),
    })
}

/// Checks a whole number: from 1 to `most`.
pub(super) fn is_between_one_and(name: &str, value: usize, most: usize) -> Result<(), ViewsError> {
    holds(name, value, (1..=most).contains(&value), &format!("[1, {most}]"))
}

/// Checks a probability.
pub(super) fn is_probability(name: &str, value: f64) -> Result<(), ViewsError> {
    holds(name, value, (0.0..=1.0).contains(&value), "[0, 1]")
}

/// Checks the two ends of a range: between two positive bounds and in order.
pub(super) fn is_positive_range(name: &str, [low, high]: [f64; 2], [least, most]: [f64; 2]) -> Result<(), ViewsError> {
    let accepted = least <= low && low <= high && high <= most;
    holds(
        name,
        [low, high],
        accepted,
        &format!("[{least:?}, {most:?}], smaller value first"),
    )
}
