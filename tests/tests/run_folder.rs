//! Run folders with damaged or edited files, or locked by another process: results never change silently.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};
use whole_program_tests::{assert_refused, bcl_bench, bcl_train, lasting_figures, shown, small_recipe};

/// Settings that make a run longer than any test.
const FOREVER: [&str; 2] = ["training.epochs=1000000", "training.patience=1000000"];

/// A run that looks as if it was killed at the end of its second phase, and the same run without interruption.
struct Runs {
    folder: tempfile::TempDir,
    interrupted: PathBuf,
    straight: PathBuf,
}

impl Runs {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_recipe(folder.path(), "");
        let out = |name: &str| folder.path().join(name);
        let train = |name: &str| {
            command(&[
                recipe.as_os_str(),
                "--out".as_ref(),
                out(name).as_os_str(),
                "--epochs".as_ref(),
                "4".as_ref(),
            ])
        };
        succeeds(train("straight"));
        succeeds(train("interrupted"));
        let interrupted = out("interrupted/small-0");
        for name in ["result.json", "report.html"] {
            fs::remove_file(interrupted.join(name)).expect("it was there");
        }
        Self {
            interrupted,
            straight: out("straight/small-0"),
            folder,
        }
    }

    /// Copies a run to a new folder.
    fn copy(&self, run: &Path) -> PathBuf {
        let copy = tempfile::tempdir_in(self.folder.path())
            .expect("a folder")
            .keep()
            .join("small-0");
        copy_folder(run, &copy);
        copy
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("writable");
        }
    }
}

fn command(arguments: &[&std::ffi::OsStr]) -> Command {
    let mut command = bcl_train();
    command.args(arguments);
    command
}

fn resume(run: &Path) -> Output {
    bcl_train().arg("--resume").arg(run).output().expect("it starts")
}

fn verb(verb: &str, run: &Path, arguments: &[&str]) -> Output {
    bcl_train().arg(verb).arg(run).args(arguments).output().expect("it starts")
}

fn succeeds(mut command: Command) -> Output {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    output
}

/// All files below a folder.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files_of(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

fn flip_a_bit(file: &Path) {
    let mut bytes = fs::read(file).expect("readable");
    let place = bytes.len() / 3;
    bytes[place] ^= 4;
    fs::write(file, bytes).expect("writable");
}

/// Asserts that the run either ended with the uninterrupted run's results and weights or was refused with the file's name.
fn assert_refused_or_same(output: &Output, run: &Path, straight: &Path, damaged: &Path) {
    let name = damaged.file_name().and_then(|name| name.to_str()).expect("a plain name");
    if !output.status.success() {
        assert_refused(output, &[name]);
        return;
    }
    assert_eq!(lasting_figures(run), lasting_figures(straight), "{name}");
    let weights = |run: &Path| fs::read(run.join("model.bpk")).expect("a finished run has weights");
    assert!(weights(run) == weights(straight), "{name}: other weights");
}

#[test]
fn a_flipped_bit_in_an_interrupted_run_is_refused_or_changes_nothing() {
    let runs = Runs::new();
    let mut fallen_back = 0;
    for file in files_of(&runs.interrupted) {
        let within = file.strip_prefix(&runs.interrupted).expect("a file of the run");
        if fs::metadata(&file).expect("there").len() == 0 {
            continue;
        }
        let run = runs.copy(&runs.interrupted);
        flip_a_bit(&run.join(within));
        let output = resume(&run);
        assert_refused_or_same(&output, &run, &runs.straight, within);
        let said = String::from_utf8_lossy(&output.stderr).contains("continuing from the checkpoint after step");
        let name = within.file_name().expect("a file").to_string_lossy();
        let is_of_newest =
            within.starts_with("checkpoints/refit") && name.contains(&format!("-{}.", newest_step(&runs.interrupted)));
        assert_eq!(said, is_of_newest, "{name}\n{}", shown(&output));
        fallen_back += u32::from(said);
    }
    assert_eq!(fallen_back, 4, "three records and the progress of the newest checkpoint");
}

/// The step of the newest checkpoint of the second phase.
fn newest_step(run: &Path) -> usize {
    let of = |path: &PathBuf| {
        path.to_str()?
            .rsplit_once("refit/progress-")?
            .1
            .strip_suffix(".json")?
            .parse()
            .ok()
    };
    files_of(run).iter().filter_map(of).max().expect("a checkpoint")
}

