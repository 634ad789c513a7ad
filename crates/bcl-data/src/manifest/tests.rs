//! Manifests parse, are complete, find their files, and check their counts.

use super::*;
use crate::graphs::{GraphOptions, NodeFeatures};
use crate::{CoreOptions, SplitKind};
use std::fs;
use tempfile::TempDir;

/// A small data set in the layout of a published split.
const SMALL: &str = r#"
name = "small"
title = "Small"
licence = "none"
citation = "none"
homepage = "https://example.org"
layout = { kind = "split", format = "ngcf", folders = ["split"], train = "train.txt", test = "test.txt" }
counts = { users = 2, items = 4, interactions = 6, train = 4, test = 2 }
"#;

/// A small data set with ratings, in one file.
const RATED: &str = r#"
name = "rated"
title = "Rated"
licence = "none"
citation = "none"
homepage = "https://example.org"
layout = { kind = "whole", format = "auto", files = ["u.data", "rated.inter"], split = { test_ratio = 0.3, seed = 5 } }
counts = { users = 2, items = 3, interactions = 6, train = 4, test = 2 }
"#;

fn manifest(text: &str) -> Manifest {
    Manifest::parse("datasets/test.toml", text).unwrap()
}

fn write(dir: &TempDir, path: &str, text: &str) {
    // An absolute path would lead out of the folder.
    let path = dir.path().join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn write_small(dir: &TempDir, folder: &str) {
    write(dir, &format!("{folder}/train.txt"), "0 0 1\n1 2 3\n");
    write(dir, &format!("{folder}/test.txt"), "0 2\n1 0\n");
}

const RATINGS: &str = "1\t1\t5\t9\n1\t2\t1\t9\n1\t3\t4\t9\n2\t1\t4\t9\n2\t2\t4\t9\n2\t3\t2\t9\n";

#[test]
fn every_file_in_datasets_is_built_in_under_its_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/datasets");
    let mut files: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_string))
        .collect();
    files.sort();
    let names: Vec<&str> = Manifest::all().iter().map(|m| m.name.as_str()).collect();
    assert_eq!(files, names);
}

#[test]
fn every_manifest_has_a_source_and_counts() {
    for manifest in Manifest::all() {
        let name = &manifest.name;
        assert!(!manifest.sources.is_empty() || manifest.access.is_some(), "{name}");
        let is_interactions = !manifest.is_images() && !manifest.is_graphs();
        assert_eq!(manifest.counts.interactions.is_some(), is_interactions, "{name}");
        assert_eq!(manifest.counts.graphs.is_some(), manifest.is_graphs(), "{name}");
        assert_eq!(manifest.counts.images.is_some(), manifest.is_images(), "{name}");
        assert!(!manifest.licence.is_empty() && !manifest.citation.is_empty(), "{name}");
        assert!(manifest.homepage.starts_with("https://"), "{name}");
    }
}

#[test]
fn checksums_are_lower_case_hex_of_their_length() {
    let is_hex = |text: &String, length| text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    for source in Manifest::all().iter().flat_map(|m| &m.sources) {
        // Some publishers serve files over plain HTTP; those need a checksum.
        let checked = source.md5.is_some() || source.sha256.is_some();
        let encrypted = source.url.starts_with("https://");
        assert!(encrypted || checked && source.url.starts_with("http://"), "{}", source.url);
        assert!(source.url.ends_with(&source.file), "{}", source.url);
        assert!(source.md5.as_ref().is_none_or(|md5| is_hex(md5, 32)), "{}", source.url);
        assert!(source.sha256.as_ref().is_none_or(|sha| is_hex(sha, 64)), "{}", source.url);
    }
}

#[test]
fn downloads_go_where_the_loader_looks() {
    for manifest in Manifest::all().iter().filter(|m| m.archive.is_none()) {
        let dir = tempfile::tempdir().unwrap();
        for source in &manifest.sources {
            write(&dir, &format!("{}/{}", manifest.name, source.file), "x");
        }
        let found = manifest.files_in(dir.path()).is_ok();
        assert!(manifest.sources.is_empty() || found, "{}", manifest.name);
    }
}

