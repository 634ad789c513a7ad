//! Verbs and flags that runs of another kind do not have are refused, with what to do instead.

use std::{fs, path::Path};
use whole_program_tests::{
    PLANTED_IMAGES, assert_refused, run_in, small_graph_recipe, small_image_recipe, small_recipe, succeeds_in,
};

fn train(folder: &Path, recipe: &str) {
    succeeds_in(folder, &[recipe, "--epochs", "1", "--quiet"]);
}

/// What only recommenders have.
fn refuses_what_recommenders_have(folder: &Path, name: &str, samples: &str) {
    fs::write(folder.join("more.csv"), "user,item\na,b\n").expect("writable");
    for flag in [
        &["--cutoffs", "5"][..],
        &["--test", "more.csv"],
        &["--per-user", "users.csv"],
        &["--fold-in"],
    ] {
        let output = run_in(folder, &[&["evaluate", name], flag].concat());
        assert_refused(&output, &[flag[0], name, "trained no recommender; remove it"]);
    }
    assert!(!folder.join("users.csv").exists());
    for whom in [
        &["--user", "1"][..],
        &["--item", "1"],
        &["--items", "1,2"],
        &["--items-file", "more.csv"],
        &["--all", "--out", "recs.csv"],
        &["--all-items", "--out", "recs.jsonl"],
        &["--users", "more.csv", "--out", "recs.csv"],
    ] {
        let output = run_in(folder, &[&["recommend", name], whom].concat());
        assert_refused(&output, &[name, samples, "cannot recommend", "`embed`"]);
    }
    assert!(!folder.join("recs.csv").exists() && !folder.join("recs.jsonl").exists());
}

/// What only encoders of images have.
fn refuses_what_images_have(folder: &Path, name: &str, samples: &str) {
    fs::create_dir_all(folder.join("pictures")).expect("writable");
    let onnx = ["export", name, "--format", "onnx"];
    assert_refused(&run_in(folder, &onnx), &["--format onnx", samples, "--format safetensors"]);
    assert!(!folder.join(name).join("model.onnx").exists());
    let projections = ["export", name, "--projections"];
    assert_refused(&run_in(folder, &projections), &["--projections", "--format onnx"]);
    for verb in [
        &["neighbours", name, "a.jpg", "--in", "pictures"][..],
        &["duplicates", name, "--in", "pictures"],
        &["subset", name, "--in", "pictures", "--count", "2"],
    ] {
        assert_refused(&run_in(folder, verb), &[name, samples, "needs one of images"]);
    }
}

/// What goes wrong with any run.
fn refuses_bad_paths(folder: &Path, name: &str) {
    for (arguments, words) in [
        (
            &["export", name, "--out", "no/such/model.safetensors"][..],
            &["no/such/model.safetensors"][..],
        ),
        (&["export", name, "--out", "more.csv"], &["--out", "more.csv"]),
        (&["export", name, "--format", "pickle"], &["pickle", "safetensors"]),
        (&["embed", name, "--out", "more.csv"], &["more.csv"]),
        (&["embed", name, "--top", "3"], &["--top"]),
        (&["evaluate", name, "--data", "nowhere"], &["nowhere"]),
        (&["evaluate", name, "--threads", "0"], &["--threads"]),
    ] {
        assert_refused(&run_in(folder, arguments), words);
    }
}

#[test]
fn a_run_on_images_refuses_what_recommenders_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    small_image_recipe(folder, PLANTED_IMAGES);
    train(folder, "small-images.toml");
    refuses_what_recommenders_have(folder, "runs/small-images-0", "images");
    refuses_bad_paths(folder, "runs/small-images-0");
}

#[test]
fn a_run_on_graphs_refuses_what_recommenders_and_images_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    small_graph_recipe(folder);
    train(folder, "small-graphs.toml");
    refuses_what_recommenders_have(folder, "runs/small-graphs-0", "graphs");
    refuses_what_images_have(folder, "runs/small-graphs-0", "graphs");
    refuses_bad_paths(folder, "runs/small-graphs-0");
}

#[test]
fn a_recommender_refuses_what_images_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    small_recipe(folder, "");
    train(folder, "small.toml");
    fs::write(folder.join("more.csv"), "user,item\na,b\n").expect("writable");
    refuses_what_images_have(folder, "runs/small-0", "interactions");
    refuses_bad_paths(folder, "runs/small-0");
    for (arguments, words) in [
        (&["--user", "u1", "--top", "0"][..], &["--top"][..]),
        (&["--item", "u1", "--include-seen"], &["--include-seen"]),
        (&["--items", "i1,,i2"], &["--items"]),
        (&["--items-file", "no/such.txt"], &["--items-file", "no/such.txt"]),
        (&["--items-file", "pictures"], &["--items-file", "pictures"]),
        (&["--all", "--out", "recs"], &[".csv or .jsonl"]),
        (&["--all", "--json", "--out", "recs.csv"], &["--json"]),
        (&["--user", "", "--json"], &["--user"]),
    ] {
        let output = run_in(folder, &[&["recommend", "runs/small-0"], arguments].concat());
        assert_refused(&output, words);
    }
    for (arguments, words) in [
        (&["--test", "more.csv", "--fold-in"][..], &["more.csv", "none of its"][..]),
        (&["--test", "pictures"], &["pictures"]),
        (&["--cutoffs", ""], &["--cutoffs"]),
        (&["--cutoffs", "5,5"], &["ascending"]),
        (&["--cutoffs", "99999999999999999999"], &["--cutoffs"]),
        (&["--per-user", "users.txt/users.csv"], &["users.txt"]),
        (&["--per-user", "pictures"], &["pictures"]),
    ] {
        let output = run_in(folder, &[&["evaluate", "runs/small-0"], arguments].concat());
        assert_refused(&output, words);
    }
}
