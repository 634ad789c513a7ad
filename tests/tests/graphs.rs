//! A run on graphs from start to end: train, evaluate, embed, export, report.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use whole_program_tests::{assert_refused, bcl_train, shown, small_graph_recipe};

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    output
}

/// One epoch, and the baseline that costs nothing.
const BRIEFLY: &[&str] = &["--epochs", "1", "--set", "evaluation.baselines=['majority']"];

/// Trains the small recipe with further flags and returns the folder of the run.
fn trained(folder: &Path, flags: &[&str]) -> PathBuf {
    let recipe = small_graph_recipe(folder);
    let out = folder.join("runs");
    succeeds(bcl_train().arg(recipe).arg("--out").arg(&out).arg("--quiet").args(flags));
    out.join("small-graphs-0")
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).expect("readable")).expect("JSON")
}

#[test]
fn a_run_leaves_metrics_folds_baselines_and_a_map() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = trained(folder.path(), &[]);
    let result = json(&run.join("result.json"));
    let metrics = &result["validation"]["metrics"];
    for name in ["rbf_svm", "rbf_svm_raw"] {
        let mean = metrics[name].as_f64().expect("a metric");
        let folds: Vec<f64> = result["folds"][name]
            .as_array()
            .expect("folds")
            .iter()
            .map(|fold| fold.as_f64().expect("an accuracy"))
            .collect();
        assert_eq!(folds.len(), 5);
        assert!((folds.iter().sum::<f64>() / 5.0 - mean).abs() < 1e-12);
    }
    for baseline in ["majority", "sizes", "label_counts", "weisfeiler_lehman", "random_encoder"] {
        assert!(result["baselines"][baseline]["rbf_svm"].is_f64(), "{baseline}");
    }
    assert!(result["oracle"]["metrics"]["rbf_svm"].as_f64() >= metrics["rbf_svm"].as_f64());
    assert!(run.join("map.svg").is_file());
    let page = fs::read_to_string(run.join("report.html")).expect("a report");
    assert!(page.contains("weisfeiler_lehman") && page.contains("graphs"));
}

#[test]
fn a_saved_run_is_evaluated_embedded_and_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = trained(folder.path(), &["--set", "evaluation.baselines=['majority']"]);
    let output = succeeds(bcl_train().arg("evaluate").arg(&run).arg("--json"));
    let again: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let result = json(&run.join("result.json"));
    for name in ["rbf_svm", "rbf_svm_raw"] {
        assert_eq!(again["metrics"][name], result["validation"]["metrics"][name]);
        assert_eq!(again["folds"][name], result["folds"][name]);
    }

    let vectors = folder.path().join("vectors");
    let output = succeeds(bcl_train().arg("embed").arg(&run).arg("--json").arg("--out").arg(&vectors));
    let written: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names = ["graphs.npy", "graphs_labels.npy", "graphs.csv"].map(|name| vectors.join(name));
    assert_eq!(written, serde_json::json!({ "files": names }));
    let csv = fs::read_to_string(vectors.join("graphs.csv")).expect("a file");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 60);
    assert!(
        lines[0].starts_with("graph,label,class,0,1,") && lines[0].ends_with(",15"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("1,0,AABBCC,"), "{}", lines[1]);
    for file in ["graphs.npy", "graphs_labels.npy"] {
        assert!(fs::read(vectors.join(file)).expect("a file").starts_with(b"\x93NUMPY"));
    }

    let weights = folder.path().join("gin.safetensors");
    let output = succeeds(bcl_train().arg("export").arg(&run).arg("--json").arg("--out").arg(&weights));
    let written: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(written, serde_json::json!({ "files": [weights] }));
    let bytes = fs::read(&weights).expect("a file");
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).expect("JSON");
    let names: Vec<&String> = header.as_object().expect("an object").keys().collect();
    assert!(names.iter().any(|name| name.starts_with("layers.1.")), "{names:?}");

    let output = bcl_train()
        .arg("recommend")
        .arg(&run)
        .args(["--user", "1"])
        .output()
        .expect("it starts");
    assert_refused(&output, &["graphs", "cannot recommend"]);
}

#[test]
fn the_vectors_of_graphs_do_not_replace_the_metrics_of_their_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = trained(folder.path(), BRIEFLY);
    let metrics = fs::read(run.join("graphs.csv")).expect("a file");
    let output = bcl_train().arg("embed").arg(&run).arg("--out").arg(&run).output();
    assert_refused(&output.expect("it starts"), &["--out", "graphs.csv", "would overwrite"]);
    assert!(fs::read(run.join("graphs.csv")).expect("a file") == metrics);
}

