//! The protocol against scikit-learn, and that test graphs decide nothing.

use super::*;
use crate::graphs::planted::overlapping;
use rand::RngExt;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All classifiers with all scalings.
const JUDGES: [(Classifier, Scaling); 6] = [
    (Classifier::RbfSvm, Scaling::None),
    (Classifier::RbfSvm, Scaling::ZScores),
    (Classifier::LinearSvm, Scaling::None),
    (Classifier::LinearSvm, Scaling::ZScores),
    (Classifier::LogisticRegression, Scaling::None),
    (Classifier::LogisticRegression, Scaling::ZScores),
];

/// Few folds and values of C, for tests of the rules.
fn quick() -> CrossValidationConfig {
    CrossValidationConfig {
        folds: 4,
        inner_folds: 3,
        c: vec![0.1, 10.0],
    }
}

fn validator(labels: &[u32], seed: u64) -> CrossValidator {
    CrossValidator::new(labels, quick(), Seed(seed)).unwrap()
}

#[test]
fn a_vector_of_the_test_fold_changes_no_other_prediction_there() {
    let (vectors, labels) = overlapping(40, 3, 1);
    let validator = validator(&labels, 2);
    let changed = validator.folds().iter().position(|&fold| fold == 1).unwrap();
    let values = vectors
        .rows()
        .enumerate()
        .flat_map(|(graph, row)| row.iter().map(move |value| if graph == changed { 1e6 } else { *value }));
    let moved = Vectors::new(values.collect(), 4);
    for (classifier, scaling) in JUDGES {
        let [before, after] = [&vectors, &moved].map(|vectors| validator.vectors(vectors, classifier, scaling).unwrap());
        assert_eq!(before.folds[1].choice, after.folds[1].choice, "{classifier:?} {scaling:?}");
        for graph in (0..40).filter(|&graph| graph != changed && validator.folds()[graph] == 1) {
            assert_eq!(
                before.predictions[graph], after.predictions[graph],
                "{classifier:?} {scaling:?}"
            );
        }
        assert_ne!(
            before.predictions, after.predictions,
            "{classifier:?} {scaling:?}: it is a training graph of other folds"
        );
    }
}

#[test]
fn classes_of_the_test_fold_change_no_prediction_there() {
    let (vectors, labels) = overlapping(40, 3, 3);
    let before = validator(&labels, 4);
    let mut after = before.clone();
    for graph in 0..40 {
        if after.folds[graph] == 2 {
            after.labels[graph] = 2 - after.labels[graph];
        }
    }
    for (classifier, scaling) in JUDGES {
        let [before, after] = [&before, &after].map(|validator| validator.vectors(&vectors, classifier, scaling).unwrap());
        assert_eq!(before.folds[2].choice, after.folds[2].choice);
        assert_ne!(before.folds[2].accuracy, after.folds[2].accuracy);
    }
    let [before, after] = [before, after].map(|validator| (validator.majority(), validator.folds));
    for graph in (0..40).filter(|&graph| before.1[graph] == 2) {
        assert_eq!(before.0.predictions[graph], after.0.predictions[graph]);
    }
}

#[test]
fn vectors_without_information_are_right_by_chance() {
    let labels: Vec<u32> = (0..200).map(|graph| graph % 2).collect();
    let mut rng = Seed(5).rng();
    let vectors = Vectors::new((0..600).map(|_| rng.random()).collect(), 3);
    for (classifier, scaling) in JUDGES {
        let found = validator(&labels, 6).vectors(&vectors, classifier, scaling).unwrap();
        // 200 graphs: three standard errors are 0.106.
        assert!(
            (found.mean() - 0.5).abs() < 0.11,
            "{classifier:?} {scaling:?}: {}",
            found.mean()
        );
    }
}

#[test]
fn vectors_that_name_the_class_are_always_right() {
    let labels: Vec<u32> = (0..60).map(|graph| graph % 3).collect();
    let vectors = Vectors::new(
        labels
            .iter()
            .flat_map(|&label| [0, 1, 2].map(|class| f64::from(u8::from(label == class))))
            .collect(),
        3,
    );
    for (classifier, scaling) in JUDGES {
        let found = validator(&labels, 7).vectors(&vectors, classifier, scaling).unwrap();
        assert_eq!([found.mean(), found.std()], [1.0, 0.0], "{classifier:?} {scaling:?}");
        assert_eq!(found.predictions, labels);
    }
}

