//! Image encoders from the command line: views, export and import of weights, and a loss that is not a number.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{PLANTED_IMAGES, bcl_train, shown, small_image_recipe, small_recipe};

fn run(arguments: &[&str]) -> Output {
    bcl_train().args(arguments).output().expect("it starts")
}

fn succeeds(arguments: &[&str]) -> Output {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", shown(&output));
    output
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Trains the small recipe on synthetic images, with output in `out`.
fn train(folder: &Path, out: &str, flags: &[&str]) -> PathBuf {
    let recipe = small_image_recipe(folder, PLANTED_IMAGES);
    let out = folder.join(out);
    let mut arguments = vec![text(&recipe), "--quiet", "--out", text(&out), "--epochs", "2"];
    arguments.retain(|argument| !flags.contains(&"--epochs") || !["--epochs", "2"].contains(argument));
    arguments.extend(flags);
    succeeds(&arguments);
    out.join("small-images-0")
}

fn result(run: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(run.join("result.json")).expect("a finished run")).expect("JSON")
}

#[test]
fn views_are_drawn_without_training() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let [picture, out] = ["views.png", "runs"].map(|name| folder.path().join(name));
    let flags = |seed| {
        [
            text(&recipe),
            "--dump-views",
            text(&picture),
            "--out",
            text(&out),
            "--seed",
            seed,
        ]
    };
    succeeds(&flags("0"));
    let first = fs::read(&picture).expect("a picture");
    assert!(first.starts_with(b"\x89PNG"));
    succeeds(&flags("0"));
    assert_eq!(
        fs::read(&picture).expect("a picture"),
        first,
        "the seed determines what is drawn"
    );
    succeeds(&flags("1"));
    assert_ne!(fs::read(&picture).expect("a picture"), first);
    assert!(!out.exists());
}

#[test]
fn a_recommender_has_no_views_and_two_recipes_are_one_too_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("views.png");
    let recipe = small_recipe(folder.path(), "");
    for (recipe, words) in [
        (text(&recipe), ["small", "interactions", "name a recipe on images"]),
        (
            "quickstart-images",
            ["2 were given", "quickstart-images/bayesian", "name one of them"],
        ),
    ] {
        let output = run(&[recipe, "--dump-views", text(&picture)]);
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(words.iter().all(|word| message.contains(word)), "{}", shown(&output));
        assert!(!picture.exists());
    }
}

#[test]
fn exported_weights_have_the_metrics_of_their_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = "evaluation.protocols=['clean', 'official']";
    let trained = train(folder.path(), "trained", &["--set", both]);
    let file = folder.path().join("w.safetensors");
    succeeds(&["export", text(&trained), "--out", text(&file)]);

    // The path of the weights is relative to the data folder.
    let data = text(folder.path());
    let judged = train(
        folder.path(),
        "judged",
        &[
            "--epochs",
            "0",
            "--set",
            "encoder.weights=w.safetensors",
            "--data",
            data,
            "--set",
            both,
        ],
    );
    let [of_trained, of_judged] = [result(&trained), result(&judged)];
    assert_eq!(of_judged["validation"]["epoch"], 0);
    let figures = |result: &serde_json::Value| {
        let mut figures = result["validation"]["metrics"].clone();
        // It is measured on training batches, and the other run has none.
        figures.as_object_mut().expect("figures").remove("calibration_error");
        figures
    };
    assert_eq!(figures(&of_judged), figures(&of_trained));
    assert_eq!(
        of_judged["baselines"], of_trained["baselines"],
        "the random-encoder baseline must not load the weights"
    );
    assert!(judged.join("report.html").is_file());

    // Every command works on a run without epochs.
    let again = succeeds(&["evaluate", text(&judged), "--json"]);
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["metrics"]["knn_top1"], of_trained["validation"]["metrics"]["knn_top1"]);
    succeeds(&["embed", text(&judged)]);
    succeeds(&["export", text(&judged)]);
    for file in ["train.npy", "test.csv"] {
        assert_eq!(fs::read(judged.join("embeddings").join(file)).expect("features"), {
            succeeds(&["embed", text(&trained)]);
            fs::read(trained.join("embeddings").join(file)).expect("features")
        });
    }
    fs::remove_file(judged.join("result.json")).expect("it was there");
    succeeds(&["--resume", text(&judged), "--quiet"]);
    assert_eq!(result(&judged)["validation"], of_judged["validation"]);
}

