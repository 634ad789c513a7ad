//! Remembers the metrics of baselines.

use bcl_report::result::Metrics;

/// The metrics of baselines that were computed before, each with all that determines them. Most runs of a command share them, and some take
/// as long as training.
#[derive(Debug)]
pub struct BaselineCache<K>(Vec<(K, Metrics)>);

impl<K> Default for BaselineCache<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq> BaselineCache<K> {
    /// Returns the metrics of a key, and computes them if they are not known.
    ///
    /// # Errors
    /// As `compute`, and then nothing is remembered.
    pub fn of<E>(&mut self, key: K, compute: impl FnOnce() -> Result<Metrics, E>) -> Result<Metrics, E> {
        if let Some((_, metrics)) = self.0.iter().find(|(known, _)| *known == key) {
            return Ok(metrics.clone());
        }
        let metrics = compute()?;
        self.0.push((key, metrics.clone()));
        Ok(metrics)
    }
}
