//! Gradient caching from the command line, for recommenders and image encoders.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{PLANTED_IMAGES, bcl_train, shown, small_image_recipe, small_recipe};

fn train(recipe: &Path, out: &Path, settings: &[&str]) -> Output {
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let mut command = bcl_train();
    command.arg(recipe).arg("--quiet").arg("--out").arg(out).args(settings);
    command.output().expect("it starts")
}

/// Trains with these settings and returns the result and the loss of the first epoch.
fn trained(recipe: &Path, run: &str, settings: &[&str]) -> (serde_json::Value, f64) {
    let out = recipe.with_file_name(format!("runs-{}", settings.len()));
    let output = train(recipe, &out, settings);
    assert!(output.status.success(), "{}", shown(&output));
    let read = |name: &str| fs::read_to_string(out.join(run).join(name)).expect("a finished run");
    let first = read("metrics.jsonl").lines().next().expect("an epoch").to_owned();
    let first: serde_json::Value = serde_json::from_str(&first).expect("JSON");
    let result = serde_json::from_str(&read("result.json")).expect("JSON");
    (result, first["loss"].as_f64().expect("a number"))
}

#[test]
fn a_recommender_trains_as_it_does_all_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let (at_once, expected) = trained(&recipe, "small-0", &["training.epochs=2"]);
    let (cached, found) = trained(&recipe, "small-0", &["training.epochs=2", "training.gradient_cache=50"]);
    assert_eq!(cached["recipe"]["training"]["gradient_cache"], 50);
    assert!(at_once["recipe"]["training"].get("gradient_cache").is_none());
    assert_ne!(at_once["recipe_hash"], cached["recipe_hash"]);
    assert!((found - expected).abs() < 1e-5 * expected, "{found} is not {expected}");
}

#[test]
fn an_image_encoder_trains_in_parts_with_everything_that_concerns_gradients() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let settings = [
        "training.epochs=3",
        "training.gradient_cache=6",
        "training.precision=bf16",
        "optimizer.kind=lars",
        "optimizer.clip_global_norm=1",
        "alpha_schedule={kind='measured'}",
        "evaluation.every=1",
    ];
    let (result, loss) = trained(&recipe, "small-images-0", &settings);
    assert_eq!(result["recipe"]["training"]["gradient_cache"], 6);
    assert!(loss.is_finite() && loss > 0.0, "{loss}");
}

#[test]
fn sizes_that_a_batch_cannot_be_taken_apart_into_are_bad_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let recommender = small_recipe(folder.path(), "");
    let images = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let cases: [(&PathBuf, &[&str], &[&str]); 6] = [
        (&recommender, &["training.gradient_cache=0"], &["is 0", "at least 1"]),
        (
            &recommender,
            &["training.gradient_cache=129"],
            &["is 129", "at most training.batch_size, 128"],
        ),
        (&images, &["training.gradient_cache=1"], &["is 1", "at least 2"]),
        (
            &images,
            &["training.gradient_cache=17"],
            &["is 17", "at most training.batch_size, 16"],
        ),
        (
            &images,
            &["training.gradient_cache=2", "training.batch_size=15"],
            &["is 2", "parts of at least 2 of the 15 samples", "3 would do"],
        ),
        (&images, &["training.gradient_cache='all'"], &["\"all\"", "must be"]),
    ];
    for (recipe, settings, words) in cases {
        let out = folder.path().join("runs");
        let output = train(recipe, &out, settings);
        assert_eq!(output.status.code(), Some(2), "{settings:?} {}", shown(&output));
        let message = String::from_utf8_lossy(&output.stderr);
        for word in words.iter().chain(&["training.gradient_cache"]) {
            assert!(message.contains(word), "`{word}` is missing\n{}", shown(&output));
        }
        assert_eq!(message.trim().lines().count(), 1, "{}", shown(&output));
        assert!(!out.exists());
    }
}

#[test]
fn a_nan_loss_with_views_on_demand_saves_their_images_and_the_first_bad_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let out = folder.path().join("runs");
    // Pixels divided by such a small standard deviation overflow f16.
    let settings = [
        "training.precision=f16",
        "views.std=[1e-5,1e-5,1e-5]",
        "training.gradient_cache=5",
    ];
    let output = train(&recipe, &out, &settings);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("epoch 1, step 1:"), "{}", shown(&output));
    for (file, entries) in [
        ("batch", ["\"images\":{\"dtype\":\"I64\",\"shape\":[16]", "\"epoch\""]),
        (
            "scores",
            ["\"positives\":{\"dtype\":\"F32\",\"shape\":[5]", "\"shape\":[5,30]"],
        ),
    ] {
        let path = out.join("small-images-0/diverged").join(file).with_extension("safetensors");
        let bytes = fs::read(path).expect("it is kept");
        let header = String::from_utf8_lossy(&bytes);
        for entry in entries {
            assert!(header.contains(entry), "{file} lacks {entry}");
        }
    }
}
