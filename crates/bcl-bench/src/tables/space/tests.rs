//! Tests of the module above.

use super::*;
use crate::tables::Row;

fn space(text: &str) -> Space {
    toml::from_str(text).unwrap()
}

#[test]
fn draws_stay_in_their_ranges_and_fill_them() {
    let space = space("a = { uniform = [2.0, 4.0] }\nb = { log = [0.01, 1.0] }\nc = { choice = [16, 32] }");
    let draws: Vec<_> = (0..400).map(|trial| space.draw(Seed(3), trial)).collect();
    let numbers = |index: usize| draws.iter().map(move |draw| draw[index].1.as_float().unwrap());
    let (a, b): (Vec<f64>, Vec<f64>) = (numbers(0).collect(), numbers(1).collect());
    assert!(a.iter().all(|a| (2.0..=4.0).contains(a)) && b.iter().all(|b| (0.01..=1.0).contains(b)));
    assert!(a.iter().any(|a| *a < 2.1) && a.iter().any(|a| *a > 3.9));
    let below = b.iter().filter(|b| **b < 0.1).count();
    assert!(
        (160..240).contains(&below),
        "half of the draws should be in the lower decade, not {below} of 400"
    );
    assert!(draws.iter().any(|draw| draw[2].1.as_integer() == Some(16)));
    assert!(draws.iter().any(|draw| draw[2].1.as_integer() == Some(32)));
}

#[test]
fn a_shared_parameter_has_the_same_draws_whatever_else_is_searched() {
    let alone = space("\"loss.temperature\" = { log = [0.1, 1.0] }");
    let with_others = space("\"loss.alpha\" = { uniform = [0.5, 1.0] }\n\"loss.temperature\" = { log = [0.1, 1.0] }");
    for trial in 0..20 {
        assert_eq!(alone.draw(Seed(1), trial)[0], with_others.draw(Seed(1), trial)[1]);
    }
}

#[test]
fn the_built_in_ranges_are_ranges() {
    let ranges = Ranges::builtin();
    for family in [&ranges.recommender, &ranges.images] {
        assert!(family.contains_key(SHARED));
        for range in family.values().flat_map(|space| space.0.values()) {
            range.check().unwrap();
        }
    }
    assert!(ranges.of(true, "bayesian").0.contains_key("loss.beta"));
    assert!(!ranges.of(true, "info_nce").0.contains_key("loss.beta"));
}

#[test]
fn every_estimator_has_the_parameters_that_are_searched_for_it() {
    for config in bcl_core::EstimatorConfig::all() {
        for recommender in [true, false] {
            for key in Ranges::builtin().of(recommender, config.name()).0.keys() {
                let parameter = key.strip_prefix("loss.");
                let is_known = parameter.is_none_or(|name| config.parameter(name).is_some());
                assert!(is_known, "{} has no {key}", config.name());
            }
        }
    }
}

#[test]
fn a_key_that_no_recipe_has_is_refused_with_line_and_remedy() {
    let refused = |text: &str| {
        let ranges = Ranges::parse(&format!("# mine\n{text}\n[images]"), "my.toml").unwrap();
        Row::find("quickstart", None, &[], &ranges).unwrap_err().to_string()
    };
    for (text, expected) in [
        (
            "[recommender.shared]\n\"loss.temprature\" = { log = [0.1, 1.0] }",
            "my.toml:3: recommender.shared.\"loss.temprature\" is a key that no recipe of quickstart has; did you mean loss.temperature?",
        ),
        (
            "[recommender.bayesian]\n\"loss.tau\" = { log = [0.1, 1.0] }",
            "my.toml:3: recommender.bayesian.\"loss.tau\" is no parameter of bayesian; remove it",
        ),
        (
            "[recommender.bayesain]\n\n\"loss.beta\" = { uniform = [0.5, 1.0] }",
            "my.toml:4: recommender.bayesain.\"loss.beta\" is for an unknown estimator; use `shared` or one of info_nce",
        ),
        (
            "[recommender.shared]\n\"encoder.trunk.depth\" = { choice = [18] }",
            "my.toml:3: recommender.shared.\"encoder.trunk.depth\" is a key that no recipe of quickstart has",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn what_all_runs_of_a_table_share_is_not_searched() {
    for key in [
        "data.min_rating",
        "data.split.test_ratio",
        "data",
        "evaluation.every",
        "selection.held_out",
        "seed",
        "name",
        "training.epochs",
    ] {
        for family in ["recommender", "images"] {
            let text = format!("\n[{family}.shared]\n'{key}' = {{ choice = [5] }}");
            let error = Ranges::parse(&text, "my.toml").unwrap_err();
            assert!(
                error.starts_with(&format!("my.toml:3: {family}.shared.\"{key}\" ")),
                "{error}"
            );
            assert!(error.contains("remove it") && error.contains("optimizer"), "{error}");
        }
    }
    for key in ["training.batch_size", "negatives.count", "encoder.dim", "database"] {
        let text = format!("[recommender.shared]\n'{key}' = {{ choice = [5] }}");
        Ranges::parse(&text, "my.toml").unwrap();
    }
}

#[test]
fn the_ranges_of_our_results_are_accepted() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/tables");
    let tables = std::fs::read_dir(&results).unwrap().map(|table| table.unwrap().path());
    let files: Vec<_> = tables
        .map(|table| table.join("ranges.toml"))
        .filter(|file| file.is_file())
        .collect();
    assert!(!files.is_empty());
    for file in files {
        Ranges::read(&file).unwrap();
    }
}

#[test]
fn a_key_of_an_estimator_or_family_that_the_table_lacks_is_ignored() {
    let text = "[recommender.ring]\n\"loss.lower\" = { uniform = [0.1, 0.2] }\n[images.shared]\n\"encoder.trunk.depth\" = { choice = [18] }";
    let ranges = Ranges::parse(text, "my.toml").unwrap();
    let rows = Row::find("quickstart", None, &[], &ranges).unwrap();
    assert!(rows.iter().all(|row| row.space.0.is_empty()));
}

#[test]
fn a_file_may_have_one_family() {
    let ranges = Ranges::parse(
        "[recommender.shared]\n'loss.temperature' = { choice = [0.1, 0.2] }",
        "ranges.toml",
    )
    .unwrap();
    assert!(ranges.of(true, "info_nce").0.contains_key("loss.temperature"));
    assert!(ranges.of(false, "info_nce").0.is_empty());
    let error = Ranges::parse("[recommenders.shared]", "ranges.toml").unwrap_err();
    assert!(error.contains("unknown field `recommenders`"), "{error}");
}
