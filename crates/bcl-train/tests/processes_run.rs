//! Whole runs on several processes: as on one, in one folder, and resumed with another number of processes.

use bcl_backend::{Backend, BackendChoice};
use bcl_collective::{Alone, Checked, Collective, Threads};
use bcl_data::SearchPath;
use bcl_recipe::{Override, Recipe, find};
use bcl_report::{
    read_run,
    result::{EpochRecord, Phase, RunResult},
};
use bcl_train::{
    error::Error,
    kinds::{Surroundings, prepare},
    logging::{Logger, LoggerError, Loggers, Scalars},
    processes,
    training::{Invocation, RunFolder, Stop},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

const RECOMMENDER: &[&str] = &[
    "data.planted.num_users=60",
    "data.planted.num_items=80",
    "data.planted.num_communities=4",
    "data.planted.interactions_per_user=5",
    "negatives.count=8",
    "training.batch_size=64",
    "training.epochs=3",
    "optimizer.l2=0.01",
];

const IMAGES: &[&str] = &[
    "data.planted.train=80",
    "data.planted.test=40",
    "views.side=16",
    "encoder.trunk.width=4",
    "encoder.head.hidden=8",
    "encoder.head.out=8",
    "training.batch_size=16",
    "training.epochs=2",
    "evaluation.every=1",
    "evaluation.knn.k=3",
    "evaluation.probe.epochs=2",
    // Small steps, because training amplifies rounding: Adam turns rounding errors of gradients near zero into whole steps.
    "optimizer.kind=sgd",
    "optimizer.learning_rate=0.001",
];

const GRAPHS: &[&str] = &[
    "data.planted.graphs=40",
    "encoder.layers=2",
    "encoder.hidden=4",
    "training.batch_size=8",
    "training.epochs=3",
    "evaluation.every=1",
];

fn recipe(name: &str, changes: &[&str], more: &[&str]) -> Recipe {
    let found = find(name).expect("a built-in recipe");
    let changes: Vec<Override> = changes
        .iter()
        .chain(more)
        .map(|change| change.parse().expect("a key and a value"))
        .collect();
    Recipe::read(&found[0], &changes).expect("it reads")
}

/// Asks training to stop after a step.
#[derive(Debug)]
struct StopAfter {
    step: usize,
    stop: Stop,
}

impl Logger for StopAfter {
    fn begin(&mut self, _: Phase, _: usize) -> Result<(), LoggerError> {
        Ok(())
    }

    fn scalars(&mut self, step: usize, scalars: &Scalars) -> Result<(), LoggerError> {
        if step == self.step && scalars.contains_key("step/loss") {
            self.stop.request();
        }
        Ok(())
    }
}

/// A run of one process.
struct Run<'a> {
    recipe: &'a Recipe,
    /// The recipe whose data this process loads.
    data: &'a Recipe,
    out: &'a Path,
    /// The folder of an interrupted run to continue.
    resume: Option<&'a Path>,
    stop_after: Option<usize>,
}

impl<'a> Run<'a> {
    fn new(recipe: &'a Recipe, out: &'a Path) -> Self {
        Self {
            recipe,
            data: recipe,
            out,
            resume: None,
            stop_after: None,
        }
    }

