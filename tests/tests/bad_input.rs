//! Bad input ends with exit code 2 and an error that names the place and the remedy.

use std::{fs, io::Write, path::Path, process::Output};
use whole_program_tests::{assert_refused, bcl_train, shown, small_recipe};

fn train(recipe: &Path, arguments: &[&str]) -> Output {
    let out = recipe.with_file_name("runs");
    bcl_train()
        .arg(recipe)
        .arg("--out")
        .arg(out)
        .arg("--quiet")
        .args(arguments)
        .output()
        .expect("it starts")
}

fn resume(run: &Path, arguments: &[&str]) -> Output {
    bcl_train()
        .args(arguments)
        .arg("--resume")
        .arg(run)
        .arg("--quiet")
        .output()
        .expect("it starts")
}

/// Writes train and test files and a recipe that uses them.
fn recipe_on_files(folder: &Path, train: &str, test: &str) -> std::path::PathBuf {
    fs::write(folder.join("train.csv"), train).expect("writable");
    fs::write(folder.join("test.csv"), test).expect("writable");
    let path = folder.join("files.toml");
    let text = format!(
        "name = 'files'\n[data]\ntrain = '{0}/train.csv'\ntest = '{0}/test.csv'\n[loss]\nkind = 'info_nce'\n[training]\nepochs = 1\n",
        folder.display()
    );
    fs::write(&path, text).expect("writable");
    path
}

#[test]
fn broken_data_files_are_refused_with_file_and_line() {
    let good_train = "user,item,rating\n1,1,5\n1,2,4\n2,1,3\n2,3,5\n3,2,1\n3,3,1\n";
    let good_test = "user,item,rating\n1,3,5\n2,2,4\n";
    let cases: &[(&str, &str, &[&str])] = &[
        ("user,item,rating\n1,1,5\n1\n", good_test, &["train.csv", "3"]),
        ("user,item,rating\n1,1,NaN\n2,2,1\n", good_test, &["train.csv", "2", "NaN"]),
        ("user,item,rating\n1,1,five\n2,2,1\n", good_test, &["train.csv", "2", "five"]),
        ("user,item,rating\n,1,5\n2,2,1\n", good_test, &["train.csv", "2"]),
        ("", good_test, &["train.csv", "no interaction"]),
        ("user,item,rating\n1,1,5\n1,2,5\n", "user,item,rating\n1,3,5\n", &["user"]),
        (good_train, "user,item,rating\n", &["test.csv"]),
        (good_train, "user,item,rating\n1,1,5\n", &["test.csv", "2"]),
    ];
    for (train_text, test_text, words) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = recipe_on_files(folder.path(), train_text, test_text);
        assert_refused(&train(&recipe, &[]), words);
    }
}

#[test]
fn a_truncated_gz_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = recipe_on_files(folder.path(), "", "user,item,rating\n1,3,5\n2,2,4\n");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for i in 0..5000 {
        writeln!(encoder, "{},{},1", i % 97, i * 7 % 1009).expect("memory");
    }
    let whole = encoder.finish().expect("memory");
    fs::write(folder.path().join("train.csv"), &whole[..whole.len() / 2]).expect("writable");
    assert_refused(&train(&recipe, &[]), &["train.csv", "truncated"]);
}

#[test]
fn a_missing_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = recipe_on_files(folder.path(), "1,1\n", "1,2\n");
    fs::remove_file(folder.path().join("train.csv")).expect("it was there");
    assert_refused(&train(&recipe, &[]), &["train.csv"]);
    assert_refused(&train(Path::new("no-such-recipe.toml"), &[]), &["no-such-recipe.toml"]);
}

#[test]
fn recipes_with_mistakes_are_refused_with_the_key() {
    let cases: &[(&str, &[&str])] = &[
        ("[los]\nkind = 'info_nce'\n", &["small.toml", "los", "loss"]),
        ("[optimizer]\nlearning_rat = 1\n", &["learning_rat", "learning_rate"]),
        ("[optimizer]\nlearning_rate = -1.0\n", &["learning_rate", "-1"]),
        ("[optimizer]\nlearning_rate = 'fast'\n", &["small.toml", "learning_rate"]),
        ("[optimizer\n", &["small.toml"]),
    ];
    for (more, words) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        assert_refused(&train(&small_recipe(folder.path(), more), &[]), words);
    }
}

