//! The interface between models and their evaluation.

use super::DotProducts;

/// Something that scores items for users.
///
/// ```
/// use bcl_eval::ranking::Scorer;
///
/// /// Prefers items with small ids.
/// struct Alphabetical(usize);
///
/// impl Scorer for Alphabetical {
///     fn num_items(&self) -> usize {
///         self.0
///     }
///
///     fn score(&self, users: &[u32], out: &mut Vec<f32>) {
///         out.clear();
///         for _ in users {
///             out.extend((0..self.0).map(|item| -(item as f32)));
///         }
///     }
/// }
///
/// let mut scores = Vec::new();
/// Alphabetical(3).score(&[7], &mut scores);
/// assert_eq!(scores, [0.0, -1.0, -2.0]);
/// ```
pub trait Scorer {
    /// Number of items, which is the length of each user's row of scores.
    fn num_items(&self) -> usize;

    /// Replaces the content of `out` with the scores of `users` for all items; higher is better.
    ///
    /// Callers pass the same `out` repeatedly, so an implementation that reuses its capacity allocates only once.
    ///
    /// # Shapes
    /// - users: `[num_users]`, dense ids
    /// - out:   `[num_users, num_items]`, row-major
    fn score(&self, users: &[u32], out: &mut Vec<f32>);

    /// The vectors whose dot products are the scores, if they are in host memory. Lists of many users are then computed tile by tile, several
    /// times as fast as from whole rows of scores.
    fn dot_products(&self) -> Option<&DotProducts> {
        None
    }
}
