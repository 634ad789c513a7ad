//! `bcl-train export --format onnx`.
//!
//! Whether ONNX Runtime computes the features that `embed` writes is checked with Python packages, which need not be there:
//! `BCL_PYTHON=venv/bin/python cargo test -p whole-program-tests --test onnx -- --ignored --nocapture`.

use image::{Rgb, RgbImage};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use whole_program_tests::{
    PLANTED_IMAGES, assert_refused, bcl_train, shown, small_graph_recipe, small_image_recipe, small_recipe,
};

fn succeeds(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
}

/// Trains a recipe for an epoch and returns the folder of its run.
fn trained(recipe: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let out = recipe.with_file_name("runs");
    let mut command = bcl_train();
    command.arg(recipe).arg("--out").arg(&out).args(["--quiet", "--epochs", "1"]);
    succeeds(command.args(flags));
    out.join(name)
}

#[test]
fn a_model_is_written_with_all_that_its_reader_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = trained(&small_image_recipe(folder.path(), PLANTED_IMAGES), "small-images-0", &[]);
    succeeds(bcl_train().arg("export").arg(&run).args(["--format", "onnx", "--quiet"]));
    let model = fs::read(run.join("model.onnx")).expect("written");
    let has = |model: &[u8], text: &str| model.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    for text in [
        "images",
        "features",
        "batch",
        "layer4.1.bn2.running_var",
        "red, green and blue in [0, 1]",
        "[0.4914,0.4822,0.4465]",
        "recipe_hash",
    ] {
        assert!(has(&model, text), "{text}");
    }
    assert!(!has(&model, "projections"));
    let other = folder.path().join("with-head.onnx");
    let mut command = bcl_train();
    command
        .arg("export")
        .arg(&run)
        .args(["--format", "onnx", "--projections", "--out"]);
    succeeds(command.arg(&other));
    assert!(has(&fs::read(&other).expect("written"), "projections"));
}

#[test]
fn what_has_no_model_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let recommender = trained(&small_recipe(folder.path(), ""), "small-0", &[]);
    let graphs = trained(&small_graph_recipe(folder.path()), "small-graphs-0", &[]);
    let refused = |run: &Path, flags: &[&str], words: &[&str]| {
        let output = bcl_train().arg("export").arg(run).args(flags).output();
        assert_refused(&output.expect("it starts"), words);
    };
    for run in [&recommender, &graphs] {
        refused(
            run,
            &["--format", "onnx"],
            &["--format onnx", "encoder.kind = \"resnet\"", "safetensors"],
        );
        assert!(!run.join("model.onnx").exists());
    }
    refused(&recommender, &["--projections"], &["--projections", "--format onnx"]);
    refused(&recommender, &["--format", "tflite"], &["tflite", "onnx"]);
    let recipe = recommender.join("recipe.toml");
    let recipe = recipe.to_str().expect("a plain path");
    refused(
        &recommender,
        &["--format", "onnx", "--out", recipe],
        &["--out", "recipe.toml"],
    );
}

const SIDE: u32 = 16;

/// Images that need no resizing, as PNG files and as raw pixels.
fn pictures(folder: &Path) {
    for (part, count) in [("train", 20), ("test", 8)] {
        for seed in 0..count {
            let class = ["cat", "dog"][seed as usize % 2];
            let value = |x: u32, y: u32, channel: u32| (x * x * 3 + y * 13 + channel * 50 + seed * 31) as u8;
            let image = RgbImage::from_fn(SIDE, SIDE, |x, y| Rgb([0, 1, 2].map(|channel| value(x, y, channel))));
            let path = folder.join(format!("pictures/{part}/{class}/{seed}.png"));
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            image.save(&path).expect("writable");
            fs::write(folder.join(format!("{part}-{seed}.rgb")), image.as_raw()).expect("writable");
        }
    }
}

/// Checks the model, then prints the largest difference between the features of ONNX Runtime and of `embed`.
const CHECKER: &str = r#"
import csv, json, os, sys
import numpy, onnx, onnxruntime
model, embeddings, pixels = sys.argv[1:]
onnx.checker.check_model(onnx.load(model), full_check=True)
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
about = session.get_modelmeta().custom_metadata_map
mean, std, side = numpy.array(json.loads(about["mean"])), numpy.array(json.loads(about["std"])), int(about["side"])
names = [os.path.basename(row["file"]) for row in csv.DictReader(open(embeddings + "/train.csv"))]
raw = [numpy.fromfile(f"{pixels}/train-{name[:-4]}.rgb", numpy.uint8).reshape(side, side, 3) for name in names]
images = ((numpy.stack(raw) / 255 - mean) / std).transpose(0, 3, 1, 2).astype(numpy.float32)
expected = numpy.load(embeddings + "/train.npy")
features, projections = session.run(["features", "projections"], {"images": images})
single = session.run(["features"], {"images": images[:1]})[0]
assert features.shape == expected.shape and projections.shape == (len(names), 8), (features.shape, projections.shape)
print(json.dumps({"features": float(abs(features - expected).max()), "single": float(abs(single - expected[:1]).max()), "scale": float(abs(expected).max())}))
"#;

#[test]
#[ignore = "needs Python with the packages onnx and onnxruntime"]
fn onnx_runtime_computes_the_features_that_embed_writes() {
    let python = std::env::var("BCL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let is_there = Command::new(&python).args(["-c", "import onnx, onnxruntime, numpy"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} lacks onnx, onnxruntime or numpy; name another Python with BCL_PYTHON");
        return;
    }
    for (depth, stem) in [
        (18, "imagenet"),
        (18, "cifar"),
        (34, "imagenet"),
        (34, "cifar"),
        (50, "imagenet"),
        (50, "cifar"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        pictures(folder.path());
        let recipe = small_image_recipe(folder.path(), "[data]\nimages = 'pictures'\n");
        let trunk = format!("encoder.trunk={{depth={depth},stem='{stem}',width=8}}");
        let run = trained(&recipe, "small-images-0", &["--set", &trunk]);
        let [model, embeddings] = ["model.onnx", "embeddings"].map(|name| run.join(name));
        succeeds(bcl_train().arg("embed").arg(&run).args(["--quiet"]));
        succeeds(
            bcl_train()
                .arg("export")
                .arg(&run)
                .args(["--format", "onnx", "--projections", "--quiet"]),
        );
        let mut check = Command::new(&python);
        check.args(["-c", CHECKER]).arg(&model).arg(&embeddings).arg(folder.path());
        let output = check.output().expect("it starts");
        assert!(output.status.success(), "{}", shown(&output));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        eprintln!("ResNet-{depth}, {stem}: {found}");
        let difference = |name: &str| found[name].as_f64().expect("a number");
        assert!(difference("features") < 1e-4 && difference("single") < 1e-4, "{found}");
    }
}
