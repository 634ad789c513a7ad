//! Tests of the module above.

use super::*;
use crate::tables::{Paper, Row};
use bcl_core::EstimatorConfig;
use std::collections::BTreeSet;

fn named(name: &str) -> Published {
    Published::find(name).unwrap().unwrap()
}

fn names(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn a_table_data_set_or_part_that_is_not_there_is_named_with_those_that_are() {
    let error = |name: &str, dataset, part| {
        let found = Published::find(name).and_then(|table| table.expect("a name of a table").check(dataset, part));
        found.unwrap_err().to_string()
    };
    assert_eq!(
        error("7", None, None),
        "there is no table 7; the built-in tables are 2, 3, 4, 5, 8, 10, pucl-1, pucl-2, pucl-fig3, bda-6; for your own recipes, name their folder"
    );
    assert_eq!(
        error("10", Some("ml-100kk"), None),
        "--dataset ml-100kk is not part of table 10, which has gowalla, ml-100k, ml-1m, yahoo-r3, yelp2018"
    );
    assert_eq!(
        error("10", None, None),
        "table 10 has several data sets; choose one with --dataset: gowalla, ml-100k, ml-1m, yahoo-r3, yelp2018"
    );
    assert_eq!(
        error("10", Some("ml-100k"), Some("mf")),
        "--part mf: table 10, ml-100k, has no parts; leave --part out"
    );
    assert_eq!(
        error("pucl-1", Some("stl10"), None),
        "table pucl-1, stl10, has several parts; choose one with --part: cmc, moco, simclr"
    );
    assert_eq!(
        error("bda-6", Some("cifar10"), Some("b65")),
        "--part b65 is not part of table bda-6, cifar10, which has b128, b256, b512, b64"
    );
    assert!(named("10").check(Some("ml-100k"), None).is_ok());
    assert!(named("pucl-1").check(Some("planted"), Some("cmc")).is_ok());
    assert_eq!(Published::find("my-recipes/").unwrap(), None);
}

/// Every data set and part of the named tables and figures: the folder of its recipes with the table.
fn parts() -> Vec<(Published, String)> {
    let of_table = |name: &str| {
        let table = named(name);
        let datasets = folders(&format!("{}/", table.folder));
        let parts = datasets.into_iter().flat_map(|dataset| {
            folders(&format!("{}/{dataset}/", table.folder))
                .into_iter()
                .map(move |part| [dataset, part])
        });
        parts.map(|part| (table.clone(), part.join("/"))).collect::<Vec<_>>()
    };
    NAMED.iter().flat_map(|named| of_table(named.0)).collect()
}

#[test]
fn rows_are_those_of_the_papers_on_every_data_set() {
    let mut found = BTreeSet::new();
    for (table, part) in parts() {
        let rows = Row::find(&format!("{}/{part}", table.folder), None, &[], &table.ranges()).unwrap();
        let expected: &[&str] = match table.name.as_str() {
            "pucl-1" if part.starts_with("cifar10-frog-truck") => {
                &["infonce", "debiased", "hard", "bayesian", "ring", "pucl", "decoupled"]
            }
            "pucl-1" => &["infonce", "debiased", "hard", "ring", "pucl"],
            "pucl-2" if part.ends_with("nce") => &[
                "infograph",
                "infonce",
                "debiased",
                "hard",
                "bayesian",
                "ring",
                "pucl-0.1",
                "pucl-0.5",
            ],
            "pucl-2" => &[
                "infograph",
                "debiased",
                "debiased-official",
                "hard",
                "hard-official",
                "bayesian",
                "ring",
                "pucl-0.1",
                "pucl-0.5",
            ],
            "pucl-fig3" if part.ends_with("prior") => &["c001", "c002", "c010"],
            "pucl-fig3" => &["a005", "a010", "a015", "a020"],
            _ => &[
                "nnclr",
                "simclr",
                "augmented",
                "barlow_twins",
                "byol",
                "decoupled",
                "dino",
                "swav",
            ],
        };
        assert_eq!(names(&rows), expected, "{part}");
        found.insert(format!("{}/{part}", table.name));
    }
    for part in [
        "pucl-1/cifar10/moco",
        "pucl-1/cifar100/cmc",
        "pucl-1/stl10/simclr",
        "pucl-1/planted/moco",
        "pucl-1/cifar10-frog-truck/cmc",
        "pucl-1/cifar10-tiny/simclr",
        "pucl-2/mutag/jsd",
        "pucl-2/enzymes/nce",
        "pucl-2/reddit-binary/nce",
        "pucl-2/reddit-binary/jsd",
        "pucl-fig3/stl10/prior",
        "pucl-fig3/planted/negatives",
        "bda-6/cifar10/b64",
        "bda-6/cifar10/b512",
        "bda-6/cifar10-frog-truck/b256",
    ] {
        assert!(found.contains(part), "{part} is not among {found:?}");
    }
}

#[test]
fn every_row_is_searched_and_accepts_all_of_its_ranges() {
    for (table, part) in parts() {
        let is_of_graphs = table.name == "pucl-2";
        for row in Row::find(&format!("{}/{part}", table.folder), None, &[], &table.ranges()).unwrap() {
            assert_eq!(row.space.0.is_empty(), is_of_graphs, "{part}/{}", row.name);
            assert!(!row.space.0.contains_key("optimizer.learning_rate"));
            for end in [0.0, 0.999_999] {
                let values: Vec<_> = row.space.0.iter().map(|(key, range)| (key.clone(), range.at(end))).collect();
                row.with(&values)
                    .unwrap_or_else(|error| panic!("{part}/{}: {error}", row.name));
            }
            let own = row.space.0.keys().filter(|key| key.starts_with("loss.")).count();
            let has_loss = EstimatorConfig::all().iter().any(|loss| loss.name() == row.loss_kind());
            assert_eq!(own > 0, has_loss && !is_of_graphs, "{part}/{}", row.name);
        }
    }
}

#[test]
fn figure_3_varies_the_number_of_negatives_and_the_prior() {
    let figure = named("pucl-fig3");
    assert_eq!(figure.curves(Some("negatives")).unwrap().values, [62.0, 126.0, 254.0, 510.0]);
    let prior = figure.curves(Some("prior")).unwrap();
    assert_eq!(prior.name, "loss.class_prior");
    assert_eq!(prior.values.len(), 5);
    assert_eq!(named("pucl-1").curves(Some("moco")), None);
}

#[test]
fn printed_figures_are_those_of_the_papers() {
    let paper = Paper::builtin();
    let printed = |name: &str, part: &str, row: &str, metric: &str| {
        let figures = paper.table(&named(name).folder, part, false).figures(row);
        figures.get(metric).copied()
    };
    for (part, row, figure) in [
        ("cifar10/simclr", "infonce", 0.9044),
        ("cifar10/simclr", "debiased", 0.9021),
        ("cifar10/cmc", "hard", 0.8829),
        ("cifar10/moco", "pucl", 0.9098),
        ("cifar100/simclr", "ring", 0.6621),
        ("cifar100/moco", "infonce", 0.6638),
        ("stl10/cmc", "debiased", 0.8032),
        ("stl10/moco", "pucl", 0.9368),
    ] {
        assert_eq!(printed("pucl-1", part, row, "probe_top1"), Some(figure), "{part}/{row}");
    }
    for (part, row, figure) in [
        ("cifar10/b64", "byol", 0.865),
        ("cifar10/b64", "augmented", 0.859),
        ("cifar10/b128", "dino", 0.841),
        ("cifar10/b256", "decoupled", 0.855),
        ("cifar10/b256", "simclr", 0.858),
        ("cifar10/b512", "swav", 0.858),
        ("cifar10/b512", "barlow_twins", 0.843),
        ("cifar10/b512", "nnclr", 0.851),
    ] {
        assert_eq!(printed("bda-6", part, row, "knn_top1"), Some(figure), "{part}/{row}");
    }
    assert_eq!(printed("pucl-1", "planted/moco", "pucl", "probe_top1"), None);
    for (table, part, row, metric, figure) in [
        ("10", "ml-1m", "lightgcn-bayesian", "ndcg@10", 0.1893),
        ("10", "yahoo-r3", "mf-infonce", "precision@5", 0.1429),
        ("10", "yelp2018", "mf-debiased", "recall@10", 0.0466),
        ("10", "gowalla", "lightgcn-hard", "ndcg@20", 0.1319),
        ("8", "tiny-imagenet", "bayesian-tau0005", "official_top5", 0.8087),
    ] {
        assert_eq!(printed(table, part, row, metric), Some(figure), "{part}/{row}");
    }
    for (part, row, figure) in [
        ("ptc-mr/nce", "infograph", 0.5663),
        ("enzymes/nce", "pucl-0.1", 0.5621),
        ("dd/jsd", "ring", 0.7632),
        ("reddit-binary/nce", "pucl-0.5", 0.8897),
        ("reddit-binary/jsd", "hard", 0.8507),
    ] {
        assert_eq!(printed("pucl-2", part, row, "rbf_svm_raw"), Some(figure), "{part}/{row}");
    }
    assert_eq!(printed("pucl-2", "mutag/nce", "infograph", "rbf_svm_raw"), None);
}

#[test]
fn parts_have_the_deviations_of_their_data_set_and_their_paper() {
    let deviations = Paper::builtin().table("table1-pucl", "planted/moco", false).deviations;
    assert!(
        deviations
            .iter()
            .any(|sentence| sentence.starts_with("CPU size: planted images"))
    );
    assert!(deviations.iter().any(|sentence| sentence.contains("PUCL")));
    assert!(!deviations.iter().any(|sentence| sentence.contains("official_top1")));
}
