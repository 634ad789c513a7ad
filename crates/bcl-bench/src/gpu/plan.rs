//! The parts to run, their order and their time limits.
//!
//! Shares are minutes out of ten, and the most valuable parts come first. Sizes are chosen for a GPU. A CPU, or a software driver that
//! presents one as a GPU, gets much smaller ones: enough to check that everything runs, too small for timings.

use super::{
    GpuPlan,
    job::{Job, JobKind},
    torch::Torch,
};
use bcl_backend::{DeviceInfo, DeviceKind};
use bcl_data::{DataError, Manifest};
use std::path::{Path, PathBuf};

const PARITY: &str = "parity";
const QUICKSTART: &str = "quickstart";
const LOSSES: &str = "losses";
const STEPS: &str = "steps";
const PROFILE: &str = "profile";
const TRAINING: &str = "training";
const KERNELS: &str = "kernels";
const EPOCH: &str = "LightGCN epoch";

/// A step of SimCLR, without its size.
const STEP: &str = "step --stem cifar --side 32 --rounds 1";

/// Related commands that share a time budget.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Its share of the time, in minutes out of ten.
    pub(super) minutes: f64,
    /// Its jobs, or why it cannot run.
    pub(super) jobs: Result<Vec<Job>, String>,
}

impl Part {
    /// The weight of its share; 0 if it cannot run.
    pub(super) fn weight(&self) -> f64 {
        if self.jobs.is_ok() { self.minutes } else { 0.0 }
    }
}

/// All parts, for a device.
pub(super) fn parts(program: &Path, plan: &GpuPlan, device: &DeviceInfo, torch: Option<&Torch>) -> Vec<Part> {
    let planner = Planner {
        program,
        plan,
        device,
        torch,
    };
    [
        (PARITY, 1.0, planner.parity()),
        (QUICKSTART, 1.5, Ok(vec![planner.train("quickstart")])),
        (LOSSES, 1.5, Ok(planner.losses())),
        (STEPS, 2.5, Ok(planner.steps())),
        (PROFILE, 0.75, planner.profile()),
        (TRAINING, 1.75, planner.training()),
        (KERNELS, 0.5, Ok(planner.kernels())),
        (EPOCH, 0.5, planner.epoch()),
    ]
    .map(|(name, minutes, jobs)| Part { name, minutes, jobs })
    .into()
}

struct Planner<'a> {
    program: &'a Path,
    plan: &'a GpuPlan,
    device: &'a DeviceInfo,
    torch: Option<&'a Torch>,
}

