//! The rates of the augmented loss, averaged over batches or exact.

/// Share of a batch in a running rate.
pub(super) const SHARE: f64 = 0.1;

/// The mean of `x_k` of each anchor, `[2 · num_samples]`.
pub(super) struct Rates {
    /// 0 for anchors without a rate yet.
    means: Vec<f64>,
    is_exact: bool,
}

impl Rates {
    pub(super) fn new(num_samples: usize, is_exact: bool) -> Self {
        Self {
            means: vec![0.0; 2 * num_samples],
            is_exact,
        }
    }

    /// The logarithm of the rate of each anchor; its own where it has none yet.
    pub(super) fn log_of(&self, samples: &[usize], log_means: &[f64]) -> Vec<f64> {
        let anchors = self.anchors(samples).zip(log_means);
        anchors
            .map(|(anchor, &log_mean)| match self.means[anchor] {
                0.0 => log_mean,
                mean => mean.ln(),
            })
            .collect()
    }

    /// The anchors of a batch: the first views of its samples, then the second ones.
    fn anchors<'s>(&self, samples: &'s [usize]) -> impl Iterator<Item = usize> + use<'s> {
        let num_samples = self.means.len() / 2;
        let of_view = move |view: usize| samples.iter().map(move |sample| view * num_samples + sample);
        of_view(0).chain(of_view(1))
    }

    /// Running rates move towards the mean over both views, as in training; exact ones are set once.
    pub(super) fn update(&mut self, samples: &[usize], log_means: &[f64]) {
        for (index, anchor) in self.anchors(samples).enumerate() {
            let of_view = |view: usize| log_means[index % samples.len() + view * samples.len()].exp();
            let mean = &mut self.means[anchor];
            *mean = match (*mean, self.is_exact) {
                (0.0, true) => log_means[index].exp(),
                (0.0, false) => 0.5 * (of_view(0) + of_view(1)),
                (before, true) => before,
                (before, false) => (1.0 - SHARE) * before + 0.5 * SHARE * (of_view(0) + of_view(1)),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_rates_average_views_and_batches_and_exact_ones_keep_the_first_of_each_anchor() {
        let first = [0.0, 2.0, 1.0, 4.0].map(f64::ln_1p);
        for (is_exact, expected) in [(false, [0.9 * 4.0 + 0.1 * 12.0; 2]), (true, [3.0, 5.0])] {
            let mut rates = Rates::new(8, is_exact);
            rates.update(&[3, 5], &first);
            assert_eq!(
                rates.log_of(&[4, 5], &[7.0; 4])[0],
                7.0,
                "an anchor without a rate takes the batch's"
            );
            rates.update(&[5], &[12f64.ln(); 2]);
            for (view, expected) in expected.into_iter().enumerate() {
                assert!((rates.means[view * 8 + 5] - expected).abs() < 1e-12, "{view}, {is_exact}");
            }
        }
    }
}