#[test]
fn a_flipped_bit_in_a_finished_run_is_refused_by_every_verb_that_reads_the_file() {
    let runs = Runs::new();
    for (name, refused) in [
        ("recipe.toml", &["--resume", "evaluate", "embed", "export"][..]),
        ("run.json", &["--resume", "evaluate", "embed", "export"]),
        ("model.bpk", &["--resume", "evaluate", "embed", "export"]),
        ("result.json", &["--resume", "report"]),
        ("metrics.jsonl", &["--resume", "report"]),
        ("checksums.json", &["--resume", "report", "evaluate", "embed", "export"]),
    ] {
        let run = runs.copy(&runs.straight);
        flip_a_bit(&run.join(name));
        for &what in refused {
            let out = runs.folder.path().join("page.html");
            let arguments = if what == "report" {
                vec!["--out", out.to_str().expect("plain")]
            } else {
                Vec::new()
            };
            assert_refused(&verb(what, &run, &arguments), &[name, "damaged"]);
        }
    }
}

#[test]
fn a_run_of_an_earlier_version_is_read_with_a_note() {
    let runs = Runs::new();
    let run = runs.copy(&runs.interrupted);
    fs::remove_file(run.join("checksums.json")).expect("it was there");
    for file in files_of(&run) {
        if file.extension().is_some_and(|extension| extension == "json") && file.to_string_lossy().contains("progress-") {
            write_progress(&file, |_| {});
        }
    }
    let output = resume(&run);
    assert!(output.status.success(), "{}", shown(&output));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("read without checking them") && said.contains("would go unnoticed"),
        "{said}"
    );
    assert_eq!(lasting_figures(&run), lasting_figures(&runs.straight));
}

/// Edits a progress file and removes its checksums, as in files of an earlier version, so that the edit is not detected by them.
fn write_progress(file: &Path, edit: impl FnOnce(&mut Value)) {
    let mut progress: Value = serde_json::from_slice(&fs::read(file).expect("readable")).expect("JSON");
    let fields = progress.as_object_mut().expect("an object");
    fields.remove("sha256");
    fields.remove("checksum");
    edit(&mut progress);
    fs::write(file, progress.to_string()).expect("writable");
}

type Edit = fn(&mut Value);

#[test]
fn an_edited_progress_file_is_refused_or_leads_to_an_older_checkpoint() {
    let runs = Runs::new();
    let newest = newest_step(&runs.interrupted);
    let edits: [(&str, Edit); 27] = [
        ("step 0", |progress| progress["step"] = 0.into()),
        ("step 1", |progress| progress["step"] = 1.into()),
        ("step huge", |progress| progress["step"] = u64::MAX.into()),
        ("step negative", |progress| progress["step"] = (-1).into()),
        ("step fraction", |progress| progress["step"] = 1.5.into()),
        ("epoch 0", |progress| progress["epoch"] = 0.into()),
        ("epoch beyond the records", |progress| progress["epoch"] = 5.into()),
        ("epoch huge", |progress| progress["epoch"] = u64::MAX.into()),
        ("phase selection", |progress| progress["phase"] = "selection".into()),
        ("phase training", |progress| progress["phase"] = "training".into()),
        ("phase unknown", |progress| progress["phase"] = "dreaming".into()),
        ("seed", |progress| progress["seed"] = 7.into()),
        ("recipe", |progress| progress["recipe_hash"] = "0".into()),
        ("anchors huge", |progress| progress["anchors"] = u64::MAX.into()),
        ("anchors at the beginning of an epoch", |progress| {
            progress["anchors"] = 7.into();
        }),
        ("loss without anchors", |progress| progress["loss_sum"] = 1e300.into()),
        ("loss NaN", |progress| progress["loss_sum"] = Value::Null),
        ("no records", |progress| progress["records"] = Value::Array(Vec::new())),
        ("records twice", |progress| {
            let records = progress["records"].as_array_mut().expect("an array");
            records.extend(records.clone());
        }),
        ("records reversed", |progress| {
            progress["records"].as_array_mut().expect("an array").reverse();
        }),
        ("record of epoch 0", |progress| progress["records"][0]["epoch"] = 0.into()),
        ("record of epoch 99", |progress| progress["records"][0]["epoch"] = 99.into()),
        ("record of another phase", |progress| {
            progress["records"][0]["phase"] = "training".into();
        }),
        ("no validation metrics", |progress| {
            for record in progress["records"].as_array_mut().expect("an array") {
                record.as_object_mut().expect("an object").remove("validation");
            }
        }),
        ("metrics that are not numbers", |progress| {
            progress["records"][0]["validation"]["ndcg@20"] = Value::Null;
        }),
        ("records that are not a list", |progress| progress["records"] = 3.into()),
        ("nothing", |progress| *progress = Value::Null),
    ];
    for (what, edit) in edits {
        let run = runs.copy(&runs.interrupted);
        let file = run.join(format!("checkpoints/refit/progress-{newest}.json"));
        write_progress(&file, edit);
        let output = resume(&run);
        if output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("continuing from the checkpoint"), "{what}: {}", shown(&output));
            assert_eq!(lasting_figures(&run), lasting_figures(&runs.straight), "{what}");
        } else {
            eprintln!("{what}: {}", String::from_utf8_lossy(&output.stderr));
            assert_refused(&output, &["checkpoint"]);
        }
    }
}

