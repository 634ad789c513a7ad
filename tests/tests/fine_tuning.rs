//! `fine-tune`: the whole network learns from few labels, beside a probe of its frozen features.

use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{
    PLANTED_IMAGES, assert_refused,
    pictures::{cats_and_dogs, write},
    run_in, shown, small_image_recipe, small_recipe, succeeds_in, text,
};

/// A folder in which runs are trained.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run_in(self.0.path(), arguments)
    }

    fn succeeds(&self, arguments: &[&str]) -> Output {
        succeeds_in(self.0.path(), arguments)
    }

    fn trained(&self, recipe: &Path, more: &[&str]) {
        self.succeeds(&[&[text(recipe), "--epochs", "1", "--quiet"], more].concat());
    }

    /// Fine-tunes a run on planted images into a folder and returns the record, without what depends on the machine.
    fn fine_tuned(&self, run: &str, out: &str, more: &[&str]) -> Value {
        self.succeeds(&[&["fine-tune", run, "--out", out, "--quiet"], more].concat());
        let text = fs::read_to_string(self.path(out).join("fine-tuning.json")).expect("a record");
        let mut record: Value = serde_json::from_str(&text).expect("JSON");
        let fields = record.as_object_mut().expect("an object");
        fields.remove("seconds");
        fields.remove("environment");
        record
    }

    fn weights(&self, out: &str) -> Vec<u8> {
        fs::read(self.path(out).join("model.safetensors")).expect("weights")
    }
}

/// The bytes of each tensor of a safetensors file.
fn tensors(file: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let (length, rest) = file.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
    let (header, values) = rest.split_at(length);
    let header: Value = serde_json::from_slice(header).expect("JSON");
    let header = header.as_object().expect("an object").iter();
    header
        .filter(|(name, _)| *name != "__metadata__")
        .map(|(name, about)| {
            let [from, to] = [0, 1].map(|end: usize| about["data_offsets"][end].as_u64().expect("a number") as usize);
            (name.clone(), values[from..to].to_vec())
        })
        .collect()
}

/// A place with a run on planted images.
fn with_run() -> Place {
    let place = Place::new();
    place.trained(&small_image_recipe(place.0.path(), PLANTED_IMAGES), &[]);
    place
}

const RUN: &str = "runs/small-images-0";

#[test]
fn fine_tuning_learns_the_same_on_any_number_of_threads_and_its_weights_start_another_run() {
    let place = with_run();
    let few = ["--fraction", "0.5", "--epochs", "2", "--batch-size", "16"];
    let with = |more: &[&'static str]| [&few[..], more].concat();
    let one = place.fine_tuned(RUN, "one", &with(&["--threads", "1", "--from-scratch"]));
    for name in ["fine_tuned", "linear_probe", "from_scratch"] {
        for top in ["top1", "top5"] {
            let accuracy = one["metrics"][format!("{name}_{top}")].as_f64().expect("an accuracy");
            assert!((0.0..=1.0).contains(&accuracy), "{one}");
        }
    }
    let labels = one["labels"].as_u64().expect("a number");
    assert!((30..=34).contains(&labels), "{one}");

    let again = place.fine_tuned(RUN, "again", &with(&["--threads", "2"]));
    assert_eq!(again["metrics"]["fine_tuned_top1"], one["metrics"]["fine_tuned_top1"]);
    assert!(place.weights("again") == place.weights("one"), "threads change nothing");
    let other = place.fine_tuned(RUN, "other", &with(&["--seed", "7"]));
    assert!(place.weights("other") != place.weights("one"), "the seed matters");
    assert_eq!((&other["seed"], &one["seed"]), (&7.into(), &0.into()));

    // The probe is the one that the run itself measures.
    let arguments = ["evaluate", RUN, "--label-fractions", "0.5", "--json"];
    let evaluated: Value = serde_json::from_slice(&place.succeeds(&arguments).stdout).expect("JSON");
    assert_eq!(evaluated["metrics"]["probe_50%_top1"], one["metrics"]["linear_probe_top1"]);

    // Every layer has learned.
    place.succeeds(&["export", RUN, "--out", "before.safetensors"]);
    let before = tensors(&fs::read(place.path("before.safetensors")).expect("weights"));
    let tuned = tensors(&place.weights("one"));
    assert!(!before.is_empty());
    for (name, values) in &before {
        assert!(tuned[name] != *values, "{name} has not changed");
    }

    // Torchvision's names lead back into a recipe.
    let uniformity = |run: &str| {
        let result = fs::read(place.path(run).join("result.json")).expect("a result");
        let result: Value = serde_json::from_slice(&result).expect("JSON");
        result["validation"]["metrics"]["uniformity"].as_f64().expect("a number")
    };
    let started_from = |weights: &str| {
        let name = weights.replace(['/', '.'], "-");
        let [named, start] = [format!("name={name}"), format!("encoder.weights={weights}")];
        let settings = ["--set", &named, "--set", &start];
        place.succeeds(&[&["small-images.toml", "--epochs", "0", "--quiet"], &settings[..]].concat());
        uniformity(&format!("runs/{name}-0"))
    };
    assert_eq!(started_from("before.safetensors"), uniformity(RUN));
    assert_ne!(started_from("one/model.safetensors"), uniformity(RUN));
}

#[test]
fn the_table_and_json_compare_with_the_frozen_features() {
    let place = with_run();
    let few = ["fine-tune", RUN, "--fraction", "0.25", "--epochs", "1", "--from-scratch"];
    let printed = shown(&place.succeeds(&few));
    for words in [
        "small-images on",
        "top-1",
        "fine-tuned",
        "linear probe of the frozen features",
        "random weights",
    ] {
        assert!(printed.contains(words), "`{words}` is missing\n{printed}");
    }
    let default = place.path(RUN).join("fine-tuned");
    assert!(default.join("model.safetensors").is_file() && default.join("fine-tuning.json").is_file());
    // It is no run of its own.
    let report = shown(&place.succeeds(&["report", "runs", "--out", "page.html"]));
    assert!(report.contains("small-images") && !report.contains("skipping"), "{report}");

    let json = place.succeeds(&[&few[..6], &["--json"]].concat());
    let record: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&record["fraction"], &record["schema"]), (&0.25.into(), &1.into()));
    assert!(record["metrics"]["from_scratch_top1"].is_null() && record["environment"]["backend"] == "flex");
}

