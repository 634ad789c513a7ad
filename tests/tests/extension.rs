//! A finished run that is extended to more epochs ends with bit-identical results to a run that had them from the start.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};
use whole_program_tests::{
    PLANTED_IMAGES, assert_refused, bcl_train, lasting_figures, shown, small_graph_recipe, small_image_recipe, small_recipe,
    until_met,
};

/// What depends on earlier epochs: points of every step, a warm-up, and an α that is estimated from earlier epochs.
const WITH_MEMORY: &str =
    "[logging]\nevery = 1\ntensorboard = true\n[optimizer]\nwarmup_epochs = 1\n[alpha_schedule]\nkind = 'label_free'\n";

/// Two phases for images; the last epoch of an odd limit is evaluated only because it is the last.
const SELECTION: &str = "--set=selection.held_out=0.25 --set=evaluation.every=2";

/// A recipe in its own folder, and flags of all of its runs.
struct Case {
    folder: tempfile::TempDir,
    name: &'static str,
    flags: Vec<&'static str>,
}

impl Case {
    fn new(write: impl Fn(&Path) -> PathBuf, name: &'static str, flags: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path());
        let flags = flags.split_whitespace().collect();
        Self { folder, name, flags }
    }

    fn recommender(flags: &'static str) -> Self {
        Self::new(|folder| small_recipe(folder, WITH_MEMORY), "small", flags)
    }

    fn images(flags: &'static str) -> Self {
        let data = format!("{PLANTED_IMAGES}{WITH_MEMORY}");
        Self::new(|folder| small_image_recipe(folder, &data), "small-images", flags)
    }

    fn graphs(flags: &'static str) -> Self {
        let write = |folder: &Path| {
            let recipe = small_graph_recipe(folder);
            let text = fs::read_to_string(&recipe).expect("readable");
            fs::write(&recipe, format!("{text}{WITH_MEMORY}")).expect("writable");
            recipe
        };
        Self::new(write, "small-graphs", flags)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = bcl_train();
        command.current_dir(self.folder.path()).args(arguments).arg("--quiet");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it starts")
    }

    fn ok(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", shown(&output));
        output
    }

    /// Trains the recipe with so many epochs into a folder.
    fn train(&self, epochs: &str, out: &str) {
        let recipe = format!("{}.toml", self.name);
        let arguments = [recipe.as_str(), "--epochs", epochs, "--out", out];
        self.ok(&[&arguments[..], &self.flags].concat());
    }

    /// The folder of a run in a folder for runs.
    fn path(&self, out: &str, number: &str) -> PathBuf {
        self.folder.path().join(out).join(format!("{}-0{number}", self.name))
    }

    /// Extends a run of `before` epochs to `after`, in several steps, and compares it with a run from the start.
    fn is_exact(&self, steps: &[&str]) {
        let (first, last) = (steps[0], steps[steps.len() - 1]);
        self.train(last, "straight");
        self.train(first, "runs");
        let finished = lasting_figures(&self.path("runs", ""));
        for (epochs, number) in steps[1..].iter().zip(["", ".2", ".3"]) {
            // As shells complete it.
            let run = format!("{}/", self.path("runs", number).display());
            self.ok(&["--resume", &run, "--epochs", epochs]);
        }
        let number = ["", "", ".2", ".3"][steps.len()];
        let [extended, straight] = [self.path("runs", number), self.path("straight", "")];
        assert_same(&extended, &straight);
        assert_eq!(lasting_figures(&self.path("runs", "")), finished, "the shorter run stays");
    }
}

fn assert_same(extended: &Path, straight: &Path) {
    let name = extended.display();
    assert_eq!(lasting_figures(extended), lasting_figures(straight), "{name}");
    let model = |run: &Path| fs::read(run.join("model.bpk")).expect("weights");
    assert!(model(extended) == model(straight), "{name}: the weights differ");
    assert!(!extended.join("checkpoints/inherited").exists(), "{name}");
}

#[test]
fn a_recommender_that_ended_at_its_limit_is_extended_exactly() {
    for (flags, steps) in [
        ("--set=training.patience=20", &["2", "5", "9"][..]),
        ("--set=training.patience=3", &["4", "30"]),
        ("--set=training.patience=2 --set=selection.oracle=true", &["3", "20"]),
        ("--set=training.patience=20 --set=selection.oracle=true", &["3", "8"]),
    ] {
        Case::recommender(flags).is_exact(steps);
    }
}

