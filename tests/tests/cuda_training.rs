//! Whole runs with the CUDA backend on the fake driver: every estimator for recommenders, long rows, graphs, and what uses a run.
//!
//! Each kernel is emitted and compiled, each launch is checked, and nothing is executed. Skipped where NVIDIA's compilers or programs with the CUDA
//! backend are missing; `whole_program_tests::cuda` says how to get both.

#![cfg(target_os = "linux")]

use std::{fs, path::Path};
use whole_program_tests::{
    cuda::{FakeGpu, GpuRun},
    shown,
};

const ESTIMATORS: [&str; 9] = [
    "info_nce",
    "decoupled",
    "debiased",
    "positive_unlabelled",
    "hard",
    "bayesian",
    "ring",
    "augmented",
    "geometric",
];

/// A few users, items and steps.
const RECOMMENDER: &str = "\
[data]\ndataset = 'planted'\nplanted = { num_users = 40, num_items = 60, num_communities = 4, interactions_per_user = 5 }\n\
[encoder]\nkind = 'mf'\ndim = 8\n\
[training]\nepochs = 1\nbatch_size = 64\n\
[evaluation]\nbaselines = []\noracle = false\n";

const GRAPHS: &str = "\
[data]\ndataset = 'planted'\nplanted = { graphs = 60 }\n\
[encoder]\nkind = 'gin'\nhidden = 8\nlayers = 2\n\
[training]\nepochs = 1\nbatch_size = 12\n[evaluation]\nfolds = 2\ninner_folds = 2\n";

fn assert_clean(run: &GpuRun, what: &str) {
    assert_eq!(run.refused(), [], "{what}\n{}", shown(&run.output));
    assert_eq!(run.code(), Some(0), "{what}\n{}", shown(&run.output));
    assert!(run.launches() > 0, "{what} launched nothing\n{}", shown(&run.output));
}

/// Writes recipes and trains them in one process, which compiles what they share once.
fn train(gpu: &FakeGpu, group: &str, recipes: &[(String, String)]) -> GpuRun {
    let folder = gpu.folder().join(group);
    fs::create_dir_all(&folder).expect("writable");
    let mut arguments = Vec::new();
    for (name, text) in recipes {
        let file = folder.join(format!("{name}.toml"));
        fs::write(&file, text).expect("writable");
        arguments.push(file.to_str().expect("a plain path").to_owned());
    }
    arguments.extend(["--backend", "cuda", "--quiet", "--out"].map(str::to_owned));
    arguments.push(folder.join("runs").to_str().expect("a plain path").to_owned());
    let run = gpu.run("bcl-train", &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_clean(&run, group);
    println!(
        "{group}: {} runs, {} launches of {} kernels, {} copies to the host, {} waits, {} allocations",
        recipes.len(),
        run.launches(),
        run.kernels().len(),
        run.total().copies_down.count,
        run.total().waits,
        run.total().allocations,
    );
    run
}

fn each_estimator(base: &str, more: &str) -> Vec<(String, String)> {
    let recipe = |kind: &&str| {
        let loss = format!("[loss]\nkind = '{kind}'\ntemperature = 0.5\n");
        (kind.replace('_', "-"), format!("{base}{loss}{more}"))
    };
    ESTIMATORS.iter().map(recipe).collect()
}

#[test]
fn recommenders_train_with_every_estimator_and_source_of_negatives() {
    let Some(gpu) = FakeGpu::find() else { return };
    let gpu = gpu.keep_ptx();
    for (group, negatives) in [
        ("uniform", "[negatives]\nkind = 'uniform'\ncount = 8\n"),
        (
            "in-batch-log-q",
            "[negatives]\nkind = 'in_batch'\nlog_q = true\nmask_hits = false\n",
        ),
        ("shared", "[negatives]\nkind = 'uniform_all'\nshared = true\ncount = 300\n"),
    ] {
        train(&gpu, group, &each_estimator(RECOMMENDER, negatives));
    }
    let lightgcn = RECOMMENDER.replace("kind = 'mf'", "kind = 'light_gcn'");
    train(
        &gpu,
        "light-gcn",
        &each_estimator(&lightgcn, "[negatives]\nkind = 'uniform'\ncount = 8\n"),
    );
    let spilled: Vec<_> = gpu.spills().into_iter().filter(|kernel| kernel.spilled_bytes > 0).collect();
    assert_eq!(spilled, []);
}

#[test]
fn long_rows_are_ranked() {
    let Some(gpu) = FakeGpu::find() else { return };
    let recipes: Vec<_> = [5000, 70_000]
        .iter()
        .flat_map(|count| {
            let negatives = format!("[negatives]\nkind = 'uniform_all'\nshared = true\nmask_hits = false\ncount = {count}\n");
            let base = RECOMMENDER.replace("batch_size = 64", "batch_size = 16");
            ["bayesian", "ring"].map(|kind| {
                let loss = format!("[loss]\nkind = '{kind}'\ntemperature = 0.5\n");
                (format!("{kind}-{count}"), format!("{base}{loss}{negatives}"))
            })
        })
        .collect();
    train(&gpu, "long-rows", &recipes);
}

#[test]
fn graphs_train_with_both_objectives() {
    let Some(gpu) = FakeGpu::find() else { return };
    let of = |objective: &str, kind: &str| {
        let loss = format!("[loss]\nkind = '{kind}'\nobjective = '{objective}'\n");
        (format!("{objective}-{}", kind.replace('_', "-")), format!("{GRAPHS}{loss}"))
    };
    let both = ["nce", "jsd"].into_iter();
    let recipes: Vec<_> = both
        .flat_map(|objective| ["info_nce", "bayesian"].map(|kind| of(objective, kind)))
        .collect();
    train(&gpu, "graphs", &recipes);
}

#[test]
fn what_was_trained_can_be_used_and_continued() {
    let Some(gpu) = FakeGpu::find() else { return };
    let recommender = format!("{RECOMMENDER}[loss]\nkind = 'bayesian'\ntemperature = 0.5\n");
    train(&gpu, "mf", &[("mf".to_owned(), recommender)]);
    let mf = run_folder(&gpu, "mf");
    for arguments in [
        vec!["evaluate", &mf],
        vec!["recommend", &mf, "--user", "0", "--top", "3"],
        vec!["embed", &mf],
    ] {
        let arguments = [&arguments[..], &["--backend", "cuda"]].concat();
        assert_clean(&gpu.run("bcl-train", &arguments), &arguments.join(" "));
    }
}

fn run_folder(gpu: &FakeGpu, group: &str) -> String {
    let runs = gpu.folder().join(group).join("runs").join(format!("{group}-0"));
    assert!(Path::new(&runs).is_dir(), "{}", runs.display());
    runs.to_str().expect("a plain path").to_owned()
}
