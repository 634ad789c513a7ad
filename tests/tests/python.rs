//! Runs the Python code of the guide on files that a recommender and an image encoder wrote.

use std::{path::Path, process::Command};
use whole_program_tests::{bcl_train, shown};

const GUIDE: &str = include_str!("../../docs/guide/python.md");

/// The Python blocks of the page.
fn blocks() -> Vec<&'static str> {
    let after = GUIDE.split("```python\n").skip(1);
    after
        .map(|block| block.split("```").next().expect("a block has an end"))
        .collect()
}

fn run(folder: &Path, arguments: &[&str]) {
    let output = bcl_train()
        .args(arguments)
        .arg("--quiet")
        .current_dir(folder)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", shown(&output));
}

#[test]
#[ignore = "needs Python with pandas, scikit-learn, torch, torchvision and safetensors"]
fn the_python_code_of_the_guide_reads_what_runs_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    run(folder, &["quickstart/bayesian", "--epochs", "1"]);
    let small = ["data.planted.train=200", "data.planted.test=100", "encoder.trunk.width=64"];
    let small = small.iter().flat_map(|key| ["--set", key]);
    let images: Vec<&str> = ["quickstart-images/bayesian", "--epochs", "0"]
        .into_iter()
        .chain(small)
        .collect();
    run(folder, &images);
    run(folder, &["embed", "runs/quickstart/bayesian-0", "--out", "vectors"]);
    run(
        folder,
        &["export", "runs/quickstart/bayesian-0", "--out", "recommender.safetensors"],
    );
    run(folder, &["embed", "runs/quickstart-images/bayesian-0", "--out", "features"]);
    run(
        folder,
        &["export", "runs/quickstart-images/bayesian-0", "--out", "resnet.safetensors"],
    );

    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let blocks = blocks();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let output = Command::new(&python)
            .args(["-c", block])
            .current_dir(folder)
            .output()
            .expect("Python starts");
        assert!(output.status.success(), "{block}\n{}", shown(&output));
    }
}
