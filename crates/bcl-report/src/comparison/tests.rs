//! Rows, means and differences, compared with values computed by hand.

use super::super::{Interval, sample};
use super::{Choice, Comparison, RowKind};
use crate::result::RunResult;

fn results() -> Vec<RunResult> {
    sample::runs().into_iter().map(|(result, _)| result).collect()
}

fn ndcg() -> Vec<String> {
    vec!["ndcg@20".to_owned()]
}

/// A run with the given NDCG@20.
fn run_with(name: &str, loss: &str, seed: u64, ndcg: f64) -> RunResult {
    let (mut run, _) = sample::run(name, loss, seed);
    run.validation.metrics.insert("ndcg@20".to_owned(), ndcg);
    run
}

#[test]
fn runs_that_differ_by_seed_alone_share_a_row() {
    let runs = results();
    let comparison = Comparison::new(&runs, &ndcg());
    let [table] = &comparison.tables[..] else {
        panic!("one data set gives one table")
    };
    let names: Vec<_> = table.rows.iter().map(|row| row.name.as_str()).collect();
    let recipes = ["ml-100k/mf-info-nce", "ml-100k/mf-debiased", "ml-100k/mf-bayesian"];
    assert_eq!(names, [&recipes[..], &["ease", "popularity"]].concat());

    let row = &table.rows[0];
    assert_eq!(row.seeds, [0, 1, 2]);
    let values: Vec<f64> = runs[..3].iter().map(|run| run.validation.metrics["ndcg@20"]).collect();
    assert_eq!(row.validation["ndcg@20"], Interval::of(&values).unwrap());
    let values: Vec<f64> = runs[..3]
        .iter()
        .map(|run| run.oracle.as_ref().unwrap().metrics["ndcg@20"])
        .collect();
    assert_eq!(row.oracle["ndcg@20"], Interval::of(&values).unwrap());
    assert!(comparison.notes.is_empty());
}

#[test]
fn a_baseline_appears_once_per_data_set_and_without_an_interval() {
    let mut runs = results();
    let mut elsewhere = runs[0].clone();
    elsewhere.data.name = "gowalla".to_owned();
    runs.push(elsewhere);
    let comparison = Comparison::new(&runs, &ndcg());
    for table in &comparison.tables {
        let mut rows = table.rows.iter();
        let ease: Vec<_> = rows.by_ref().filter(|row| row.name == "ease").collect();
        assert_eq!((ease.len(), ease[0].kind), (1, RowKind::Baseline));
        assert_eq!(
            ease[0].validation["ndcg@20"],
            Interval {
                mean: 0.4498,
                half_width: None,
                count: 1
            }
        );
        assert_eq!(ease[0].validation, ease[0].oracle);
    }
    assert_eq!(comparison.tables.len(), 2);
}

#[test]
fn a_baseline_that_differs_between_runs_is_averaged_and_said_so() {
    let mut runs = results();
    runs[1].baselines.get_mut("ease").unwrap().insert("ndcg@20".to_owned(), 0.43);
    let comparison = Comparison::new(&runs, &ndcg());
    assert_eq!(comparison.tables[0].rows[3].validation["ndcg@20"].count, 2);
    assert!(comparison.notes[0].contains("the baseline ease on ml-100k-authors has 2 different results"));
}

#[test]
fn a_baseline_that_differs_with_the_seed_alone_is_averaged_like_a_recipe() {
    let mut runs = results();
    for run in &mut runs {
        let figure = 0.4 + 0.01 * run.seed as f64;
        run.baselines.get_mut("ease").unwrap().insert("ndcg@20".to_owned(), figure);
    }
    let comparison = Comparison::new(&runs, &ndcg());
    let ease = comparison.tables[0].rows.iter().find(|row| row.name == "ease").unwrap();
    assert_eq!(ease.validation["ndcg@20"].count, 3);
    assert!(!comparison.notes.iter().any(|note| note.contains("different results")));
}

