//! The Vulkan backend: its shaders, checked by Khronos's validation layer, and a training on this machine's driver. See `whole_program_tests::vulkan`.

#![cfg(target_os = "linux")]

use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};
use whole_program_tests::{
    bcl_train, shown,
    vulkan::{Machine, VulkanRun},
};

fn count(runs: &[VulkanRun]) -> usize {
    runs.iter().map(|run| run.modules.len()).sum()
}

#[test]
fn every_shader_of_losses_and_of_training_is_valid() {
    let Some(machine) = Machine::validates() else { return };
    let losses = "loss --backend vulkan --batch 64 --rounds 1 --seconds 0";
    let long = "loss --backend vulkan --batch 3000 --rounds 1 --seconds 0 --loss info_nce hard bayesian";
    let step = "step --backend vulkan --depth 18 --width 8 --side 16 --batch 8 --rounds 1 --steps 1 --loss info_nce bayesian";
    let run = |program: &str, arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let run = machine.run(program, &arguments);
        run.assert_valid();
        run
    };
    let runs = [
        run("bcl-train", "devices --json"),
        run("bcl-bench", losses),
        run("bcl-bench", long),
        run("bcl-bench", step),
    ];
    println!("{} shaders, all valid", count(&runs));
}

/// The result of the run of the quickstart in a folder.
fn result(runs: &Path) -> Value {
    let text = fs::read_to_string(runs.join("quickstart/bayesian-0/result.json")).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

fn ndcg(result: &Value) -> f64 {
    let found = result["validation"]["metrics"]["ndcg@20"].as_f64();
    found.unwrap_or_else(|| panic!("no NDCG: {result:#}"))
}

#[test]
fn training_on_this_driver_gives_the_ranking_of_the_cpu() {
    let Some(machine) = Machine::computes() else { return };
    let quickstart = ["quickstart/bayesian", "--epochs", "1", "--quiet", "--out"];
    let runs = ["gpu", "cpu"].map(|name| machine.folder().join(name));
    let [gpu, cpu] = runs
        .each_ref()
        .map(|runs| [&quickstart[..], &[runs.to_str().expect("a plain path")]].concat());
    let run = machine.run("bcl-train", &[&gpu[..], &["--backend", "wgpu"]].concat());
    assert!(run.output.status.success(), "{}", shown(&run.output));
    let output = bcl_train()
        .args(cpu)
        .current_dir(machine.folder())
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    let results = runs.each_ref().map(|runs| result(runs));
    let backends = results.each_ref().map(|result| &result["environment"]["backend"]);
    assert_eq!(backends, ["wgpu", "flex"]);
    let [gpu, cpu] = results.each_ref().map(ndcg);
    assert!((gpu - cpu).abs() < 0.002, "{gpu} on the GPU, {cpu} on the CPU");
}

/// Six steps per epoch of a ResNet-18 of width 4.
const IMAGES: &str = "\
[data]\ndataset = 'planted'\nplanted = { train = 72, test = 12, classes = 2, side = 16 }\n\
[views]\nside = 16\n\
[encoder]\nkind = 'resnet'\ntrunk = { depth = 18, width = 4, stem = 'cifar' }\nhead = { hidden = 8, out = 8 }\n\
[training]\nepochs = 2\nbatch_size = 12\n\
[evaluation]\nbaselines = []\nprobe = { epochs = 1 }\n";

/// Method, loss and optimizer, whose rate differs from step to step.
const RECORDED: [(&str, &str); 5] = [
    (
        "adam",
        "[loss]\nkind = 'bayesian'\ntemperature = 0.5\n[optimizer]\nkind = 'adamw'\nschedule = 'cosine'\nclip_global_norm = 1\n",
    ),
    (
        "lars",
        "[method]\nkind = 'barlow_twins'\n[optimizer]\nkind = 'lars'\nlearning_rate = 0.2\nwarmup_epochs = 1\nweight_decay = 0.001\n",
    ),
    (
        "momentum",
        "[method]\nkind = 'byol'\nhidden = 8\n[optimizer]\nkind = 'adam'\n",
    ),
    (
        "queue",
        "[method]\nkind = 'moco'\nqueue = 12\nsymmetric = false\nnorm_groups = 2\n[loss]\nkind = 'hard'\ntemperature = 0.5\n",
    ),
    (
        "predictor",
        "[method]\nkind = 'simsiam'\nhidden = 8\n[optimizer]\nschedule = 'cosine'\n",
    ),
];

/// In the first step of an epoch, an image may have a key in the queue: such a step is not recorded.
fn recipe(name: &str, more: &str) -> String {
    let images = match name {
        "queue" => IMAGES.replace("train = 72", "train = 108"),
        _ => IMAGES.to_owned(),
    };
    images + more
}

/// The loss of each epoch of a run, and its checkpoints: weights, state of the optimizer and its number of steps, counts of the method.
fn losses_and_checkpoints(run: &Path) -> (Vec<f64>, BTreeMap<String, Vec<u8>>) {
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
    let loss = |line: &str| {
        serde_json::from_str::<Value>(line).expect("JSON")["loss"]
            .as_f64()
            .expect("a loss")
    };
    let files = fs::read_dir(run.join("checkpoints/training")).expect("checkpoints");
    let checkpoint = |file: std::io::Result<fs::DirEntry>| {
        let path = file.expect("readable").path();
        let is_record = path.extension().is_some_and(|extension| extension == "bpk");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        is_record.then(|| (name, fs::read(&path).expect("readable")))
    };
    (metrics.lines().map(loss).collect(), files.filter_map(checkpoint).collect())
}

#[test]
fn recorded_steps_have_the_bits_of_steps_one_by_one() {
    let Some(machine) = Machine::computes() else { return };
    let folder = machine.folder();
    for (name, more) in RECORDED {
        fs::write(folder.join(format!("{name}.toml")), recipe(name, more)).expect("writable");
    }
    let recipes = RECORDED.map(|(name, _)| format!("{name}.toml"));
    let train = |runs: &str, more: &[&str]| {
        let recipes = recipes.iter().map(String::as_str);
        let arguments = recipes
            .chain(["--backend", "wgpu", "--out", runs])
            .chain(more.iter().copied());
        let run = machine.run("bcl-train", &arguments.collect::<Vec<_>>());
        assert!(run.output.status.success(), "{}", shown(&run.output));
        String::from_utf8_lossy(&run.output.stderr).into_owned()
    };
    train("plain", &[]);
    let said = train("recorded", &["--set", "training.step_graph=true"]);
    let methods = ["SimClr", "JointEmbedding", "Byol", "MoCo", "SimSiam"];
    let is_recorded = |method: &&&str| said.contains(&format!("a step of {method} is recorded"));
    let recorded: Vec<_> = methods.iter().filter(is_recorded).collect();
    // A recording may fail, and its step is computed as always.
    println!("recorded: {recorded:?}");
    assert!(!recorded.is_empty(), "{said}");
    for (name, _) in RECORDED {
        let of = |runs: &str| losses_and_checkpoints(&folder.join(runs).join(format!("{name}-0")));
        let (plain, recorded) = (of("plain"), of("recorded"));
        assert!(plain.0.len() == 2 && plain.1.len() >= 3, "{name}");
        assert_eq!(plain.0, recorded.0, "{name}");
        for (file, expected) in &plain.1 {
            assert!(recorded.1.get(file) == Some(expected), "{name}: {file} differs");
        }
    }
}