#[test]
fn training_continues_from_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let trained = train(folder.path(), "trained", &[]);
    let file = folder.path().join("w.safetensors");
    succeeds(&["export", text(&trained), "--out", text(&file)]);
    let weights = format!("encoder.weights={}", text(&file));
    let further = train(folder.path(), "further", &["--set", &weights]);
    let embed = |run: &Path| {
        succeeds(&["embed", text(run)]);
        fs::read(run.join("embeddings/test.npy")).expect("features")
    };
    let fresh = embed(&trained);
    assert_ne!(embed(&further), fresh);
    // Without the weights, training gives the same features as before.
    assert_eq!(embed(&train(folder.path(), "once-more", &[])), fresh);
}

#[test]
fn a_nan_loss_ends_the_run_and_saves_batch_scores_and_weights() {
    type Recipe = fn(&Path, &str) -> PathBuf;
    let images: (Recipe, &str, &str) = (small_image_recipe, PLANTED_IMAGES, "small-images-0");
    let recommender: (Recipe, &str, &str) = (small_recipe, "", "small-0");
    let dot = ["encoder.similarity=dot", "evaluation.baselines=[]"];
    let cases: [(_, &[&str], [&str; 2]); 4] = [
        // Pixels divided by such a small standard deviation overflow f16.
        (
            images,
            &["training.precision=f16", "views.std=[1e-5,1e-5,1e-5]"],
            ["epoch 1, step 1:", "not"],
        ),
        // After the first step, dot products of the weights overflow f32, either alone or divided by the temperature.
        (
            recommender,
            &[dot[0], dot[1], "optimizer.learning_rate=1e17", "loss.temperature=1e-6"],
            ["epoch 1, step 2:", "but their loss is not"],
        ),
        (
            recommender,
            &[dot[0], dot[1], "optimizer.learning_rate=1e30"],
            ["epoch 1, step 2:", "the scores of the positives are not"],
        ),
        // Weights grow until they overflow, while cosine similarities stay finite.
        (
            recommender,
            &[dot[1], "optimizer.learning_rate=1e38"],
            ["epoch 1, step", "the step before left weights that are not finite"],
        ),
    ];
    for ((recipe, more, name), settings, words) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = recipe(folder.path(), more);
        let out = folder.path().join("runs");
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let arguments: Vec<&str> = [text(&recipe), "--quiet", "--out", text(&out)]
            .into_iter()
            .chain(settings)
            .collect();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
        let message = String::from_utf8_lossy(&output.stderr);
        let remedies = ["diverged", "lower optimizer.learning_rate", "optimizer.clip_norm"];
        for word in words.iter().chain(&remedies) {
            assert!(message.contains(word), "`{word}` is missing\n{}", shown(&output));
        }
        let kept = out.join(name).join("diverged");
        for file in ["batch", "scores", "weights"] {
            let size = fs::metadata(kept.join(file).with_extension("safetensors"))
                .expect("it is kept")
                .len();
            assert!(size > 500, "{file}: {size} bytes");
        }
        assert!(!out.join(name).join("result.json").exists());
    }
}

#[test]
fn held_out_images_choose_the_number_of_epochs_and_a_second_phase_trains_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = [
        "--epochs",
        "6",
        "--set",
        "selection.held_out=0.25",
        "--set",
        "evaluation.every=1",
        "--set",
        "training.patience=2",
    ];
    let run = train(folder.path(), "out", &flags);
    let lines = fs::read_to_string(run.join("metrics.jsonl")).expect("one line per epoch");
    let records: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |phase: &str| records.iter().filter(|record| record["phase"] == phase).collect::<Vec<_>>();
    let figures: Vec<f64> = of("selection")
        .iter()
        .map(|record| {
            record["validation"]["knn_top1"]
                .as_f64()
                .expect("measured on held-out images")
        })
        .collect();
    let (best, _) = figures
        .iter()
        .enumerate()
        .rev()
        .max_by(|(_, left), (_, right)| left.total_cmp(right))
        .expect("epochs");
    assert_eq!(of("refit").len(), best + 1, "{figures:?}");
    assert_eq!(result(&run)["validation"]["epoch"], best + 1);
    assert!(of("training").is_empty() && of("selection").iter().all(|record| record["test"].is_null()));
    // Two epochs without a better one end the first phase.
    assert_eq!(figures.len(), (best + 3).min(6));
    assert!(result(&run)["validation"]["metrics"]["probe_top1"].is_number());
}
