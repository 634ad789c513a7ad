//! Synthetic runs for testing the report: shaped like real runs, with numbers from formulas.

use super::{MapPoint, NearImage, NeighbourRow, Showcase, Thumbnail};
use crate::result::{
    CALIBRATION_ERROR, CalibrationBin, Chosen, DataSize, DataSummary, Environment, EpochRecord, FalseNegatives, Metrics, Phase,
    RunResult,
};
use std::collections::BTreeMap;

/// Number of epochs in each phase.
const EPOCHS: usize = 40;

/// Test metrics, all derived from one NDCG@20.
fn metrics(ndcg: f64) -> Metrics {
    let mut metrics = Metrics::new();
    for (cutoff, factor) in [(5, 1.07), (10, 1.01), (20, 1.0)] {
        let ndcg = ndcg * factor;
        let depth = f64::from(cutoff).ln();
        for (name, figure) in [
            ("precision", ndcg * 1.8 / depth),
            ("recall", ndcg * 0.28 * depth),
            ("ndcg", ndcg),
            ("hit_rate", 0.3 * depth.min(3.0)),
            ("mrr", ndcg * 1.5),
            ("map", ndcg * 0.6),
            ("coverage", 0.1 * depth),
            ("gini", 0.97 - 0.03 * depth),
            ("mean_popularity", 320.0 - 40.0 * depth),
        ] {
            metrics.insert(format!("{name}@{cutoff}"), figure);
        }
    }
    metrics
}

/// Scatter in [-1, 1] without a random source.
fn scatter(seed: u64, epoch: usize) -> f64 {
    ((seed as f64 + 1.3) * 12.9898 + epoch as f64 * 78.233).sin()
}

/// A number that differs between estimators, so that their curves differ.
fn kind(loss: &str) -> f64 {
    f64::from(loss.as_bytes()[0] % 7)
}

/// NDCG@20 on the test set after an epoch: rises, then declines a little.
fn ndcg(loss: &str, seed: u64, epoch: usize) -> f64 {
    let top = match loss {
        "info_nce" => 0.423,
        "debiased" => 0.438,
        _ => 0.446,
    };
    let epoch_share = epoch as f64 / 12.0;
    top * (1.0 - (-2.0 * epoch_share).exp()) - 0.0004 * (epoch as f64 - 25.0).max(0.0)
        + 0.0012 * scatter(seed + kind(loss) as u64, epoch)
}

fn record(phase: Phase, loss: &str, seed: u64, epoch: usize) -> EpochRecord {
    let progress = epoch as f64 / EPOCHS as f64;
    let weighted = matches!(loss, "bayesian" | "hard");
    let spread = if weighted { 0.2 + 0.6 * progress } else { 0.0 };
    let ndcg = ndcg(loss, seed, epoch);
    let calibration = (0..10).map(|bin| {
        let predicted = (f64::from(bin) + 0.5) / 10.0;
        CalibrationBin {
            predicted,
            observed: (predicted + 0.08 * (1.0 - predicted) * (3.0 * predicted).sin()).min(1.0),
            count: 40 * 3_u64.pow(bin),
        }
    });
    EpochRecord {
        phase,
        epoch,
        loss: 2.6 + 0.08 * kind(loss) + 1.8 * (-4.0 * progress).exp() + 0.01 * scatter(seed, epoch),
        anchors_without_negatives: 0,
        alpha: weighted.then_some(0.9),
        scheduled: BTreeMap::new(),
        alpha_hat: Some(0.93 + 0.008 * kind(loss) - 0.4 * (-6.0 * progress).exp()),
        macro_auc: None,
        detection: None,
        score_spread: None,
        alpha_labels: (loss == "bayesian").then_some(0.91 - 0.38 * (-6.0 * progress).exp()),
        effective_sample_size: Some(1.0 - 0.5 * spread),
        floored: (loss == "hard").then_some(0.8 * progress),
        omega_quantiles: [-1.0, -0.7, -0.3, 0.0, 0.35, 0.9, 1.6]
            .map(|shift| (shift * spread).exp())
            .to_vec(),
        omega_histogram: (0..17)
            .map(|bin| (1000.0 * (-(f64::from(bin) - 8.0).powi(2) / (0.1 + 40.0 * spread)).exp()) as u64)
            .collect(),
        false_negatives: (loss == "bayesian").then_some(FalseNegatives {
            share: 0.1,
            gradient: 0.1 + 0.2 * progress,
        }),
        calibration: calibration.filter(|_| loss == "bayesian").collect(),
        validation: (phase == Phase::Selection).then(|| metrics(ndcg * 0.62)),
        test: (phase == Phase::Refit).then(|| metrics(ndcg)),
        train_seconds: 0.61,
        evaluation_seconds: 0.04,
    }
}

