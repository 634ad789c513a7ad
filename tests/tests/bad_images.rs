//! Bad images end with exit code 2, an error that names the file and the remedy, and no run folder.

use std::process::Output;
use whole_program_tests::{
    bcl_train,
    pictures::{Files, cats_and_dogs, cifar10, cmyk_jpeg, grey_jpeg, jpeg, tar_with, write},
    shown, small_image_recipe,
};

/// Files in the data folder, the recipe's `[data]` table, flags, and words that the error must contain.
struct Case {
    what: &'static str,
    files: Files,
    data: &'static str,
    flags: &'static [&'static str],
    words: &'static [&'static str],
}

/// A case with the image folder `pictures`.
fn pictures(what: &'static str, files: Files, words: &'static [&'static str]) -> Case {
    let (data, flags) = ("images = 'pictures'", &[][..]);
    Case {
        what,
        files,
        data,
        flags,
        words,
    }
}

impl Case {
    fn of(self, data: &'static str) -> Self {
        Self { data, ..self }
    }

    fn set(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }
}

/// Files with one of them replaced or added.
fn replaced(mut files: Files, name: &str, bytes: Vec<u8>) -> Files {
    files.retain(|(known, _)| known != name);
    files.push((name.to_owned(), bytes));
    files
}

fn without(mut files: Files, part: &str) -> Files {
    files.retain(|(name, _)| !name.contains(part));
    files
}

fn cut(mut bytes: Vec<u8>, share: f64) -> Vec<u8> {
    bytes.truncate((bytes.len() as f64 * share) as usize);
    bytes
}

/// Valid files, which each case modifies.
fn good() -> Files {
    cats_and_dogs(4, 2)
}

fn files_that_are_no_images() -> Vec<Case> {
    let first = "pictures/train/cat/0.jpg";
    vec![
        pictures(
            "a truncated JPEG",
            replaced(good(), first, cut(jpeg(0), 0.6)),
            &["pictures", "train/cat/0.jpg", "truncated", "Fetch or copy it again"],
        ),
        pictures(
            "a JPEG in four colours",
            replaced(good(), first, cmyk_jpeg()),
            &["train/cat/0.jpg", "CMYK", "Convert it to RGB"],
        ),
        pictures(
            "text that is called a JPEG",
            replaced(good(), first, b"no picture".to_vec()),
            &["train/cat/0.jpg", "JPEG, PNG and WebP", "Convert it, or remove it"],
        ),
    ]
}

fn folders_that_are_no_data_set() -> Vec<Case> {
    vec![
        pictures(
            "a class folder without images",
            replaced(good(), "pictures/train/bird/", Vec::new()),
            &["pictures", "train/bird", "Fill it or remove it"],
        ),
        pictures(
            "a class that train does not have",
            replaced(good(), "pictures/test/cats/0.jpg", jpeg(1)),
            &["`cats`", "in test but not in train", "did you mean `cat`?"],
        ),
        pictures(
            "one class",
            without(good(), "dog"),
            &["pictures", "images of class `cat` only", "at least two classes"],
        ),
        pictures(
            "one training image",
            without(cats_and_dogs(1, 2), "dog"),
            &["pictures", "train has 1 image", "Add images"],
        ),
        pictures(
            "one test image",
            without(cats_and_dogs(4, 1), "test/dog"),
            &["pictures", "1 test image", "add test images"],
        ),
        pictures(
            "classes only in test",
            replaced(without(good(), "train"), "pictures/train/0.jpg", jpeg(0)),
            &["train/0.jpg", "in no class folder", "train/CLASS/NAME.jpg"],
        ),
        pictures(
            "folders without images",
            replaced(Files::new(), "pictures/train/", Vec::new()),
            &["pictures", "no image in train/", "It contains train"],
        ),
        pictures(
            "no folder at all",
            Files::new(),
            &["pictures", "neither beside the recipe", "--data DIR"],
        ),
    ]
}

fn archives_and_binary_files() -> Vec<Case> {
    let short = cut(cifar10()[2].1.clone(), 0.9);
    vec![
        pictures(
            "a name that leaves the archive",
            vec![("evil.tar".to_owned(), tar_with("train/../../evil.jpg", &jpeg(0)))],
            &["evil.tar", "train/../../evil.jpg", "Do not trust this archive"],
        )
        .of("images = 'evil.tar'"),
        pictures(
            "an archive that is cut short",
            vec![("cut.tar".to_owned(), cut(tar_with("train/cat/0.jpg", &jpeg(0)), 0.2))],
            &["cut.tar", "truncated", "again"],
        )
        .of("images = 'cut.tar'"),
        pictures(
            "a CIFAR file of the wrong size",
            replaced(cifar10(), "cifar-10-batches-bin/data_batch_3.bin", short),
            &["data_batch_3.bin", "5531 bytes", "3073", "Fetch or unpack it again"],
        )
        .of("dataset = 'cifar10'"),
        pictures("too few images for CIFAR-10", cifar10(), &["cifar10", "50000", "10"]).of("dataset = 'cifar10'"),
        pictures(
            "only unlabelled images",
            vec![("stl10_binary/unlabeled_X.bin".to_owned(), vec![7; 3 * 96 * 96])],
            &["stl10_binary", "train_X.bin"],
        )
        .of("dataset = 'stl10'"),
    ]
}

fn settings_that_do_not_fit() -> Vec<Case> {
    vec![
        pictures(
            "fewer images than a batch has",
            good(),
            &["training.batch_size is 99", "8 training images", "lower it to 8"],
        )
        .set(&["--set", "training.batch_size=99"]),
        pictures(
            "a batch without negatives",
            good(),
            &["--set training.batch_size=1", "must be in [2, 10000000]"],
        )
        .set(&["--set", "training.batch_size=1"]),
        pictures(
            "a class that is not there",
            good(),
            &["`dogs`", "did you mean `dog`?", "`cat`, `dog`"],
        )
        .of("images = 'pictures'\nclasses = ['cat', 'dogs']"),
        pictures("weights that are not there", good(), &["encoder.weights", "none.pth"])
            .set(&["--set", "encoder.weights=none.pth"]),
        pictures(
            "weights that are none",
            replaced(good(), "w.safetensors", b"no weights".to_vec()),
            &["encoder.weights", "w.safetensors", "a PyTorch state_dict"],
        )
        .set(&["--set", "encoder.weights=w.safetensors"]),
    ]
}

fn train(folder: &std::path::Path, data: &str, flags: &[&str]) -> Output {
    let recipe = small_image_recipe(folder, &format!("[data]\n{data}\n"));
    bcl_train()
        .arg(recipe)
        .args(["--quiet", "--epochs", "1", "--set", "training.batch_size=4"])
        .arg("--data")
        .arg(folder)
        .arg("--out")
        .arg(folder.join("runs"))
        .args(flags)
        .output()
        .expect("it starts")
}

#[test]
fn bad_images_are_refused_with_file_and_remedy_and_leave_no_run() {
    let mut wrong = Vec::new();
    let cases = [
        files_that_are_no_images(),
        folders_that_are_no_data_set(),
        archives_and_binary_files(),
        settings_that_do_not_fit(),
    ];
    for case in cases.into_iter().flatten() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &case.files);
        let output = train(folder.path(), case.data, case.flags);
        let message = String::from_utf8_lossy(&output.stderr);
        let missing: Vec<&&str> = case.words.iter().filter(|word| !message.contains(**word)).collect();
        let left = folder.path().join("runs").exists();
        if output.status.code() != Some(2) || message.contains("panicked") || !missing.is_empty() || left {
            wrong.push(format!(
                "{}: {missing:?} missing, run folder left behind: {left}\n{}",
                case.what,
                shown(&output)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn grey_and_coloured_images_of_any_size_train_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = replaced(cats_and_dogs(4, 2), "pictures/train/cat/0.jpg", grey_jpeg(0));
    write(folder.path(), &replaced(files, "pictures/test/dog/1.jpg", grey_jpeg(9)));
    let output = train(folder.path(), "images = 'pictures'", &[]);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(folder.path().join("runs/small-images-0/result.json").is_file());
}
