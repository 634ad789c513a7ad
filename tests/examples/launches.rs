//! Counts what training asks of a GPU, on the fake CUDA driver, and prints two tables: whole commands, and single steps.
//!
//! `cargo run -p whole-program-tests --example launches`, after `cargo xtask ci --gpu`. Counts are the same on every machine: what a step costs before any
//! kernel computes. `BCL_GPU_PROGRAMS` names programs of another version; `-- steps`, `-- commands` or a part of a name chooses what is counted.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the fake driver is for Linux");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::env;
    use whole_program_tests::cuda::{FakeGpu, GpuRun, ProcessLog};

    /// Small sizes: each kernel is compiled once, whatever it computes.
    const COMMANDS: [(&str, &str); 9] = [
        ("reference values of losses", "bcl-bench parity GOLDEN/losses.json"),
        ("reference values of methods", "bcl-bench parity GOLDEN/frameworks.json"),
        ("reference values of graphs", "bcl-bench parity GOLDEN/graphs.json"),
        ("every loss, 64 pairs", "bcl-bench loss --batch 64 --rounds 1 --seconds 0"),
        (
            "every loss, 1,024 pairs",
            "bcl-bench loss --batch 1024 --rounds 1 --seconds 0",
        ),
        ("`quickstart`", "bcl-train quickstart --quiet"),
        (
            "`quickstart-graphs`, 1 epoch",
            "bcl-train quickstart-graphs --quiet --epochs 1",
        ),
        (
            "`quickstart-images`, 1 epoch",
            "bcl-train quickstart-images --quiet --epochs 1",
        ),
        (
            "`quickstart-methods`, 2 steps each",
            "bcl-train quickstart-methods --quiet --epochs 1 --set data.planted.train=32 --set data.planted.test=20 \
             --set training.batch_size=16 --set encoder.trunk.width=8 --set evaluation.probe.epochs=1 --set evaluation.baselines=[]",
        ),
    ];

    /// A command with two values of `VALUE`, with the second of which it takes so many more steps.
    const STEPS: [(&str, &str, [usize; 2], usize); 11] = [
        (
            "ResNet-18, bf16, InfoNCE",
            "SIMCLR --depth 18 --precision bf16 --loss info_nce",
            [1, 3],
            2,
        ),
        (
            "ResNet-18, bf16, Bayesian",
            "SIMCLR --depth 18 --precision bf16 --loss bayesian",
            [1, 3],
            2,
        ),
        (
            "ResNet-18, f32, InfoNCE",
            "SIMCLR --depth 18 --precision f32 --loss info_nce",
            [1, 3],
            2,
        ),
        (
            "ResNet-50, bf16, InfoNCE",
            "SIMCLR --depth 50 --precision bf16 --loss info_nce",
            [1, 3],
            2,
        ),
        (
            "ResNet-18, bf16, InfoNCE, replayed",
            "SIMCLR --step-graph --depth 18 --precision bf16 --loss info_nce",
            [1, 3],
            2,
        ),
        (
            "ResNet-18, bf16, Bayesian, replayed",
            "SIMCLR --step-graph --depth 18 --precision bf16 --loss bayesian",
            [1, 3],
            2,
        ),
        (
            "ResNet-50, bf16, InfoNCE, replayed",
            "SIMCLR --step-graph --depth 50 --precision bf16 --loss info_nce",
            [1, 3],
            2,
        ),
        // 146 interactions to select the epoch, then 164: batches of 64 take 3 + 3 steps, batches of 32 take 5 + 6.
        ("MF, InfoNCE", "bcl-train quickstart/infonce RECOMMENDER", [64, 32], 5),
        ("MF, Bayesian", "bcl-train quickstart/bayesian RECOMMENDER", [64, 32], 5),
        (
            "LightGCN, Bayesian",
            "bcl-train quickstart/bayesian RECOMMENDER --set encoder.kind='light_gcn'",
            [64, 32],
            5,
        ),
        (
            "InfoGraph (GIN), Bayesian",
            "bcl-train quickstart-graphs/bayesian --quiet --epochs 1 --set data.planted.graphs=60 --set training.batch_size=VALUE",
            [12, 6],
            5,
        ),
    ];

    const ABBREVIATIONS: [(&str, &str); 4] = [
        (
            "FEW_IMAGES",
            "--quiet --epochs 1 --set data.planted.train=32 --set data.planted.test=20 --set training.batch_size=16 \
             --set encoder.trunk.width=8 --set evaluation.probe.epochs=1 --set evaluation.baselines=[]",
        ),
        ("GOLDEN", concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/bcl-golden/data")),
        (
            "SIMCLR",
            "bcl-bench step --whole --stem cifar --width 64 --side 32 --batch 32 --rounds 1 --steps VALUE",
        ),
        (
            "RECOMMENDER",
            "--quiet --epochs 1 --set evaluation.baselines=[] --set training.batch_size=VALUE \
             --set data.planted={num_users=40,num_items=60,num_communities=4,interactions_per_user=5}",
        ),
    ];

    /// A GPU without compiled kernels.
    fn gpu() -> FakeGpu {
        FakeGpu::find().expect("what the line above names")
    }

    fn run(gpu: &FakeGpu, command: &str, value: usize) -> GpuRun {
        let written_out = ABBREVIATIONS
            .iter()
            .fold(command.to_owned(), |text, (short, long)| text.replace(short, long));
        let command = written_out.replace("VALUE", &value.to_string());
        let words: Vec<&str> = command.split_whitespace().chain(["--backend", "cuda"]).collect();
        gpu.run(words[0], &words[1..])
    }

    fn code(run: &GpuRun) -> String {
        run.code().map_or_else(|| "a signal".to_owned(), |code| code.to_string())
    }

    fn commands(wanted: &str) {
        println!("| command | exit code | kernels | launches | refused |\n| --- | --- | --- | --- | --- |");
        for (name, command) in COMMANDS.into_iter().filter(|(name, _)| name.contains(wanted)) {
            let run = run(&gpu(), command, 0);
            let (kernels, refused) = (run.kernels().len(), run.refused().len());
            println!("| {name} | {} | {kernels} | {} | {refused} |", code(&run), run.launches());
        }
    }

    fn steps(wanted: &str) {
        println!(
            "| one step | exit code | kernels | launches | calls | copies up | copies down | waits | allocations |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        );
        for (name, command, values, more) in STEPS.into_iter().filter(|(name, ..)| name.contains(wanted)) {
            let gpu = gpu();
            let [short, long] = values.map(|value| run(&gpu, command, value));
            let (kernels, code) = (long.kernels().len(), code(&long));
            let (short, long) = (short.total(), long.total());
            // A graph of many launches is launched with one call.
            let calls = |log: &ProcessLog| log.launches - log.launches_in_graphs + log.graph_launches;
            let counts = [
                (short.launches, long.launches),
                (calls(&short), calls(&long)),
                (short.copies_up.count, long.copies_up.count),
                (short.copies_down.count, long.copies_down.count),
                (short.waits, long.waits),
                (short.allocations, long.allocations),
            ];
            // Adding zero makes -0 positive.
            let counts = counts.map(|(short, long)| ((long as f64 - short as f64) / more as f64).round() + 0.0);
            let counts = counts.map(|count| count.to_string());
            println!("| {name} | {code} | {kernels} | {} |", counts.join(" | "));
        }
    }

    pub(super) fn main() {
        let wanted = env::args().nth(1).unwrap_or_default();
        match &*wanted {
            "commands" => commands(""),
            "steps" => steps(""),
            part => {
                commands(part);
                steps(part);
            }
        }
    }
}