    fn start(&self, processes: Arc<dyn Collective>) -> Result<(PathBuf, RunResult), Error> {
        let processes: Arc<dyn Collective> = if processes.size() == 1 {
            processes
        } else {
            Arc::new(Checked::new(processes))
        };
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        let search = SearchPath::new(None, Path::new("data"));
        let prepared = prepare(self.data, &search, &*processes)?;
        prepared.refuse_processes(self.recipe, &*processes)?;
        let mut created = None;
        let path = processes::on_first(&*processes, || {
            let invocation = Invocation {
                search: search.clone(),
                backend: "flex".to_owned(),
                processes: processes.size(),
                trial_of: None,
            };
            let folder = match self.resume {
                Some(folder) => RunFolder::open(folder)?.0.locked()?,
                None => RunFolder::create(self.out, self.recipe, &invocation, prepared.record())?,
            };
            let path = folder.path().to_path_buf();
            created = Some(folder);
            Ok(path)
        })?;
        let stop = Stop::new();
        let loggers = match self.stop_after {
            Some(step) => Loggers::default().with(StopAfter {
                step,
                stop: stop.clone(),
            }),
            None => Loggers::default(),
        };
        let folder = created.unwrap_or_else(|| RunFolder::of_first_process(path));
        let around = Surroundings {
            folder: &folder,
            search: &search,
            backend: &backend,
            quiet: true,
            stop,
            loggers,
            processes,
        };
        let result = prepared.finish(self.recipe, &around)?;
        Ok((folder.path().to_path_buf(), result))
    }
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).expect("within").to_path_buf());
            }
        }
    }
    found
}

fn losses(records: &[EpochRecord]) -> Vec<(Phase, f64)> {
    records.iter().map(|record| (record.phase, record.loss)).collect()
}

/// Whether epochs and losses agree to a relative tolerance.
#[track_caller]
fn assert_close(found: &[EpochRecord], expected: &[EpochRecord], tolerance: f64, what: &str) {
    let (found, expected) = (losses(found), losses(expected));
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}, {expected:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.0, expected.0);
        let deviation = (found.1 - expected.1).abs() / expected.1.abs();
        assert!(deviation < tolerance, "{what}: {found:?} is not {expected:?}");
    }
}

/// A recipe, and how much the losses on several processes may deviate from those on one.
fn recipes() -> Vec<(Recipe, f64)> {
    vec![
        (recipe("quickstart/bayesian", RECOMMENDER, &[]), 1e-3),
        (recipe("quickstart-graphs/infonce", GRAPHS, &[]), 1e-2),
        // Batch normalisation of each process covers its own images.
        (recipe("quickstart-images/infonce", IMAGES, &[]), 0.2),
        (
            recipe("quickstart-images/infonce", IMAGES, &["training.sync_batch_norm=true"]),
            1e-2,
        ),
    ]
}

#[test]
fn a_run_on_several_processes_is_that_on_one_and_leaves_the_same_files() {
    for (recipe, tolerance) in recipes() {
        let out = tempfile::tempdir().expect("a folder");
        let [one, three] = ["one", "three"].map(|name| out.path().join(name));
        let (alone, _) = Run::new(&recipe, &one).start(Arc::new(Alone)).expect("it trains");
        let of_processes = Threads::run(3, |processes| Run::new(&recipe, &three).start(processes).expect("it trains"));
        let [expected, found] = [&alone, &of_processes[0].0].map(|folder| read_run(folder).expect("a finished run"));
        assert_close(&found.1, &expected.1, tolerance, recipe.name());
        assert_eq!(files(&of_processes[0].0), files(&alone), "{}", recipe.name());
        assert!(of_processes.iter().all(|(folder, result)| {
            *folder == of_processes[0].0 && result.validation == of_processes[0].1.validation && result.wall_seconds > 0.0
        }));
    }
}

#[test]
fn a_run_that_four_processes_begin_is_continued_by_two() {
    for (recipe, tolerance) in [
        (recipe("quickstart/infonce", RECOMMENDER, &["logging.every=1"]), 1e-4),
        (
            recipe(
                "quickstart-images/infonce",
                IMAGES,
                &[
                    "logging.every=1",
                    "method.kind=moco",
                    "method.queue=24",
                    "method.norm_groups=1",
                ],
            ),
            0.1,
        ),
    ] {
        let out = tempfile::tempdir().expect("a folder");
        let [straight, resumed] = ["straight", "resumed"].map(|name| out.path().join(name));
        let (alone, _) = Run::new(&recipe, &straight).start(Arc::new(Alone)).expect("it trains");
        let interrupted = Threads::run(4, |processes| {
            let run = Run {
                stop_after: Some(7),
                ..Run::new(&recipe, &resumed)
            };
            run.start(processes).map(drop).expect_err("it is interrupted")
        });
        let Error::Interrupted(folder) = &interrupted[0] else {
            panic!("{}", interrupted[0]);
        };
        assert!(
            interrupted[1..]
                .iter()
                .all(|error| matches!(error, Error::OfFirstProcess { code: 130 }))
        );
        let finished = Threads::run(2, |processes| {
            let run = Run {
                resume: Some(folder),
                ..Run::new(&recipe, &resumed)
            };
            run.start(processes).expect("it continues")
        });
        let [expected, found] = [&alone, &finished[0].0].map(|folder| read_run(folder).expect("a finished run"));
        assert_close(&found.1, &expected.1, tolerance, recipe.name());
    }
}

