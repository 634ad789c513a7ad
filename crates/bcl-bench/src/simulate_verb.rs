//! The verb `bcl-bench simulate`: runs the paper's numerical experiment.

use crate::{
    Done,
    input::{at_least_one, draws},
    output::Output,
};
use bcl_bench::simulation::{self, Figure, SimulationPlan};
use bcl_core::simulation::SimulationConfig;
use bcl_data::Seed;
use bcl_files::{notice, printable};
use std::{fs, path::PathBuf, process::ExitCode};

/// The defaults come from appendix B.2 of the paper.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write each figure to this folder as SVG, with its data as CSV beside it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Figures to draw [default: all but recovery, which takes minutes].
    #[arg(long, value_name = "FIGURE", num_args = 1..)]
    only: Vec<Figure>,
    /// Compare squared errors at the paper's settings with known values; a deviation of more than 15 % is a failure.
    #[arg(long)]
    check: bool,
    /// Number of anchors per repetition, M.
    #[arg(long, default_value_t = SimulationConfig::default().num_anchors, value_parser = draws)]
    num_anchors: usize,
    /// Number of unlabelled scores per anchor, N.
    #[arg(long, default_value_t = SimulationConfig::default().num_negatives, value_parser = draws)]
    num_negatives: usize,
    /// Number of positive scores per anchor, K.
    #[arg(long, default_value_t = SimulationConfig::default().num_positives, value_parser = draws)]
    num_positives: usize,
    /// How well scores separate the classes, from 0.5 to 1.
    #[arg(long, default_value_t = SimulationConfig::default().alpha)]
    alpha: f64,
    /// Hardness of the Bayesian weight, from 0 to 1.
    #[arg(long, default_value_t = SimulationConfig::default().beta)]
    beta: f64,
    /// How much the score intervals of the anchors differ, from 0 to below 1.
    #[arg(long, default_value_t = SimulationConfig::default().gamma)]
    gamma: f64,
    /// Prior probability of a false negative, from 0 to 0.99.
    #[arg(long, default_value_t = SimulationConfig::default().tau_plus)]
    tau_plus: f64,
    /// Temperature t, at least 0.15.
    #[arg(long, default_value_t = SimulationConfig::default().temperature)]
    temperature: f64,
    /// Concentration of the hard estimator's weights, at least 0.
    #[arg(long, default_value_t = SimulationConfig::default().hard_beta)]
    hard_beta: f64,
    /// Largest similarity, at most 1/t² [default: 1/t², for figure9 and figure10 at most 0.5].
    #[arg(long, value_name = "SIMILARITY")]
    half_width: Option<f64>,
    /// Number of repetitions.
    #[arg(long, default_value_t = SimulationConfig::default().repetitions, value_parser = at_least_one)]
    repetitions: usize,
    /// Seed of all draws.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let plan = arguments.plan();
    plan.base.check()?;
    arguments.output.prepare()?;
    // Fail before the work if the folder cannot be written to.
    if let Some(folder) = &arguments.out {
        fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    }
    let simulation = simulation::run(&plan);
    if let Some(folder) = &arguments.out {
        for drawing in simulation.drawings() {
            drawing.write(folder)?;
        }
        notice::line(format_args!(
            "{} figures in {}",
            simulation.drawings().len(),
            printable(folder.display())
        ));
    }
    arguments.output.write(&simulation)?;
    Ok(ExitCode::from(u8::from(simulation.failed())))
}

impl Arguments {
    fn plan(&self) -> SimulationPlan {
        SimulationPlan {
            base: SimulationConfig {
                num_anchors: self.num_anchors,
                num_negatives: self.num_negatives,
                num_positives: self.num_positives,
                alpha: self.alpha,
                beta: self.beta,
                gamma: self.gamma,
                tau_plus: self.tau_plus,
                temperature: self.temperature,
                hard_beta: self.hard_beta,
                repetitions: self.repetitions,
                half_width: self.half_width,
            },
            seed: Seed(self.seed),
            only: self.only.clone(),
            check: self.check,
        }
    }
}
