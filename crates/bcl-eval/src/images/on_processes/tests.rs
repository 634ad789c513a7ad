//! Features and metrics are the same, however many processes share out the images.

use super::*;
use crate::{
    Interrupt,
    images::{FeatureExtractor, ImageEvaluationConfig, ImageEvaluator, ImageFeatures, MeasuredAuc, evaluator::evenly_spaced},
};
use bcl_collective::{Alone, Checked, Threads};
use bcl_data::Seed;
use bcl_images::{ImageData, PlantedImagesConfig, ViewsConfig};
use bcl_models::vision::{ImageEncoder, ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
use bcl_report::result::MACRO_AUC;
use std::sync::Arc;

const SIDE: usize = 8;

fn evaluator(data: ImageData, interrupt: Interrupt) -> ImageEvaluator {
    let views = ViewsConfig {
        side: SIDE,
        ..ViewsConfig::default()
    };
    let extractor = FeatureExtractor {
        views: views.init(),
        side: SIDE,
        device: Device::flex(),
        interrupt,
    };
    ImageEvaluator::new(Arc::new(data), extractor, ImageEvaluationConfig::default(), Seed(1))
}

/// Built anew by each process, as processes do.
fn encoder() -> ImageEncoder {
    let trunk = ResNetConfig {
        depth: ResNetDepth::ResNet18,
        stem: Stem::Cifar,
        width: 2,
    };
    let head = ProjectionHeadConfig {
        hidden: 4,
        out: 4,
        ..ProjectionHeadConfig::default()
    };
    let config = ImageEncoderConfig {
        trunk,
        head,
        split_channels: None,
    };
    config.init(5, &Device::flex())
}

fn planted(train: usize, test: usize) -> ImageData {
    let planted = PlantedImagesConfig {
        train,
        test,
        side: 16,
        ..PlantedImagesConfig::default()
    };
    planted.generate()
}

/// Images without labels.
fn unlabelled(count: usize) -> ImageData {
    let labelled = planted(600, 600);
    let strip = |images: &bcl_images::Collection| {
        let mut stripped = bcl_images::Collection::new(Vec::new());
        (0..count).for_each(|image| stripped.push(images.get(image), None));
        stripped
    };
    ImageData {
        train: strip(&labelled.train),
        test: strip(&labelled.test),
        ..labelled
    }
}

fn bits(features: &ImageFeatures) -> Vec<u32> {
    let [first, second] = &features.views;
    [&features.train.features, &features.test.features, first, second]
        .into_iter()
        .flat_map(|tensor| tensor.to_data().iter::<f32>().map(f32::to_bits).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_auc_of_training_images_needs_no_test_images() {
    let data = ImageData {
        test: bcl_images::Collection::new(Vec::new()),
        ..planted(300, 10)
    };
    let measured = |of| {
        let evaluator = evaluator(data.clone(), Interrupt::default()).measuring_auc(of);
        evaluator.online(&encoder()).unwrap().get(MACRO_AUC).copied()
    };
    let auc = measured(Some(MeasuredAuc::Train { anchors: 64 })).unwrap();
    assert!((0.0..=1.0).contains(&auc) && measured(None).is_none(), "{auc}");
}

/// Images of a folder are sorted by class.
#[test]
fn a_sample_is_of_all_classes_of_a_folder() {
    assert_eq!(evenly_spaced(3, 5), [0, 1, 2]);
    assert_eq!(evenly_spaced(10, 4), [0, 2, 5, 7]);
}

/// Blocks that processes share evenly and unevenly, and fewer blocks and images than processes.
#[test]
fn any_number_of_processes_has_the_features_and_metrics_of_one() {
    for (data, sizes) in [(planted(700, 300), 2..=4), (unlabelled(600), 2..=3), (unlabelled(2), 3..=3)] {
        let alone = evaluator(data.clone(), Interrupt::default());
        let features = alone.features_on_processes(&encoder(), &Alone).unwrap().unwrap();
        let expected = (bits(&features), alone.online(&encoder()).unwrap());
        for size in sizes {
            let of_processes = Threads::run(size, |processes| {
                let processes = Checked::new(processes);
                let evaluator = evaluator(data.clone(), Interrupt::default());
                let features = evaluator.features_on_processes(&encoder(), &processes).unwrap();
                (
                    features.as_ref().map(bits),
                    evaluator.online_on_processes(&encoder(), &processes).unwrap(),
                )
            });
            assert_eq!(of_processes[0].0.as_ref(), Some(&expected.0), "{size} processes");
            assert!(of_processes[1..].iter().all(|(features, _)| features.is_none()));
            assert!(
                of_processes.iter().all(|(_, metrics)| *metrics == expected.1),
                "{size} processes"
            );
        }
    }
}

#[test]
fn every_process_has_blocks_of_its_own() {
    for (count, size) in [(1000, 2), (1000, 3), (1000, 5), (3, 4), (0, 2), (512, 2)] {
        let of_processes = Threads::run(size, |processes| own_rows(count, 256, &*processes));
        let rows: Vec<usize> = of_processes.iter().cloned().flatten().collect();
        assert_eq!(rows, (0..count).collect::<Vec<_>>());
        assert!(
            of_processes.iter().all(|own| own.is_empty() || own.start % 256 == 0),
            "{of_processes:?}"
        );
    }
}

#[test]
fn a_process_that_is_interrupted_stops_all() {
    let data = planted(600, 40);
    let errors = Threads::run(3, |processes| {
        let stops = processes.index() == 1;
        let evaluator = evaluator(data.clone(), Interrupt::when(move || stops));
        evaluator.online_on_processes(&encoder(), &*processes).unwrap_err()
    });
    assert_eq!(errors, vec![EvaluationError::Interrupted; 3]);
}

#[test]
fn an_error_names_the_process_that_had_it() {
    let problem = EvaluationError::NotFinite { scores: "positives" };
    let errors = Threads::run(3, |processes| {
        let own = if processes.index() == 2 {
            Err(problem.clone())
        } else {
            Ok(())
        };
        agreed(own, &*processes).unwrap_err()
    });
    let named = EvaluationError::OfProcess {
        process: 2,
        problem: problem.to_string(),
    };
    assert_eq!(errors, [named.clone(), named, problem.clone()]);

    let errors = Threads::run(2, |processes| {
        on_first(&*processes, processes.is_first().then_some(()), |()| Err(problem.clone())).unwrap_err()
    });
    assert_eq!(errors[0], problem);
    assert!(errors[1].to_string().starts_with("process 0: "), "{}", errors[1]);
}
