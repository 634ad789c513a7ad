//! A run records the identity of its data: later commands compute on the same data from any folder, or say what differs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{
    SMALL_IMAGE_RECIPE, SMALL_RECIPE, assert_refused, bcl_bench, lasting_figures,
    pictures::{self, cats_and_dogs, jpeg},
    run_in, shown, succeeds_in, text,
};

const RECIPE: &str = "name = 'mine'\n[data]\nfile = 'ratings.csv'\n[encoder]\ndim = 8\n[loss]\nkind = 'info_nce'\n[negatives]\ncount = 8\n\
    [training]\nbatch_size = 64\nepochs = 3\n[evaluation]\nbaselines = []\n";

/// Interactions of 30 users, each with up to 8 of 40 items.
fn rows() -> Vec<String> {
    let row = |user: usize, item: usize| format!("u{user},i{}", (user * 7 + item * item * 3 + item) % 40);
    let mut rows: Vec<String> = (0..30).flat_map(|user| (0..8).map(move |item| row(user, item))).collect();
    rows.sort();
    rows.dedup();
    // Not grouped by user, like the lines of a log file.
    rows.sort_by_key(|row| row.chars().rev().collect::<String>());
    rows
}

fn write_rows(path: &Path, rows: &[String]) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("writable");
    fs::write(path, format!("user,item\n{}\n", rows.join("\n"))).expect("writable");
}

/// A finished run of a recipe with its data next to it.
struct Finished {
    folder: tempfile::TempDir,
    run: PathBuf,
}

impl Finished {
    fn recommender() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        write_rows(&folder.path().join("ratings.csv"), &rows());
        Self::train(folder, RECIPE, "mine.toml", "runs/mine-0")
    }

    fn images() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        pictures::write(folder.path(), &cats_and_dogs(10, 4));
        let recipe = SMALL_IMAGE_RECIPE.replace("epochs = 20", "epochs = 2") + "[data]\nimages = 'pictures'\n";
        Self::train(folder, &recipe, "images.toml", "runs/small-images-0")
    }

    /// Trains with relative paths only.
    fn train(folder: tempfile::TempDir, recipe: &str, file: &str, run: &str) -> Self {
        fs::write(folder.path().join(file), recipe).expect("writable");
        succeeds_in(folder.path(), &[file, "--out", "runs", "--quiet"]);
        let run = folder.path().join(run);
        Self { folder, run }
    }

    fn ratings(&self) -> PathBuf {
        self.folder.path().join("ratings.csv")
    }

    /// Removes the result, as if the run had been killed before writing it.
    fn without_result(self) -> Self {
        fs::remove_file(self.run.join("result.json")).expect("it was there");
        self
    }

    /// The output of `recommend`, `evaluate` and `embed`, run from a folder.
    fn figures_in(&self, folder: &Path) -> Vec<String> {
        let run = text(&self.run);
        let out = folder.join("vectors");
        let printed = |arguments: &[&str]| {
            let output = succeeds_in(folder, arguments);
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        let mut figures = vec![
            printed(&["recommend", run, "--user", "u3", "--json", "--quiet"]),
            printed(&["evaluate", run, "--json", "--quiet"]),
        ];
        printed(&["embed", run, "--out", text(&out)]);
        for table in ["users", "items"] {
            let csv = fs::read_to_string(out.join(table).with_extension("csv")).expect("vectors");
            let array = fs::read(out.join(table).with_extension("npy")).expect("vectors");
            assert_eq!(of_csv(&csv), of_npy(&array), "{table}");
            figures.push(csv);
        }
        figures
    }

    /// Asserts that each command is refused with these words and leaves the run unchanged.
    fn is_refused(&self, verbs: &[&[&str]], words: &[&str]) {
        let before = files(&self.run);
        for verb in verbs {
            let mut arguments = verb.to_vec();
            arguments.insert(1, text(&self.run));
            let output = run_in(self.folder.path(), &arguments);
            assert_refused(&output, words);
            let blamed = String::from_utf8_lossy(&output.stderr).contains("error: --label-fractions");
            assert!(!blamed, "{verb:?} blames a flag that was not given\n{}", shown(&output));
            assert_eq!(output.stdout, b"", "{verb:?} printed results\n{}", shown(&output));
            assert!(files(&self.run) == before, "{verb:?} wrote into the run");
        }
    }
}