#[test]
fn a_run_on_images_is_extended_exactly() {
    for (flags, steps) in [
        ("", &["2", "3", "5"][..]),
        (SELECTION, &["2", "5"]),
        (SELECTION, &["3", "6"]),
        ("--set=method={kind='moco',queue=50}", &["2", "3"]),
    ] {
        Case::images(flags).is_exact(steps);
    }
}

#[test]
fn a_run_on_graphs_is_extended_exactly() {
    Case::graphs("").is_exact(&["3", "7"]);
    // An encoder that was only evaluated is trained from its start.
    Case::graphs("--set=selection.oracle=false").is_exact(&["0", "3"]);
}

#[test]
fn an_extension_without_the_checkpoints_of_the_shorter_run_trains_from_the_start() {
    let case = Case::recommender("--set=training.patience=20");
    case.train("5", "straight");
    for (kept, out) in [("refit", "first"), ("none", "second")] {
        case.train("2", out);
        let run = case.path(out, "");
        fs::remove_dir_all(run.join("checkpoints/selection")).expect("one checkpoint is kept");
        if kept == "none" {
            fs::remove_dir_all(run.join("checkpoints")).expect("the rest");
        }
        case.ok(&["--resume", run.to_str().expect("UTF-8"), "--epochs", "5"]);
        assert_same(&case.path(out, ".2"), &case.path("straight", ""));
    }
}

#[test]
fn a_finished_run_keeps_one_checkpoint_of_its_first_phase_if_that_ended_at_the_limit() {
    let case = Case::recommender("");
    let kept = |out: &str, flags: &[&str]| {
        let arguments = ["small.toml", "--epochs", "5", "--out", out];
        case.ok(&[&arguments[..], flags].concat());
        let folder = case.path(out, "").join("checkpoints/selection");
        fs::read_dir(folder).map_or(0, Iterator::count)
    };
    assert_eq!(
        kept("limit", &["--set=training.patience=9"]),
        4,
        "three records and their progress"
    );
    assert_eq!(
        kept(
            "patience",
            &["--set=training.patience=1", "--set=optimizer.learning_rate=1e-9"]
        ),
        0
    );
    assert_eq!(
        kept("cosine", &["--set=training.patience=9", "--set=optimizer.schedule=cosine"]),
        0
    );
}

#[test]
fn a_run_that_ended_by_patience_is_shown_and_not_trained() {
    let case = Case::recommender("--set=training.patience=1 --set=optimizer.learning_rate=1e-9");
    case.train("9", "runs");
    let arguments = ["--resume", "runs/small-0", "--epochs", "20"];
    let output = bcl_train()
        .current_dir(case.folder.path())
        .args(arguments)
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert!(shown(&output).contains("no epoch is added"), "{}", shown(&output));
    assert!(!case.path("runs", ".2").exists());
}

