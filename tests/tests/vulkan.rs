//! The shaders of the Vulkan backend, checked by Khronos's validation layer: see `whole_program_tests::vulkan`.

#![cfg(target_os = "linux")]

use whole_program_tests::vulkan::{Validated, Validator};

fn count(runs: &[Validated]) -> usize {
    runs.iter().map(|run| run.modules.len()).sum()
}

#[test]
fn every_shader_of_losses_and_of_training_is_valid() {
    let Some(validator) = Validator::find() else { return };
    let losses = "loss --backend vulkan --batch 64 --rounds 1 --seconds 0";
    let long = "loss --backend vulkan --batch 3000 --rounds 1 --seconds 0 --loss info_nce hard bayesian";
    let step = "step --backend vulkan --depth 18 --width 8 --side 16 --batch 8 --rounds 1 --steps 1 --loss info_nce bayesian";
    let run = |program: &str, arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let run = validator.run(program, &arguments);
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
