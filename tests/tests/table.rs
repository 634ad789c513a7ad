//! A benchmark table that is killed and continued ends with the same bytes, and invalid arguments are refused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};
use whole_program_tests::{PLANTED_IMAGES, SMALL_IMAGE_RECIPE, SMALL_RECIPE, assert_refused, bcl_bench, shown, until_met};

/// A folder with two recipes that differ in the loss.
fn recipes(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("writable");
    fs::create_dir(folder.path().join("recipes")).expect("writable");
    write("recipes/bayesian.toml", text.replace("name = \"small", "name = \"bayesian"));
    let info_nce = text.replace("\"bayesian\"", "\"info_nce\"").replace("tau_plus = 0.1\n", "");
    write("recipes/infonce.toml", info_nce.replace("name = \"small", "name = \"infonce"));
    folder
}

/// A table of these recipes alone.
fn table(folder: &Path, out: &str, arguments: &[&str]) -> (Command, PathBuf) {
    let (mut command, out) = table_with_oracle(folder, out, arguments);
    command.arg("--without-oracle");
    (command, out)
}

fn table_with_oracle(folder: &Path, out: &str, arguments: &[&str]) -> (Command, PathBuf) {
    let out = folder.join(out);
    let mut command = bcl_bench();
    command.arg("table").arg(folder.join("recipes")).arg("--out").arg(&out);
    command.args(["--quiet", "--jobs", "2"]).args(arguments);
    (command, out)
}

fn to_the_end((mut command, out): (Command, PathBuf)) -> Vec<u8> {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    fs::read(out.join("table.json")).expect("a finished table is kept")
}

/// Number of runs that have recorded an epoch.
fn begun(out: &Path) -> usize {
    let runs = |part: &str| fs::read_dir(out.join(part)).into_iter().flatten().flatten();
    let has_begun = |run: &fs::DirEntry| run.path().join("metrics.jsonl").exists();
    runs("tuning").chain(runs("test")).filter(has_begun).count()
}

/// Kills the command once `runs` runs have begun. Returns whether it was still running.
fn killed_after((mut command, out): (Command, PathBuf), runs: usize) -> bool {
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    while begun(&out) < runs && child.try_wait().expect("it is ours").is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    let was_running = child.try_wait().expect("it is ours").is_none();
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    was_running
}

fn survives_three_kills(text: &str, arguments: &[&str], kills: [usize; 3]) {
    let folder = recipes(text);
    let straight = to_the_end(table(folder.path(), "straight", arguments));
    let interrupted = until_met("still making its table", |attempt| {
        let name = format!("interrupted-{attempt}");
        let make = || table(folder.path(), &name, arguments);
        kills.into_iter().all(|runs| killed_after(make(), runs)).then(make)
    });
    let resumed = to_the_end(interrupted);
    assert!(
        resumed == straight,
        "{}\n{}",
        String::from_utf8_lossy(&resumed),
        String::from_utf8_lossy(&straight)
    );
}

#[test]
fn a_table_of_recommenders_killed_three_times_equals_one_that_was_not() {
    // Eight trials with two seeds each in the first rung, four in the second, and four tests.
    let arguments = ["--search", "halving", "--budget", "4", "--tuning-seeds", "2", "--seeds", "2"];
    survives_three_kills(SMALL_RECIPE, &arguments, [2, 17, 26]);
}

#[test]
fn a_table_of_image_encoders_killed_three_times_equals_one_that_was_not() {
    let text = format!("{SMALL_IMAGE_RECIPE}{PLANTED_IMAGES}").replace("epochs = 20", "epochs = 8");
    // Four trials and two tests.
    survives_three_kills(&text, &["--budget", "2", "--tuning-seeds", "1", "--seeds", "1"], [1, 3, 5]);
}

#[test]
fn seeds_are_added_to_a_table_and_other_changes_are_refused() {
    let folder = recipes(SMALL_RECIPE);
    let make = |arguments: &[&str]| table(folder.path(), "t", arguments);
    to_the_end(make(&["--budget", "1", "--seeds", "1"]));
    let more = to_the_end(make(&["--budget", "1", "--seeds", "2"]));
    let more: serde_json::Value = serde_json::from_slice(&more).expect("JSON");
    assert_eq!(more["rows"][0]["figures"]["ndcg@20"]["count"], 2);
    let trials = more["rows"][0]["trials"][0]["figures"].as_array().map(Vec::len);
    assert_eq!(trials, Some(3), "a trial is the mean over three seeds");
    assert_eq!(more["rows"][0]["held_out"].as_object().map(serde_json::Map::len), Some(2));
    let looks: Vec<u64> = more["looks"]
        .as_array()
        .expect("looks")
        .iter()
        .filter_map(|look| look["seeds"].as_u64())
        .collect();
    assert_eq!(looks, [1, 2], "both looks at the test set are recorded");
    assert_eq!(
        more["pairs"][0]["test"], "bootstrap",
        "recommenders are compared over users and seeds"
    );
    let text = fs::read_to_string(folder.path().join("t/table.md")).expect("a table");
    for words in [
        "Power: with this scatter",
        "fewer than 5 seeds",
        "too few seeds",
        "The test set was looked at before: `",
    ] {
        assert!(text.contains(words), "`{words}` is missing in\n{text}");
    }
    let output = make(&["--budget", "2", "--seeds", "2"]).0.output().expect("it starts");
    assert_refused(&output, &["another table", "budget was 1 and is 2", "--out"]);
}

