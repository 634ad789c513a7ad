//! Runs `gather` and `compare` on files of the other verbs, of criterion, and on files that are neither.

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A folder in which the program runs, so that file names are short.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl ToString) {
        fs::write(self.path(name), content.to_string()).expect("a writable folder");
    }

    fn read(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(name)).expect("the file")).expect("JSON")
    }

    fn run(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .expect("the program starts")
    }

    /// Runs a command that must end with exit code 0, and returns what it prints to both streams.
    fn done(&self, arguments: &str) -> [String; 2] {
        let output = self.run(arguments);
        let [text, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        assert_eq!(output.status.code(), Some(0), "{arguments}: {text}{errors}");
        [text, errors]
    }
}

/// What `loss --json` writes, with the times of two losses.
fn loss(milliseconds: [f64; 2]) -> Value {
    let measurement = |loss: &str, milliseconds: f64| {
        json!({
            "loss": loss, "batch_size": 64, "num_negatives": 126, "median_ms": milliseconds, "repetitions": 5,
            "to_info_nce": 1.0, "extra_mib": null, "note": null, "failed": false,
        })
    };
    json!({
        "environment": environment(),
        "dim": 128,
        "measurements": [measurement("info_nce", milliseconds[0]), measurement("hard", milliseconds[1])],
        "growth": [],
    })
}

fn environment() -> Value {
    json!({
        "version": "0.1.0", "revision": "abc", "profile": "debug", "backend": "flex", "device": "a processor", "driver": null,
        "system": "linux x86_64", "processor": "a processor", "threads": 2, "available_mib": 1000.0,
    })
}

#[test]
fn results_of_every_verb_can_be_gathered_and_compared() {
    let folder = Folder::new();
    for (verb, cases) in [
        ("kernels --kernel gather_rows --seconds 0", 2),
        ("loss --loss hard --rounds 1 --batch 4 --dim 4 --seconds 0", 1),
        ("views --side 16 --threads 1 --batch 2 --rounds 2 --seconds 0", 1),
        ("step --width 2 --side 16 --batch 4 --rounds 1 --steps 2 --loss ring", 2),
    ] {
        let name = verb.split_whitespace().next().expect("a verb");
        folder.done(&format!("{verb} --json one.json"));
        folder.done("gather one.json one.json one.json one.json one.json --json five.json");
        assert_eq!(folder.read("five.json")["kind"], name);
        folder.done("compare five.json five.json --fail-above 1.0 --json compared.json");
        let compared = folder.read("compared.json");
        let pairs = compared["pairs"].as_array().expect("a list");
        assert_eq!(pairs.len(), cases, "{compared}");
        for pair in pairs {
            assert_eq!((&pair["ratio"], &pair["verdict"]), (&json!(1.0), &json!("same")), "{pair}");
        }
        // A file of the verb itself can be compared with what was gathered from it.
        folder.done("compare one.json five.json");
    }
}

#[test]
fn only_slowdowns_above_the_factor_fail() {
    let folder = Folder::new();
    folder.write("old.json", loss([1.0, 10.0]));
    folder.write("new.json", loss([1.1, 15.0]));
    let [text, errors] = folder.done("compare old.json new.json --fail-above 1.5");
    assert!(text.contains("1.50") && text.contains("no spread to judge by"), "{text}");
    assert_eq!(errors, "");

    let output = folder.run("compare old.json new.json --fail-above 1.2");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "error: more than 1.2 times as long as before: hard batch 64\n");
    // The table is printed all the same.
    assert!(String::from_utf8_lossy(&output.stdout).contains("hard batch 64"));
}

#[test]
fn alternating_runs_are_compared_in_pairs() {
    let folder = Folder::new();
    let rounds = [1.0, 3.0, 2.0, 1.5, 1.0];
    for (round, slowdown) in rounds.iter().enumerate() {
        folder.write(&format!("old{round}.json"), loss([*slowdown, 10.0 * slowdown]));
        folder.write(&format!("new{round}.json"), loss([1.01 * slowdown, 5.0 * slowdown]));
    }
    for side in ["old", "new"] {
        let files: Vec<_> = (0..rounds.len()).map(|round| format!("{side}{round}.json")).collect();
        folder.done(&format!("gather {} --json {side}.json", files.join(" ")));
    }
    let [text, _] = folder.done("compare old.json new.json --json compared.json");
    assert!(!text.contains("fewer than"), "{text}");
    let compared = folder.read("compared.json");
    assert_eq!(compared["rounds"], json!([5, 5]));
    let verdict = |pair: usize| compared["pairs"][pair]["verdict"].clone();
    assert_eq!([verdict(0), verdict(1)], ["same", "faster"], "{compared}");
}

#[test]
fn another_machine_is_warned_of() {
    let folder = Folder::new();
    folder.write("old.json", loss([1.0, 1.0]));
    let mut new = loss([1.0, 1.0]);
    new["environment"]["processor"] = "another".into();
    new["environment"]["profile"] = "release".into();
    folder.write("new.json", new);
    let [_, errors] = folder.done("compare old.json new.json");
    let warnings: Vec<_> = errors.lines().collect();
    assert_eq!(warnings.len(), 2, "{errors}");
    assert!(
        warnings[0].starts_with("warning: processor was a processor and is another"),
        "{errors}"
    );
    assert!(
        warnings[1].starts_with("warning: profile was debug and is release"),
        "{errors}"
    );
}

