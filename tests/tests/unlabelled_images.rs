//! Images without labels or without a test set: training, resuming, embedding and reporting work on any folder or archive of images.
//! Everything that needs labels is switched off, or refused by name.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{
    assert_refused, bcl_train, forget_the_last_checkpoint, lasting_figures,
    pictures::{Files, jpeg, write},
    shown, small_image_recipe,
};

/// File names of twelve images in each layout, and whether the layout has classes.
fn layouts() -> Vec<(&'static str, Vec<String>, bool)> {
    let names = |name: &dyn Fn(u32) -> String| (0..12).map(name).collect::<Vec<_>>();
    let class = |i: u32| if i < 6 { "cat" } else { "dog" };
    vec![
        ("flat", names(&|i| format!("pictures/{i:02}, \"x\".jpg")), false),
        ("only train, flat", names(&|i| format!("pictures/train/{i:02}.jpg")), false),
        (
            "deeper folders",
            names(&|i| format!("pictures/{}/{}/{i}.jpg", i % 2, i % 3)),
            false,
        ),
        ("classes", names(&|i| format!("pictures/{}/{i:02}.jpg", class(i))), true),
        (
            "train with classes",
            names(&|i| format!("pictures/train/{}/{i:02}.jpg", class(i))),
            true,
        ),
        (
            "train and test, flat",
            names(&|i| format!("pictures/{}/{i:02}.jpg", if i < 8 { "train" } else { "test" })),
            false,
        ),
        (
            "a single test image",
            names(&|i| format!("pictures/{}/{i:02}.jpg", if i < 11 { "train" } else { "test" })),
            false,
        ),
    ]
}

fn files(names: &[String]) -> Files {
    (0..).zip(names).map(|(seed, name)| (name.clone(), jpeg(seed))).collect()
}

fn run(arguments: &[&str]) -> Output {
    bcl_train().args(arguments).output().expect("it starts")
}

fn succeeds(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", shown(&output));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// The arguments that train on the images in a folder.
fn training<'a>(recipe: &'a Path, folder: &'a Path, out: &'a Path) -> Vec<&'a str> {
    vec![
        text(recipe),
        "--data",
        text(folder),
        "--out",
        text(out),
        "--epochs",
        "2",
        "--set",
        "training.batch_size=4",
        "--set",
        "evaluation.every=1",
    ]
}

/// A folder with images and a recipe for them.
fn folder_of(files: &Files, data: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), files);
    let recipe = small_image_recipe(folder.path(), &format!("[data]\nimages = 'pictures'\n{data}\n"));
    (folder, recipe)
}

#[test]
fn every_layout_trains_reports_embeds_and_is_evaluated() {
    for (what, names, labelled) in layouts() {
        let (folder, recipe) = folder_of(&files(&names), "");
        let out = folder.path().join("runs");
        let said = succeeds(&training(&recipe, folder.path(), &out));
        assert!(said.contains("probes and nearest neighbours are off"), "{what}: {said}");
        let run = out.join("small-images-0");

        let result: serde_json::Value =
            serde_json::from_slice(&fs::read(run.join("result.json")).expect("a result")).expect("JSON");
        let figures = result["validation"]["metrics"].as_object().expect("figures");
        for name in ["loss", "alignment", "uniformity"] {
            assert!(figures[name].is_f64() && said.contains(name), "{what}: {figures:?}\n{said}");
        }
        assert!(
            figures["feature_std"].is_f64() && figures["effective_rank"].is_f64(),
            "{what}: {figures:?}"
        );
        assert!(!figures.keys().any(|name| name.contains("top1")), "{what}: {figures:?}");
        assert_eq!(
            result["baselines"].as_object().expect("baselines").len(),
            1,
            "{what}: raw pixels need labels"
        );
        let first = fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
        assert_eq!(first.contains("false_negatives"), labelled, "{what}: {first}");
        let page = fs::read_to_string(run.join("report.html")).expect("a report");
        assert!(
            page.contains("No labelled test images") && page.contains("Nearest neighbours"),
            "{what}"
        );
        assert!(!page.contains("unknown class"), "{what}");

        succeeds(&["embed", text(&run), "--quiet"]);
        let mut vectors = fs::read_to_string(run.join("embeddings/train.csv")).expect("vectors");
        let test = run.join("embeddings/test.csv");
        if test.exists() {
            vectors += &fs::read_to_string(test).expect("vectors");
        }
        for name in &names {
            let name = name.strip_prefix("pictures/").expect("below the folder").replace('"', "\"\"");
            assert!(vectors.contains(&name), "{what}: {name} is not in\n{vectors:.500}");
        }
        let judged = succeeds(&["evaluate", text(&run)]);
        assert!(judged.contains("uniformity") && !judged.contains("knn"), "{what}: {judged}");
    }
}