#[test]
fn a_process_with_another_recipe_or_other_data_is_refused() {
    let common = recipe("quickstart/infonce", RECOMMENDER, &[]);
    let other_rate = recipe("quickstart/infonce", RECOMMENDER, &["optimizer.learning_rate=0.5"]);
    let other_data = recipe("quickstart/infonce", RECOMMENDER, &["data.planted.seed=5"]);
    for (odd_recipe, odd_data, what) in [
        (&other_rate, &common, "another recipe"),
        (&common, &other_data, "another data set"),
    ] {
        let out = tempfile::tempdir().expect("a folder");
        let errors = Threads::run(3, |processes| {
            let mut run = Run::new(&common, out.path());
            if processes.index() == 1 {
                (run.recipe, run.data) = (odd_recipe, odd_data);
            }
            run.start(processes).map(drop).expect_err("processes differ")
        });
        let message = errors[0].to_string();
        assert!(message.contains("process 1") && message.contains(what), "{message}");
        assert!(errors.iter().all(|error| error.exit_code() == 2));
        assert!(errors[1..].iter().all(|error| matches!(error, Error::OfFirstProcess { .. })));
        assert!(files(out.path()).is_empty(), "no folder is left");
    }
}

#[test]
fn a_batch_that_is_too_small_for_all_processes_is_refused() {
    let recipe = recipe("quickstart-images/infonce", IMAGES, &["training.batch_size=6"]);
    let out = tempfile::tempdir().expect("a folder");
    let errors = Threads::run(4, |processes| {
        Run::new(&recipe, out.path())
            .start(processes)
            .map(drop)
            .expect_err("too few images")
    });
    let message = errors[0].to_string();
    assert!(
        message.contains("training.batch_size is 6, which 4 processes share"),
        "{message}"
    );
}

#[test]
fn losses_that_compare_anchors_with_each_other_are_refused() {
    for loss in ["{kind='progcl'}", "{kind='decoupled',sigma=0.5}"] {
        let recipe = recipe("quickstart/infonce", RECOMMENDER, &[&format!("loss={loss}")]);
        let out = tempfile::tempdir().expect("a folder");
        let errors = Threads::run(2, |processes| {
            Run::new(&recipe, out.path())
                .start(processes)
                .map(drop)
                .expect_err("each process has half of the anchors")
        });
        let message = errors[0].to_string();
        assert!(
            message.contains("each of 2 processes") && message.contains("loss."),
            "{message}"
        );
        assert!(errors.iter().all(|error| error.exit_code() == 2));
        assert!(files(out.path()).is_empty(), "no folder is left");
    }
}

#[test]
fn all_processes_stop_when_the_loss_diverges() {
    let recipe = recipe(
        "quickstart/infonce",
        RECOMMENDER,
        &["optimizer.learning_rate=1e30", "encoder.similarity=dot"],
    );
    let out = tempfile::tempdir().expect("a folder");
    let errors = Threads::run(2, |processes| {
        Run::new(&recipe, out.path())
            .start(processes)
            .map(drop)
            .expect_err("it diverges")
    });
    assert!(matches!(errors[0], Error::Diverged { .. }), "{}", errors[0]);
    assert!(matches!(errors[1], Error::OfFirstProcess { code: 1 }), "{}", errors[1]);
}
