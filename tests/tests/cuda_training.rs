//! Whole runs with the CUDA backend on the fake driver: every estimator with every source of negatives, rows of 1 to 70,000, images in all precisions,
//! methods, graphs, and what uses a run.
//!
//! Each kernel is emitted and compiled, each launch is checked, and nothing is executed. Skipped where NVIDIA's compilers or programs with the CUDA
//! backend are missing; `whole_program_tests::cuda` says how to get both.

#![cfg(target_os = "linux")]

use serde_json::Value;
use std::{fs, path::Path, process::Command};
use whole_program_tests::{
    bcl_train,
    cuda::{FakeGpu, GpuRun},
    gpu_programs, shown,
};

const ESTIMATORS: [&str; 11] = [
    "info_nce",
    "decoupled",
    "debiased",
    "positive_unlabelled",
    "hard",
    "bayesian",
    "ring",
    "adnce",
    "progcl",
    "augmented",
    "geometric",
];

/// A few users, items and steps.
const RECOMMENDER: &str = "\
[data]\ndataset = 'planted'\nplanted = { num_users = 40, num_items = 60, num_communities = 4, interactions_per_user = 5 }\n\
[encoder]\nkind = 'mf'\ndim = 8\n\
[training]\nepochs = 1\nbatch_size = 64\n\
[evaluation]\nbaselines = []\n";

/// A few images, and a ResNet-18 of width 8.
const IMAGES: &str = "\
[data]\ndataset = 'planted'\nplanted = { train = 24, test = 12, classes = 2, side = 16 }\n\
[views]\nside = 16\n\
[encoder]\nkind = 'resnet'\ntrunk = { depth = 18, width = 8, stem = 'cifar' }\nhead = { hidden = 8, out = 8 }\n\
[training]\nepochs = 1\nbatch_size = 12\n\
[evaluation]\nbaselines = []\nprobe = { epochs = 1 }\n";

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
    // The weights of ProGCL depend on all anchors of a batch, so gradient caching is refused.
    let fits = |kind: &&&str| **kind != "progcl" || !base.contains("gradient_cache");
    ESTIMATORS.iter().filter(fits).map(recipe).collect()
}

/// Sources of negatives, with and without mask and log-Q, and steps in parts.
const SOURCES: [(&str, &str, &str); 8] = [
    ("uniform", "kind = 'uniform'\ncount = 8", ""),
    ("one", "kind = 'uniform'\ncount = 1", ""),
    ("popularity", "kind = 'popularity'\ncount = 8\nlog_q = true", "accumulate = 2"),
    ("in-batch", "kind = 'in_batch'", ""),
    ("in-batch-log-q", "kind = 'in_batch'\nlog_q = true\nmask_hits = false", ""),
    ("in-batch-cached", "kind = 'in_batch'", "gradient_cache = 16"),
    ("shared", "kind = 'uniform_all'\nshared = true\ncount = 300", ""),
    (
        "shared-cached",
        "kind = 'uniform_all'\nshared = true\ncount = 300\nmask_hits = false",
        "gradient_cache = 16",
    ),
];

/// Bytes per thread that `ptxas` may spill, so that one more workgroup fits onto a processor: four numbers.
const SPILL: u32 = 16;

#[test]
fn recommenders_train_with_every_estimator_and_source_of_negatives() {
    let Some(gpu) = FakeGpu::find() else { return };
    let gpu = gpu.keep_ptx();
    for (group, negatives, training) in SOURCES {
        let base = RECOMMENDER.replace("[training]\n", &format!("[training]\n{training}\n"));
        train(&gpu, group, &each_estimator(&base, &format!("[negatives]\n{negatives}\n")));
    }
    let lightgcn = RECOMMENDER.replace("kind = 'mf'", "kind = 'light_gcn'");
    let (_, negatives, _) = SOURCES[0];
    train(
        &gpu,
        "light-gcn",
        &each_estimator(&lightgcn, &format!("[negatives]\n{negatives}\n")),
    );
    let kernels = gpu.spills();
    assert!(!kernels.is_empty(), "no kernel was kept");
    let spilled = kernels.into_iter().filter(|kernel| kernel.spilled_bytes > SPILL);
    assert_eq!(spilled.collect::<Vec<_>>(), []);
}