#[test]
fn the_supervised_loss_shows_what_could_be_gained() {
    let folder = recipes(SMALL_RECIPE);
    let table = to_the_end(table_with_oracle(folder.path(), "t", &["--budget", "0", "--seeds", "5"]));
    let table: serde_json::Value = serde_json::from_slice(&table).expect("JSON");
    let names: Vec<_> = table["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["infonce", "bayesian", "supervised"]);
    assert_eq!(table["pairs"].as_array().map(Vec::len), Some(1), "an oracle is no candidate");
    let headroom = &table["headroom"][0];
    assert_eq!(headroom["paired"]["row"], "supervised");
    assert_eq!(headroom["paired"]["other"], "infonce");
    let [least, most] = [0, 1].map(|end| table["rows"][1]["weights"][end].as_f64().expect("a weight"));
    assert!(0.0 < least && least < 1.0 && 1.0 < most, "{least} to {most}");
    let text = fs::read_to_string(folder.path().join("t/table.md")).expect("a table");
    for words in ["Against infonce: ", "Headroom: ", "share of the headroom", "| weights |"] {
        assert!(text.contains(words), "`{words}` is missing in\n{text}");
    }
    let report = |flag: &str| {
        let output = bcl_bench().arg("report").arg(folder.path().join("t")).arg(flag).output();
        output.expect("it starts")
    };
    let checked = report("--check");
    assert!(checked.status.success(), "{}", shown(&checked));
    fs::write(folder.path().join("t/table.md"), text.replace("Headroom", "Elbow room")).expect("writable");
    assert_refused(&report("--check"), &["problems found: 1", "--update"]);
    assert!(report("--update").status.success());
    assert!(report("--check").status.success());
}

#[test]
fn a_parameter_is_fixed_and_estimators_without_it_are_shown_separately() {
    let folder = recipes(SMALL_RECIPE);
    let (mut command, out) = table(
        folder.path(),
        "s",
        &["--budget", "0", "--seeds", "1", "--fix", "beta=0.5,0.9"],
    );
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    let text = fs::read(out.join("sensitivity.json")).expect("curves are kept");
    let curves: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(curves["curves"][0]["row"], "bayesian");
    assert_eq!(curves["curves"][0]["points"][1][0], 0.9);
    assert_eq!(curves["curves"].as_array().map(Vec::len), Some(1));
    assert_eq!(curves["levels"][0][0], "infonce");
    let held_out = curves["curves"][0]["held_out"].as_array().map(Vec::len);
    assert_eq!(held_out, Some(2), "held-out data choose the value");
    assert_eq!(curves["tables"][0][1]["corrected_for"], 0, "a sweep of one row has no pairs");
    let recipe = fs::read_to_string(out.join("beta-0.9/test/bayesian-0/recipe.toml")).expect("every run is kept");
    assert!(recipe.contains("beta = 0.9"), "{recipe}");
}

#[test]
fn the_page_of_a_folder_holds_its_tables_and_loads_nothing() {
    let folder = recipes(SMALL_RECIPE);
    to_the_end(table(folder.path(), "results/t", &["--budget", "2", "--seeds", "2"]));
    let results = folder.path().join("results");
    fs::write(
        results.join("notes.md"),
        "# Notes <b>on</b> this\n\nSee [there](https://example.org).\n",
    )
    .expect("writable");
    let report = |folder: &Path| bcl_bench().arg("report").arg(folder).output().expect("it starts");
    let output = report(&results);
    assert!(output.status.success(), "{}", shown(&output));
    let page = fs::read_to_string(results.join("report.html")).expect("a page is written");
    for words in [
        "bayesian",
        "infonce",
        "Holm",
        "<h2>Notes &lt;b&gt;on&lt;/b&gt; this</h2>",
        "loss.temperature",
    ] {
        assert!(page.contains(words), "`{words}` is missing");
    }
    for load in ["<script", "<link", "src=\"http", "url(http", "@import"] {
        assert!(!page.contains(load), "the page has `{load}`");
    }
    assert_refused(
        &report(&folder.path().join("recipes")),
        &["contains no results", "bcl-bench table"],
    );
    assert_refused(&report(&folder.path().join("nowhere")), &["nowhere"]);
    fs::write(results.join("t/table.json"), "{").expect("writable");
    assert_refused(&report(&results), &["table.json", "create it again"]);
}

#[test]
fn bad_ranges_and_flags_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let ranges = folder.path().join("ranges.toml");
    fs::write(
        &ranges,
        "[recommender.shared]\n\"loss.temperature\" = { log = [0.0, 1.0] }\n[images]\n",
    )
    .expect("writable");
    let ranges = ranges.to_str().expect("a path of letters");
    let beyond = folder.path().join("beyond.toml");
    fs::write(
        &beyond,
        "[recommender.bayesian]\n\"loss.alpha\" = { uniform = [1.5, 1.5] }\n[images]\n",
    )
    .expect("writable");
    let beyond = beyond.to_str().expect("a path of letters");
    let misspelt = folder.path().join("misspelt.toml");
    fs::write(
        &misspelt,
        "[images]\n[recommender.shared]\n\"loss.temprature\" = { log = [0.1, 1.0] }\n",
    )
    .expect("writable");
    let misspelt = misspelt.to_str().expect("a path of letters");
    let data = folder.path().join("data.toml");
    fs::write(
        &data,
        "[recommender.shared]\n\"data.min_rating\" = { choice = [5] }\n[images]\n",
    )
    .expect("writable");
    let data = data.to_str().expect("a path of letters");
    let cases: &[(&[&str], &[&str])] = &[
        (&["10"], &["--dataset", "ml-100k", "gowalla"]),
        (&["7", "--dataset", "cifar10"], &["no table 7", "2, 3, 4, 5, 8, 10"]),
        (&["10", "--dataset", "ml-100"], &["--dataset ml-100", "table 10", "ml-100k"]),
        (&["10", "--dataset", "ml-100k", "--encoder", "gin"], &["gin", "light_gcn"]),
        (&["10", "--dataset", "ml-100k", "--seeds", "0"], &["--seeds", "from 1 to"]),
        (&["10", "--dataset", "ml-100k", "--budget", "many"], &["--budget"]),
        (&["10", "--dataset", "ml-100k", "--set", "loss.betta=1"], &["loss.betta"]),
        (&["10", "--dataset", "ml-100k", "--ranges", "nowhere.toml"], &["nowhere.toml"]),
        (
            &["quickstart", "--ranges", ranges],
            &["ranges.toml", "loss.temperature", "positive"],
        ),
        (&["quickstart", "--ranges", beyond], &["loss.alpha", "1.5"]),
        (
            &["quickstart", "--ranges", misspelt],
            &[
                "misspelt.toml:3",
                "loss.temprature",
                "no recipe of quickstart",
                "did you mean loss.temperature?",
            ],
        ),
        (
            &["quickstart", "--ranges", data],
            &["data.toml:2", "data.min_rating", "changes the data", "optimizer"],
        ),
        (&["quickstart", "--set", "seed=4"], &["--set seed", "--seeds"]),
        (&["quickstart", "--set", "name=x"], &["--set name", "leave it out"]),
        (&["quickstart", "--fix", "seed=1,2"], &["--fix seed", "--seeds"]),
        (&["quickstart", "--fix", "negatives=4.5,8"], &["negatives=4.5", "use 4 or 5"]),
        (
            &["quickstart", "--fix", "temperature=0.2", "--set", "loss.temperature=0.3"],
            &["--fix temperature", "--set loss.temperature", "leave one of them out"],
        ),
        (&["quickstart", "--fix", "warmth=1"], &["warmth", "temperature"]),
        (&["quickstart", "--fix", "temperature=warm"], &["warm", "such as"]),
        (&["quickstart", "--fix", "temperature=-1"], &["temperature", "-1"]),
        (&["table10", "--encoder", "mf"], &["two recipes", "mf-infonce"]),
        (&["10", "--dataset", "ml-100k", "--data", "nowhere"], &["nowhere"]),
        (&["quickstart", "--backend", "flex", "--device", "7"], &["7"]),
    ];
    for (arguments, words) in cases {
        let out = folder.path().join("out");
        let mut command = bcl_bench();
        command.arg("table").args(*arguments).arg("--out").arg(&out);
        let output = command.output().expect("it starts");
        assert_refused(&output, words);
        assert!(!out.exists(), "{arguments:?} left a folder behind");
    }
}
