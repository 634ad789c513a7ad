//! Layouts of folders: which images are for training, which for test, and which have classes.

mod read_support;

use bcl_images::{Collection, ImageData, ImageSource, load, load_skipping_broken};
use read_support::*;
use std::fs;

/// Loads images with these names from a folder and from an archive, which must not make a difference.
fn read(names: &[&str]) -> ImageData {
    let files: Files = (0..)
        .zip(names)
        .map(|(seed, name)| ((*name).to_string(), png(seed)))
        .collect();
    let dir = tempfile::tempdir().unwrap();
    write_folder(&dir.path().join("mine"), &files);
    fs::write(dir.path().join("mine.tar.gz"), tar_gz(&files)).unwrap();
    let [folder, archive] = ["mine", "mine.tar.gz"].map(|path| {
        let source = ImageSource::Archive { path: path.into() };
        load("mine", &source, dir.path()).unwrap_or_else(|error| panic!("{names:?}: {error}"))
    });
    assert_eq!(folder, archive);
    assert_eq!(names_of(&folder.train), names_of(&archive.train));
    folder
}

fn names_of(images: &Collection) -> Vec<&str> {
    (0..images.len()).map(|index| images.name(index)).collect()
}

/// The class name of each image, in order.
fn classes_of(images: &Collection) -> Vec<&str> {
    let classes = images.labels().iter().flatten();
    classes.map(|&label| images.classes()[label as usize].as_str()).collect()
}

#[test]
fn layouts_without_labels_give_images_to_learn_from() {
    let layouts: [&[&str]; 8] = [
        &["1.png", "2.png", "3.png"],
        &["pets/1.png", "pets/2.png", "pets/3.png"],
        &["train/1.png", "train/2.png", "train/3.png"],
        &["pets/train/1.png", "pets/train/2.png", "pets/train/3.png"],
        &["a/b/1.png", "a/b/2.png", "c/d/3.png"],
        &["1.png", "cat/2.png", "dog/3.png"],
        &["a/cat/1.png", "b/2.png", "b/3.png"],
        &["train/1.png", "train/cat/2.png", "train/dog/3.png"],
    ];
    for names in layouts {
        let data = read(names);
        assert_eq!((data.train.len(), data.test.len()), (3, 0), "{names:?}");
        assert!(data.train.labels().iter().all(Option::is_none), "{names:?}");
        assert_eq!(data.train.classes(), [""; 0], "{names:?}");
        assert_eq!(names_of(&data.train), names, "{names:?}");
        assert!(!data.train.is_labelled());
    }
}

#[test]
fn folders_are_classes_with_or_without_train() {
    for names in [
        ["cat/2.png", "dog/1.png", "dog/3.png"],
        ["pets/cat/2.png", "pets/dog/1.png", "pets/dog/3.png"],
        ["train/cat/2.png", "train/dog/1.png", "train/dog/3.png"],
        ["pets/train/cat/2.png", "pets/train/dog/1.png", "pets/train/dog/3.png"],
    ] {
        let data = read(&names);
        assert_eq!(classes_of(&data.train), ["cat", "dog", "dog"], "{names:?}");
        assert!(data.test.is_empty() && data.train.is_labelled());
        assert_eq!(names_of(&data.train), names);
    }
}

#[test]
fn a_test_without_classes_is_held_out() {
    let data = read(&["train/1.png", "train/2.png", "test/3.png"]);
    assert_eq!((data.train.len(), data.test.len()), (2, 1));
    assert_eq!(names_of(&data.test), ["test/3.png"]);
    assert_eq!(data.test.labels(), [None]);
}

#[test]
fn an_empty_folder_is_ignored_if_folders_need_not_be_classes() {
    let dir = tempfile::tempdir().unwrap();
    let mut files: Files = vec![("notes/".into(), vec![])];
    files.extend(["cat/1.png", "dog/2.png"].map(|name| (name.to_string(), png(1))));
    fs::write(dir.path().join("a.tar"), tar(&files)).unwrap();
    let data = load("a", &ImageSource::Archive { path: "a.tar".into() }, dir.path()).unwrap();
    assert_eq!(data.train.classes(), ["cat", "dog"]);
}

#[test]
fn all_broken_images_are_listed_at_once_and_can_be_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let mut files: Files = (0..20).map(|seed| (format!("{seed:02}.png"), png(seed))).collect();
    let whole: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    files.push(("a.gif".into(), b"GIF89a".to_vec()));
    files.push(("b.jpg".into(), jpeg(&picture(16, 16, 1))[..200].to_vec()));
    files.extend((0..12).map(|i| (format!("c{i:02}.png"), b"words".to_vec())));
    let mut damaged = png(3);
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8].fill(0xaa);
    files.push(("d.png".into(), damaged));
    fs::write(dir.path().join("a.tar"), tar(&files)).unwrap();
    write_folder(&dir.path().join("a"), &files);

    for path in ["a", "a.tar"] {
        let source = ImageSource::Archive { path: path.into() };
        let error = load("a", &source, dir.path()).unwrap_err().to_string();
        for words in [
            "15 of 35 images cannot be read",
            "a.gif (a GIF), b.jpg (truncated), c00.png (not an image",
            "and 5 more",
            "data.skip_broken = true",
        ] {
            assert!(error.contains(words), "`{words}` is not in: {error}");
        }
        let data = load_skipping_broken("a", &source, dir.path()).unwrap();
        assert_eq!(names_of(&data.train), whole);
        assert_eq!(data.skipped.len(), 15);
        assert_eq!(data.skipped[1], "b.jpg (truncated)");
    }
}

#[test]
fn images_of_binary_files_are_called_by_file_and_place() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("c.tar"), tar(&cifar10())).unwrap();
    let data = load("c", &ImageSource::Cifar10 { path: "c.tar".into() }, dir.path()).unwrap();
    assert_eq!(
        names_of(&data.train)[..3],
        ["data_batch_1.bin#0", "data_batch_1.bin#1", "data_batch_2.bin#0"]
    );
    assert_eq!(names_of(&data.test), ["test_batch.bin#0", "test_batch.bin#1"]);
}