#[test]
fn recorded_steps_are_replayed_with_one_call() {
    let Some(gpu) = FakeGpu::find() else { return };
    let text = IMAGES.replace("train = 24", "train = 72").replace(
        "epochs = 1\nbatch_size = 12",
        "epochs = 2\nbatch_size = 12\nstep_graph = true",
    ) + "[loss]\nkind = 'bayesian'\ntemperature = 0.5\n";
    let recipes = [
        ("adam", "[optimizer]\nkind = 'adam'\n"),
        ("lars", "[optimizer]\nkind = 'lars'\nlearning_rate = 0.1\n"),
    ];
    for (name, optimizer) in recipes {
        fs::write(gpu.folder().join(format!("{name}.toml")), format!("{text}{optimizer}")).expect("writable");
    }
    // How far cubecl's thread has come decides whether an operation writes in place, and so, whether a recording needs a kernel or memory that the steps before did
    // not. Such a recording fails, and its step is computed as always: so every run succeeds, and one of many records its steps.
    let is_recorded = |(attempt, (name, _)): (usize, &(&str, &str))| {
        let (recipe, out) = (format!("{name}.toml"), format!("runs-{attempt}"));
        let run = gpu.run("bcl-train", &[&recipe, "--backend", "cuda", "--quiet", "--out", &out]);
        assert_eq!(run.code(), Some(0), "{name}\n{}", shown(&run.output));
        let refused = run.refused();
        assert!(
            refused.iter().all(|refused| refused.call == "cuModuleLoadData"),
            "{name}: {refused:?}"
        );
        let total = run.total();
        println!(
            "{name}: {} launches, {} graphs of {} launches",
            total.launches, total.graph_launches, total.launches_in_graphs
        );
        let per_step = total.launches_in_graphs.checked_div(total.graph_launches);
        assert!(
            per_step.is_none_or(|launches| launches > 100),
            "{name}: {per_step:?} launches in a step"
        );
        // Twelve steps: three prepare, one is recorded, and it and the eight after it are replayed.
        total.graph_launches == 9
    };
    let attempts = recipes.iter().cycle().take(12).enumerate();
    assert!(attempts.into_iter().any(is_recorded), "no run was recorded");
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
fn images_train_in_half_precision_and_in_parts_and_can_be_used() {
    let Some(gpu) = FakeGpu::find() else { return };
    let text = format!("{IMAGES}[loss]\nkind = 'bayesian'\ntemperature = 0.5\n");
    let with = |name: &str, set: &str| (name.to_owned(), text.replace("[training]\n", &format!("[training]\n{set}\n")));
    train(
        &gpu,
        "images",
        &[
            with("bf16", "precision = 'bf16'\ngradient_cache = 4"),
            with("f16", "precision = 'f16'\naccumulate = 2"),
        ],
    );
    use_and_continue(
        &gpu,
        "images",
        "bf16",
        &[&["evaluate"], &["embed"], &["fine-tune", "--epochs", "1"]],
    );
}

#[test]
fn convolutions_in_single_precision_use_tensor_cores_if_they_may_round() {
    let text = format!("{IMAGES}[loss]\nkind = 'info_nce'\n");
    // Kernels that multiply on tensor cores after rounding to TF32.
    let num_rounding = |precision: &str| {
        let gpu = FakeGpu::find()?.keep_ptx();
        let set = format!("[training]\nprecision = '{precision}'\n");
        train(&gpu, precision, &[(precision.to_owned(), text.replace("[training]\n", &set))]);
        let files = fs::read_dir(gpu.ptx()).expect("kept");
        let rounds = |file: std::io::Result<fs::DirEntry>| {
            let text = fs::read_to_string(file.expect("readable").path()).expect("text");
            text.contains("mma.sync") && text.contains(".f32.tf32.tf32.f32")
        };
        Some(files.map(rounds).filter(|rounds| *rounds).count())
    };
    let Some(exact) = num_rounding("f32") else { return };
    assert_eq!(exact, 0);
    // Forward, and both gradients.
    let rounding = num_rounding("tf32").expect("it was there");
    assert!(rounding >= 3, "{rounding} kernels");
}

#[test]
fn methods_with_memory_and_with_losses_of_their_own_train() {
    let Some(gpu) = FakeGpu::find() else { return };
    let small = [
        "quickstart-methods/moco",
        "quickstart-methods/swav",
        "--backend",
        "cuda",
        "--quiet",
        "--epochs",
        "1",
        "--set",
        "data.planted.train=32",
        "--set",
        "data.planted.test=20",
        "--set",
        "training.batch_size=16",
        "--set",
        "encoder.trunk.width=8",
        "--set",
        "evaluation.probe.epochs=1",
        "--set",
        "evaluation.baselines=[]",
    ];
    assert_clean(&gpu.run("bcl-train", &small), "methods");
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
    use_and_continue(
        &gpu,
        "mf",
        "mf",
        &[&["evaluate"], &["recommend", "--user", "0", "--top", "3"], &["embed"]],
    );
}

/// Runs commands on the run of a recipe of a group, then trains it on.
fn use_and_continue(gpu: &FakeGpu, group: &str, name: &str, commands: &[&[&str]]) {
    let folder = gpu.folder().join(group);
    let path = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let (run, recipe, runs) = (path(&format!("runs/{name}-0")), path(&format!("{name}.toml")), path("runs"));
    let clean = |arguments: &[&str]| {
        let arguments = [arguments, &["--backend", "cuda"]].concat();
        assert_clean(&gpu.run("bcl-train", &arguments), &arguments.join(" "));
    };
    for command in commands {
        clean(&[command, &[run.as_str()][..]].concat());
    }
    clean(&[&recipe, "--resume", "--epochs", "2", "--quiet", "--out", &runs]);
}

/// The loss of each epoch, to the last digit.
fn losses(run: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(run.join("metrics.jsonl")).expect("a finished run");
    let loss = |line: &str| serde_json::from_str::<Value>(line).expect("a record")["loss"].clone();
    lines.lines().map(loss).collect()
}

/// Trains on the CPU, then trains on from the checkpoint, and returns the losses of the longer run.
fn resumed(program: &dyn Fn() -> Command, recipe: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let loss = "[loss]\nkind = 'bayesian'\ntemperature = 0.5\n";
    fs::write(folder.path().join("r.toml"), format!("{recipe}{loss}")).expect("writable");
    for more in [&[][..], &["--resume", "--epochs", "2"]] {
        let arguments = [&["r.toml", "--quiet"], more].concat();
        let output = program().args(arguments).current_dir(folder.path()).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{more:?} {recipe}\n{}", shown(&output));
    }
    let runs = fs::read_dir(folder.path().join("runs")).expect("runs");
    let runs = runs
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.join("result.json").exists());
    runs.map(|run| losses(&run)).max_by_key(Vec::len).expect("a run")
}

#[test]
fn without_a_gpu_a_program_with_cuda_resumes_to_the_same_bits_as_without_cuda() {
    let Ok(programs) = gpu_programs() else {
        println!("no program with GPU backends");
        return;
    };
    for recipe in [RECOMMENDER, IMAGES, GRAPHS] {
        let with_cuda = resumed(&|| Command::new(programs.join("bcl-train")), recipe);
        assert_eq!(with_cuda, resumed(&bcl_train, recipe), "{recipe}");
        assert!(with_cuda.len() > 1, "{with_cuda:?} {recipe}");
    }
}