#[test]
fn changed_graphs_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = trained(folder.path(), BRIEFLY);
    let recipe = run.join("recipe.toml");
    let text = fs::read_to_string(&recipe).expect("readable");
    assert!(text.contains("noise = 0.1"), "{text}");
    fs::write(&recipe, text.replace("noise = 0.1", "noise = 0.2")).expect("writable");
    // Without checksums the changed recipe is accepted, as if the generator of the graphs had changed.
    fs::remove_file(run.join("checksums.json")).expect("it was there");
    let output = bcl_train().arg("evaluate").arg(&run).output().expect("it starts");
    assert_refused(&output, &["then and now, but not the same"]);
}

#[test]
fn views_of_graphs_train_with_every_loss_and_improve_the_encoder() {
    let folder = tempfile::tempdir().expect("a folder");
    for loss in [
        "{kind='info_nce'}",
        "{kind='info_nce',objective='jsd'}",
        "{kind='decoupled'}",
        "{kind='debiased'}",
        "{kind='hard'}",
        "{kind='bayesian'}",
        "{kind='positive_unlabelled'}",
        "{kind='ring'}",
        "{kind='adnce'}",
        "{kind='progcl'}",
        "{kind='supervised'}",
        "{kind='augmented'}",
        "{kind='geometric'}",
    ] {
        let out = tempfile::tempdir().expect("a folder");
        let recipe = small_graph_recipe(folder.path());
        succeeds(bcl_train().arg(recipe).arg("--out").arg(out.path()).arg("--quiet").args([
            "--epochs",
            "2",
            "--set",
            "method.kind=graphcl",
            "--set",
            "evaluation.baselines=['majority']",
            "--set",
            &format!("loss={loss}"),
        ]));
        let result = json(&out.path().join("small-graphs-0/result.json"));
        assert!(result["validation"]["metrics"]["rbf_svm"].is_f64(), "{loss}");
    }

    let views = ["method.kind=graphcl", "loss={kind='info_nce'}", "data.planted.graphs=150"];
    let flags: Vec<&str> = views.into_iter().flat_map(|setting| ["--set", setting]).collect();
    let result = json(&trained(folder.path(), &flags).join("result.json"));
    let [trained, untrained] = ["/validation/metrics/rbf_svm", "/baselines/random_encoder/rbf_svm"]
        .map(|place| result.pointer(place).and_then(serde_json::Value::as_f64).expect("a metric"));
    assert!(trained > untrained, "{trained} is not above {untrained}");
}

/// Writes twelve triangles and twelve paths of three nodes into the folder `RINGS`.
fn rings(folder: &Path) -> PathBuf {
    let own = folder.join("RINGS");
    fs::create_dir(&own).expect("writable");
    let edges = (0..24).map(|graph| {
        let [a, b, c] = [1, 2, 3].map(|node| 3 * graph + node);
        let closing = if graph < 12 {
            format!("{a}, {c}\n{c}, {a}\n")
        } else {
            String::new()
        };
        format!("{a}, {b}\n{b}, {a}\n{b}, {c}\n{c}, {b}\n{closing}")
    });
    let lines = |of: &dyn Fn(usize) -> usize, count: usize| {
        let lines: Vec<String> = (0..count).map(|i| of(i).to_string()).collect();
        lines.join("\n")
    };
    for (part, text) in [
        ("A", edges.collect::<String>()),
        ("graph_indicator", lines(&|node| node / 3 + 1, 72)),
        ("graph_labels", lines(&|graph| graph / 12, 24)),
    ] {
        fs::write(own.join(format!("RINGS_{part}.txt")), text).expect("writable");
    }
    own
}

/// Trains on the folder `RINGS` with further settings.
fn train_rings(folder: &Path, out: &Path, settings: &[&str]) -> Output {
    let mut command = bcl_train();
    command.arg(small_graph_recipe(folder)).arg("--out").arg(out);
    for setting in [&["data={graphs='RINGS'}", "training.epochs=2"], settings].concat() {
        command.args(["--set", setting]);
    }
    command.output().expect("it starts")
}

