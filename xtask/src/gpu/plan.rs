//! The parts to run, their order and their time limits.
//!
//! Shares are minutes out of twenty. Sizes are chosen for a GPU. A CPU, or a software driver that presents one as a GPU, gets much smaller
//! ones: enough to check that everything runs, too small for timings.

use super::backend::{Backend, Device};
use super::finding;
use super::job::{Job, ReportSource};
use super::part::Part;
use super::programs::{Program, Programs};
use bcl_data::{DataError, Manifest};
use std::path::{Path, PathBuf};

/// The share of the first part, on which all others depend.
pub(super) const MINUTES_OF_DEVICES: f64 = 1.0;

/// The total share of the other parts.
pub(super) const MINUTES_OF_ALL_ELSE: f64 = 19.0;

const PARITY: &str = "parity";
const KERNELS: &str = "kernels";
const LOSSES: &str = "losses";
const EPOCH: &str = "LightGCN epoch";
const STEPS: &str = "steps";
const TRAINING: &str = "training";

/// What the user asked for.
pub(super) struct Request<'a> {
    pub(super) backend: Backend,
    pub(super) data: &'a Path,
    pub(super) golden: &'a [PathBuf],
}

/// The first part: lists the devices.
pub(super) fn devices(programs: &Programs, backend: Backend) -> Part {
    let job = Job::new(programs, Program::Train, "", ReportSource::Printed, finding::devices);
    Part {
        name: "devices",
        minutes: MINUTES_OF_DEVICES,
        jobs: Ok(vec![job.words("devices --backend").argument(backend.name())]),
    }
}

/// All other parts, for a device.
pub(super) fn parts(programs: &Programs, request: &Request, device: &Device) -> Vec<Part> {
    let plan = Planner {
        programs,
        request,
        device,
    };
    [
        (PARITY, 3.0, plan.parity()),
        (KERNELS, 3.0, Ok(plan.kernels())),
        (LOSSES, 4.0, Ok(plan.losses())),
        (EPOCH, 2.0, plan.epoch()),
        (STEPS, 4.0, Ok(plan.steps())),
        (TRAINING, 3.0, plan.training()),
    ]
    .map(|(name, minutes, jobs)| Part { name, minutes, jobs })
    .into()
}

/// The same parts, all skipped because there is no device.
pub(super) fn without_device(backend: Backend) -> Vec<Part> {
    [PARITY, KERNELS, LOSSES, EPOCH, STEPS, TRAINING]
        .map(|name| Part {
            name,
            minutes: 0.0,
            jobs: Err(format!("no {} device", backend.name())),
        })
        .into()
}

struct Planner<'a> {
    programs: &'a Programs,
    request: &'a Request<'a>,
    device: &'a Device,
}