#[test]
fn an_archive_is_the_same_as_its_folder_and_a_resumed_run_as_an_uninterrupted_one() {
    let (_, names, _) = layouts().swap_remove(0);
    let (folder, recipe) = folder_of(&files(&names), "");
    let straight = folder.path().join("straight");
    succeeds(&training(&recipe, folder.path(), &straight));
    let straight = straight.join("small-images-0");

    let resumed = folder.path().join("resumed");
    succeeds(&training(&recipe, folder.path(), &resumed));
    let resumed = resumed.join("small-images-0");
    forget_the_last_checkpoint(&resumed);
    succeeds(&["--resume", text(&resumed), "--quiet"]);
    assert_eq!(lasting_figures(&resumed), lasting_figures(&straight));

    let mut builder = tar::Builder::new(Vec::new());
    builder
        .append_dir_all("pictures", folder.path().join("pictures"))
        .expect("an archive in memory");
    fs::write(folder.path().join("pictures.tar"), builder.into_inner().expect("memory")).expect("writable");
    let packed = folder.path().join("packed");
    let mut arguments = training(&recipe, folder.path(), &packed);
    arguments.extend(["--set", "data.images=pictures.tar"]);
    succeeds(&arguments);
    let figures = |run: &Path| lasting_figures(run)["result"]["validation"].clone();
    assert_eq!(figures(&packed.join("small-images-0")), figures(&straight));
}

#[test]
fn broken_images_are_listed_together_and_skipped_on_request() {
    let (_, names, _) = layouts().swap_remove(0);
    let mut pictures = files(&names);
    pictures.push(("pictures/cut.jpg".to_owned(), jpeg(1)[..150].to_vec()));
    pictures.push(("pictures/words.png".to_owned(), b"words".to_vec()));
    pictures.push(("pictures/old.gif".to_owned(), b"GIF89a".to_vec()));
    let (folder, recipe) = folder_of(&pictures, "");
    let out = folder.path().join("runs");
    let mut arguments = training(&recipe, folder.path(), &out);
    let words = [
        "3 of 15 images",
        "cut.jpg (truncated)",
        "old.gif",
        "words.png",
        "data.skip_broken = true",
    ];
    assert_refused(&run(&arguments), &words);
    assert!(!out.exists());

    arguments.extend(["--set", "data.skip_broken=true"]);
    let said = succeeds(&arguments);
    assert!(
        said.contains("3 files were skipped") && said.contains("cut.jpg (truncated)"),
        "{said}"
    );
    let run = out.join("small-images-0");
    let result: serde_json::Value = serde_json::from_slice(&fs::read(run.join("result.json")).expect("a result")).expect("JSON");
    assert_eq!(
        (&result["data"]["train"], &result["data"]["skipped"]),
        (&12.into(), &3.into())
    );
}

#[test]
fn losses_and_schedules_that_need_labels_are_refused_without_them() {
    let (_, names, _) = layouts().swap_remove(0);
    let (folder, recipe) = folder_of(&files(&names), "");
    let out = folder.path().join("runs");
    let cases: [(&[&str], &[&str]); 4] = [
        (
            &["loss={kind='supervised'}"],
            &["loss.kind = \"supervised\"", "images without labels", "CLASS/"],
        ),
        (
            &["alpha_schedule={kind='measured'}"],
            &["alpha_schedule.kind = \"measured\"", "images without labels", "label_free"],
        ),
        (&["data.classes=['cat', 'dog']"], &["data.classes", "these images have none"]),
        (&["data.two_random_classes=3"], &["data.two_random_classes", "at least two"]),
    ];
    for (settings, words) in cases {
        let mut arguments = training(&recipe, folder.path(), &out);
        arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        assert_refused(&run(&arguments), words);
        assert!(!out.exists());
    }
}