#[test]
fn train_and_test_counts_add_up() {
    for manifest in Manifest::all().iter().filter(|m| m.counts.interactions.is_some()) {
        let counts = &manifest.counts;
        if let (Some(train), Some(test)) = (counts.train, counts.test) {
            assert_eq!(counts.interactions, Some(train + test), "{}", manifest.name);
        }
        let paper = counts.paper.as_ref().unwrap_or_else(|| panic!("{}", manifest.name));
        let equal = [counts.users, counts.items, counts.interactions] == [paper.users, paper.items, paper.interactions].map(Some);
        assert!(
            equal || paper.note.is_some(),
            "{} differs from the paper without a word",
            manifest.name
        );
    }
}

/// A small data set of images.
const PICTURES: &str = r#"
name = "pictures"
title = "Pictures"
licence = "none"
citation = "none"
homepage = "https://example.org"
layout = { kind = "images", format = "image_folder", folders = ["more"], paths = ["pictures.tar.gz", "pictures"] }

[counts.images]
train = 4
test = 2
classes = 2
side = 32
paper = { train = 4, test = 2, two_class_train = 4, two_class_test = 2 }
"#;

#[test]
fn image_counts_agree_with_the_paper_or_have_a_note() {
    let mut compared = 0;
    for manifest in Manifest::all().iter().filter(|m| m.is_images()) {
        let counts = manifest.counts.images.as_ref().unwrap();
        let Some(paper) = &counts.paper else { continue };
        compared += 1;
        let equal = (counts.train, counts.test) == (paper.train, paper.test);
        assert!(equal || paper.note.is_some(), "{} differs from the paper", manifest.name);
        // Classes are of equal size, and only labelled images can be assigned to two classes.
        let of_two = |all: usize| all / counts.classes * 2;
        assert_eq!(
            of_two(counts.train - counts.unlabelled),
            paper.two_class_train,
            "{}",
            manifest.name
        );
        assert_eq!(of_two(counts.test), paper.two_class_test, "{}", manifest.name);
    }
    assert_eq!(compared, 6);
}

#[test]
fn images_are_found_packed_before_unpacked_and_in_any_folder() {
    let pictures = manifest(PICTURES);
    for folder in ["pictures", "", "more", "pictures/more"] {
        let dir = tempfile::tempdir().unwrap();
        write(&dir, &format!("{folder}/pictures.tar.gz"), "x");
        write(&dir, &format!("{folder}/pictures/train/cat/1.png"), "x");
        let found = pictures.locate_images(dir.path()).unwrap();
        assert!(found.ends_with("pictures.tar.gz"), "{folder}: {}", found.display());
    }
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "more/pictures/train/cat/1.png", "x");
    assert_eq!(pictures.locate_images(dir.path()).unwrap(), dir.path().join("more/pictures"));
}

#[test]
fn image_and_interaction_data_sets_are_not_interchangeable() {
    let dir = tempfile::tempdir().unwrap();
    let error = load_named("cifar10", dir.path()).unwrap_err().to_string();
    for words in ["`cifar10` contains images", "Name a data set of interactions"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let error = manifest(SMALL).locate_images(dir.path()).unwrap_err().to_string();
    for words in ["`small` contains interactions", "Name a data set of images"] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn missing_images_name_the_archive_and_where_to_place_it() {
    let dir = tempfile::tempdir().unwrap();
    let missing = |name| {
        Manifest::find(name)
            .unwrap()
            .locate_images(dir.path())
            .unwrap_err()
            .to_string()
    };
    for words in ["cifar-10-binary.tar.gz", "--data DIR", "bcl-train data fetch cifar10"] {
        assert!(missing("cifar10").contains(words), "{words}: {}", missing("cifar10"));
    }
    for words in ["cifar10-jpg.tar.gz", "ImageFolder archive", "train/frog/0001.jpg"] {
        assert!(missing("cifar10-jpg").contains(words), "{words}: {}", missing("cifar10-jpg"));
    }
}

#[test]
fn files_are_found_in_the_own_folder_in_the_given_one_and_in_those_of_the_layout() {
    for folder in ["small", "", "split", "small/split"] {
        let dir = tempfile::tempdir().unwrap();
        write_small(&dir, folder);
        let manifest = manifest(SMALL);
        let data = manifest.load(&manifest.locate(dir.path()).unwrap()).unwrap();
        assert_eq!((data.train.len(), data.test.len()), (4, 2), "{folder}");
    }
}

#[test]
fn the_own_folder_comes_before_the_given_one() {
    let dir = tempfile::tempdir().unwrap();
    write_small(&dir, "small");
    write_small(&dir, "");
    let train = dir.path().join("small/train.txt");
    let test = dir.path().join("small/test.txt");
    assert_eq!(manifest(SMALL).locate(dir.path()).unwrap(), Source::Split { train, test });
}

#[test]
fn train_and_test_are_never_taken_from_two_folders() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "small/train.txt", "0 0 1\n1 2 3\n");
    write(&dir, "test.txt", "0 2\n1 0\n");
    assert!(manifest(SMALL).locate(dir.path()).is_err());
}

