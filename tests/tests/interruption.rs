//! A run that is killed, or interrupted, and resumed ends in the very bits of one that never stopped.

use std::{path::Path, process::Stdio, time::Duration};
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

#[test]
fn killed_at_any_moment_and_resumed_it_ends_as_if_it_had_never_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    run_to_the_end(&recipe, &folder.path().join("straight"));
    let expected = lasting_figures(&folder.path().join("straight/small-0"));

    // Ten moments from the first files to the last epochs, spread by the golden ratio rather than by a clock.
    let mut kills = 0;
    for i in 0..10u64 {
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
        std::thread::sleep(Duration::from_millis(40 + (i * 618) % 1000));
        kills += u32::from(child.try_wait().expect("it can be asked").is_none());
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
        kills >= 3,
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
    while !std::fs::read_to_string(run.join("metrics.jsonl")).is_ok_and(|lines| lines.contains('\n')) {
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