/// 64 hexadecimal digits that differ between recipes.
fn hash(name: &str, loss: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().chain(loss.bytes()).fold(0xcbf2_9ce4_8422_2325, mix);
    format!("{hash:016x}").repeat(4)
}

/// A run of the recipe `name`. Its recipe hash depends on name and loss.
pub(super) fn run(name: &str, loss: &str, seed: u64) -> (RunResult, Vec<EpochRecord>) {
    let records: Vec<EpochRecord> = [Phase::Selection, Phase::Refit]
        .into_iter()
        .flat_map(|phase| (1..=EPOCHS).map(move |epoch| (phase, epoch)))
        .map(|(phase, epoch)| record(phase, loss, seed, epoch))
        .collect();
    let chosen = |epoch| Chosen {
        epoch,
        metrics: metrics(ndcg(loss, seed, epoch)),
    };
    let result = RunResult {
        schema: crate::result::SCHEMA,
        name: name.to_owned(),
        recipe_hash: hash(name, loss),
        seed,
        environment: Environment {
            version: "0.1.0".to_owned(),
            git_revision: Some("03c353d".to_owned()),
            backend: "flex".to_owned(),
            device: "Cpu".to_owned(),
            driver: None,
            processes: 1,
            threads: 2,
        },
        data: DataSummary {
            name: "ml-100k-authors".to_owned(),
            size: DataSize::Interactions {
                users: 943,
                items: 1682,
                train: 80_000,
                test: 20_000,
            },
        },
        left_out: None,
        encoder: "mf".to_owned(),
        loss: loss.to_owned(),
        validation: chosen(24),
        oracle: Some(chosen(27)),
        folds: BTreeMap::new(),
        baselines: BTreeMap::from([
            ("ease".to_owned(), metrics(0.4498)),
            ("popularity".to_owned(), metrics(0.2214)),
        ]),
        wall_seconds: 54.2,
        epoch_seconds: 0.61,
        peak_memory_bytes: Some(312 << 20),
        recipe: serde_json::json!({
            "name": name,
            "seed": seed,
            "data": { "dataset": "ml-100k-authors" },
            "encoder": { "kind": "mf", "dim": 64, "init_std": 0.1, "similarity": "cosine" },
            "negatives": { "kind": "uniform", "count": 128, "shared": false },
            "loss": { "kind": loss, "temperature": 0.3 },
            "optimizer": { "kind": "adam", "learning_rate": 0.01 },
            "training": { "batch_size": 1024, "epochs": 60, "patience": 12 },
            "selection": { "held_out": 0.1, "metric": "ndcg@20", "oracle": true },
            "evaluation": { "cutoffs": [5, 10, 20] },
        }),
        samples: None,
        showcase: None,
    };
    (result, records)
}

/// Three recipes with three seeds each.
pub(super) fn runs() -> Vec<(RunResult, Vec<EpochRecord>)> {
    let recipes = [
        ("ml-100k/mf-info-nce", "info_nce"),
        ("ml-100k/mf-debiased", "debiased"),
        ("ml-100k/mf-bayesian", "bayesian"),
    ];
    recipes
        .into_iter()
        .flat_map(|(name, loss)| (0..3).map(move |seed| run(name, loss, seed)))
        .collect()
}