#[test]
fn a_running_run_is_not_resumed_and_its_process_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let out = folder.path().join("runs");
    let mut live = bcl_train()
        .arg(&recipe)
        .arg("--out")
        .arg(&out)
        .arg("--quiet")
        .args(FOREVER.map(|set| format!("--set={set}")))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let run = out.join("small-0");
    wait_until(&mut live, || {
        fs::read_to_string(run.join("metrics.jsonl")).is_ok_and(|lines| lines.matches('\n').count() > 1)
    });
    let refused = resume(&run);
    live.kill().expect("it is ours");
    live.wait().expect("it is ours");
    let holder = format!("process {} on ", live.id());
    assert_refused(&refused, &["small-0", "is in use by", &holder, "since"]);
    let lines = fs::read_to_string(run.join("metrics.jsonl")).expect("readable");
    let epochs: Vec<u64> = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["epoch"].as_u64())
        .collect();
    assert!(epochs.iter().zip(1..).all(|(epoch, number)| *epoch == number), "{epochs:?}");
    assert_free(&run);
}

#[test]
fn concurrent_runs_of_one_recipe_get_different_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let out = folder.path().join("runs");
    let start = || {
        let mut command = bcl_train();
        command.arg(&recipe).arg("--out").arg(&out).args(["--epochs", "1", "--quiet"]);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    };
    let runs: Vec<_> = (0..3).map(|_| start()).collect();
    for run in runs {
        let output = run.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", shown(&output));
    }
    let figures = ["small-0", "small-0.2", "small-0.3"].map(|name| lasting_figures(&out.join(name)));
    assert!(figures[0] == figures[1] && figures[1] == figures[2]);
}

#[test]
fn a_folder_in_which_a_table_is_made_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let out = folder.path().join("table");
    let table = || {
        let mut command = bcl_bench();
        command.arg("table").arg(&recipe).arg("--out").arg(&out);
        command
            .args(["--budget", "0", "--seeds", "1", "--quiet"])
            .args(FOREVER.map(|set| format!("--set={set}")));
        command
    };
    let mut first = table().stdout(Stdio::null()).spawn().expect("it starts");
    // The plan is written once the folder is locked.
    wait_until(&mut first, || out.join("plan.json").exists());
    let second = table().output().expect("it starts");
    first.kill().expect("it is ours");
    first.wait().expect("it is ours");
    let holder = format!("process {} on ", first.id());
    assert_refused(&second, &["table", "is in use by", &holder]);
    assert_free(&out);
}

/// Asserts that the lock of a killed process is free.
fn assert_free(folder: &Path) {
    let lock = fs::File::open(folder.join(".lock")).expect("the file stays");
    lock.try_lock().expect("the system released the lock");
}

