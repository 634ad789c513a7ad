//! Searching a folder of images with the encoder of a run: neighbours, near-duplicates, subsets, and their cache.

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{
    PLANTED_IMAGES, assert_refused, bcl_train,
    pictures::{Files, cats_and_dogs, jpeg, write},
    shown, small_graph_recipe, small_image_recipe, small_recipe,
};

/// A folder with a trained run, and pictures that it was not trained on.
struct Trained {
    folder: tempfile::TempDir,
    run: PathBuf,
}

impl Trained {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
        let trained = Self {
            run: folder.path().join("runs/small-images-0"),
            folder,
        };
        trained.succeeds(&[text(&recipe), "--epochs", "1", "--out", "runs", "--quiet"]);
        trained
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut program = bcl_train();
        program
            .current_dir(self.folder.path())
            .args(arguments)
            .output()
            .expect("it starts")
    }

    fn search(&self, verb: &str, arguments: &[&str]) -> Output {
        self.run(&[&[verb, text(&self.run)], arguments].concat())
    }

    fn succeeds(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}\n{}", shown(&output));
        output
    }

    fn found(&self, verb: &str, arguments: &[&str]) -> Output {
        self.succeeds(&[&[verb, text(&self.run)], arguments].concat())
    }

    fn json(&self, verb: &str, arguments: &[&str]) -> Value {
        let output = self.found(verb, &[arguments, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{}", shown(&output)))
    }

    fn write(&self, files: &Files) {
        write(self.folder.path(), files);
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Twelve different pictures in one folder, without labels.
fn flat() -> Files {
    (0..12)
        .map(|seed| (format!("photos/{seed:02}.jpg"), jpeg(seed * 3)))
        .collect()
}

/// The files of the only query's neighbours.
fn files(found: &Value) -> Vec<&str> {
    let near = found["queries"][0]["neighbours"].as_array().expect("neighbours");
    near.iter().map(|near| near["file"].as_str().expect("a name")).collect()
}

#[test]
fn neighbours_come_nearest_first_with_a_page_and_are_computed_once() {
    let trained = Trained::new();
    trained.write(&flat());
    // Between the second and the third picture of the folder.
    trained.write(&[("query.jpg".to_owned(), jpeg(7)), ("copy.jpg".to_owned(), jpeg(6))].into());
    let found = trained.json("neighbours", &["query.jpg", "--in", "photos", "--top", "5"]);
    let similarities: Vec<f64> = found["queries"][0]["neighbours"]
        .as_array()
        .expect("neighbours")
        .iter()
        .map(|near| near["similarity"].as_f64().expect("a number"))
        .collect();
    assert_eq!(files(&found).len(), 5);
    assert!(similarities.is_sorted_by(|a, b| a >= b), "{similarities:?}");

    let page = trained.read("neighbours.html");
    assert!(page.contains("data:image/png;base64,") && page.contains(files(&found)[0]));
    assert!(!page.contains("<script") && !page.contains("http"), "the page loads nothing");

    // A picture is not its own neighbour, neither as a file of the folder nor as a copy elsewhere, and the features are kept.
    let again = trained.found(
        "neighbours",
        &["photos/02.jpg", "copy.jpg", "--in", "photos", "--page", "own.html"],
    );
    assert!(!stderr(&again).contains("computing the features"), "{}", shown(&again));
    let printed = String::from_utf8_lossy(&again.stdout).into_owned();
    assert_eq!(printed.matches(" 02.jpg").count(), 0, "{printed}");
    assert!(trained.read("own.html").contains("Nearest neighbours of 2 images"));
    let all = trained.json("neighbours", &["copy.jpg", "--in", "photos", "--top", "12"]);
    assert_eq!(files(&all).len(), 11, "all but the copy");
}

#[test]
fn features_are_computed_again_once_the_folder_changes_or_the_cache_is_damaged() {
    let trained = Trained::new();
    trained.write(&flat());
    let computes = |what: &str| {
        let output = trained.found("duplicates", &["--in", "photos", "--cache", "kept", "--page", "page.html"]);
        assert_eq!(
            stderr(&output).contains("computing the features"),
            what == "computed",
            "{}",
            shown(&output)
        );
        stderr(&output)
    };
    computes("computed");
    computes("kept");
    trained.write(&[("photos/00.jpg".to_owned(), jpeg(100))].into());
    computes("computed");
    for file in fs::read_dir(trained.folder.path().join("kept")).expect("the cache").flatten() {
        let mut bytes = fs::read(file.path()).expect("readable");
        *bytes.last_mut().expect("not empty") ^= 1;
        fs::write(file.path(), bytes).expect("writable");
    }
    assert!(computes("computed").contains("is damaged"));
    computes("kept");
}

#[test]
fn copies_are_grouped_in_the_table_the_page_json_and_csv() {
    let trained = Trained::new();
    trained.write(&flat());
    let copies = [
        ("photos/copy of 04, \"x\".jpg", 12),
        ("photos/sub/again.jpg", 12),
        ("photos/twin.jpg", 27),
    ];
    trained.write(&copies.map(|(name, seed)| (name.to_owned(), jpeg(seed))).into());
    let arguments = ["--in", "photos", "--threshold", "1"];
    let found = trained.json("duplicates", &arguments);
    let groups: Vec<Vec<&str>> = found["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            group
                .as_array()
                .expect("members")
                .iter()
                .map(|member| member["file"].as_str().expect("a name"))
                .collect()
        })
        .collect();
    assert_eq!(
        groups,
        [
            vec!["04.jpg", "copy of 04, \"x\".jpg", "sub/again.jpg"],
            vec!["09.jpg", "twin.jpg"]
        ]
    );
    let csv = trained.found("duplicates", &[&arguments[..], &["--csv"]].concat());
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert_eq!(csv.lines().count(), 6, "{csv}");
    assert!(
        csv.starts_with("group,file,similarity,nearest\n") && csv.contains("1,\"copy of 04, \"\"x\"\".jpg\","),
        "{csv}"
    );
    let page = trained.read("duplicates.html");
    assert!(page.contains("Group 1: 3 images") && page.contains("copy of 04, &quot;x&quot;.jpg"));
}

#[test]
fn a_subset_is_a_list_that_can_be_continued_and_balanced() {
    let trained = Trained::new();
    trained.write(&flat());
    trained.found("subset", &["--in", "photos", "--count", "5", "--out", "list.txt"]);
    let list = trained.read("list.txt");
    let names: Vec<&str> = list.lines().collect();
    assert_eq!(names.len(), 5);
    assert!(
        names
            .iter()
            .all(|name| trained.folder.path().join("photos").join(name).is_file()),
        "{names:?}"
    );
    let printed = trained.found("subset", &["--in", "photos", "--count", "3"]);
    assert_eq!(
        String::from_utf8_lossy(&printed.stdout).lines().collect::<Vec<_>>(),
        names[..3],
        "a smaller subset is the beginning of a larger one"
    );
    let more = trained.json("subset", &["--in", "photos", "--count", "7", "--chosen", "list.txt"]);
    let mut all: Vec<&str> = more["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| file.as_str().expect("a name"))
        .collect();
    all.extend(&names);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 12, "none is chosen twice");
    // As some editors save it.
    let marked = format!("\u{feff}{}", list.replace('\n', "\r\n"));
    trained.write(&[("marked.txt".to_owned(), marked.into_bytes())].into());
    let again = trained.json("subset", &["--in", "photos", "--count", "7", "--chosen", "marked.txt"]);
    assert_eq!(again["files"], more["files"]);

    let of_class = |class: &str, count: u32| {
        (0..count)
            .map(|i| (format!("pets/{class}/{i}.jpg"), jpeg(i * 5)))
            .collect::<Files>()
    };
    trained.write(&of_class("cat", 9));
    trained.write(&of_class("dog", 3));
    let balanced = trained.json("subset", &["--in", "pets", "--count", "8", "--balanced", "--seed", "4"]);
    let files = balanced["files"].to_string();
    assert_eq!(
        (files.matches("cat/").count(), files.matches("dog/").count()),
        (5, 3),
        "{files}"
    );

    // One image cannot be chosen of two classes, but how near all are to it can be said.
    let [one, all] = [&["--balanced"][..], &[]].map(|balanced| {
        let arguments = [&["--in", "pets", "--count", "1", "--seed", "4"], balanced].concat();
        trained.json("subset", &arguments)["least_similarity"]
            .as_f64()
            .expect("a cosine")
    });
    assert!(one < 1.0 && all < 1.0);
    let covered = trained.json("subset", &["--in", "pets/dog", "--count", "1"]);
    assert!(
        one < covered["least_similarity"].as_f64().expect("a cosine"),
        "it is the least over both classes"
    );
}

#[test]
fn the_images_of_the_run_are_searched_without_a_folder() {
    let trained = Trained::new();
    let found = trained.json("subset", &["--count", "4"]);
    assert_eq!(found["images"], 104);
    assert_eq!(found["files"].as_array().expect("files").len(), 4);
}

const QUERY: &str = "two/a.jpg";

/// Verbs with bad arguments, and words of their errors.
const BAD_INPUT: &[(&str, &[&str], &[&str])] = &[
    ("neighbours", &["none.jpg", "--in", "two"], &["none.jpg", "no such file"]),
    ("neighbours", &["two", "--in", "two"], &["two", "is a folder", "--in"]),
    (
        "neighbours",
        &["notes.txt", "--in", "two"],
        &["notes.txt", "JPEG, PNG and WebP"],
    ),
    ("neighbours", &["photos/broken.jpg", "--in", "two"], &["broken.jpg"]),
    ("neighbours", &["--in", "two"], &["QUERY"]),
    ("neighbours", &[QUERY, "--in", "nowhere"], &["--in", "nowhere"]),
    ("neighbours", &[QUERY, "--in", "notes.txt"], &["notes.txt"]),
    ("neighbours", &[QUERY, "--in", "photos"], &["broken.jpg", "--skip-broken"]),
    ("neighbours", &[QUERY, "--skip-broken"], &["--in"]),
    ("neighbours", &[QUERY, "--in", "two", "--top", "0"], &["--top"]),
    ("neighbours", &[QUERY, "--in", "two", "--top", "-1"], &["-1"]),
    ("neighbours", &[QUERY, "--in", "two", "--top", "1001"], &["--top"]),
    (
        "neighbours",
        &[QUERY, "--in", "two", "--page", "notes.txt"],
        &["--page", "notes.txt"],
    ),
    (
        "neighbours",
        &[QUERY, "--in", "two", "--page", "no/page.html"],
        &["--page", "page.html", "create it"],
    ),
    (
        "neighbours",
        &[QUERY, "--in", "two", "--page", "two"],
        &["--page", "is a folder"],
    ),
    ("neighbours", &[QUERY, "--in", "empty"], &["empty", "no image"]),
    (
        "neighbours",
        &[QUERY, "--in", "two", "--cache", "notes.txt"],
        &["--cache", "notes.txt", "name a folder"],
    ),
    ("duplicates", &["--in", "empty"], &["empty", "no image"]),
    ("duplicates", &["--in", "nowhere"], &["--in", "nowhere"]),
    ("duplicates", &["--in", "two", "--threshold", "-0.5"], &["-0"]),
    ("duplicates", &["--in", "two", "--threshold", "high"], &["--threshold"]),
    ("duplicates", &["--in", "two", "--threshold", "inf"], &["--threshold"]),
    (
        "duplicates",
        &["--in", "two", "--page", "no/page.html"],
        &["--page", "create it"],
    ),
    ("duplicates", &["--in", "photos"], &["broken.jpg", "--skip-broken"]),
    ("duplicates", &["--skip-broken"], &["--in"]),
    ("subset", &["--in", "nowhere", "--count", "1"], &["--in", "nowhere"]),
    ("subset", &["--in", "empty", "--count", "1"], &["empty", "no image"]),
    ("subset", &["--in", "two", "--count", "-1"], &["-1"]),
    ("subset", &["--in", "two", "--count", "many"], &["--count"]),
    ("subset", &["--in", "two", "--count", "4294967296"], &["--count"]),
    ("subset", &["--in", "two", "--count", "1", "--seed", "x"], &["--seed"]),
    (
        "subset",
        &["--in", "two", "--count", "1", "--chosen", "two"],
        &["--chosen", "two"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--out", "no/list.txt"],
        &["--out", "create it"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--out", "two"],
        &["--out", "is a folder"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--page", "no/page.html"],
        &["--page", "create it"],
    ),
    (
        "duplicates",
        &["--in", "two", "--threshold", "0"],
        &["--threshold", "above 0"],
    ),
    ("duplicates", &["--in", "two", "--threshold", "1.01"], &["--threshold"]),
    ("duplicates", &["--in", "two", "--threshold", "nan"], &["--threshold"]),
    ("duplicates", &["--in", "two", "--csv", "--json"], &["--csv"]),
    ("subset", &["--in", "two"], &["--count"]),
    ("subset", &["--in", "two", "--count", "0"], &["--count"]),
    (
        "subset",
        &["--in", "two", "--count", "3"],
        &["--count 3", "2 images", "lower"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--balanced"],
        &["--balanced", "a.jpg", "CLASS/"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--chosen", "none.txt"],
        &["--chosen", "none.txt"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--chosen", "bytes"],
        &["--chosen", "bytes"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--chosen", "notes.txt"],
        &["notes.txt", "line 1", "02.jpg"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--chosen", "notes.txt", "--seed", "1"],
        &["--seed"],
    ),
    (
        "subset",
        &["--in", "two", "--count", "1", "--out", "two/a.jpg"],
        &["--out", "a.jpg"],
    ),
];

#[test]
fn bad_input_is_refused_with_the_remedy() {
    let trained = Trained::new();
    trained.write(&flat());
    trained.write(
        &[
            ("photos/broken.jpg".to_owned(), b"\xff\xd8hello".to_vec()),
            ("notes.txt".to_owned(), b"02.jpg\nnone.jpg\n".to_vec()),
        ]
        .into(),
    );
    trained.write(
        &[
            ("two/a.jpg".to_owned(), jpeg(1)),
            ("two/b.jpg".to_owned(), jpeg(2)),
            ("bytes".to_owned(), vec![0xff]),
            ("empty/".to_owned(), Vec::new()),
        ]
        .into(),
    );
    for (verb, arguments, words) in BAD_INPUT {
        let output = trained.search(verb, arguments);
        assert_refused(&output, words);
    }
    let skipped = trained.found("neighbours", &[QUERY, "--in", "photos", "--skip-broken"]);
    assert!(stderr(&skipped).contains("1 files are skipped"), "{}", shown(&skipped));

    // A cache that cannot be written costs time only.
    let unkept = trained.found("duplicates", &["--in", "two", "--cache", "notes.txt/x"]);
    assert!(stderr(&unkept).contains("not kept"), "{}", shown(&unkept));
}

#[test]
fn runs_without_an_encoder_of_images_and_unfinished_ones_are_refused_by_every_verb() {
    let trained = Trained::new();
    trained.write(&[("two/a.jpg".to_owned(), jpeg(1)), ("two/b.jpg".to_owned(), jpeg(2))].into());
    let verbs: [(&str, &[&str]); 3] = [("neighbours", &[QUERY]), ("duplicates", &[]), ("subset", &["--count", "1"])];
    let refused = |run: &Path, words: &[&str]| {
        for (verb, arguments) in verbs {
            let output = trained.run(&[&[verb, text(run)], arguments, &["--in", "two"]].concat());
            assert_refused(&output, words);
        }
    };
    let recommender = small_recipe(trained.folder.path(), "");
    let graphs = small_graph_recipe(trained.folder.path());
    for (recipe, out) in [(recommender, "recommenders"), (graphs, "graphs")] {
        trained.succeeds(&[text(&recipe), "--epochs", "1", "--out", out, "--quiet"]);
        let mut runs = fs::read_dir(trained.folder.path().join(out)).expect("runs").flatten();
        refused(&runs.next().expect("a run").path(), &["images", "encoder"]);
    }
    refused(&trained.folder.path().join("nowhere"), &["nowhere"]);
    fs::remove_file(trained.run.join("model.bpk")).expect("the weights");
    refused(
        &trained.run,
        &["is finished, but its weights have been removed", "restore", "train again"],
    );
    fs::remove_file(trained.run.join("result.json")).expect("the result");
    refused(&trained.run, &["small-images-0"]);
}

/// A tar archive of the twelve pictures.
fn packed() -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in flat() {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        let name = name.strip_prefix("photos/").expect("it is there");
        archive.append_data(&mut header, name, &*bytes).expect("memory");
    }
    archive.into_inner().expect("memory")
}

#[test]
fn images_that_stay_in_their_files_have_the_features_of_images_in_memory() {
    let trained = Trained::new();
    trained.write(&flat());
    let tar = packed();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&tar).expect("memory");
    // A compressed archive is read into memory.
    let compressed = encoder.finish().expect("memory");
    trained.write(&[("photos.tar".to_owned(), tar), ("photos.tar.gz".to_owned(), compressed)].into());
    let of = |folder: &str| {
        let cache = format!("features-{folder}");
        trained.found("duplicates", &["--in", folder, "--cache", &cache, "--page", "page.html"]);
        let mut files = fs::read_dir(trained.folder.path().join(cache)).expect("a cache").flatten();
        let bytes = fs::read(files.next().expect("a file").path()).expect("readable");
        let header = u64::from_le_bytes(*bytes.first_chunk().expect("a length"));
        assert_eq!(header % 8, 0, "the array is aligned");
        bytes[8 + header as usize..].to_vec()
    };
    let [folder, tar, compressed] = ["photos", "photos.tar", "photos.tar.gz"].map(of);
    assert_eq!((folder.len(), folder.len() % 12), (tar.len(), 0));
    assert!(folder == tar && tar == compressed);
}

#[test]
fn files_that_break_behind_their_headers_are_refused_together_or_skipped_also_from_the_cache() {
    let trained = Trained::new();
    trained.write(&flat());
    let whole = jpeg(9);
    trained.write(
        &[
            ("photos/03.jpg".to_owned(), whole[..whole.len() - 20].to_vec()),
            ("photos/05.jpg".to_owned(), b"\xff\xd8hello".to_vec()),
        ]
        .into(),
    );
    let arguments = ["--in", "photos", "--count", "10"];
    let refused = || assert_refused(&trained.search("subset", &arguments), &["03.jpg", "--skip-broken"]);
    let output = trained.search("subset", &arguments);
    assert_refused(&output, &["03.jpg", "05.jpg", "2 of 12", "--skip-broken"]);

    let skipped = || {
        let output = trained.found("subset", &[&arguments[..], &["--skip-broken"]].concat());
        assert!(stderr(&output).contains("2 files are skipped"), "{}", shown(&output));
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((list.lines().count(), list.contains("03.jpg")), (10, false), "{list}");
        (list, stderr(&output).contains("computing the features"))
    };
    let (list, is_computed) = skipped();
    assert!(is_computed);
    assert_eq!(skipped(), (list, false), "the cache knows which files are left out");
    trained.write(&[("photos/05.jpg".to_owned(), jpeg(15))].into());
    refused();
}

#[test]
fn the_images_of_a_streamed_run_are_searched_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &cats_and_dogs(8, 2));
    let recipe = small_image_recipe(folder.path(), "[data]\nimages = 'pictures'\nstream = true\n");
    let trained = Trained {
        run: folder.path().join("runs/small-images-0"),
        folder,
    };
    trained.succeeds(&[text(&recipe), "--epochs", "1", "--out", "runs", "--quiet"]);
    let found = trained.json("subset", &["--count", "3"]);
    assert_eq!(
        (&found["images"], trained.read("subset.html").matches("<img").count()),
        (&20.into(), 3)
    );
    // Case neighbours-query-is-its-own-neighbour: the same without --in.
    let query = trained.folder.path().join("pictures/train/cat/5.jpg");
    let found = trained.json("neighbours", &[text(&query), "--top", "20"]);
    assert_eq!(files(&found).len(), 19);
    assert!(!files(&found).contains(&"train/cat/5.jpg"), "{found}");
}