#[test]
fn a_repeated_run_does_not_narrow_the_interval() {
    let mut runs = results();
    runs.push(run_with("ml-100k/mf-bayesian", "bayesian", 2, 0.5));
    let comparison = Comparison::new(&runs, &ndcg());
    let row = &comparison.tables[0].rows[2];
    assert_eq!(row.seeds, [0, 1, 2]);
    assert_eq!(row.validation["ndcg@20"].count, 3);
    assert!(
        comparison.notes[0].starts_with("1 run repeats the recipe and seed"),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn recipes_of_equal_name_are_distinguished_by_hash() {
    let mut runs = vec![run_with("a", "bayesian", 0, 0.4), run_with("a", "bayesian", 0, 0.5)];
    runs[1].recipe_hash = "abcdefghijk".to_owned();
    let comparison = Comparison::new(&runs, &ndcg());
    assert_eq!(comparison.tables[0].rows[1].name, "a [abcdefg]");
    assert_ne!(comparison.tables[0].rows[0].name, "a");
}

#[test]
fn differences_are_taken_seed_by_seed_over_common_seeds() {
    let runs = [
        run_with("other", "bayesian", 1, 0.50),
        run_with("other", "bayesian", 2, 0.61),
        run_with("other", "bayesian", 9, 0.90),
        run_with("reference", "info_nce", 1, 0.40),
        run_with("reference", "info_nce", 2, 0.50),
        run_with("later", "info_nce", 2, 0.45),
    ];
    let comparison = Comparison::new(&runs, &ndcg());
    let [other, later] = &comparison.tables[0].differences[..] else {
        panic!("there should be two recipes besides the reference")
    };
    assert_eq!((other.name.as_str(), other.reference.as_str()), ("other", "reference"));
    assert_eq!(other.seeds, [1, 2]);
    let found = other.validation["ndcg@20"];
    let by_hand = Interval::of(&[0.10, 0.11]).unwrap();
    assert!((found.mean - by_hand.mean).abs() < 1e-12);
    assert!((found.half_width.unwrap() - by_hand.half_width.unwrap()).abs() < 1e-12);
    assert_eq!(
        (later.seeds.as_slice(), later.validation["ndcg@20"].half_width),
        (&[2][..], None)
    );
}

#[test]
fn without_an_info_nce_run_or_a_common_seed_there_is_no_difference() {
    let alone = [run_with("a", "bayesian", 0, 0.4), run_with("b", "hard", 0, 0.4)];
    assert!(Comparison::new(&alone, &ndcg()).tables[0].differences.is_empty());
    let apart = [run_with("a", "bayesian", 0, 0.4), run_with("b", "info_nce", 1, 0.4)];
    assert!(Comparison::new(&apart, &ndcg()).tables[0].differences.is_empty());
}

#[test]
fn the_best_rows_are_those_that_print_the_largest_mean() {
    let runs = [
        run_with("a", "info_nce", 0, 0.450_01),
        run_with("b", "bayesian", 0, 0.449_98),
        run_with("c", "hard", 0, 0.4490),
    ];
    let metrics = vec!["ndcg@20".to_owned(), "gini@20".to_owned(), "absent@3".to_owned()];
    let table = &Comparison::new(&runs, &metrics).tables[0];
    let best = |metric: &str| -> Vec<bool> {
        let rows = table.rows.iter();
        rows.map(|row| table.is_best(row, Choice::Validation, metric)).collect()
    };
    // EASE and popularity have 0.4498 and 0.2214. The Gini coefficient has no better direction.
    assert_eq!(best("ndcg@20"), [true, true, false, false, false]);
    assert_eq!(best("gini@20"), [false; 5]);
    assert_eq!(best("absent@3"), [false; 5]);
}

#[test]
fn a_single_row_is_not_the_best_of_anything() {
    let (mut run, _) = sample::run("a", "info_nce", 0);
    run.baselines.clear();
    let table = &Comparison::new([&run], &ndcg()).tables[0];
    assert!(!table.is_best(&table.rows[0], Choice::Validation, "ndcg@20"));
}

#[test]
fn runs_without_an_oracle_have_no_such_column() {
    let mut runs = results();
    for run in &mut runs {
        run.oracle = None;
    }
    let table = &Comparison::new(&runs, &ndcg()).tables[0];
    assert!(table.has(Choice::Validation) && !table.has(Choice::Oracle));
}

#[test]
fn runs_of_several_kinds_have_the_tables_of_each_kind() {
    let kinds = [sample::run, sample::image_run, sample::graph_run];
    let runs = kinds.map(|run| [("a", "info_nce"), ("b", "bayesian")].map(|(name, loss)| run(name, loss, 0).0));
    let tables_of = |runs: &[RunResult; 2]| Comparison::with_default_metrics(runs).tables;
    let expected: Vec<_> = runs.iter().flat_map(tables_of).collect();
    assert!(expected.iter().all(|table| table.differences.len() == 1));

    let comparison = Comparison::with_default_metrics(runs.as_flattened());
    assert_eq!(comparison.tables, expected);
    let metrics = [
        ["recall@20", "ndcg@20"].as_slice(),
        &["rbf_svm", "rbf_svm_raw"],
        &["probe_top1", "official_top1", "knn_top1", "calibration_error"],
    ];
    assert_eq!(comparison.metrics, metrics.concat());
    assert_eq!(comparison.tables[0].metrics, metrics[0]);
    let csv = comparison.to_csv();
    for metric in metrics.concat() {
        assert!(csv.contains(&format!(",validation,{metric},")), "{metric}");
    }
}

#[test]
fn heading_and_legend_say_whether_the_epochs_of_images_were_chosen() {
    let run = |name: &str, held_out: f64| {
        let (mut run, _) = sample::image_run(name, "info_nce", 0);
        run.recipe["selection"]["held_out"] = held_out.into();
        run
    };
    for (runs, heading) in [
        (vec![run("a", 0.0), run("b", 0.0)], "last epoch"),
        (vec![run("a", 0.1), run("b", 0.2)], "validation"),
        (vec![run("a", 0.0), run("b", 0.1)], "last or chosen epoch"),
    ] {
        let comparison = Comparison::with_default_metrics(&runs);
        assert_eq!(comparison.tables[0].title(Choice::Validation), heading);
        let legend = comparison.legend();
        let mut explained = legend.iter().filter_map(|line| line.split_once(": test metrics"));
        assert_eq!(explained.next().map(|(heading, _)| heading), Some(heading), "{legend:?}");
        assert_eq!(explained.next(), None);
    }
}

#[test]
fn recipes_without_a_common_metric_have_no_difference() {
    let mut runs = [run_with("a", "info_nce", 0, 0.4), run_with("b", "bayesian", 0, 0.5)];
    for (run, cutoff) in runs.iter_mut().zip(["@5", "@10"]) {
        run.validation.metrics.retain(|name, _| name.ends_with(cutoff));
        run.oracle = None;
    }
    let table = &Comparison::with_default_metrics(&runs).tables[0];
    assert_eq!(table.metrics, ["recall@5", "ndcg@5", "recall@10", "ndcg@10"]);
    assert!(table.differences.is_empty());
}

#[test]
fn without_runs_there_are_no_tables() {
    assert!(Comparison::new([], &ndcg()).tables.is_empty());
}
