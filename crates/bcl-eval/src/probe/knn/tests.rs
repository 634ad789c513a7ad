//! Nearest neighbours against a slow reference implementation.

use super::*;
use crate::probe::planted::{clusters, coins, noise};
use burn::tensor::{Device, TensorData};
use proptest::prelude::*;

/// Entries of -1 and 1 in 16 dimensions: every cosine is a multiple of 1/8, exact in f32, and there are many ties.
fn signs(rows: &[u16]) -> Tensor<2> {
    let entry = |row: u16, bit: u32| if row >> bit & 1 == 1 { 1.0_f32 } else { -1.0 };
    let values: Vec<f32> = rows.iter().flat_map(|&row| (0..16).map(move |bit| entry(row, bit))).collect();
    Tensor::from_data(TensorData::new(values, [rows.len(), 16]), &Device::flex())
}

/// The rank of one test sample's class: sorts all training samples, adds up the votes, sorts all classes.
fn slow_place(train: &[(u16, u32)], test: (u16, u32), num_classes: u32, config: &KnnConfig) -> usize {
    let similarity = |row: u16| (16.0 - 2.0 * f64::from((row ^ test.0).count_ones())) / 16.0;
    let mut neighbours: Vec<(f64, u32)> = train.iter().map(|&(row, label)| (similarity(row), label)).collect();
    // Both sorts are stable: ties stay in the order of samples and of classes.
    neighbours.sort_by(|a, b| b.0.total_cmp(&a.0));
    neighbours.truncate(config.k);
    let vote = |class: u32| {
        let of_class = neighbours.iter().filter(|neighbour| neighbour.1 == class);
        of_class
            .map(|neighbour| (neighbour.0 / config.temperature).exp())
            .sum::<f64>()
    };
    let mut classes: Vec<u32> = (0..num_classes).collect();
    classes.sort_by(|&a, &b| vote(b).total_cmp(&vote(a)));
    classes.iter().position(|&class| class == test.1).unwrap()
}

fn labelled(samples: &[(u16, u32)]) -> Labelled {
    let (rows, labels): (Vec<u16>, Vec<u32>) = samples.iter().copied().unzip();
    Labelled {
        features: signs(&rows),
        labels,
    }
}

proptest! {
    #[test]
    fn votes_equal_the_slow_reference_in_blocks_of_any_size(
        train in prop::collection::vec((any::<u16>(), 0_u32..7), 2..60),
        test in prop::collection::vec((any::<u16>(), 0_u32..7), 1..20),
        k in 1_usize..70,
        temperature in 0.05_f64..2.0,
        block in 1_usize..25,
    ) {
        prop_assume!(train.iter().any(|sample| sample.1 != train[0].1));
        let config = KnnConfig { k, temperature };
        let found = places(&labelled(&train), &labelled(&test), 7, &config, block).unwrap();
        let expected: Vec<usize> = test.iter().map(|&sample| slow_place(&train, sample, 7, &config)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn separate_clusters_are_classified_perfectly() {
    let (train, test) = (clusters(400, 16, 10, 0.05, 1), clusters(100, 16, 10, 0.05, 2));
    let found = knn(
        &train,
        &test,
        10,
        &KnnConfig {
            k: 20,
            ..KnnConfig::default()
        },
    )
    .unwrap();
    assert_eq!(
        found,
        TopK {
            top1: 1.0,
            top5: Some(1.0)
        }
    );
}

#[test]
fn labels_without_meaning_are_guessed_by_chance() {
    let random = |n, seed| Labelled {
        features: noise(n, 16, seed),
        labels: coins(n, 10, seed),
    };
    let found = knn(&random(1000, 1), &random(2000, 2), 10, &KnnConfig::default()).unwrap();
    // Three standard errors.
    assert!((found.top1 - 0.1).abs() < 0.021, "{found:?}");
    assert!((found.top5.unwrap() - 0.5).abs() < 0.034, "{found:?}");
}

#[test]
fn blocks_of_features_that_are_not_exact_agree() {
    let (train, test) = (clusters(301, 24, 3, 0.5, 3), clusters(67, 24, 3, 0.5, 4));
    let of = |block| places(&train, &test, 3, &KnnConfig::default(), block).unwrap();
    let whole = of(67);
    for block in [1, 2, 16, 33, 1000] {
        assert_eq!(of(block), whole, "{block}");
    }
}

#[test]
fn small_temperatures_stay_finite_and_follow_the_nearest() {
    let (train, test) = (clusters(40, 8, 2, 0.1, 5), clusters(20, 8, 2, 0.1, 6));
    let config = KnnConfig {
        k: 40,
        temperature: 1e-6,
    };
    assert_eq!(knn(&train, &test, 2, &config).unwrap().top1, 1.0);
}

#[test]
fn features_that_cannot_be_evaluated_are_refused() {
    let good = clusters(10, 4, 2, 0.1, 7);
    let error = |train: &Labelled, test: &Labelled| knn(train, test, 2, &KnnConfig::default()).unwrap_err();
    let with_labels = |labels| Labelled { labels, ..good.clone() };

    let empty = Labelled {
        features: Tensor::zeros([0, 4], &Device::flex()),
        labels: Vec::new(),
    };
    assert_eq!(error(&empty, &good), ProbeError::Empty { set: "training" });
    assert_eq!(error(&good, &empty), ProbeError::Empty { set: "test" });
    let missing = ProbeError::LabelsMissing {
        set: "test",
        num_samples: 10,
        num_labels: 3,
    };
    assert_eq!(error(&good, &with_labels(vec![0; 3])), missing);
    assert_eq!(error(&with_labels(vec![1; 10]), &good), ProbeError::OneClass { class: 1 });
    let mut labels = good.labels.clone();
    labels[4] = 2;
    let out_of_range = ProbeError::LabelOutOfRange {
        set: "training",
        sample: 4,
        label: 2,
        num_classes: 2,
    };
    assert_eq!(error(&with_labels(labels), &good), out_of_range);
    assert_eq!(
        error(&good, &clusters(10, 5, 2, 0.1, 7)),
        ProbeError::FeatureLength { train: 4, test: 5 }
    );

    for value in [f32::NAN, f32::INFINITY] {
        let features = good
            .features
            .clone()
            .slice_assign([3..4, 2..3], Tensor::full([1, 1], value, &Device::flex()));
        let error = error(
            &good,
            &Labelled {
                features,
                labels: good.labels.clone(),
            },
        );
        assert_eq!(error, ProbeError::NotFinite { set: "test", sample: 3 });
        assert!(
            error
                .to_string()
                .contains("training has diverged; lower optimizer.learning_rate")
        );
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let text = |config: KnnConfig| config.check().unwrap_err().to_string();
    assert_eq!(
        text(KnnConfig {
            k: 0,
            ..KnnConfig::default()
        }),
        "k is 0, but must be in [1, 1000000]"
    );
    assert!(
        text(KnnConfig {
            temperature: 0.0,
            ..KnnConfig::default()
        })
        .starts_with("temperature is 0, but must")
    );
}
