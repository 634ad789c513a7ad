//! A program with the CUDA backend on a machine without a GPU: the CPU trains and resumes as in any other program.

#![cfg(target_os = "linux")]

use serde_json::Value;
use std::{fs, path::Path, process::Command};
use whole_program_tests::{bcl_train, gpu_programs, shown};

const RECIPES: [(&str, &str); 3] = [
    (
        "mf",
        "[data]\ndataset = 'planted'\nplanted = { num_users = 40, num_items = 60, num_communities = 4, interactions_per_user = 5 }\n\
         [encoder]\nkind = 'mf'\ndim = 8\n[training]\nepochs = 2\nbatch_size = 64\n",
    ),
    (
        "resnet",
        "[data]\ndataset = 'planted'\nplanted = { train = 24, test = 12, classes = 2, side = 16 }\n[views]\nside = 16\n\
         [encoder]\nkind = 'resnet'\ntrunk = { depth = 18, width = 4, stem = 'cifar' }\nhead = { hidden = 8, out = 8 }\n\
         [training]\nepochs = 1\nbatch_size = 12\n[optimizer]\nkind = 'sgd'\nlearning_rate = 0.1\n[evaluation]\nprobe = { epochs = 1 }\n",
    ),
    (
        "gin",
        "[data]\ndataset = 'planted'\nplanted = { graphs = 60 }\n[encoder]\nkind = 'gin'\nhidden = 8\nlayers = 2\n\
         [training]\nepochs = 1\nbatch_size = 12\n[evaluation]\nfolds = 2\ninner_folds = 2\n",
    ),
];

/// The loss of each epoch, to the last digit.
fn losses(folder: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(folder.join("metrics.jsonl")).expect("a finished run");
    let record = |line: &str| serde_json::from_str::<Value>(line).expect("a record")["loss"].clone();
    lines.lines().map(record).collect()
}

/// Trains, and then trains on from the last checkpoint.
fn resumed(program: &dyn Fn() -> Command, name: &str, recipe: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let loss = "[loss]\nkind = 'bayesian'\ntemperature = 0.5\n";
    fs::write(folder.path().join("r.toml"), format!("name = '{name}'\n{recipe}{loss}")).expect("writable");
    for more in [&[][..], &["--resume", "--epochs", "4"]] {
        let arguments = [&["r.toml", "--quiet"], more].concat();
        let output = program()
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{name} {more:?}\n{}", shown(&output));
    }
    let runs = fs::read_dir(folder.path().join("runs")).expect("runs");
    let runs = runs
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.join("result.json").exists());
    runs.map(|run| losses(&run)).max_by_key(Vec::len).expect("a run")
}

#[test]
fn runs_resume_to_the_same_bits_as_without_cuda() {
    let Ok(programs) = gpu_programs() else {
        println!("no program with GPU backends");
        return;
    };
    for (name, recipe) in RECIPES {
        let with_cuda = resumed(&|| Command::new(programs.join("bcl-train")), name, recipe);
        assert_eq!(with_cuda, resumed(&bcl_train, name, recipe), "{name}");
        assert!(with_cuda.len() > 1, "{name}: {with_cuda:?}");
    }
}
