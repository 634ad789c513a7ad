//! Shards in the layout of the `WebDataset` library: images with their labels in files beside them.

mod read_support;

use bcl_images::{CacheBytes, Collection, ImageData, ImageError, ImageSource, LoadOptions, load_with};
use read_support::*;
use std::{fs, path::Path};

/// An archive with these files: the content of `.cls` and `.json` files is given after a colon.
fn shard(names: &[&str]) -> Files {
    let file = |(seed, name): (u32, &&str)| match name.split_once(':') {
        Some((name, text)) => (name.to_string(), text.as_bytes().to_vec()),
        None => ((*name).to_string(), png(seed)),
    };
    (0..).zip(names).map(file).collect()
}

/// A folder `shards` with these archives.
fn shards(archives: &[(&str, &[&str])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in archives {
        let bytes = if name.ends_with("gz") {
            tar_gz(&shard(files))
        } else {
            tar(&shard(files))
        };
        write_folder(&folder.path().join("shards"), &vec![((*name).to_string(), bytes)]);
    }
    folder
}

fn read_path(path: &Path, options: LoadOptions) -> Result<ImageData, ImageError> {
    load_with("mine", &ImageSource::Archive { path: path.into() }, Path::new(""), options)
}

fn streamed() -> LoadOptions {
    LoadOptions {
        stream: Some(CacheBytes(0)),
        ..LoadOptions::default()
    }
}

fn read(archives: &[(&str, &[&str])]) -> ImageData {
    read_path(&shards(archives).path().join("shards"), LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(archives: &[(&str, &[&str])]) -> String {
    let read = read_path(&shards(archives).path().join("shards"), LoadOptions::default());
    read.expect_err("refused").to_string()
}

/// The name and class of each image.
fn samples(images: &Collection) -> Vec<(&str, &str)> {
    let class = |index: usize| images.labels()[index].map_or("", |label| &images.classes()[label as usize]);
    (0..images.len()).map(|index| (images.name(index), class(index))).collect()
}

const TRAIN: (&str, &[&str]) = (
    "pets-train-000000.tar",
    &["b.cls:10\n", "b.png", "a.png", "a.json:{\"x\": 1}", "a.cls:9", "a.seg.png"],
);

#[test]
fn shards_are_read_with_their_labels_in_the_order_of_their_names() {
    let archives: [(&str, &[&str]); 3] = [
        ("pets-train-000001.tar", &["x/a.png", "x/a.cls: 2 "]),
        TRAIN,
        ("pets-val-000000.tar", &["c.PNG", "c.CLS:10"]),
    ];
    let data = read(&archives);
    let expected = [
        ("pets-train-000000.tar/a.png", "9"),
        ("pets-train-000000.tar/b.png", "10"),
        ("pets-train-000001.tar/x/a.png", "2"),
    ];
    assert_eq!(samples(&data.train), expected);
    assert_eq!(samples(&data.test), [("pets-val-000000.tar/c.PNG", "10")]);
    assert_eq!(data.train.classes(), ["2", "9", "10"], "numbers are in their own order");
    assert_eq!(data.train.get(0).pixels, picture(8, 6, 2).as_raw());
}

#[test]
fn shards_in_folders_belong_to_the_part_of_the_folder_and_test_wins_over_val() {
    let archives: [(&str, &[&str]); 4] = [
        ("train/0.tar", &["1.png", "2.png"]),
        ("validation/0.tar", &["1.png"]),
        ("test/1.tar", &["1.png"]),
        ("test/0.tar", &["1.png"]),
    ];
    let data = read(&archives);
    assert_eq!(samples(&data.train), [("train/0.tar/1.png", ""), ("train/0.tar/2.png", "")]);
    assert_eq!(samples(&data.test), [("test/0.tar/1.png", ""), ("test/1.tar/1.png", "")]);
    assert!(!data.train.is_labelled() && data.train.classes().is_empty());
}

#[test]
fn a_single_archive_may_have_labels_beside_its_images() {
    let folder = tempfile::tempdir().unwrap();
    let files = shard(&["1.png", "1.cls:dog", "2.png", "2.cls:cat", "3.png", "3.cls:dog"]);
    fs::write(folder.path().join("a.tar"), tar(&files)).unwrap();
    fs::write(folder.path().join("a.zip"), zip(&files)).unwrap();
    write_folder(&folder.path().join("a"), &files);
    for path in ["a.tar", "a.zip", "a"] {
        let data = read_path(&folder.path().join(path), LoadOptions::default()).unwrap();
        assert_eq!(samples(&data.train), [("1.png", "dog"), ("2.png", "cat"), ("3.png", "dog")]);
        assert_eq!(data.train.classes(), ["cat", "dog"]);
    }
}

#[test]
fn streamed_shards_are_those_in_memory() {
    let folder = shards(&[TRAIN, ("pets-test.tar", &["c.png", "c.cls:9"])]);
    let path = folder.path().join("shards");
    let [in_memory, streamed] = [LoadOptions::default(), streamed()].map(|options| read_path(&path, options).unwrap());
    for (mine, theirs) in [(&streamed.train, &in_memory.train), (&streamed.test, &in_memory.test)] {
        assert_eq!(samples(mine), samples(theirs));
        for index in 0..theirs.len() {
            assert_eq!(mine.read(index).unwrap().as_image(), theirs.get(index));
        }
    }
}

#[test]
fn compressed_shards_can_be_loaded_but_not_streamed() {
    let folder = shards(&[("train.tar.gz", TRAIN.1)]);
    let path = folder.path().join("shards");
    assert_eq!(read_path(&path, LoadOptions::default()).unwrap().train.len(), 2);
    let error = read_path(&path, streamed()).expect_err("compressed").to_string();
    assert!(error.contains("train.tar.gz") && error.contains("tar -xf"), "{error}");
}

#[test]
fn what_is_wrong_with_a_shard_is_said_with_its_place() {
    let image: [&str; 2] = ["1.png", "1.cls:1"];
    for (files, words) in [
        (&["2.png"][..], ["0.tar: entry 2.png", ".cls"]),
        (&["2.png", "2.cls:1\n2"], ["0.tar: entry 2.cls", "one line"]),
        (&["2.png", "2.cls: \n"], ["0.tar: entry 2.cls", "one line"]),
        (&["2.png", "2.cls:1", "2.cls:1"], ["0.tar: entry 2.cls", "twice"]),
        (&["2.png", "2.cls:1", "2.jpg"], ["0.tar: entry 2.jpg", "another image"]),
        (&["2.gif:GIF89a", "2.cls:1"], ["0.tar: entry 2.gif", "a GIF"]),
        (&["2.tga:words", "2.cls:1"], ["0.tar: entry 2.tga", "a .tga file"]),
        (
            &["a_v1.0.png"],
            ["0.tar: entry a_v1.0.png", "the file `0.png` of the sample `a_v1`"],
        ),
        (&["a_v1.0.png"], ["first dot", "(a_v1_0.png for a_v1.0.png)"]),
        (&["2.cls:1"], ["0.tar: entry 2.cls", "the sample `2`, which has no image"]),
        (&["2.jpg:words", "2.cls:1"], ["0.tar: entry 2.jpg", "JPEG, PNG and WebP"]),
    ] {
        let error = refusal(&[("0.tar", &[&image, files].concat())]);
        assert!(words.iter().all(|words| error.contains(words)), "{words:?}: {error}");
    }
    let error = refusal(&[TRAIN, ("test.tar", &["c.png", "c.cls:11"])]);
    assert!(error.contains("class `11` is in test but not in train"), "{error}");
    let error = refusal(&[TRAIN, ("test.tar", &["c.png"])]);
    assert!(error.contains("test.tar: entry c.png"), "{error}");
    let error = refusal(&[("test.tar", &["c.png", "c.cls:11"])]);
    assert!(error.contains("test") || error.contains("train"), "{error}");
    let error = refusal(&[("test.tar", &["c.png"])]);
    assert!(error.contains("train has no image"), "{error}");
}

#[test]
fn broken_images_of_shards_can_be_skipped() {
    let folder = shards(&[(
        "0.tar",
        &["1.png", "1.cls:1", "2.jpg:words", "2.cls:2", "3.png", "3.cls:3", "4.cls:4"],
    )]);
    let options = LoadOptions {
        skip_broken: true,
        ..LoadOptions::default()
    };
    let data = read_path(&folder.path().join("shards"), options).unwrap();
    assert_eq!(samples(&data.train), [("0.tar/1.png", "1"), ("0.tar/3.png", "3")]);
    assert_eq!(data.skipped.len(), 2);
    assert_eq!(data.skipped[1], "4.cls (a label without an image)");
    assert_eq!(data.train.classes(), ["1", "2", "3"]);
}

/// `.jfif`, `.jpg_large` and names without an ending are images by their content, also in shards; a text is none.
#[test]
fn images_of_shards_are_found_by_their_content() {
    let data = read(&[
        ("dev-0.tar", &["1.img"]),
        ("Training-0.tar", &["1.png", "2.jfif", "2.json:{}", "3", "4.bin:words"]),
    ]);
    assert_eq!((data.train.len(), data.test.len()), (3, 1));
    assert_eq!(
        data.notes,
        ["1 file left out, because they are neither images nor labels: Training-0.tar/4.bin"]
    );
}