#[test]
fn gzipped_files_are_found_too() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "train.txt.gz", "0 0 1\n1 2 3\n");
    write(&dir, "test.txt", "0 2\n1 0\n");
    let manifest = manifest(SMALL);
    // The content decides, so a `.gz` file that a browser has already unpacked is still read.
    let data = manifest.load(&manifest.locate(dir.path()).unwrap()).unwrap();
    assert_eq!(data.train.len(), 4);
}

#[test]
fn a_whole_file_is_found_under_any_of_its_names() {
    let inter = format!("user_id:token\titem_id:token\trating:float\ttimestamp:float\n{RATINGS}");
    let manifest = manifest(RATED);
    let load = |file, text: &str| {
        let dir = tempfile::tempdir().unwrap();
        write(&dir, file, text);
        manifest.load(&manifest.locate(dir.path()).unwrap()).unwrap()
    };
    assert_eq!(load("u.data", RATINGS), load("rated/rated.inter", &inter));
}

#[test]
fn a_missing_data_set_names_the_flag_and_the_way_to_get_it() {
    let dir = tempfile::tempdir().unwrap();
    let error = Manifest::find("ml-100k").unwrap().locate(dir.path()).unwrap_err().to_string();
    for words in [
        "`ml-100k`",
        "u.data",
        "--data DIR",
        "bcl-train data fetch ml-100k",
        dir.path().to_str().unwrap(),
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let error = Manifest::find("yahoo-r3")
        .unwrap()
        .locate(dir.path())
        .unwrap_err()
        .to_string();
    for words in ["needs a licence", "Webscope", "--data DIR"] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn an_unknown_name_lists_those_there_are() {
    let error = load_named("ml-100", Path::new(".")).unwrap_err().to_string();
    assert!(
        error.contains("unknown data set `ml-100`; did you mean `ml-100k`?"),
        "{error}"
    );
    assert!(error.contains("`gowalla`") && error.contains("`yelp2018`"), "{error}");

    let error = Manifest::find("imagenet").unwrap_err().to_string();
    assert!(error.contains("`imagenet`. Known data sets:"), "{error}");
}

#[test]
fn other_counts_than_the_manifests_are_named() {
    let cases = [
        ("users = 2", "users = 3", "has 2 users, but must have 3"),
        ("items = 4", "items = 5", "has 4 items, but must have 5"),
        ("interactions = 6", "interactions = 7", "has 6 interactions, but must have 7"),
        ("train = 4", "train = 5", "has 4 training interactions, but must have 5"),
        ("test = 2", "test = 1", "has 2 test interactions, but must have 1"),
    ];
    let dir = tempfile::tempdir().unwrap();
    write_small(&dir, "small");
    for (right, wrong, words) in cases {
        let manifest = manifest(&SMALL.replace(right, wrong));
        let error = manifest.load(&manifest.locate(dir.path()).unwrap()).unwrap_err().to_string();
        for words in [words, "train.txt", "`small`", "fetch it again"] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}

#[test]
fn a_threshold_leaves_the_number_of_rows_checked() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "u.data", RATINGS);
    let rated = manifest(RATED);
    let source = rated.locate(dir.path()).unwrap();
    let (data, report) = rated.load_with(&source, Some(4.0)).unwrap();
    assert_eq!(data.train.len() + data.test.len(), 4);
    assert_eq!((report.rows, report.below_min_rating), (6, 2));

    let more = manifest(&RATED.replace("interactions = 6", "interactions = 7"));
    let error = more.load_with(&source, Some(4.0)).unwrap_err().to_string();
    assert!(error.contains("has 6 interactions, but must have 7"), "{error}");
}

#[test]
fn another_test_ratio_is_the_same_data_set() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "u.data", RATINGS);
    let manifest = manifest(RATED);
    let Source::Whole { files, mut split } = manifest.locate(dir.path()).unwrap() else {
        panic!("the layout is of one file")
    };
    assert_eq!(split, SplitOptions::ratio(0.3, 5));
    split.test_ratio = Some(0.6);
    let data = manifest.load(&Source::Whole { files, split }).unwrap();
    assert_eq!(data.test.len(), 4);
}