#[test]
fn equal_accuracies_choose_the_smaller_c_and_the_earlier_kernel() {
    let labels: Vec<u32> = (0..40).map(|graph| u32::from(graph % 4 == 0)).collect();
    let validator = CrossValidator::new(&labels, CrossValidationConfig::default(), Seed(8)).unwrap();
    let constant = Kernel::new(vec![1.0; 1600], 40);
    for fold in validator.kernels(&[constant.clone(), constant]).unwrap().folds {
        let choice = fold.choice.unwrap();
        assert_eq!((choice.kernel, choice.c), (0, 1e-3));
    }
}

#[test]
fn inner_folds_choose_the_kernel_that_tells_classes_apart() {
    let labels: Vec<u32> = (0..40).map(|graph| graph % 2).collect();
    let kernel = |same: f64| {
        let value = |at: usize| {
            if at / 40 == at % 40 {
                1.0
            } else if labels[at / 40] == labels[at % 40] {
                same
            } else {
                0.0
            }
        };
        Kernel::new((0..1600).map(value).collect(), 40)
    };
    let found = validator(&labels, 9)
        .kernels(&[kernel(0.0), kernel(0.5), kernel(0.6)])
        .unwrap();
    assert_eq!(found.mean(), 1.0);
    assert!(found.folds.iter().all(|fold| fold.choice.unwrap().kernel == 1));
}

#[test]
fn a_precomputed_kernel_equals_the_vectors_behind_it() {
    // The γ of raw vectors depends on the training part, so all rows get the same variance: each has the same values in another
    // order.
    let mut rng = Seed(10).rng();
    let labels: Vec<u32> = (0..40).map(|graph| graph % 2).collect();
    let row = |label: &u32| {
        let mut row = [0.0, 1.0, 2.0, 3.0];
        let swaps = if rng.random::<f64>() < 0.7 { *label } else { 1 - label };
        row.rotate_left(swaps as usize + rng.random_range(0..2));
        row
    };
    let vectors = Vectors::new(labels.iter().flat_map(row).collect(), 4);
    let validator = validator(&labels, 11);
    let by_vectors = validator.vectors(&vectors, Classifier::RbfSvm, Scaling::None).unwrap();
    let by_kernel = validator.kernels(&[Kernel::rbf(&vectors, vectors.gamma_scale())]).unwrap();
    assert_eq!(by_vectors, by_kernel);
}

#[test]
fn accuracies_are_those_of_the_predictions() {
    let (vectors, labels) = overlapping(42, 3, 12);
    let validator = validator(&labels, 13);
    let found = validator.vectors(&vectors, Classifier::RbfSvm, Scaling::ZScores).unwrap();
    let mut hits = [[0.0; 2]; 4];
    for graph in 0..42 {
        hits[validator.folds()[graph]][0] += 1.0;
        hits[validator.folds()[graph]][1] += f64::from(u8::from(found.predictions[graph] == labels[graph]));
    }
    let expected: Vec<f64> = hits.iter().map(|[count, hits]| hits / count).collect();
    assert_eq!(found.folds.iter().map(|fold| fold.accuracy).collect::<Vec<_>>(), expected);
    let mean = expected.iter().sum::<f64>() / 4.0;
    assert!((found.mean() - mean).abs() < 1e-15);
    let squares = expected.iter().map(|accuracy| accuracy * accuracy).sum::<f64>() / 4.0;
    assert!((found.std() - (squares - mean * mean).sqrt()).abs() < 1e-12);
}

#[test]
fn the_majority_class_has_its_share_of_the_graphs() {
    let labels: Vec<u32> = (0..80).map(|graph| if graph % 8 < 5 { 9 } else { 4 }).collect();
    let found = validator(&labels, 14).majority();
    assert_eq!(found.mean(), 5.0 / 8.0);
    assert_eq!(found.predictions, [9; 80]);
    let even: Vec<u32> = (0..80).map(|graph| graph % 2).collect();
    assert_eq!(
        validator(&even, 14).majority().predictions,
        [0; 80],
        "ties go to the lower class"
    );
}

#[test]
fn threads_and_repetition_change_nothing() {
    let (vectors, labels) = overlapping(60, 3, 15);
    let found = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let validator = validator(&labels, 16);
            JUDGES.map(|(classifier, scaling)| validator.vectors(&vectors, classifier, scaling).unwrap())
        })
    };
    assert_eq!(found(1), found(4));
}

