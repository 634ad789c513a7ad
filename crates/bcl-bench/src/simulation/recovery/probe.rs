//! Accuracy of a ridge regression on one-hot classes.

const RIDGE: f64 = 0.01;

/// Labelled features, `[count, dim]`.
pub(super) struct Labelled<'a> {
    pub features: &'a [f32],
    pub labels: &'a [usize],
}

impl Labelled<'_> {
    /// The features of each sample with a 1 behind them.
    fn rows(&self) -> impl Iterator<Item = (Vec<f64>, usize)> {
        let rows = self.features.chunks_exact(self.features.len() / self.labels.len());
        let rows = rows.map(|row| row.iter().map(|value| f64::from(*value)).chain([1.0]).collect());
        rows.zip(self.labels.iter().copied())
    }
}

/// Fits `W = (XᵀX + λI)⁻¹ XᵀY` to the one and returns the share of the other whose largest output is its class.
pub(super) fn accuracy(train: &Labelled<'_>, test: &Labelled<'_>, num_classes: usize) -> f64 {
    let dim = train.features.len() / train.labels.len() + 1;
    // [XᵀX + λI | XᵀY], which elimination turns into [I | W].
    let mut system = vec![vec![0.0; dim + num_classes]; dim];
    for (row, label) in train.rows() {
        for (equation, value) in system.iter_mut().zip(&row) {
            for (entry, other) in equation.iter_mut().zip(&row) {
                *entry += value * other;
            }
            equation[dim + label] += value;
        }
    }
    for (index, equation) in system.iter_mut().enumerate() {
        equation[index] += RIDGE;
    }
    // The matrix is positive definite, so no pivots are needed.
    for pivot in 0..dim {
        let scale = system[pivot][pivot].recip();
        system[pivot].iter_mut().for_each(|entry| *entry *= scale);
        let equation = system[pivot].clone();
        for (_, other) in system.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = other[pivot];
            for (entry, value) in other.iter_mut().zip(&equation) {
                *entry -= factor * value;
            }
        }
    }
    let is_right = |(row, label): (Vec<f64>, usize)| {
        let output = |class: usize| {
            system
                .iter()
                .zip(&row)
                .map(|(weights, value)| weights[dim + class] * value)
                .sum::<f64>()
        };
        let best = (0..num_classes)
            .map(output)
            .enumerate()
            .max_by(|left, right| left.1.total_cmp(&right.1));
        best.is_some_and(|(class, _)| class == label)
    };
    test.rows().filter(|row| is_right(row.clone())).count() as f64 / test.labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separable_classes_are_told_apart_and_noise_is_not() {
        let labels: Vec<usize> = (0..300).map(|index| index % 3).collect();
        let wave = |index: usize| (1.7 * index as f32).sin();
        let separable: Vec<f32> = (0..300)
            .flat_map(|index| {
                let angle = (index % 3) as f32 * 2.1 + 0.3 * wave(index);
                [angle.cos(), angle.sin()]
            })
            .collect();
        let noise: Vec<f32> = (0..600).map(wave).collect();
        let of = |features: &[f32]| {
            let labels = &labels;
            accuracy(&Labelled { features, labels }, &Labelled { features, labels }, 3)
        };
        assert_eq!(of(&separable), 1.0);
        assert!(of(&noise) < 0.5);
    }
}