/// The numbers of a table with a header and an id in the first column.
fn of_csv(text: &str) -> Vec<f32> {
    let rows = text.lines().skip(1);
    rows.flat_map(|row| row.split(',').skip(1))
        .map(|number| number.parse().expect("a number"))
        .collect()
}

/// The numbers of a NumPy array of `float32`.
fn of_npy(bytes: &[u8]) -> Vec<f32> {
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let numbers = bytes[header..].chunks_exact(4);
    numbers
        .map(|number| f32::from_le_bytes(number.try_into().expect("four bytes")))
        .collect()
}

const OF_RECOMMENDERS: &[&[&str]] = &[&["--resume"], &["recommend", "--user", "u3"], &["evaluate"], &["embed"]];
const OF_IMAGES: &[&[&str]] = &[&["--resume"], &["evaluate"], &["embed"]];

/// All files below a folder with their content, except the lock file, which every command rewrites.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with(".lock") {
            let content = fs::read(&path).expect("readable");
            found.insert(path, content);
        }
    }
    found
}

#[test]
fn rows_in_another_order_give_the_same_items_vectors_and_figures() {
    let finished = Finished::recommender();
    let figures = finished.figures_in(finished.folder.path());
    let (lasting, weights) = (lasting_figures(&finished.run), fs::read(finished.run.join("model.bpk")));
    let mut reversed = rows();
    reversed.reverse();
    write_rows(&finished.ratings(), &reversed);
    assert_eq!(finished.figures_in(finished.folder.path()), figures);

    // Also when training starts again from the beginning.
    let finished = finished.without_result();
    fs::remove_dir_all(finished.run.join("checkpoints")).expect("they were there");
    succeeds_in(finished.folder.path(), &["--resume", text(&finished.run), "--quiet"]);
    assert_eq!(lasting_figures(&finished.run), lasting);
    assert!(fs::read(finished.run.join("model.bpk")).ok() == weights.ok(), "other weights");
}

#[test]
fn every_command_refuses_other_interactions_and_names_the_difference() {
    type Change = fn(&mut Vec<String>);
    let cases: &[(Change, &[&str])] = &[
        (|rows| rows.push("u3,i39".to_owned()), &["training interactions then and"]),
        (|rows| rows.push("somebody,i3".to_owned()), &["30 users then and 31 now"]),
        (|rows| rows.push("u3,something".to_owned()), &["40 items then and 41 now"]),
        (|rows| rows.truncate(rows.len() / 2), &["training interactions then and"]),
        (
            |rows| rows.extend((0..400).map(|i| format!("u{},i{}", i % 30, i % 37))),
            &["training interactions then and"],
        ),
        // A file of the same size with two groups of items swapped.
        (
            |rows| {
                for row in rows {
                    *row = row.replace(",i1", ",x").replace(",i2", ",i1").replace(",x", ",i2");
                }
            },
            &["then and now, but not the same"],
        ),
    ];
    let finished = Finished::recommender().without_result();
    for (change, words) in cases {
        let mut rows = rows();
        change(&mut rows);
        write_rows(&finished.ratings(), &rows);
        finished.is_refused(
            OF_RECOMMENDERS,
            &[words, &["mine-0", "ratings.csv", "--data DIR"][..]].concat(),
        );
    }
}