#[test]
fn nested_choice_takes_each_fold_from_the_best_inner_accuracy() {
    let labels: Vec<u32> = (0..40).map(|graph| graph % 2).collect();
    let validator = validator(&labels, 17);
    let candidate = |inner: [f64; 4], class| CrossValidation {
        folds: inner
            .map(|accuracy| FoldResult {
                accuracy: f64::from(class) / 10.0,
                choice: Some(Choice {
                    kernel: 0,
                    c: 1.0,
                    accuracy,
                }),
            })
            .to_vec(),
        predictions: vec![class; 40],
    };
    let epochs = [candidate([0.5, 0.9, 0.7, 0.6], 3), candidate([0.6, 0.8, 0.7, 0.7], 5)];
    let found = CrossValidation::nested(&validator, &epochs);
    assert_eq!(
        found.folds.iter().map(|fold| fold.accuracy).collect::<Vec<_>>(),
        [0.5, 0.3, 0.3, 0.5]
    );
    for (graph, &fold) in validator.folds().iter().enumerate() {
        assert_eq!(found.predictions[graph], [5, 3, 3, 5][fold]);
    }
}

#[test]
fn a_rare_class_does_not_stop_the_evaluation() {
    let (vectors, mut labels) = overlapping(40, 2, 18);
    labels[7] = 5;
    for (classifier, scaling) in JUDGES {
        assert!(validator(&labels, 19).vectors(&vectors, classifier, scaling).unwrap().mean() > 0.5);
    }
}

#[test]
fn an_interrupt_stops_between_and_within_trainings() {
    let (vectors, labels) = overlapping(60, 3, 20);
    for questions in [0, 1, 50] {
        let asked = AtomicUsize::new(0);
        let stop = Interrupt::when(move || asked.fetch_add(1, Ordering::Relaxed) >= questions);
        let validator = validator(&labels, 21).with_interrupt(stop);
        for (classifier, scaling) in JUDGES {
            assert_eq!(validator.vectors(&vectors, classifier, scaling), Err(GraphError::Interrupted));
        }
        assert_eq!(validator.kernels(&[Kernel::linear(&vectors)]), Err(GraphError::Interrupted));
    }
}

#[test]
fn labels_that_cannot_be_folded_are_refused() {
    let refused = |labels: &[u32]| CrossValidator::new(labels, quick(), Seed(0)).unwrap_err();
    assert_eq!(refused(&[3; 20]), GraphError::OneClass { num_graphs: 20 });
    let few = GraphError::TooFewGraphs {
        folds: 4,
        inner_folds: 3,
        needed: 4,
        largest: 3,
    };
    assert_eq!(refused(&[0, 0, 0, 1, 1, 1]), few);
    assert_eq!(
        refused(&[]),
        GraphError::TooFewGraphs {
            folds: 4,
            inner_folds: 3,
            needed: 4,
            largest: 0
        }
    );
    assert!(CrossValidator::new(&[0, 0, 0, 0, 1], quick(), Seed(0)).is_ok());
    let many_inner = CrossValidationConfig {
        inner_folds: 9,
        ..quick()
    };
    assert_eq!(many_inner.least_graphs(), 12, "12 graphs leave 9 of 4 folds");
}

#[test]
fn values_that_are_not_finite_are_refused() {
    let labels: Vec<u32> = (0..20).map(|graph| graph % 2).collect();
    let mut values = vec![0.5; 20];
    values[13] = f64::NAN;
    let found = validator(&labels, 0).vectors(&Vectors::new(values, 1), Classifier::RbfSvm, Scaling::None);
    assert_eq!(found, Err(GraphError::NotFinite { graph: 13 }));
    let mut values = vec![0.5; 400];
    values[79] = f64::INFINITY;
    assert_eq!(
        validator(&labels, 0).kernels(&[Kernel::new(values, 20)]),
        Err(GraphError::NotFinite { graph: 3 })
    );
}

