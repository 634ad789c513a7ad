//! Images that stay in their files (`data.stream`): the same run as from memory, resumable, with errors that name the file.

use std::{fs, path::Path, process::Output};
use whole_program_tests::{
    assert_refused, bcl_train, forget_the_last_checkpoint, lasting_figures,
    pictures::{cats_and_dogs, write},
    shown, small_image_recipe,
};

const SETTINGS: [&str; 2] = ["training.epochs=2", "evaluation.every=1"];

/// A folder with 32 training and 8 test images, and a recipe for them.
fn pictures() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &cats_and_dogs(16, 4));
    let recipe = small_image_recipe(folder.path(), "[data]\nimages = 'pictures'\n");
    (folder, recipe)
}

fn train(recipe: &Path, out: &Path, settings: &[&str]) -> Output {
    let settings = SETTINGS.iter().chain(settings).flat_map(|setting| ["--set", setting]);
    let mut command = bcl_train();
    command.arg(recipe).arg("--quiet").arg("--out").arg(out).args(settings);
    command.output().expect("it starts")
}

/// The metrics of each epoch and the final ones, without times.
fn figures(run: &Path) -> serde_json::Value {
    let mut figures = lasting_figures(run);
    // The recipes differ in `data`, and so do their hashes.
    let result = figures["result"].as_object_mut().expect("a result");
    result.retain(|key, _| ["validation", "baselines", "data"].contains(&key.as_str()));
    figures
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
fn a_streamed_run_is_the_run_from_memory_also_from_a_tar_file_and_resumed() {
    let (folder, recipe) = pictures();
    let finished = |name: &str, settings: &[&str]| {
        let out = folder.path().join(name);
        let output = train(&recipe, &out, settings);
        assert!(output.status.success(), "{}", shown(&output));
        out.join("small-images-0")
    };
    let expected = figures(&finished("memory", &[]));
    let streamed = finished("streamed", &["data.stream=true", "data.cache_mib=0"]);
    assert_eq!(figures(&streamed), expected);

    forget_the_last_checkpoint(&streamed);
    resume(&streamed);
    assert_eq!(figures(&streamed), expected);

    let mut archive = tar::Builder::new(Vec::new());
    archive
        .append_dir_all("pictures", folder.path().join("pictures"))
        .expect("memory");
    fs::write(folder.path().join("pictures.tar"), archive.into_inner().expect("memory")).expect("writable");
    let packed = finished("packed", &["data.stream=true", "data.images=pictures.tar"]);
    assert_eq!(figures(&packed)["result"]["validation"], expected["result"]["validation"]);
}

#[test]
fn an_image_that_breaks_ends_the_run_with_its_name() {
    let (folder, recipe) = pictures();
    let broken = folder.path().join("pictures/train/cat/3.jpg");
    let bytes = fs::read(&broken).expect("an image");
    fs::write(&broken, &bytes[..bytes.len() - 20]).expect("writable");
    // Its header is whole, so it is found when it is needed: in a batch, in a part of a batch, or for evaluation.
    for settings in [&["data.stream=true"][..], &["data.stream=true", "training.gradient_cache=4"]] {
        let out = folder.path().join(format!("runs-{}", settings.len()));
        let output = train(&recipe, &out, settings);
        assert_refused(&output, &["3.jpg", "the image is truncated", "remove it"]);
        assert!(!shown(&output).contains("panicked"), "{}", shown(&output));
    }
    assert_refused(
        &train(&recipe, &folder.path().join("memory"), &[]),
        &["3.jpg", "data.skip_broken"],
    );
}

#[test]
fn keys_without_a_meaning_and_compressed_archives_are_refused() {
    let (folder, recipe) = pictures();
    let out = folder.path().join("runs");
    let refused = |settings: &[&str], words: &[&str]| {
        assert_refused(&train(&recipe, &out, settings), words);
        assert!(!out.exists());
    };
    refused(&["data.cache_mib=5"], &["data.cache_mib", "data.stream"]);
    refused(
        &["data.stream=true", "data.cache_mib=9000000"],
        &["data.cache_mib", "1048576"],
    );
    refused(&["data={dataset='planted', stream=true}"], &["data.stream", "data.images"]);
    fs::write(folder.path().join("pictures.tar.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]).expect("writable");
    assert_eq!(
        train(&recipe, &out, &["data.stream=true", "data.images=pictures.tar.gz"])
            .status
            .code(),
        Some(2)
    );
}