#[test]
fn streamed_images_give_the_same_weights() {
    let place = Place::new();
    write(place.0.path(), &cats_and_dogs(12, 4));
    let recipe = small_image_recipe(place.0.path(), "[data]\nimages = 'pictures'\n");
    place.trained(&recipe, &["--out", "memory"]);
    place.trained(
        &recipe,
        &["--out", "streamed", "--set", "data.stream=true", "--set", "data.cache_mib=0"],
    );
    let few = ["--fraction", "0.5", "--epochs", "1"];
    let memory = place.fine_tuned("memory/small-images-0", "a", &few);
    let streamed = place.fine_tuned("streamed/small-images-0", "b", &few);
    assert_eq!(streamed["metrics"], memory["metrics"]);
    assert!(place.weights("b") == place.weights("a"), "streaming changes nothing");
    assert!(memory["metrics"]["fine_tuned_top5"].is_null(), "there are two classes");
}

#[test]
fn bad_input_is_refused_with_the_remedy() {
    let place = with_run();
    place.trained(&small_recipe(place.0.path(), ""), &[]);
    fs::write(place.path("file"), "hello").expect("writable");
    let refused = |arguments: &[&str], words: &[&str]| {
        assert_refused(&place.run(&[&["fine-tune"], arguments].concat()), words);
    };
    refused(&["runs/small-0"], &["encoder of interactions", "`fine-tune`", "images"]);
    refused(&["nowhere"], &["nowhere"]);
    refused(&[RUN, "--fraction", "0"], &["--fraction", "above 0"]);
    refused(&[RUN, "--fraction", "1.5"], &["--fraction", "at most 1"]);
    refused(&[RUN, "--fraction", "nan"], &["--fraction"]);
    refused(&[RUN, "--epochs", "0"], &["--epochs"]);
    refused(&[RUN, "--batch-size", "1"], &["--batch-size"]);
    refused(&[RUN, "--learning-rate", "0"], &["--learning-rate", "above 0"]);
    refused(&[RUN, "--learning-rate", "inf"], &["--learning-rate"]);
    refused(&[RUN, "--seed", "-1"], &["-1"]);
    // A file is no folder.
    refused(&[RUN, "--out", "file"], &["file"]);
}

#[test]
fn fine_tuning_that_diverges_fails_with_the_remedy_and_leaves_no_weights() {
    let place = with_run();
    // The highest rate that is accepted, in many steps of few images: the loss diverges within an epoch, with any seed.
    let wild = "--fraction 1 --epochs 3 --batch-size 4 --learning-rate 100 --out wild";
    let output = place.run(&[&["fine-tune", RUN], &*wild.split(' ').collect::<Vec<_>>()].concat());
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(shown(&output).contains("lower --learning-rate"), "{}", shown(&output));
    assert!(!place.path("wild/model.safetensors").exists());
}

#[test]
fn runs_without_labelled_test_images_are_refused() {
    let place = Place::new();
    write(place.0.path(), &cats_and_dogs(10, 4));
    fs::remove_dir_all(place.path("pictures/test")).expect("it was there");
    place.trained(&small_image_recipe(place.0.path(), "[data]\nimages = 'pictures'\n"), &[]);
    let output = place.run(&["fine-tune", RUN]);
    assert_refused(&output, &["labelled test images", "test/CLASS/"]);
    assert!(!place.path(RUN).join("fine-tuned").exists());
}