#[test]
fn an_order_in_time_that_decides_what_is_held_out_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |order: fn(usize) -> usize| {
        let row = |row: &String, time: usize| format!("{row},{time}\n");
        let rows: Vec<String> = rows().iter().enumerate().map(|(i, of)| row(of, order(i))).collect();
        fs::write(
            folder.path().join("ratings.csv"),
            "user,item,timestamp\n".to_owned() + &rows.concat(),
        )
        .expect("writable");
    };
    write(|i| 1000 + i);
    let recipe = RECIPE.replace("file = 'ratings.csv'", "file = 'ratings.csv'\nsplit = { order = 'time' }");
    fs::write(folder.path().join("mine.toml"), recipe).expect("writable");
    succeeds_in(folder.path(), &["mine.toml", "--out", "runs", "--quiet"]);
    // The first hundred interactions change places with each other. No user's newest interactions are among them.
    write(|i| if i < 100 { 1099 - i } else { 1000 + i });
    let output = run_in(folder.path(), &["evaluate", "runs/mine-0"]);
    assert_refused(
        &output,
        &["places of training interactions in time then and now, but not the same"],
    );
}

#[test]
fn every_command_refuses_other_images_and_names_the_difference() {
    let finished = Finished::images().without_result();
    let picture = |name: &str| finished.folder.path().join("pictures").join(name);
    let original = fs::read(picture("train/cat/3.jpg")).expect("a picture");

    fs::write(picture("train/cat/3.jpg"), jpeg(77)).expect("writable");
    finished.is_refused(OF_IMAGES, &["20 training images then and now, but not the same", "pictures"]);
    fs::write(picture("train/cat/3.jpg"), &original).expect("writable");

    fs::write(picture("train/cat/new.jpg"), jpeg(78)).expect("writable");
    finished.is_refused(OF_IMAGES, &["20 training images then and 21 now"]);
    fs::remove_file(picture("train/cat/new.jpg")).expect("it was there");

    fs::write(picture("test/dog/0.jpg"), jpeg(79)).expect("writable");
    finished.is_refused(OF_IMAGES, &["8 test images then and now, but not the same"]);
    fs::write(picture("test/dog/0.jpg"), jpeg(100)).expect("writable");

    fs::rename(picture("train/cat"), picture("train/lynx")).expect("writable");
    fs::rename(picture("test/cat"), picture("test/lynx")).expect("writable");
    finished.is_refused(OF_IMAGES, &["2 classes then and now, but not the same"]);
    fs::rename(picture("train/lynx"), picture("train/cat")).expect("writable");
    fs::rename(picture("test/lynx"), picture("test/cat")).expect("writable");

    succeeds_in(finished.folder.path(), &["--resume", text(&finished.run), "--quiet"]);
}

#[test]
fn every_command_works_from_any_folder() {
    let finished = Finished::recommender();
    let figures = finished.figures_in(finished.folder.path());
    // A folder with another file of the same name.
    let elsewhere = tempfile::tempdir().expect("a folder");
    for decoy in ["ratings.csv", "data/ratings.csv"] {
        write_rows(&elsewhere.path().join(decoy), &rows()[..100]);
    }
    assert_eq!(finished.figures_in(elsewhere.path()), figures);
    let record = fs::read_to_string(finished.run.join("run.json")).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    for folder in ["data_dir", "recipe_dir"] {
        assert!(Path::new(record[folder].as_str().expect("a path")).is_absolute(), "{record}");
    }
    let finished = finished.without_result();
    succeeds_in(elsewhere.path(), &["--resume", text(&finished.run), "--quiet"]);
}

#[test]
fn moved_data_are_found_with_the_data_flag() {
    let finished = Finished::recommender().without_result();
    let folder = finished.folder.path();
    let moved = folder.join("moved/ratings.csv");
    write_rows(&moved, &[]);
    fs::rename(finished.ratings(), &moved).expect("writable");
    let run = text(&finished.run);

    finished.is_refused(
        OF_RECOMMENDERS,
        &["data.file", "ratings.csv", "beside the recipe", text(folder), "--data DIR"],
    );
    let nowhere: &[&[&str]] = &[
        &["--resume", "--data", "nowhere"],
        &["evaluate", "--data", "nowhere"],
        &["recommend", "--user", "u3", "--data", "nowhere"],
    ];
    finished.is_refused(nowhere, &["--data nowhere", "no such folder"]);
    // `--data` with other data is refused, whether or not the run's own data are in their old place.
    write_rows(&folder.join("other/ratings.csv"), &rows()[..100]);
    let other: &[&[&str]] = &[&["--resume", "--data", "other"], &["evaluate", "--data", "other"]];
    finished.is_refused(other, &["other/ratings.csv", "training interactions then and"]);
    fs::copy(&moved, finished.ratings()).expect("writable");
    finished.is_refused(other, &["other/ratings.csv", "training interactions then and"]);
    fs::remove_file(finished.ratings()).expect("it was there");

    succeeds_in(folder, &["--resume", run, "--data", "moved", "--quiet"]);
    // The new location is recorded.
    succeeds_in(&folder.join("other"), &["evaluate", run]);
}