#[test]
fn a_published_split_is_joined_and_split_again_if_asked() {
    let dir = TempDir::new().unwrap();
    write_small(&dir, "small");
    let small = manifest(SMALL);
    let load = |split: &str| {
        let options = NamedOptions {
            split: Some(toml::from_str(split).unwrap()),
            ..NamedOptions::default()
        };
        let source = options.source(small.locate(dir.path()).unwrap());
        options
            .check(&small)
            .and_then(|()| small.load_all(&source, &options, KnownIds::default()))
    };
    let (data, _) = load("kind = 'leave_one_out'").unwrap();
    assert_eq!(
        (data.train.len(), data.test.len(), data.hold_out.kind()),
        (4, 2, SplitKind::LeaveOneOut)
    );
    let (data, _) = load("test_ratio = 0.67").unwrap();
    assert_eq!(
        (data.train.len(), data.test.len()),
        (2, 4),
        "the counts of the published parts do not count"
    );
    for split in [
        "kind = 'temporal'",
        "order = 'time'",
        "kind = 'leave_one_out'\norder = 'time'",
    ] {
        let error = load(split).unwrap_err().to_string();
        assert!(
            error.contains("small is published as lists of items and has no timestamps"),
            "{error}"
        );
    }
}

#[test]
fn rare_users_and_items_of_a_named_data_set_are_left_out_before_its_split() {
    let dir = TempDir::new().unwrap();
    write(&dir, "u.data", RATINGS);
    let rated = manifest(RATED);
    let options = NamedOptions {
        core: CoreOptions {
            min_item_interactions: Some(2),
            ..CoreOptions::default()
        },
        min_rating: Some(2.0),
        split: Some(SplitOptions::ratio(0.5, 0)),
    };
    let source = options.source(rated.locate(dir.path()).unwrap());
    let (data, report) = rated.load_all(&source, &options, KnownIds::default()).unwrap();
    assert_eq!((data.items.len(), report.rare_items, report.below_min_rating), (2, 1, 1));
    write_small(&dir, "small");
    let options = NamedOptions { split: None, ..options };
    let error = options.check(&manifest(SMALL)).unwrap_err().to_string();
    assert!(
        error.contains("data.min_item_interactions cannot be used with the published split of small"),
        "{error}"
    );
}

