//! `training.sampling = "class_balanced"`: the same run in memory, streamed and resumed, and refused where there are no classes.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{
    assert_refused, bcl_train, forget_the_last_checkpoint, lasting_figures,
    pictures::{Files, jpeg, write},
    shown, small_graph_recipe, small_image_recipe, small_recipe,
};

/// 24 cats and 4 dogs in train.
fn unbalanced() -> Files {
    let of = |part: &str, class: &str, first: u32, count: u32| -> Files {
        (0..count)
            .map(|i| (format!("pictures/{part}/{class}/{i}.jpg"), jpeg(first + i)))
            .collect()
    };
    [
        of("train", "cat", 0, 24),
        of("train", "dog", 100, 4),
        of("test", "cat", 30, 3),
        of("test", "dog", 130, 3),
    ]
    .concat()
}

fn train(recipe: &Path, settings: &[&str], out: &Path) -> Output {
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let mut command = bcl_train();
    command
        .arg(recipe)
        .args(["--quiet", "--epochs", "2", "--out"])
        .arg(out)
        .args(settings);
    command.output().expect("it starts")
}

/// Metrics of each epoch and of the end. Settings and hashes differ from run to run.
fn figures(run: &Path) -> Value {
    let mut figures = lasting_figures(run);
    let result = figures["result"].as_object_mut().expect("a result");
    result.retain(|key, _| ["validation", "baselines"].contains(&key.as_str()));
    figures
}

#[test]
fn a_balanced_run_is_the_same_streamed_and_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &unbalanced());
    let recipe = small_image_recipe(folder.path(), "[data]\nimages = 'pictures'\n");
    let run = |name: &str, settings: &[&str]| -> PathBuf {
        let out = folder.path().join(name);
        let settings = [&["training.batch_size=8"], settings].concat();
        let output = train(&recipe, &settings, &out);
        assert!(output.status.success(), "{}", shown(&output));
        out.join("small-images-0")
    };
    let balanced = "training.sampling=class_balanced";
    let uniform = figures(&run("uniform", &[]));
    let expected = figures(&run("balanced", &[balanced]));
    assert_ne!(expected, uniform);
    let streamed = run("streamed", &[balanced, "data.stream=true", "data.cache_mib=0"]);
    assert_eq!(figures(&streamed), expected);
    forget_the_last_checkpoint(&streamed);
    let output = bcl_train()
        .arg("--resume")
        .arg(&streamed)
        .arg("--quiet")
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(figures(&streamed), expected);
}

#[test]
fn the_summary_says_that_labels_are_read_and_warns_of_repeated_images() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &unbalanced());
    let recipe = small_image_recipe(folder.path(), "[data]\nimages = 'pictures'\n");
    let mut command = bcl_train();
    command
        .arg(&recipe)
        .args(["--epochs", "1", "--set", "training.sampling=class_balanced", "--out"]);
    let output = command.arg(folder.path().join("runs")).output().expect("it starts");
    let printed = shown(&output);
    assert!(output.status.success(), "{printed}");
    // Four dogs in two classes: two draws of one dog are at least seven draws apart.
    for words in [
        "reads the labels",
        "more than once per batch",
        "lower training.batch_size to 7",
    ] {
        assert!(printed.replace('\n', " ").contains(words), "`{words}` is missing\n{printed}");
    }
}

#[test]
fn sampling_by_class_is_refused_where_there_are_no_classes() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("runs");
    let balanced = ["training.sampling=class_balanced"];
    let refused = |recipe: &Path, settings: &[&str], words: &[&str]| {
        assert_refused(&train(recipe, settings, &out), words);
        assert!(!out.exists());
    };
    let recommender = small_recipe(folder.path(), "");
    refused(&recommender, &balanced, &["training.sampling", "interactions", "remove it"]);
    let graphs = small_graph_recipe(folder.path());
    refused(&graphs, &balanced, &["training.sampling", "graphs", "remove it"]);

    let flat: Files = (0..20).map(|i| (format!("flat/{i}.jpg"), jpeg(i))).collect();
    write(folder.path(), &flat);
    let images = small_image_recipe(folder.path(), "[data]\nimages = 'flat'\n");
    refused(&images, &balanced, &["training.sampling", "without labels", "train/CLASS/"]);
    refused(&images, &["training.sampling=magic"], &["training.sampling", "magic"]);
}