#[test]
fn graphs_without_labels_train_and_only_what_needs_labels_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let labels = rings(folder.path()).join("RINGS_graph_labels.txt");
    let kept = fs::read(&labels).expect("a file");
    fs::remove_file(&labels).expect("writable");
    let out = folder.path().join("runs");
    let unlabelled = ["selection.oracle=false", "evaluation.every=1"];
    let output = train_rings(folder.path(), &out, &unlabelled);
    assert!(output.status.success(), "{}", shown(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    for words in [
        "note: classifiers are off, because RINGS has no graph labels",
        "24 graphs without labels, so classifiers are off",
    ] {
        assert!(said.contains(words), "{said}");
    }

    let run = out.join("small-graphs-0");
    let result = json(&run.join("result.json"));
    let metrics = result["validation"]["metrics"].as_object().expect("metrics");
    assert_eq!(metrics.keys().collect::<Vec<_>>(), ["loss"]);
    assert_eq!((&result["data"]["classes"], result.get("folds")), (&0.into(), None));
    succeeds(
        bcl_train()
            .args(["report", "--out"])
            .arg(folder.path().join("page.html"))
            .arg(&run),
    );
    let page = fs::read_to_string(run.join("report.html")).expect("a report");
    assert!(page.contains("No graph labels") && page.contains("t-SNE") && !page.contains("of 0 classes"));
    let vectors = folder.path().join("vectors");
    succeeds(bcl_train().arg("embed").arg(&run).arg("--out").arg(&vectors));
    let csv = fs::read_to_string(vectors.join("graphs.csv")).expect("a file");
    assert_eq!(csv.lines().filter(|line| line.contains(",-1,,")).count(), 24, "{csv}");

    let output = bcl_train().arg("evaluate").arg(&run).output().expect("it starts");
    assert_refused(
        &output,
        &["RINGS has no graph labels", "nothing to evaluate", "embed", "train again"],
    );
    for (settings, words) in [
        (
            &["loss={kind='supervised'}", unlabelled[0]][..],
            "loss.kind = \"supervised\" needs the class",
        ),
        (
            &["selection.oracle=true", unlabelled[1]],
            "selection.oracle = true needs the class",
        ),
        (
            &["loss={kind='bayesian'}", "alpha_schedule={kind='measured'}", unlabelled[0]],
            "alpha_schedule.kind = \"measured\" needs the class",
        ),
    ] {
        let output = train_rings(folder.path(), &folder.path().join("none"), settings);
        assert_refused(&output, &[words, "RINGS has no graph labels", "_graph_labels.txt"]);
    }

    // The remedy of the note, followed.
    fs::write(&labels, kept).expect("writable");
    let output = bcl_train().arg("evaluate").arg(&run).output().expect("it starts");
    assert_refused(&output, &["0 classes then and 2 now", "train again"]);
    let output = train_rings(folder.path(), &folder.path().join("labelled"), &unlabelled);
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn an_epoch_without_any_negative_speaks_of_graphs() {
    let folder = tempfile::tempdir().expect("a folder");
    rings(folder.path());
    let settings = |batch_size| ["loss={kind='ring'}", batch_size];
    let output = train_rings(folder.path(), &folder.path().join("none"), &settings("training.batch_size=2"));
    let words = "all other graphs of the batch were excluded by the loss; raise training.batch_size";
    assert_refused(&output, &["no anchor of epoch 1 had a negative", words]);
    let output = train_rings(folder.path(), &folder.path().join("some"), &settings("training.batch_size=8"));
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn every_objective_and_data_source_trains() {
    let folder = tempfile::tempdir().expect("a folder");
    rings(folder.path());
    for (number, loss) in [
        "loss={kind='info_nce',objective='jsd',temperature=1.0}",
        "loss={kind='hard',objective='jsd_official',temperature=1.0,tau_plus=0.5}",
        "loss={kind='supervised'}",
        "loss={kind='augmented'}",
    ]
    .into_iter()
    .enumerate()
    {
        let recipe = small_graph_recipe(folder.path());
        let out = folder.path().join(format!("own-{number}"));
        succeeds(bcl_train().arg(recipe).arg("--out").arg(&out).arg("--quiet").args([
            "--epochs",
            "4",
            "--set",
            "data={graphs='RINGS'}",
            "--set",
            "method.similarity=dot",
            "--set",
            loss,
        ]));
        let result = json(&out.join("small-graphs-0/result.json"));
        assert_eq!(result["data"]["name"], "RINGS");
        // Degrees tell triangles from paths.
        assert_eq!(result["validation"]["metrics"]["rbf_svm"], 1.0, "{loss}");
    }
}
