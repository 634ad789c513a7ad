//! Runs `results` on what the other verbs and criterion saved, and on files that are neither.

use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};
use tempfile::TempDir;

/// A folder of saved results.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl ToString) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        fs::write(path, content.to_string()).expect("a writable folder");
    }

    fn read(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(name)).expect("the file")).expect("JSON")
    }

    fn run(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
            .args(arguments.split_whitespace())
            .args(["--results", "."])
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

/// What `loss --save` writes, with the times of two losses, which are single numbers.
fn loss(milliseconds: [f64; 2]) -> Value {
    let measurement = |loss: &str, milliseconds: f64| {
        let seconds = 1e-3 * milliseconds;
        json!({
            "name": format!("{loss} batch 64"), "seconds": { "median": seconds, "least": seconds, "most": seconds }, "repetitions": 5,
        })
    };
    json!({
        "verb": "loss",
        "environment": environment(),
        "settings": { "dim": 128 },
        "measurements": [measurement("info_nce", milliseconds[0]), measurement("hard", milliseconds[1])],
        "notes": [],
    })
}

fn environment() -> Value {
    json!({
        "version": "0.1.0", "revision": "abc", "profile": "debug", "backend": "flex", "device": "a processor", "driver": null,
        "system": "linux x86_64", "processor": "a processor", "threads": 2, "available_mib": 1000.0,
    })
}

#[test]
fn every_verb_saves_results_that_can_be_listed_and_compared() {
    let folder = Folder::new();
    for (verb, cases) in [
        ("kernels --kernel gather_rows --seconds 0", 4),
        ("loss --loss hard --rounds 1 --batch 4 --dim 4 --seconds 0", 1),
        ("step --width 2 --side 16 --batch 4 --rounds 1 --steps 2 --loss ring", 7),
        ("search --rows 100 --dim 4 --rounds 1", 5),
        (
            "scale --users 60 --items 120 --interactions 400 --steps 1 --evaluated-users 5",
            9,
        ),
    ] {
        let name = verb.split_whitespace().next().expect("a verb");
        folder.done(&format!("{verb} --save {name}-1"));
        let five = [&*format!("{name}-1"); 5].join(" ");
        folder.done(&format!(
            "results --old {five} --new {five} --fail-above 1.0 --json compared.json"
        ));
        let compared = folder.read("compared.json");
        assert_eq!((&compared[0]["kind"], compared[1].is_null()), (&json!(name), true));
        let pairs = compared[0]["pairs"].as_array().expect("a list");
        assert_eq!(pairs.len(), cases, "{compared}");
        for pair in pairs {
            assert_eq!((&pair["ratio"], &pair["verdict"]), (&json!(1.0), &json!("same")), "{pair}");
        }
    }
    let [text, _] = folder.done("results");
    for part in ["kernels-1  `bcl-bench kernels`", "loss-1", "step-1", "search-1", "scale-1"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_became_slower_ends_the_program_only_above_the_factor() {
    let folder = Folder::new();
    folder.write("loss/before.json", loss([1.0, 10.0]));
    folder.write("loss/after.json", loss([1.1, 15.0]));
    let [text, errors] = folder.done("results --old before --new after --fail-above 1.5");
    assert!(text.contains("1.50") && text.contains("no spread to judge by"), "{text}");
    assert_eq!(errors, "");

    let output = folder.run("results --old before --new after --fail-above 1.2");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "error: more than 1.2 times as long as before: hard batch 64\n");
    // The table is printed all the same.
    assert!(String::from_utf8_lossy(&output.stdout).contains("hard batch 64"));
}

#[test]
fn rounds_in_turns_are_compared_in_pairs() {
    let folder = Folder::new();
    let rounds = [1.0, 3.0, 2.0, 1.5, 1.0];
    for (round, slowdown) in rounds.iter().enumerate() {
        folder.write(&format!("loss/old{round}.json"), loss([*slowdown, 10.0 * slowdown]));
        folder.write(&format!("loss/new{round}.json"), loss([1.01 * slowdown, 5.0 * slowdown]));
    }
    let names = |side: &str| {
        (0..rounds.len())
            .map(|round| format!("{side}{round}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let [old, new] = ["old", "new"].map(names);
    let [text, _] = folder.done(&format!("results --old {old} --new {new} --json compared.json"));
    assert!(!text.contains("fewer than"), "{text}");
    let compared = &folder.read("compared.json")[0];
    assert_eq!(compared["rounds"], json!([5, 5]));
    let verdict = |pair: usize| compared["pairs"][pair]["verdict"].clone();
    assert_eq!([verdict(0), verdict(1)], ["same", "faster"], "{compared}");
}

#[test]
fn another_machine_is_warned_about() {
    let folder = Folder::new();
    folder.write("loss/old.json", loss([1.0, 1.0]));
    let mut new = loss([1.0, 1.0]);
    new["environment"]["processor"] = "another".into();
    new["environment"]["profile"] = "release".into();
    folder.write("loss/new.json", new);
    let [_, errors] = folder.done("results --old old --new new");
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
fn criterions_baselines_are_rounds() {
    let folder = Folder::new();
    for (baseline, nanoseconds) in [("a1", 100.0), ("a2", 120.0), ("new", 300.0)] {
        let median = json!({
            "point_estimate": nanoseconds,
            "confidence_interval": { "lower_bound": 0.9 * nanoseconds, "upper_bound": 1.1 * nanoseconds },
        });
        let results = format!("criterion/views/32x32/{baseline}");
        folder.write(&format!("{results}/estimates.json"), json!({ "median": median }));
        folder.write(&format!("{results}/benchmark.json"), json!({ "full_id": "views/32x32" }));
    }
    folder.done("results --old a1 a2 --new new --json compared.json");
    let compared = &folder.read("compared.json")[0];
    assert_eq!(compared["pairs"][0]["verdict"], "slower", "{compared}");
    let [text, _] = folder.done("results --new a1 a2");
    let row = text.lines().nth(1).expect("a row");
    assert!(
        row.split_whitespace()
            .eq("views/32x32 120 ns 90.0 ns 132 ns 2".split_whitespace()),
        "{text}"
    );
}

#[test]
fn files_that_cannot_be_compared_are_one_line_errors() {
    let folder = Folder::new();
    let save = |name: &str, content: &dyn ToString| folder.write(&format!("loss/{name}.json"), content.to_string());
    save("good", &loss([1.0, 2.0]));
    save("empty", &"\n");
    save("truncated", &&loss([1.0, 2.0]).to_string()[..300]);
    save("text", &"loss: 3 ms");
    save(
        "foreign",
        &json!({ "name": "a result of another program", "measurements": [] }),
    );
    save("zero", &loss([0.0, 2.0]));
    let mut changed = loss([1.0, 2.0]);
    changed["settings"]["dim"] = 64.into();
    save("narrow", &changed);
    changed["measurements"] = json!([]);
    save("skipped", &changed);
    let mut other = loss([1.0, 2.0]);
    for measurement in other["measurements"].as_array_mut().expect("a list") {
        measurement["name"] = format!("{} of another size", measurement["name"]).into();
    }
    save("other", &other);
    fs::write(folder.path("loss/bytes.json"), [0xff, 0xfe, 0x00]).expect("a writable folder");
    folder.write("step/step.json", "{}");

    for (arguments, expected) in [
        (
            "--old good --new missing",
            "has no result called missing; there are bytes, empty,",
        ),
        (
            "--old good --new good missing",
            "has no result called missing; there are bytes, empty,",
        ),
        ("--old good --new empty", "empty.json is empty"),
        (
            "--old truncated --new good",
            "truncated.json ends in line 1, in the middle of a value",
        ),
        ("--old good --new text", "text.json is not JSON"),
        ("--old good --new bytes", "bytes.json is not JSON"),
        ("--old foreign --new good", "foreign.json is not a file of `bcl-bench loss`"),
        ("--new step", "step.json is not a file of `bcl-bench step`"),
        ("--old zero --new good", "zero.json: the time of info_nce batch 64 is 0 s"),
        ("--old good --new skipped", "skipped.json contains no measurements"),
        ("--old good --new narrow", "dim is 128 in good, but 64 in narrow"),
        (
            "--new good narrow",
            "dim is 128 in ./loss/good.json, but 64 in ./loss/narrow.json",
        ),
        ("--old good --new other", "have no measurement in common"),
        (
            "--old good --new good --json no/such/folder.json",
            "cannot write no/such/folder.json",
        ),
        ("--old good --new good --fail-above 0", "must be a number above 0"),
        ("--old good --new good --fail-above much", "must be a number above 0"),
        ("--old good", "required"),
        ("--new good --fail-above 1.2", "required"),
    ] {
        let output = folder.run(&format!("results {arguments}"));
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
    let output = Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .args(["results", "--results", "no/such/folder"])
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no folder no/such/folder; measure with"));
    let empty = Folder::new();
    let output = empty.run("results --new a");
    assert!(String::from_utf8_lossy(&output.stderr).contains("measure with `bcl-bench kernels`, `loss` or `step`"));
}
