//! The macro AUC of features: how often a sample is more similar to one of its class than to one of another class.

use super::{
    Labelled, ProbeError,
    labelled::{check_finite, to_host, unit_rows},
};
use bcl_core::{auc::auc, matmul};
use burn::tensor::{Int, Tensor};
use rayon::prelude::*;

/// Anchors whose similarities are computed at a time.
const BLOCK: usize = 256;

/// Computes the AUC of some samples against all others by cosine similarity, averaged over these anchors: the probability that a sample of
/// the anchor's class is more similar to the anchor than one of another class, ties counting one half. The Bayesian loss reads it as `α`. `None`
/// if no anchor has others of both sorts.
///
/// # Errors
/// [`ProbeError::NotFinite`] if a feature is not finite, and [`ProbeError::LabelsMissing`] if a sample has no label.
///
/// # Panics
/// Panics if an anchor is out of range.
pub fn macro_auc(samples: &Labelled, anchors: &[usize]) -> Result<Option<f64>, ProbeError> {
    let features = unit_rows(check_finite(&samples.features, "evaluated")?);
    let ([num_samples, _], num_labels) = (features.dims(), samples.labels.len());
    if num_labels != num_samples {
        return Err(ProbeError::LabelsMissing {
            set: "evaluated",
            num_samples,
            num_labels,
        });
    }
    let mut aucs = Vec::new();
    for anchors in anchors.chunks(BLOCK) {
        let indices: Vec<i64> = anchors.iter().map(|&anchor| anchor as i64).collect();
        let indices = Tensor::<1, Int>::from_data(indices.as_slice(), &features.device());
        let of_anchors = features.clone().select(0, indices);
        let similarities = to_host(matmul(of_anchors, features.clone().transpose()));
        let of_block: Vec<Option<f64>> = anchors
            .par_iter()
            .zip(similarities.par_chunks(num_samples))
            .map(|(&anchor, row)| of_anchor(anchor, row, &samples.labels))
            .collect();
        aucs.extend(of_block.into_iter().flatten());
    }
    Ok((!aucs.is_empty()).then(|| aucs.iter().sum::<f64>() / aucs.len() as f64))
}

fn of_anchor(anchor: usize, similarities: &[f32], labels: &[u32]) -> Option<f64> {
    let (mut same, mut others) = (Vec::new(), Vec::new());
    for (other, (&similarity, label)) in similarities.iter().zip(labels).enumerate() {
        if other != anchor {
            let class = if *label == labels[anchor] { &mut same } else { &mut others };
            class.push(f64::from(similarity));
        }
    }
    auc(&same, &others)
}

#[cfg(test)]
mod tests {
    use super::super::planted::{clusters, coins, noise};
    use super::*;

    #[test]
    fn clusters_give_one_and_noise_one_half() {
        let all: Vec<usize> = (0..300).collect();
        let tight = clusters(300, 8, 3, 1e-3, 1);
        assert_eq!(macro_auc(&tight, &all), Ok(Some(1.0)));
        let random = Labelled {
            features: noise(300, 8, 2),
            labels: coins(300, 3, 3),
        };
        let found = macro_auc(&random, &all).unwrap().unwrap();
        assert!((found - 0.5).abs() < 0.02, "{found}");
    }

    #[test]
    fn equals_counting_all_pairs() {
        let samples = clusters(40, 4, 2, 1.0, 5);
        let rows: Vec<Vec<f64>> = to_host(samples.features.clone())
            .chunks(4)
            .map(|row| {
                let length = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
                row.iter().map(|x| f64::from(*x) / length).collect()
            })
            .collect();
        let cosine = |a: usize, b: usize| rows[a].iter().zip(&rows[b]).map(|(x, y)| x * y).sum::<f64>();
        let class = |sample: usize| samples.labels[sample];
        let anchors = [3, 17, 38];
        let of_anchor = |anchor: usize| {
            let (mut wins, mut pairs) = (0.0, 0.0);
            for same in (0..40).filter(|&other| other != anchor && class(other) == class(anchor)) {
                for other in (0..40).filter(|&other| class(other) != class(anchor)) {
                    wins += f64::from(u8::from(cosine(anchor, same) > cosine(anchor, other)));
                    pairs += 1.0;
                }
            }
            wins / pairs
        };
        let expected = anchors.map(of_anchor).iter().sum::<f64>() / 3.0;
        let found = macro_auc(&samples, &anchors).unwrap().unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
    }

    #[test]
    fn one_class_has_no_auc() {
        let samples = clusters(10, 2, 1, 1.0, 5);
        assert_eq!(macro_auc(&samples, &[0, 1]), Ok(None));
    }
}