/// An image run of the recipe `name`.
pub(super) fn image_run(name: &str, loss: &str, seed: u64) -> (RunResult, Vec<EpochRecord>) {
    let figures = |top1: f64| -> Metrics {
        [
            ("probe_top1", top1),
            ("probe_top5", top1 + 0.3),
            ("official_top1", top1 - 0.02),
            ("knn_top1", top1 - 0.05),
            ("alignment", 0.4),
            ("uniformity", -2.1),
        ]
        .map(|(name, figure)| (name.to_owned(), figure))
        .into()
    };
    let (mut result, mut records) = run(name, loss, seed);
    records.retain(|record| record.phase == Phase::Refit);
    for record in &mut records {
        record.phase = Phase::Training;
        let figure = 0.3 + 0.005 * record.epoch as f64;
        record.test = (record.epoch % 10 == 0).then(|| [("knn_top1".to_owned(), figure)].into());
    }
    result.data = DataSummary {
        name: "planted".to_owned(),
        size: DataSize::Images {
            classes: 10,
            train: 2000,
            test: 1000,
            skipped: 0,
        },
    };
    result.encoder = "resnet".to_owned();
    result.oracle = None;
    result.validation = Chosen {
        epoch: EPOCHS,
        metrics: figures(0.55),
    };
    if loss == "bayesian" {
        result.validation.metrics.insert(CALIBRATION_ERROR.to_owned(), 0.031);
    }
    result.baselines = [
        ("raw_pixels".to_owned(), figures(0.35)),
        ("random_encoder".to_owned(), figures(0.31)),
    ]
    .into();
    result.recipe["evaluation"] = serde_json::json!({ "every": 10 });
    result.recipe["selection"] = serde_json::json!({ "held_out": 0.0 });
    result.showcase = Some(showcase(seed));
    (result, records)
}

/// A run on graphs of the recipe `name`.
pub(super) fn graph_run(name: &str, loss: &str, seed: u64) -> (RunResult, Vec<EpochRecord>) {
    let figures = |accuracy: f64| -> Metrics {
        [("rbf_svm", accuracy), ("rbf_svm_raw", accuracy - 0.03)]
            .map(|(name, figure)| (name.to_owned(), figure))
            .into()
    };
    let (mut result, records) = image_run(name, loss, seed);
    result.data = DataSummary {
        name: "ptc-mr".to_owned(),
        size: DataSize::Graphs {
            graphs: 344,
            classes: 2,
            nodes: 4915,
            edges: 5054,
            features: 18,
        },
    };
    result.encoder = "gin".to_owned();
    let accuracy = 0.57 + 0.01 * scatter(seed, 0);
    result.validation.metrics = figures(accuracy);
    result.oracle = Some(Chosen {
        epoch: 10,
        metrics: figures(accuracy + 0.04),
    });
    let folds = |mean: f64| (0..10).map(|fold| mean + 0.05 * f64::from(fold % 3 - 1)).collect();
    result.folds = figures(accuracy)
        .into_iter()
        .map(|(name, mean)| (name, folds(mean)))
        .collect();
    result.baselines = [
        ("majority".to_owned(), figures(0.558)),
        ("weisfeiler_lehman".to_owned(), figures(0.624)),
    ]
    .into();
    if let Some(showcase) = &mut result.showcase {
        showcase.of_graphs = true;
        showcase.neighbours.clear();
    }
    (result, records)
}

/// Maps of ten clusters on a ring, and eight rows of coloured squares.
fn showcase(seed: u64) -> Showcase {
    let classes = [
        "disc", "ring", "square", "cross", "star", "stripes", "waves", "dots", "arrow", "moon",
    ];
    let point = |i: u32, spread: f64| {
        let angle = f64::from(i % 10) * 0.628 + 0.2 * spread * scatter(seed, i as usize);
        let radius = 10.0 + 1.5 * spread * scatter(seed + 1, i as usize);
        MapPoint {
            x: radius * angle.cos(),
            y: radius * angle.sin(),
            class: i % 10,
        }
    };
    let square = |class: u32| {
        let colour = [25, 70, 210].map(|channel: u32| ((channel * (class + 1)) % 256) as u8);
        Thumbnail::new(class, [32, 32], &colour.repeat(32 * 32))
    };
    let row = |class: u32| NeighbourRow {
        query: square(class),
        nearest: (0..8)
            .map(|rank| NearImage {
                image: square(if rank % 5 == 4 { (class + rank) % 10 } else { class }),
                similarity: 0.98 - 0.01 * f64::from(rank),
            })
            .collect(),
    };
    Showcase {
        classes: classes.map(str::to_owned).to_vec(),
        of_train: false,
        of_graphs: false,
        map: (0..600).map(|i| point(i, 1.0)).collect(),
        clusters: Vec::new(),
        neighbours: (0..8).map(row).collect(),
    }
}