#[test]
fn files_are_searched_beside_the_recipe_and_in_the_data_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    for name in ["recipes", "store"] {
        fs::create_dir(place(name)).expect("writable");
    }
    fs::write(place("recipes/mine.toml"), RECIPE).expect("writable");
    let images = format!("{SMALL_IMAGE_RECIPE}[data]\nimages = 'pictures'\n").replace("epochs = 20", "epochs = 1");
    fs::write(place("recipes/images.toml"), &images).expect("writable");
    let weights = images.replace("kind = \"resnet\"", "kind = \"resnet\"\nweights = 'w.safetensors'");
    fs::write(place("recipes/weights.toml"), weights).expect("writable");
    let train = |recipe: &str, more: &[&str]| {
        let arguments = [&[recipe, "--data", "store", "--quiet", "--out", "runs"], more].concat();
        run_in(folder.path(), &arguments)
    };
    let is_missing = |recipe: &str, key: &str, file: &str| {
        let [beside, store] = [place("recipes"), place("store")];
        let words = [key, file, "beside the recipe", text(&beside), text(&store), "--data DIR"];
        assert_refused(&train(recipe, &[]), &words);
        assert!(!place("runs").exists(), "a folder was left behind");
    };
    is_missing("recipes/mine.toml", "data.file", "ratings.csv");
    is_missing("recipes/images.toml", "data.images", "pictures");
    pictures::write(&place("recipes"), &cats_and_dogs(10, 4));
    is_missing("recipes/weights.toml", "encoder.weights", "w.safetensors");

    let users_of = |run: &str| {
        let result = fs::read(place("runs").join(run).join("result.json")).expect("a result");
        let result: serde_json::Value = serde_json::from_slice(&result).expect("JSON");
        result["data"]["users"].as_u64().expect("a number")
    };
    let trained = |output: Output| assert!(output.status.success(), "{}", shown(&output));
    write_rows(&place("store/ratings.csv"), &rows());
    trained(train("recipes/mine.toml", &[]));
    assert_eq!(users_of("mine-0"), 30);
    let some: Vec<String> = rows().into_iter().filter(|row| !row.starts_with("u1")).collect();
    write_rows(&place("recipes/ratings.csv"), &some);
    trained(train("recipes/mine.toml", &["--seed", "1"]));
    assert_eq!(users_of("mine-1"), 19, "the file next to the recipe comes first");

    trained(train("recipes/images.toml", &[]));
    let run = place("runs/small-images-0");
    succeeds_in(folder.path(), &["export", text(&run), "--out", "recipes/w.safetensors"]);
    trained(train("recipes/weights.toml", &["--seed", "1"]));
    let run = place("runs/small-images-1");
    fs::remove_file(run.join("result.json")).expect("it was there");
    succeeds_in(&place("store"), &["--resume", text(&run), "--quiet"]);
    // A finished run does not need its initial weights, so a flag may name their file.
    fs::remove_file(place("recipes/w.safetensors")).expect("it was there");
    succeeds_in(folder.path(), &["export", text(&run), "--out", "recipes/w.safetensors"]);
}

#[test]
fn a_run_without_data_json_is_refused() {
    let finished = Finished::recommender();
    fs::remove_file(finished.run.join("data.json")).expect("it was there");
    finished.is_refused(&OF_RECOMMENDERS[1..], &["data.json", "restore it from a copy"]);
    finished
        .without_result()
        .is_refused(&[&["--resume"]], &["data.json", "start the run again"]);
}