#[test]
fn baselines_of_criterion_are_gathered_as_rounds() {
    let folder = Folder::new();
    for (baseline, nanoseconds) in [("a1", 100.0), ("a2", 120.0), ("new", 500.0)] {
        let results = folder.path("criterion/views/32x32").join(baseline);
        fs::create_dir_all(&results).expect("a writable folder");
        let interval = json!({ "lower_bound": 0.9 * nanoseconds, "upper_bound": 1.1 * nanoseconds });
        let median = json!({ "point_estimate": nanoseconds, "confidence_interval": interval });
        write(&results.join("estimates.json"), &json!({ "median": median }));
        write(&results.join("benchmark.json"), &json!({ "full_id": "views/32x32" }));
    }
    folder.done("gather criterion --baseline a1 a2 --json old.json");
    folder.done("gather criterion --json new.json");
    folder.done("compare old.json new.json --json compared.json");
    let compared = folder.read("compared.json");
    assert_eq!(compared["pairs"][0]["verdict"], "slower", "{compared}");
    let [text, _] = folder.done("gather criterion --baseline a1 a2");
    let row = text.lines().nth(1).expect("a row");
    assert!(
        row.split_whitespace()
            .eq("views/32x32 120 ns 90.0 ns 132 ns 2".split_whitespace()),
        "{text}"
    );
}

fn write(path: &Path, value: &Value) {
    fs::write(path, value.to_string()).expect("a writable folder");
}

#[test]
fn files_that_cannot_be_compared_are_one_line_errors() {
    let folder = Folder::new();
    folder.write("good.json", loss([1.0, 2.0]));
    folder.write("empty.json", "\n");
    folder.write("truncated.json", &loss([1.0, 2.0]).to_string()[..300]);
    folder.write("text.json", "loss: 3 ms");
    folder.write(
        "foreign.json",
        json!({ "name": "a result of another program", "measurements": [] }),
    );
    folder.write("list.json", "[1, 2]");
    folder.write("zero.json", loss([0.0, 2.0]));
    let mut changed = loss([1.0, 2.0]);
    changed["dim"] = 64.into();
    folder.write("narrow.json", &changed);
    changed["measurements"] = json!([]);
    folder.write("skipped.json", &changed);
    let mut other = loss([1.0, 2.0]);
    for measurement in other["measurements"].as_array_mut().expect("a list") {
        measurement["batch_size"] = 128.into();
    }
    folder.write("other.json", other);
    folder.write(
        "views.json",
        json!({
            "environment": environment(), "batch_size": 4, "rounds": 1,
            "measurements": [{
                "side": 32, "threads": 1, "pairs_per_second": 1.0, "speed_up": 1.0,
                "views_per_second": { "median": 2.0, "least": 1.0, "most": 3.0 },
            }],
        }),
    );
    fs::create_dir(folder.path("criterion")).expect("a writable folder");
    fs::write(folder.path("bytes.json"), [0xff, 0xfe, 0x00]).expect("a writable folder");

    for (arguments, expected) in [
        ("compare good.json missing.json", "cannot read missing.json"),
        ("compare good.json empty.json", "empty.json is empty"),
        (
            "compare truncated.json good.json",
            "truncated.json ends in line 1, in the middle of a value",
        ),
        ("compare good.json text.json", "text.json is not JSON"),
        ("compare good.json bytes.json", "bytes.json is not JSON"),
        (
            "compare foreign.json good.json",
            "foreign.json is not a file of measured times",
        ),
        ("compare list.json good.json", "list.json is not a file of measured times"),
        (
            "compare zero.json good.json",
            "zero.json: the time of info_nce batch 64 is 0 s",
        ),
        ("compare good.json skipped.json", "skipped.json contains no measurements"),
        (
            "compare good.json narrow.json",
            "dim is 128 in good.json, but 64 in narrow.json",
        ),
        (
            "compare good.json views.json",
            "good.json is of `bcl-bench loss`, but views.json of `bcl-bench views`",
        ),
        ("compare good.json other.json", "have no measurement in common"),
        (
            "compare criterion good.json",
            "criterion is a folder; make a file of criterion's results with `bcl-bench gather",
        ),
        (
            "compare good.json good.json --json no/such/folder.json",
            "cannot write no/such/folder.json",
        ),
        ("compare good.json good.json --fail-above 0", "must be a number above 0"),
        ("compare good.json good.json --fail-above much", "must be a number above 0"),
        ("compare good.json", "required"),
        ("gather", "required"),
        (
            "gather criterion",
            "criterion has no results of criterion called `new`; run `cargo bench",
        ),
        ("gather good.json views.json", "they measured different things"),
        ("gather good.json other.json", "have no measurement in common"),
        ("gather missing.json", "cannot read missing.json"),
    ] {
        let output = folder.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(
            errors.starts_with("error: ") && errors.contains(expected),
            "{arguments}: {errors}"
        );
        // clap explains errors on several lines.
        let is_ours = !expected.contains("required") && !expected.contains("must be");
        assert!(!is_ours || errors.lines().count() == 1, "{arguments}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}