#[test]
fn values_out_of_range_are_refused() {
    let base = CrossValidationConfig::default;
    for (config, name) in [
        (CrossValidationConfig { folds: 1, ..base() }, "folds"),
        (
            CrossValidationConfig {
                inner_folds: 1001,
                ..base()
            },
            "inner_folds",
        ),
        (CrossValidationConfig { c: vec![], ..base() }, "c"),
        (CrossValidationConfig { c: vec![0.0], ..base() }, "c"),
        (
            CrossValidationConfig {
                c: vec![1.0, 1.0],
                ..base()
            },
            "c",
        ),
        (
            CrossValidationConfig {
                c: vec![f64::NAN],
                ..base()
            },
            "c",
        ),
    ] {
        assert_eq!(config.check().unwrap_err().name, name);
    }
    assert!(base().check().is_ok());
}

/// 90 graphs of three classes, whose columns have different scales.
fn parity_data() -> (Vectors, Vec<u32>) {
    let labels: Vec<u32> = (0..90).map(|graph| [0, 0, 1, 2, 1, 0, 2][graph % 7]).collect();
    // Noise from remainders, which are the same in every language.
    let value = |graph: usize, column: usize| {
        let noise = ((graph * graph * 7919 + column * 104_729 + graph * column * 389) % 1009) as f64 / 1009.0;
        let own = if labels[graph] as usize == column % 3 { 0.35 } else { 0.0 };
        (noise + own) * [1.0, 10.0, 0.1, 4.0, 30.0][column]
    };
    let values = (0..90).flat_map(|graph| (0..5).map(move |column| (graph, column)));
    (
        Vectors::new(values.map(|(graph, column)| value(graph, column)).collect(), 5),
        labels,
    )
}

/// The fold of each graph of [`parity_data`] at seed 3.
const PARITY_FOLDS: [usize; 90] = [
    8, 4, 0, 9, 5, 4, 7, 9, 2, 0, 6, 1, 1, 5, 9, 9, 6, 4, 4, 6, 9, 5, 2, 4, 3, 1, 3, 7, 6, 5, 1, 9, 3, 7, 0, 0, 2, 7, 6, 6, 8, 1,
    7, 2, 3, 5, 9, 4, 6, 1, 3, 9, 4, 5, 0, 2, 3, 6, 2, 5, 7, 0, 8, 8, 6, 9, 8, 8, 8, 7, 7, 1, 8, 8, 0, 3, 1, 5, 5, 2, 3, 4, 0, 2,
    1, 7, 2, 0, 3, 4,
];

/// Per fold: C by `StratifiedKFold(5)` of the training part, refit. The models are `SVC(C=c)`, `LinearSVC(C=c, dual=False,
/// tol=1e-12)` and `LogisticRegression(C=c, tol=1e-12)` of scikit-learn 1.9; z-scores are its `StandardScaler`, fitted on each
/// training part.
#[test]
fn choices_and_predictions_are_those_of_scikit_learn() {
    let (vectors, labels) = parity_data();
    let validator = CrossValidator::new(&labels, CrossValidationConfig::default(), Seed(3)).unwrap();
    assert_eq!(validator.folds(), PARITY_FOLDS);
    for (classifier, scaling, values_of_c, predictions) in [
        (
            Classifier::RbfSvm,
            Scaling::None,
            [10.0, 100.0, 1000.0, 1000.0, 1000.0, 100.0, 10.0, 1000.0, 100.0, 10.0],
            "001210100121100022100020010000101022011122000022100001020002101201210202201220110200002210",
        ),
        (
            Classifier::RbfSvm,
            Scaling::ZScores,
            [1.0; 10],
            "201212200101120012100011210200122022012122002012100021020002101001210202021120112102001210",
        ),
        (
            Classifier::LinearSvm,
            Scaling::ZScores,
            [0.1, 0.01, 0.001, 0.001, 0.001, 0.01, 1000.0, 0.001, 0.001, 0.001],
            "201210200101120012102000210200122022012122002011100021020002201001210202021120112102001210",
        ),
        (
            Classifier::LogisticRegression,
            Scaling::ZScores,
            [1.0, 1.0, 1.0, 100.0, 10.0, 1.0, 0.1, 0.1, 1.0, 0.1],
            "201210200101120012100001210200122022012122002012100021020012201001210202021120112102001210",
        ),
    ] {
        let found = validator.vectors(&vectors, classifier, scaling).unwrap();
        let chosen: Vec<f64> = found.folds.iter().map(|fold| fold.choice.unwrap().c).collect();
        assert_eq!(chosen, values_of_c, "{classifier:?} {scaling:?}");
        let found: String = found.predictions.iter().map(u32::to_string).collect();
        assert_eq!(found, predictions, "{classifier:?} {scaling:?}");
    }
}