impl Planner<'_> {
    fn bench(&self, label: &str, source: ReportSource, finding: fn(&serde_json::Value) -> Vec<String>) -> Job {
        Job::new(self.programs, Program::Bench, label, source, finding)
    }

    fn train(&self, recipe: &str) -> Job {
        let job = Job::new(self.programs, Program::Train, "", ReportSource::Run, finding::training);
        self.placed(
            job.words("train")
                .argument(recipe)
                .words("--data")
                .argument(self.request.data),
        )
    }

    fn placed(&self, job: Job) -> Job {
        job.words("--backend").argument(self.request.backend.name())
    }

    /// Chooses between a value for a GPU and one for a CPU.
    fn sized<T>(&self, gpu: T, processor: T) -> T {
        if self.device.is_processor() { processor } else { gpu }
    }

    fn parity(&self) -> Result<Vec<Job>, String> {
        let job = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let job = self.bench(&name, ReportSource::Printed, finding::parity);
            self.placed(job.words("parity").argument(file))
        };
        if self.request.golden.is_empty() {
            return Err("no --golden FILE was given".to_owned());
        }
        Ok(self.request.golden.iter().map(job).collect())
    }

    fn kernels(&self) -> Vec<Job> {
        let job = self.bench("", ReportSource::Written, finding::kernels);
        let seconds = self.sized("1", "0.2");
        vec![self.placed(job.words("kernels --seconds").words(seconds))]
    }

    /// The benchmark itself skips batches that do not fit into memory.
    fn losses(&self) -> Vec<Job> {
        let job = self.bench("", ReportSource::Written, finding::losses);
        let batches = self.sized("256 1024 4096 16384", "64 256 1024");
        let job = job
            .words("loss --loss info_nce hard bayesian --rounds 3 --seconds 1 --batch")
            .words(batches);
        vec![self.placed(job)]
    }

    /// Runs one epoch on nine tenths of the training data, then one on all of it, with everything compiled and warm.
    fn epoch(&self) -> Result<Vec<Job>, String> {
        self.located("gowalla", Manifest::locate)?;
        let job = self.train("table10/gowalla/lightgcn-bayesian");
        let sets = "--epochs 1 --set evaluation.oracle=false --set evaluation.baselines=[]";
        Ok(vec![job.words(sets)])
    }

    fn steps(&self) -> Vec<Job> {
        let size = self.sized("--width 64 --batch 256", "--width 16 --batch 32");
        let has = |name: &&str| self.device.precisions.iter().any(|precision| precision == name);
        let half = ["bf16", "f16"].into_iter().find(has);
        let precisions = ["f32"].into_iter().chain(half);
        let job = |depth: &'static str| {
            move |precision: &'static str| {
                let label = format!("ResNet-{depth} {precision}");
                let job = self.bench(&label, ReportSource::Written, finding::steps);
                let job = job.words("step --stem cifar --side 32 --rounds 2 --steps 3 --loss info_nce bayesian");
                self.placed(
                    job.words(size)
                        .words("--depth")
                        .words(depth)
                        .words("--precision")
                        .words(precision),
                )
            }
        };
        let depths = ["18", "50"].into_iter();
        depths.flat_map(|depth| precisions.clone().map(job(depth))).collect()
    }

    fn training(&self) -> Result<Vec<Job>, String> {
        let (recipe, sets, dataset) = if self.device.is_processor() {
            let sets = "--epochs 2 --set evaluation.probe.epochs=20";
            ("cpu/cifar10-tiny/bayesian", sets, "cifar10-tiny")
        } else {
            let sets = "--epochs 2 --set encoder.trunk.depth=18 --set evaluation.probe.epochs=50";
            ("table3/cifar10/bayesian", sets, "cifar10")
        };
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
        let found = Manifest::find(dataset).and_then(|manifest| locate(manifest, self.request.data));
        found.map(|_| ()).map_err(|_| self.missing(dataset))
    }

    fn missing(&self, dataset: &str) -> String {
        let folder = self.request.data.display();
        format!(
            "no {dataset} in {folder}; fetch it (bcl-train data fetch {dataset} --data {folder}) or name its folder with --data"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(kind: &str, precisions: &[&str], folder: &Path, golden: &[PathBuf]) -> Vec<Part> {
        for name in ["bcl-train", "bcl-bench"] {
            let path = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
            std::fs::write(path, "").unwrap();
        }
        let device = Device {
            backend: "wgpu".to_owned(),
            name: "a device".to_owned(),
            kind: kind.to_owned(),
            memory_bytes: None,
            driver: None,
            precisions: precisions.iter().map(ToString::to_string).collect(),
        };
        let request = Request {
            backend: Backend::Wgpu,
            data: folder,
            golden,
        };
        parts(&Programs::find(folder).unwrap(), &request, &device)
    }

    #[test]
    fn shares_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let parts = plan("discrete_gpu", &["f32"], folder.path(), &[]);
        assert_eq!(parts.iter().map(|part| part.minutes).sum::<f64>(), MINUTES_OF_ALL_ELSE);
    }

    #[test]
    fn parts_without_input_are_skipped_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let parts = plan("discrete_gpu", &["f32"], folder.path(), &[]);
        let skipped: Vec<_> = parts
            .iter()
            .filter_map(|part| Some((part.name, part.jobs.as_ref().err()?)))
            .collect();
        let names: Vec<_> = skipped.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [PARITY, EPOCH, TRAINING]);
        assert!(skipped[1].1.contains("bcl-train data fetch gowalla"), "{}", skipped[1].1);
        assert!(skipped[2].1.contains("no cifar10 in"), "{}", skipped[2].1);
    }

    #[test]
    fn every_golden_file_and_both_precisions_have_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let golden = ["a.json", "b.json"].map(PathBuf::from);
        let count = |precisions: &[&str]| {
            let parts = plan("discrete_gpu", precisions, folder.path(), &golden);
            let jobs = |name: &str| {
                parts
                    .iter()
                    .find(|part| part.name == name)
                    .unwrap()
                    .jobs
                    .as_ref()
                    .unwrap()
                    .len()
            };
            (jobs(PARITY), jobs(STEPS))
        };
        assert_eq!(count(&["f32"]), (2, 2));
        assert_eq!(count(&["f64", "f32", "bf16", "f16"]), (2, 4));
        assert_eq!(count(&["f32", "f16"]), (2, 4));
    }

    #[test]
    fn the_other_version_of_a_data_set_will_do() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("cifar10")).unwrap();
        std::fs::write(folder.path().join("cifar10/cifar10-jpg.tar.gz"), "").unwrap();
        for kind in ["discrete_gpu", "software"] {
            let parts = plan(kind, &["f32"], folder.path(), &[]);
            assert!(parts.last().unwrap().jobs.is_ok(), "{kind}");
        }
    }
}