#[test]
fn what_could_not_equal_the_longer_run_is_refused_with_its_reason() {
    let case = Case::recommender("--set=training.patience=9");
    case.train("3", "runs");
    let extend = |arguments: &[&str]| case.run(&[&["--resume", "runs/small-0"], arguments].concat());
    let by_recipe =
        |arguments: &[&str]| case.run(&[&["small.toml", "--set=training.patience=9", "--resume"], arguments].concat());
    for (output, words) in [
        (extend(&["--epochs", "2"]), &["has training.epochs = 3 already", "larger"][..]),
        (extend(&["--epochs", "0"]), &["epochs"]),
        (extend(&["--epochs", "2000000"]), &["epochs", "2000000"]),
        (extend(&["--epochs", "5", "--set", "loss.beta=0.6"]), &["remove --set"]),
        (extend(&["--epochs", "5", "--seeds", "0..2"]), &["--seeds or --out"]),
        (extend(&["--epochs", "5", "--out", "elsewhere"]), &["--seeds or --out"]),
        (
            extend(&["small.toml", "small.toml", "--epochs", "5"]),
            &["one recipe at most"],
        ),
        (
            extend(&["small.toml", "--epochs", "5"]),
            &["another recipe or seed", "training.patience: 9 there, 3 here"],
        ),
        (
            by_recipe(&["--epochs", "5", "--set", "loss.beta=0.6"]),
            &["loss.beta", "0.6 here"],
        ),
        (
            by_recipe(&["--epochs", "5", "--seed", "0", "--set", "encoder.dim=4"]),
            &["encoder.dim: 8 there, 4 here"],
        ),
        (by_recipe(&["--epochs", "2"]), &["has training.epochs = 3 already"]),
        (
            case.run(&["--resume", "small.toml", "--epochs", "5"]),
            &["is a recipe", "small.toml --resume"],
        ),
        (
            case.run(&["--resume", "nothing", "--epochs", "5"]),
            &["nothing", "holds no run"],
        ),
    ] {
        assert_refused(&output, words);
    }
    for (flag, name) in [
        ("--set=optimizer.schedule=cosine", "optimizer.schedule = \"cosine\""),
        (
            "--set=method={kind='byol',hidden=4,momentum_schedule='cosine'}",
            "method.momentum_schedule = \"cosine\"",
        ),
        (
            "--set=method={kind='dino',prototypes=8,momentum_schedule='cosine'}",
            "method.momentum_schedule = \"cosine\"",
        ),
    ] {
        let case = Case::new(
            |folder| {
                let recipe = small_image_recipe(folder, PLANTED_IMAGES);
                let text = fs::read_to_string(&recipe).expect("readable");
                let (before, after) = text.split_once("[loss]").expect("a loss");
                let after = after.split_once("[training]").expect("behind it").1;
                let loss = if flag.contains("method") {
                    ""
                } else {
                    "[loss]\nkind = 'info_nce'\n"
                };
                fs::write(&recipe, format!("{before}{loss}[training]{after}")).expect("writable");
                recipe
            },
            "small-images",
            flag,
        );
        case.train("1", "runs");
        let output = case.run(&["--resume", "runs/small-images-0", "--epochs", "5"]);
        assert_refused(&output, &["cannot be extended", name, "leave out --resume"]);
    }
}

#[test]
fn the_runs_of_all_seeds_are_extended_together() {
    let case = Case::recommender("--set=training.patience=20");
    let seeds = |out: &str, seeds: &str, more: &[&str]| {
        let arguments = ["small.toml", "--set=training.patience=20", "--seeds", seeds, "--out", out];
        case.ok(&[&arguments[..], more].concat())
    };
    seeds("runs", "0..2", &["--epochs", "2"]);
    seeds("straight", "0..3", &["--epochs", "4"]);
    let printed = seeds("runs", "0..3", &["--epochs", "4", "--resume", "--print-recipe"]);
    assert!(String::from_utf8_lossy(&printed.stdout).contains("epochs = 4"));
    assert!(!case.path("runs", ".2").exists(), "printing trains nothing");

    seeds("runs", "0..3", &["--epochs", "4", "--resume"]);
    let path = |out: &str, name: &str| case.folder.path().join(out).join(name);
    assert_same(&path("runs", "small-0.2"), &path("straight", "small-0"));
    assert_same(&path("runs", "small-1.2"), &path("straight", "small-1"));
    assert_same(&path("runs", "small-2"), &path("straight", "small-2"));
    assert!(path("runs", "report.html").is_file());

    // What is extended is shown the next time.
    seeds("runs", "0..3", &["--epochs", "4", "--resume"]);
    assert!(!path("runs", "small-0.3").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_extension_continues_by_the_same_command() {
    let case = Case::recommender("--set=training.patience=900");
    case.train("300", "straight");
    case.train("3", "runs");
    let extend = ["--resume", "runs/small-0", "--epochs", "300"];
    let longer = case.path("runs", ".2");
    until_met("still extending", |_| {
        let _ = fs::remove_dir_all(&longer);
        let mut child = case
            .command(&extend)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let epochs = || fs::read_to_string(longer.join("metrics.jsonl")).map_or(0, |text| text.lines().count());
        while epochs() < 8 && child.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let killed = child.kill();
        child.wait().expect("it ends");
        (killed.is_ok() && !longer.join("result.json").exists()).then_some(())
    });
    let finished = case.path("runs", "");
    assert!(finished.join("result.json").is_file() && finished.join("model.bpk").is_file());
    case.ok(&extend);
    assert_same(&longer, &case.path("straight", ""));
    assert!(!case.path("runs", ".3").exists(), "it went on in the same folder");
}