#[test]
fn unknown_and_missing_keys_of_a_manifest_are_named() {
    let error = Manifest::parse("datasets/mine.toml", &SMALL.replace("title", "titel")).unwrap_err();
    let error = error.to_string();
    for words in ["datasets/mine.toml", "titel", "line 3", "Correct the manifest"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    for (from, to) in [
        ("users = 2", "people = 2"),
        ("kind = \"split\"", "kind = \"split\", seed = 0"),
    ] {
        assert!(Manifest::parse("x", &SMALL.replace(from, to)).is_err(), "{to}");
    }
}

/// A small data set of graphs.
const MOLECULES: &str = r#"
name = "molecules"
title = "Molecules"
licence = "none"
citation = "none"
homepage = "https://example.org"
layout = { kind = "graphs", folders = ["tu"], paths = ["MOL.zip", "MOL"] }

[counts.graphs]
graphs = 3
classes = { "-1" = 1, "1" = 2 }
nodes = 6
edges = 3
features = 4
node_attributes = 0
smallest = 1
largest = 3
max_degree = 2
isolated_nodes = 1
"#;

fn write_molecules(dir: &TempDir, folder: &str) {
    write(
        dir,
        &format!("{folder}/MOL/MOL_A.txt"),
        "1, 2\n2, 1\n2, 3\n3, 2\n5, 6\n6, 5\n",
    );
    write(dir, &format!("{folder}/MOL/MOL_graph_indicator.txt"), "1\n1\n1\n2\n3\n3\n");
    write(dir, &format!("{folder}/MOL/MOL_graph_labels.txt"), "1\n-1\n1\n");
    write(dir, &format!("{folder}/MOL/MOL_node_labels.txt"), "1\n1\n4\n2\n1\n1\n");
}

#[test]
fn graphs_are_found_in_the_own_folder_in_the_given_one_and_in_those_of_the_layout() {
    let molecules = manifest(MOLECULES);
    for folder in ["molecules", "", "tu", "molecules/tu"] {
        let dir = tempfile::tempdir().unwrap();
        write_molecules(&dir, folder);
        let path = molecules.locate_graphs(dir.path()).unwrap();
        assert_eq!(molecules.files_in(dir.path()).unwrap(), std::slice::from_ref(&path));
        let (data, report) = molecules.load_graphs(&path, &GraphOptions::default()).unwrap();
        assert_eq!((data.name(), data.num_graphs(), report.isolated_nodes), ("molecules", 3, 1));
    }
}

#[test]
fn other_counts_of_graphs_than_the_manifests_are_named() {
    let cases = [
        ("graphs = 3", "graphs = 4", "has 3 graphs, but must have 4"),
        ("\"1\" = 2", "\"1\" = 2, \"2\" = 1", "has 2 classes, but must have 3"),
        ("\"-1\" = 1", "\"-1\" = 2", "has 1 graphs with the label -1, but must have 2"),
        ("\"-1\" = 1", "\"0\" = 1", "has 0 graphs with the label 0, but must have 1"),
        ("nodes = 6", "nodes = 5", "has 6 nodes, but must have 5"),
        ("edges = 3", "edges = 6", "has 3 edges, but must have 6"),
        ("features = 4", "features = 3", "has 4 features, but must have 3"),
        (
            "node_attributes = 0",
            "node_attributes = 18",
            "has 0 attributes per node, but must have 18",
        ),
        (
            "smallest = 1",
            "smallest = 2",
            "has 1 nodes in its smallest graph, but must have 2",
        ),
        (
            "largest = 3",
            "largest = 2",
            "has 3 nodes in its largest graph, but must have 2",
        ),
        (
            "max_degree = 2",
            "max_degree = 4",
            "has 2 neighbours of one node, but must have 4",
        ),
        (
            "isolated_nodes = 1",
            "isolated_nodes = 0",
            "has 1 nodes without an edge, but must have 0",
        ),
    ];
    let dir = tempfile::tempdir().unwrap();
    write_molecules(&dir, "molecules");
    for (right, wrong, words) in cases {
        assert!(MOLECULES.contains(right), "{right}");
        let manifest = manifest(&MOLECULES.replacen(right, wrong, 1));
        let path = manifest.locate_graphs(dir.path()).unwrap();
        let error = manifest.load_graphs(&path, &GraphOptions::default()).unwrap_err().to_string();
        for words in [words, "MOL", "`molecules`", "fetch it again"] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}

#[test]
fn counts_of_graphs_hold_for_all_features() {
    let dir = tempfile::tempdir().unwrap();
    write_molecules(&dir, "molecules");
    let molecules = manifest(MOLECULES);
    let path = molecules.locate_graphs(dir.path()).unwrap();
    let options = GraphOptions {
        features: NodeFeatures::Constant,
        ..GraphOptions::default()
    };
    assert_eq!(molecules.load_graphs(&path, &options).unwrap().0.num_features(), 1);
}

#[test]
fn graphs_are_not_interchangeable_with_images_and_interactions() {
    let dir = tempfile::tempdir().unwrap();
    let named = |name| Manifest::find(name).unwrap();
    let cases = [
        (
            load_named("mutag", dir.path()).unwrap_err(),
            "`mutag` contains graphs, not interactions",
        ),
        (
            named("mutag").locate(dir.path()).unwrap_err(),
            "`mutag` contains graphs, not interactions",
        ),
        (
            named("mutag").locate_images(dir.path()).unwrap_err(),
            "`mutag` contains graphs, not images",
        ),
        (
            named("cifar10").locate_graphs(dir.path()).unwrap_err(),
            "`cifar10` contains images, not graphs",
        ),
        (
            named("gowalla").locate_graphs(dir.path()).unwrap_err(),
            "`gowalla` contains interactions, not graphs",
        ),
    ];
    for (error, words) in cases {
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let missing = load_named_graphs("mutag", dir.path(), &GraphOptions::default())
        .unwrap_err()
        .to_string();
    for words in ["MUTAG.zip", "--data DIR", "bcl-train data fetch mutag"] {
        assert!(missing.contains(words), "{words}: {missing}");
    }
}

#[test]
fn graphs_per_class_and_mean_sizes_add_up() {
    let mut compared = 0;
    for counts in Manifest::all().iter().filter_map(|manifest| manifest.counts.graphs.as_ref()) {
        assert_eq!(counts.classes.values().sum::<usize>(), counts.graphs);
        assert!((counts.smallest..=counts.largest).contains(&(counts.nodes / counts.graphs)));
        compared += 1;
    }
    assert_eq!(compared, 6);
}
