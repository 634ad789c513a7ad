//! Tests of the module above.

use super::*;

fn rows(name: &str, encoder: Option<&str>, set: &[&str]) -> Vec<Row> {
    let set: Vec<Override> = set.iter().map(|flag| flag.parse().unwrap()).collect();
    Row::find(name, encoder, &set, &Ranges::builtin()).unwrap()
}

fn names(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn a_table_of_one_encoder_has_its_estimators_in_order() {
    let rows = rows("table10/ml-100k", Some("lightgcn"), &[]);
    let expected = ["lightgcn-infonce", "lightgcn-debiased", "lightgcn-hard", "lightgcn-bayesian"];
    assert_eq!(names(&rows), expected);
}

#[test]
fn rows_that_differ_in_a_number_are_sorted_by_it() {
    let names: Vec<String> = rows("table4/cifar10", None, &[]).into_iter().map(|row| row.name).collect();
    assert_eq!(names[..3], ["infonce-n30", "infonce-n62", "infonce-n126"]);
    assert_eq!(names[9], "bayesian-n510");
}

#[test]
fn keys_in_which_rows_differ_are_not_searched() {
    let rows = rows("table5/cifar10", None, &[]);
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert!(!row.space.0.contains_key("loss.beta"), "{}", row.name);
        assert!(row.space.0.contains_key("loss.alpha"));
    }
}

#[test]
fn keys_set_by_a_flag_are_not_searched() {
    let rows = rows("table10/ml-100k", Some("mf"), &["loss.temperature=0.3"]);
    assert!(rows.iter().all(|row| !row.space.0.contains_key("loss.temperature")));
}

#[test]
fn a_schedule_is_searched_only_by_ranges_that_are_given() {
    let find = |ranges: &Ranges| Row::find("temperature", None, &[], ranges).unwrap().remove(0);
    let searched = |row: &Row| row.space.0.keys().cloned().collect::<Vec<_>>();
    let builtin = find(&Ranges::builtin());
    assert!(!searched(&builtin).contains(&"loss.temperature".to_owned()));

    let given = |key: &str| {
        let text = format!("[recommender]\n[images.info_nce]\n'{key}' = {{ uniform = [0.125, 0.125] }}");
        let row = find(&Ranges::parse(&text, "my.toml").unwrap());
        assert_eq!(searched(&row), [key]);
        let drawn = row.space.draw(bcl_data::Seed(0), 0);
        row.with(&drawn).unwrap().to_toml()
    };
    assert!(given("loss.temperature").contains("temperature = 0.125"));
    assert!(given("loss.temperature.end").contains("end = 0.125"));
}

#[test]
fn alpha_is_not_searched_if_a_schedule_replaces_it() {
    let searches_alpha = |set: &[&str]| {
        let row = rows("table3/cifar10-revision-note", None, set).remove(0);
        row.space.0.contains_key("loss.alpha")
    };
    assert!(!searches_alpha(&[]));
    assert!(searches_alpha(&["alpha_schedule.kind=constant", "loss.beta=0.9"]));
    assert!(searches_alpha(&["alpha_schedule.kind=released_steps", "loss.beta=0.9"]));
}

#[test]
fn what_the_table_sets_for_each_run_is_refused_as_a_flag() {
    let refused = |flag: &str| {
        let found = Row::find("quickstart", None, &[flag.parse().unwrap()], &Ranges::builtin());
        found.unwrap_err().to_string()
    };
    let error = refused("seed=4");
    assert!(error.starts_with("--set seed: ") && error.contains("--seeds"), "{error}");
    let error = refused("name=x");
    assert!(error.starts_with("--set name: ") && error.contains("leave it out"), "{error}");
}

#[test]
fn values_end_in_the_recipe() {
    let row = &rows("table10/ml-100k", Some("mf"), &[])[3];
    let recipe = row.with(&[("loss.beta".to_owned(), toml::Value::Float(0.625))]).unwrap();
    assert!(recipe.to_toml().contains("beta = 0.625"));
    assert!(row.with(&[("loss.beta".to_owned(), toml::Value::Float(2.0))]).is_err());
}

#[test]
fn an_encoder_that_is_not_there_is_named_with_those_that_are() {
    let error = Row::find("table10/ml-100k", Some("gin"), &[], &Ranges::builtin())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("gin") && error.contains("light_gcn") && error.contains("mf"),
        "{error}"
    );
}