/// A folder with two recipes and their data file.
fn recipes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write_rows(&folder.path().join("recipes/ratings.csv"), &rows());
    for (name, more) in [("plain", ""), ("decoupled", "")] {
        let recipe = RECIPE.replace("'mine'", &format!("'{name}'")) + more;
        let loss = if name == "plain" { "info_nce" } else { "decoupled" };
        let path = folder.path().join("recipes").join(name).with_extension("toml");
        fs::write(path, recipe.replace("info_nce", loss)).expect("writable");
    }
    folder
}

fn table(folder: &Path, more: &[&str]) -> Output {
    let arguments = [
        "table",
        "recipes",
        "--out",
        "out",
        "--budget",
        "1",
        "--tuning-seeds",
        "1",
        "--quiet",
        "--jobs",
        "2",
        "--seeds",
    ];
    bcl_bench()
        .args(arguments)
        .args(more)
        .current_dir(folder)
        .output()
        .expect("it starts")
}

#[test]
fn a_table_finds_files_beside_its_recipes_and_resumes_with_the_same_data_only() {
    let folder = recipes();
    let made = |seeds: &str| {
        let output = table(folder.path(), &[seeds]);
        assert!(output.status.success(), "{}", shown(&output));
        fs::read(folder.path().join("out/table.json")).expect("a table")
    };
    let first = made("1");
    let ratings = folder.path().join("recipes/ratings.csv");
    let mut reversed = rows();
    reversed.reverse();
    write_rows(&ratings, &reversed);
    assert!(made("1") == first);
    fs::remove_dir_all(folder.path().join("out/test")).expect("it was there");
    assert!(made("1") == first, "testing with rows in another order changed the table");

    reversed.push("u3,i39".to_owned());
    write_rows(&ratings, &reversed);
    assert_refused(&table(folder.path(), &["2"]), &["out", "training interactions then and"]);
}

#[test]
fn a_tuning_trial_cannot_be_used_as_a_run() {
    let folder = recipes();
    let output = table(folder.path(), &["1"]);
    assert!(output.status.success(), "{}", shown(&output));
    let trial = folder.path().join("out/tuning/plain-000-seed-0");
    let before = files(&trial);
    for verb in [
        &["--resume"][..],
        &["evaluate"],
        &["embed"],
        &["recommend", "--user", "u3"],
        &["export"],
    ] {
        let mut arguments = verb.to_vec();
        arguments.insert(1, text(&trial));
        assert_refused(
            &run_in(folder.path(), &arguments),
            &["tuning trial", "bcl-bench table recipes"],
        );
        assert!(files(&trial) == before, "{verb:?} wrote into the trial");
    }
}

#[test]
fn checkpoints_of_other_data_are_refused_in_a_folder_whose_data_are_right() {
    let finished = Finished::recommender().without_result();
    let other = Finished::recommender();
    write_rows(&other.ratings(), &rows()[..120]);
    fs::remove_dir_all(&other.run).expect("it was there");
    let run = ["mine.toml", "--out", "runs", "--quiet"];
    succeeds_in(other.folder.path(), &run);
    for name in ["checkpoints", "metrics.jsonl"] {
        let (from, to) = (other.run.join(name), finished.run.join(name));
        if to.is_dir() {
            fs::remove_dir_all(&to).expect("it was there");
        } else {
            fs::remove_file(&to).expect("it was there");
        }
        fs::rename(from, to).expect("one file system");
    }
    finished.is_refused(&[&["--resume"]], &["checkpoint", "other data"]);
}

#[test]
fn planted_data_are_told_apart_by_their_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let finished = Finished::train(folder, SMALL_RECIPE, "small.toml", "runs/small-0").without_result();
    let recipe = finished.run.join("recipe.toml");
    let changed = fs::read_to_string(&recipe)
        .expect("readable")
        .replace("num_users = 120", "num_users = 121");
    fs::write(&recipe, changed).expect("writable");
    // Without checksums the changed recipe is accepted, as if the generator of the data had changed.
    fs::remove_file(finished.run.join("checksums.json")).expect("it was there");
    finished.is_refused(&[&["--resume"]], &["120 users then and 121 now"]);
}
