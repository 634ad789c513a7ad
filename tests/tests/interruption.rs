//! A run that is killed, or interrupted, and resumed ends in the very bits of one that never stopped.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};
use whole_program_tests::{bcl_train, lasting_figures, shown, small_recipe};

fn run_to_the_end(recipe: &Path, out: &Path) {
    let output = bcl_train()
        .arg(recipe)
        .arg("--out")
        .arg(out)
        .arg("--quiet")
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
}

fn resume(run: &Path) {
    let output = bcl_train()
        .arg("--resume")
        .arg(run)
        .arg("--quiet")
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
}

/// Epochs that a run has recorded so far.
fn num_epochs(run: &Path) -> u64 {
    fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |lines| lines.matches('\n').count() as u64)
}

#[test]
fn killed_at_any_moment_and_resumed_it_ends_as_if_it_had_never_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let straight = folder.path().join("straight");
    run_to_the_end(&recipe, &straight);
    let expected = lasting_figures(&straight.join("small-0"));
    let epochs = num_epochs(&straight.join("small-0"));

    // Ten moments from the first files to the last epochs, each at another point of its epoch.
    let mut kills = 0;
    for i in 0..10 {
        let out = folder.path().join(format!("killed-{i}"));
        let run = out.join("small-0");
        let mut child = bcl_train()
            .arg(&recipe)
            .arg("--out")
            .arg(&out)
            .arg("--quiet")
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let running = |child: &mut Child| child.try_wait().expect("it can be asked").is_none();
        while num_epochs(&run) < epochs * i / 10 && running(&mut child) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(i * 6 % 10));
        kills += u32::from(running(&mut child));
        let _ = child.kill();
        child.wait().expect("it ends");
        if run.join("recipe.toml").exists() {
            resume(&run);
        } else {
            // Killed before the run had a folder: nothing is lost, the same command starts it.
            run_to_the_end(&recipe, &out);
        }
        assert_eq!(lasting_figures(&run), expected, "killed at moment {i}");
    }
    assert!(
        kills >= 8,
        "only {kills} of 10 runs were killed before they ended: the recipe is too small for this test"
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_exits_with_130_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    run_to_the_end(&recipe, &folder.path().join("straight"));
    let expected = lasting_figures(&folder.path().join("straight/small-0"));

    let out = folder.path().join("interrupted");
    let run = out.join("small-0");
    let child = bcl_train()
        .arg(&recipe)
        .arg("--out")
        .arg(&out)
        .arg("--quiet")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The first line of metrics says that the training is under way and Ctrl-C listened for.
    while num_epochs(&run) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let signalled = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(signalled.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("--resume"),
        "{}",
        shown(&output)
    );
    assert!(!run.join("result.json").exists());

    resume(&run);
    assert_eq!(lasting_figures(&run), expected);
}