fn wait_until(child: &mut Child, is_so: impl Fn() -> bool) {
    while !is_so() {
        assert!(
            child.try_wait().expect("it is ours").is_none(),
            "it trains for a million epochs"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_that_was_killed_before_its_report_gets_one_and_unfinished_files_go() {
    let runs = Runs::new();
    let run = runs.copy(&runs.straight);
    let page = fs::read(run.join("report.html")).expect("a page");
    fs::remove_file(run.join("report.html")).expect("it was there");
    let output = resume(&run);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(fs::read(run.join("report.html")).expect("a page") == page);

    let run = runs.copy(&runs.interrupted);
    let left = ["result.json.tmp", "checkpoints/refit/model-9.bpk.77.tmp"].map(|name| run.join(name));
    for file in &left {
        fs::write(file, "half a fi").expect("writable");
    }
    let output = resume(&run);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(left.iter().all(|file| !file.exists()));
}

#[test]
fn files_of_a_run_are_not_overwritten_by_a_flag() {
    let runs = Runs::new();
    let run = &runs.straight;
    let model = run.join("model.bpk");
    let recipe = runs.folder.path().join("small.toml");
    let before = [&model, &recipe].map(|file| fs::read(file).expect("readable"));
    let text = |path: &Path| path.to_str().expect("plain").to_owned();
    for (what, out) in [
        ("export", text(&model)),
        ("export", text(&recipe)),
        ("report", text(&model)),
        ("report", text(&recipe)),
    ] {
        assert_refused(&verb(what, run, &["--out", &out]), &["--out", "would overwrite"]);
    }
    let checkpoints = text(&run.join("checkpoints"));
    assert_refused(&verb("embed", run, &["--out", &checkpoints]), &["--out", "would overwrite"]);
    let views = |picture: &str| {
        let mut command = bcl_train();
        command.args(["quickstart-images/bayesian", "--dump-views", picture]);
        command.output().expect("it starts")
    };
    assert_refused(&views(&text(&recipe)), &["--dump-views", "PNG"]);
    let bench = bcl_bench()
        .arg("report")
        .arg(runs.folder.path())
        .arg("--out")
        .arg(&model)
        .output();
    assert_refused(&bench.expect("it starts"), &["--out", "would overwrite"]);
    assert_refused(
        &verb("export", run, &["--out", "no-such-folder/w.safetensors"]),
        &["no-such-folder/w.safetensors", "check the path"],
    );
    for (file, before) in [&model, &recipe].into_iter().zip(before) {
        assert!(fs::read(file).expect("readable") == before, "{}", file.display());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf_8_is_shown_or_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let runs = Runs::new();
    let strange = runs.folder.path().join(OsStr::from_bytes(b"runs-\xff"));
    let run = strange.join("small-0");
    copy_folder(&runs.straight, &run);
    for (what, arguments) in [
        ("evaluate", &["--json"][..]),
        ("recommend", &["--user", "0", "--json"]),
        ("embed", &["--json"]),
    ] {
        let output = verb(what, &run, arguments);
        assert!(output.status.success(), "{}", shown(&output));
        let _: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    }
    // A new run records where its data are.
    let out = runs.folder.path().join("new");
    let recipe = runs.folder.path().join("small.toml");
    let output = command(&[
        recipe.as_os_str(),
        "--data".as_ref(),
        strange.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
    ])
    .output();
    assert_refused(&output.expect("it starts"), &["is not UTF-8; rename the folder"]);
    assert!(!out.exists());
}

#[test]
fn a_run_keeps_the_whole_recipe_that_extends_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipes = folder.path().join("recipes");
    fs::create_dir(&recipes).expect("writable");
    fs::rename(small_recipe(folder.path(), ""), recipes.join("_base.toml")).expect("one file system");
    let child = "extends = '_base.toml'\nloss.kind = 'info_nce'\ntraining.epochs = 2\n";
    fs::write(recipes.join("child.toml"), child).expect("writable");

    // The folder has one recipe: the base is there to be extended.
    let out = folder.path().join("runs");
    succeeds(command(&[
        recipes.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
        "--seed".as_ref(),
        "1".as_ref(),
    ]));
    let runs: Vec<_> = fs::read_dir(&out).expect("a folder").collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let kept = fs::read_to_string(out.join("child-1/recipe.toml")).expect("readable");
    assert!(!kept.contains("extends") && !kept.contains("tau_plus"), "{kept}");
    assert!(kept.contains("kind = \"info_nce\"\ntemperature = 0.3\n"), "{kept}");

    // It needs its parent no more.
    fs::remove_dir_all(&recipes).expect("it was there");
    for name in ["result.json", "report.html"] {
        fs::remove_file(out.join("child-1").join(name)).expect("it was there");
    }
    let resumed = resume(&out.join("child-1"));
    assert!(resumed.status.success(), "{}", shown(&resumed));
    assert_eq!(fs::read_to_string(out.join("child-1/recipe.toml")).expect("readable"), kept);
}