impl Planner<'_> {
    /// A command on the device. The verb comes first.
    fn job(&self, label: &str, kind: JobKind, words: &str) -> Job {
        let DeviceInfo { backend, index, .. } = self.device;
        let job = Job::new(self.program, label, kind).words(words);
        job.words(&format!("--backend {backend} --device {index}"))
    }

    /// Trains recipes as they are, each once: a table without tuning.
    fn train(&self, recipes: &str) -> Job {
        let words = format!("table {recipes} --budget 0 --seeds 1 --quiet");
        let job = self.job("", JobKind::Training, &words);
        job.words("--data").argument(&self.plan.data)
    }

    /// A job, and the same work in PyTorch if it is there.
    fn beside_torch(&self, job: Job, words: &str) -> Vec<Job> {
        let label = [&*job.label, "PyTorch"].join(" ");
        let torch = self.torch.map(|torch| torch.job(label.trim_start(), words));
        [Some(job), torch].into_iter().flatten().collect()
    }

    /// Chooses between a value for a GPU and one for a CPU.
    fn sized<T>(&self, gpu: T, processor: T) -> T {
        match self.device.kind {
            DeviceKind::Processor | DeviceKind::Software => processor,
            _ => gpu,
        }
    }

    fn parity(&self) -> Result<Vec<Job>, String> {
        let job = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            self.job(&name, JobKind::Printed, "parity").argument(file)
        };
        if self.plan.golden.is_empty() {
            return Err("no --golden FILE was given".to_owned());
        }
        Ok(self.plan.golden.iter().map(job).collect())
    }

    fn kernels(&self) -> Vec<Job> {
        let words = self.sized("kernels --seconds 0.5", "kernels --seconds 0.1");
        vec![self.job("", JobKind::Saved("kernels"), words)]
    }

    /// The benchmark itself skips batches that do not fit into memory.
    fn losses(&self) -> Vec<Job> {
        let words = "loss --loss info_nce hard bayesian --rounds 1 --seconds 1";
        let batches = self.sized("--batch 256 1024 4096 16384", "--batch 64 256 1024");
        let job = self.job("", JobKind::Saved("loss"), words).words(batches);
        self.beside_torch(job, &format!("loss {batches}"))
    }

    /// Runs one epoch on nine tenths of the training data, then one on all of it, with everything compiled and warm.
    fn epoch(&self) -> Result<Vec<Job>, String> {
        self.located("gowalla", Manifest::locate)?;
        let job = self.train("table10/gowalla/lightgcn-bayesian");
        let sets = "--set training.epochs=1 --set selection.oracle=false --set evaluation.baselines=[]";
        Ok(vec![job.words(sets)])
    }

    fn steps(&self) -> Vec<Job> {
        let fast = self.fastest_precision();
        let mut encoders = vec![("18", fast), ("50", fast)];
        if self.device.backend == "cuda" {
            encoders.push(("18", "tf32"));
        }
        // The slowest comes last.
        if fast != "f32" {
            encoders.push(("18", "f32"));
        }
        let jobs = encoders.into_iter().flat_map(|(depth, precision)| {
            let label = format!("ResNet-{depth} {precision}");
            let job = self.step(&label, JobKind::Saved("step"), depth, precision);
            let words = format!("step --depth {depth} --precision {precision} --side 32 --batch 256");
            let one_by_one = self.beside_torch(job.words("--whole --steps 10 --loss info_nce bayesian"), &words);
            // The CPU records no steps; in f32, a step takes too long for launches to count.
            let is_recorded = precision == fast && self.device.kind != DeviceKind::Processor;
            let recorded = is_recorded.then(|| {
                let job = self.step(&format!("{label} recorded"), JobKind::Saved("step"), depth, precision);
                job.words("--whole --step-graph --steps 10 --loss info_nce bayesian")
            });
            one_by_one.into_iter().chain(recorded)
        });
        jobs.collect()
    }

    /// Only backends that compile kernels log their times.
    fn profile(&self) -> Result<Vec<Job>, String> {
        if self.device.kind == DeviceKind::Processor {
            return Err("the CPU backend has no log of kernels".to_owned());
        }
        let job = self.step("", JobKind::Profile, "18", self.fastest_precision());
        Ok(vec![job.words("--steps 3 --loss info_nce")])
    }

    fn step(&self, label: &str, kind: JobKind, depth: &str, precision: &str) -> Job {
        let size = self.sized("--width 64 --batch 256", "--width 16 --batch 32");
        let job = self.job(label, kind, STEP).words(size);
        job.words(&format!("--depth {depth} --precision {precision}"))
    }

    fn fastest_precision(&self) -> &'static str {
        let has = |name: &&str| self.device.precisions.contains(name);
        ["bf16", "f16"].into_iter().find(has).unwrap_or("f32")
    }

    fn training(&self) -> Result<Vec<Job>, String> {
        let (recipe, sets, dataset) = self.sized(
            (
                "table3/cifar10/bayesian",
                "--set training.epochs=2 --set encoder.trunk.depth=18 --set evaluation.probe.epochs=50",
                "cifar10",
            ),
            (
                "cpu/cifar10-tiny/bayesian",
                "--set training.epochs=2 --set evaluation.probe.epochs=20",
                "cifar10-tiny",
            ),
        );
        // Falls back to the JPEG version of the same images.
        let dataset = [dataset, "cifar10-jpg"]
            .into_iter()
            .find(|name| self.located(name, Manifest::locate_images).is_ok())
            .ok_or_else(|| self.missing(dataset))?;
        let common = "--set evaluation.every=0 --set evaluation.protocols=[\"clean\"] --set evaluation.baselines=[]";
        let job = self.train(recipe).words(sets).words(common);
        Ok(vec![job.words("--set").argument(format!("data.dataset={dataset}"))])
    }

    fn located<T>(&self, dataset: &str, locate: fn(&Manifest, &Path) -> Result<T, DataError>) -> Result<(), String> {
        let found = Manifest::find(dataset).and_then(|manifest| locate(manifest, &self.plan.data));
        found.map(|_| ()).map_err(|_| self.missing(dataset))
    }

    fn missing(&self, dataset: &str) -> String {
        let folder = self.plan.data.display();
        format!(
            "no {dataset} in {folder}; fetch it (bcl-train data fetch {dataset} --data {folder}) or name its folder with --data"
        )
    }
}

#[cfg(test)]
mod tests;
