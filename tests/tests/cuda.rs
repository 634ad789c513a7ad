//! The CUDA backend on the fake driver, which compiles, checks and counts every kernel and executes none: see `fake-cuda`.
//!
//! Skipped where NVIDIA's compilers or programs with the CUDA backend are missing; `whole_program_tests::cuda` says how to get both.

#![cfg(target_os = "linux")]

use serde_json::Value;
use whole_program_tests::{
    cuda::{FakeGpu, GpuRun},
    shown,
};

/// Measures one step of losses with 64 samples per batch.
const LOSSES: [&str; 9] = [
    "loss",
    "--backend",
    "cuda",
    "--batch",
    "64",
    "--rounds",
    "1",
    "--seconds",
    "0",
];

/// Asserts that a program ended with a message instead of a panic.
fn assert_failed(run: &GpuRun, words: &[&str]) {
    assert!(matches!(run.code(), Some(1 | 2)), "{}", shown(&run.output));
    assert!(!run.stderr().contains("panicked"), "{}", shown(&run.output));
    for word in words {
        assert!(run.stderr().contains(word), "`{word}` is missing\n{}", shown(&run.output));
    }
    assert_eq!(run.refused(), []);
}

#[test]
fn every_card_is_listed() {
    let Some(gpu) = FakeGpu::find() else {
        return;
    };
    let run = gpu.devices(2).memory(8 << 30).run("bcl-train", &["devices", "--json"]);
    run.assert_clean();
    let listed: Value = serde_json::from_str(&run.stdout()).expect("JSON");
    let cards = listed["devices"].as_array().expect("a list");
    let cards: Vec<&Value> = cards.iter().filter(|device| device["backend"] == "cuda").collect();
    assert_eq!(cards.len(), 2, "{listed:#}");
    for (index, card) in cards.iter().enumerate() {
        assert_eq!(
            (&card["index"], &card["memory_bytes"]),
            (&index.into(), &(8_u64 << 30).into()),
            "{listed:#}"
        );
        assert!(card["name"].as_str().is_some_and(|name| name.contains("H100")), "{listed:#}");
    }
    assert!(
        run.total().launches_per_device.iter().all(|launches| *launches > 0),
        "{:?}",
        run.total()
    );
}

#[test]
fn the_kernels_of_every_loss_compile_and_can_be_launched() {
    let Some(gpu) = FakeGpu::find() else {
        return;
    };
    let gpu = gpu.keep_ptx();
    let run = gpu.run("bcl-bench", &LOSSES);
    run.assert_clean();
    let kernels = gpu.spills();
    assert!(!kernels.is_empty(), "no kernel was kept");
    for kernel in kernels {
        assert_eq!(kernel.spilled_bytes, 0, "{kernel:?}");
    }
}

/// Computes reference values.
fn parity(file: &str) {
    let Some(gpu) = FakeGpu::find() else {
        return;
    };
    let path = format!("{}/../crates/bcl-golden/data/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let run = gpu.run("bcl-bench", &["parity", &path, "--backend", "cuda"]);
    assert_eq!(run.refused(), [], "{}", shown(&run.output));
    // Nothing is executed, so everything is computed, and wrong.
    assert_eq!(run.code(), Some(1), "{}", shown(&run.output));
    assert!(run.stdout().contains("NOT within tolerance"), "{}", shown(&run.output));
}

#[test]
fn reference_values_of_losses_are_computed() {
    parity("losses");
}

#[test]
fn reference_values_of_methods_are_computed() {
    parity("frameworks");
}

#[test]
fn reference_values_of_graphs_are_computed() {
    parity("graphs");
}

#[test]
fn a_loss_runs_on_the_device_that_was_chosen() {
    let Some(gpu) = FakeGpu::find() else {
        return;
    };
    let one = ["--loss", "info_nce", "--device", "1"];
    let run = gpu.devices(2).run("bcl-bench", &[&LOSSES[..], &one].concat());
    run.assert_clean();
    let total = run.total();
    assert_eq!(total.launches_per_device[0], 0, "{total:?}");
}

#[test]
fn memory_that_runs_out_is_an_error_with_a_remedy() {
    let Some(gpu) = FakeGpu::find() else {
        return;
    };
    // The verb `loss` would have skipped what does not fit.
    let step = "step --backend cuda --width 64 --batch 256 --loss info_nce --rounds 1 --steps 1";
    let run = gpu.memory(256 << 20).run("bcl-bench", &step.split(' ').collect::<Vec<_>>());
    assert_failed(&run, &["Fake H100", "has no memory left", "training.batch_size"]);
    assert_eq!(run.code(), Some(2), "the work is too large: {}", shown(&run.output));
    let peak = run.total().peak_bytes;
    assert!((64 << 20..=256 << 20).contains(&peak), "{peak}");
}

#[test]
fn a_lost_device_is_an_error() {
    let Some(gpu) = FakeGpu::find() else {
        return;
    };
    let one = [&LOSSES[..], &["--loss", "info_nce"]].concat();
    let gpu = gpu.fail_launch(30);
    let run = gpu.run("bcl-bench", &one);
    assert_failed(&run, &[]);
    assert!(run.total().lost_by.is_some(), "{}", shown(&run.output));
    assert!(run.stderr().contains("status 700"), "{}", shown(&run.output));
}