#[test]
fn overrides_out_of_range_are_refused_by_name_value_and_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let cases: &[(&[&str], &[&str])] = &[
        (&["--set", "loss.alpha=1", "--set", "loss.beta=1"], &["alpha", "beta"]),
        (&["--set", "loss.beta=1.5"], &["beta", "1.5", "[0, 1]"]),
        (&["--set", "loss.tau_plus=1"], &["tau_plus", "1"]),
        (&["--set", "loss.temperature=0"], &["temperature"]),
        (&["--set", "loss.gamma=1"], &["gamma"]),
        (&["--set", "loss"], &["loss"]),
        (&["--set", "training.batch_size=0"], &["batch_size"]),
        (&["--set", "selection.held_out=1.0"], &["held_out"]),
        (&["--set", "encoder.dim=0"], &["dim"]),
        (&["--set", "negatives.count=0"], &["count"]),
        (&["--set", "evaluation.cutoffs=[0]"], &["cutoffs"]),
        (&["--set", "selection.metric=speed"], &["selection.metric", "speed"]),
        (&["--seed", "minus-one"], &["--seed"]),
        (&["--backend", "abacus"], &["abacus"]),
        (&["--no-such-flag"], &["--no-such-flag"]),
    ];
    for (arguments, words) in cases {
        assert_refused(&train(&recipe, arguments), words);
    }
}

#[test]
fn a_checkpoint_of_another_recipe_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let finished = train(&recipe, &["--epochs", "1"]);
    assert!(finished.status.success(), "{}", shown(&finished));
    let run = folder.path().join("runs/small-0");
    let other = resume(&run, &[recipe.to_str().expect("a plain path"), "--set", "loss.beta=0.6"]);
    assert_refused(&other, &["recipe", "small-0"]);
    assert_refused(&resume(Path::new("no-such-run"), &[]), &["no-such-run"]);

    // A recipe that was edited in the run folder is detected without one on the command line.
    fs::remove_file(run.join("result.json")).expect("it was there");
    let text = fs::read_to_string(run.join("recipe.toml")).expect("readable");
    fs::write(run.join("recipe.toml"), text.replace("beta = 0.9", "beta = 0.7")).expect("writable");
    assert_refused(&resume(&run, &[]), &["recipe.toml", "SHA-256"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_refused_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let finished = train(&recipe, &["--epochs", "1"]);
    assert!(finished.status.success(), "{}", shown(&finished));
    // Every write to /dev/full fails with "no space left on device".
    let run = folder.path().join("runs/small-0");
    let full = |path: &Path| std::os::unix::fs::symlink("/dev/full", path).expect("a link");
    let embeddings = folder.path().join("embeddings");
    fs::create_dir(&embeddings).expect("writable");
    full(&embeddings.join("users.csv"));
    full(&folder.path().join("views.png"));
    let embeddings = embeddings.to_str().expect("a plain path");
    let views = folder.path().join("views.png");
    let views = views.to_str().expect("a plain path");
    let path = run.to_str().expect("a plain path");
    for (arguments, word) in [
        (&["export", path, "--out", "/dev/full"][..], "/dev/full"),
        (&["report", path, "--out", "/dev/full"], "/dev/full"),
        (&["embed", path, "--out", embeddings], "users.csv"),
        (&["quickstart-images/bayesian", "--dump-views", views], "views.png"),
    ] {
        let output = bcl_train().args(arguments).output().expect("it starts");
        assert_refused(&output, &[word, "space"]);
    }

    let stdout = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = bcl_train().arg("recipes").stdout(stdout).output().expect("it starts");
    assert_refused(&output, &["stdout", "space"]);
    // What is said during a run is lost then, and the run is not.
    let stderr = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = bcl_train();
    command.arg(&recipe).args(["--epochs", "1", "--seed", "1", "--out"]);
    let output = command.arg(folder.path().join("runs")).stderr(stderr).output();
    assert!(output.expect("it starts").status.success());
    assert!(folder.path().join("runs/small-1/result.json").exists());

    // Files of the run itself: its result, a file of a checkpoint, and its metrics.
    let checkpoints = run.join("checkpoints/refit");
    let is_model = |name: &str| name.starts_with("model-");
    let names = fs::read_dir(&checkpoints)
        .expect("a folder")
        .map(|file| file.expect("readable").file_name());
    let model = names
        .filter_map(|name| name.into_string().ok())
        .find(|name| is_model(name))
        .expect("a checkpoint");
    let result = run.join("result.json");
    fs::remove_file(&result).expect("it was there");
    full(&result);
    assert_refused(&resume(&run, &[]), &["result.json", "space"]);

    fs::remove_file(&result).expect("it was there");
    fs::remove_dir_all(&checkpoints).expect("it was there");
    fs::create_dir(&checkpoints).expect("writable");
    full(&checkpoints.join(&model));
    let output = resume(&run, &[]);
    assert_refused(&output, &["cannot write", &model, "space", "--resume"]);
    assert!(!shown(&output).contains("Unknown error"), "{}", shown(&output));

    fs::remove_file(run.join("metrics.jsonl")).expect("it was there");
    full(&run.join("metrics.jsonl"));
    assert_refused(&resume(&run, &[]), &["metrics.jsonl", "space"]);
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_is_not_an_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = bcl_train()
        .arg("recipes")
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .output()
        .expect("it starts");
    assert!(output.stderr.is_empty(), "{}", shown(&output));
}
