//! A run that is killed or interrupted and then resumed ends with bit-identical results to a run that never stopped.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};
use whole_program_tests::{
    PLANTED_IMAGES, bcl_train, lasting_figures, shown, small_graph_recipe, small_image_recipe, small_recipe, until_met,
};

/// Points of every step, a learning rate that changes every step, and an α that is estimated from earlier epochs.
const WITH_MEMORY: &str = "[logging]\nevery = 1\ntensorboard = true\n[optimizer]\nschedule = 'cosine'\nwarmup_epochs = 2\n[alpha_schedule]\nkind = 'label_free'\n";

/// A small recipe in its own folder.
struct Case {
    folder: tempfile::TempDir,
    recipe: PathBuf,
    run: &'static str,
    flags: &'static [&'static str],
}

impl Case {
    fn recommender() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // α follows an AUC that one phase measures and the next repeats.
        let recipe = small_recipe(folder.path(), "[alpha_schedule]\nkind = 'held_out'\n");
        Self {
            folder,
            recipe,
            run: "small-0",
            flags: &[],
        }
    }

    fn images() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_image_recipe(folder.path(), &format!("{PLANTED_IMAGES}{WITH_MEMORY}"));
        Self {
            folder,
            recipe,
            run: "small-images-0",
            flags: &[],
        }
    }

    /// A run on graphs with all that changes during it.
    fn graphs() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_graph_recipe(folder.path());
        let text = fs::read_to_string(&recipe).expect("readable");
        fs::write(&recipe, format!("{text}{WITH_MEMORY}")).expect("writable");
        Self {
            folder,
            recipe,
            run: "small-graphs-0",
            flags: &[
                "--set",
                "training.max_nodes=200",
                "--set",
                "evaluation.baselines=['majority']",
            ],
        }
    }

    /// The same with random views of each graph, in many steps per epoch.
    fn views_of_graphs() -> Self {
        let flags = &[
            "--set",
            "method.kind=graphcl",
            "--set",
            "training.batch_size=4",
            "--set",
            "evaluation.baselines=['majority']",
        ];
        Self { flags, ..Self::graphs() }
    }

    /// A method that an estimator of `[loss]` weights, in a short run.
    fn scored(flags: &'static [&'static str]) -> Self {
        let case = Self::images();
        let text = fs::read_to_string(&case.recipe).expect("readable");
        fs::write(&case.recipe, text.replace("epochs = 20", "epochs = 8")).expect("writable");
        Self { flags, ..case }
    }

    /// A method with a loss of its own: the recipe has neither `[loss]` nor a schedule of its α.
    fn direct(flags: &'static [&'static str]) -> Self {
        let case = Self::scored(flags);
        let text = fs::read_to_string(&case.recipe).expect("readable");
        let (before, loss) = text.split_once("[loss]").expect("a recipe with a loss");
        let (_, after) = loss.split_once("\n[").expect("tables after it");
        let (after, _) = after.split_once("[alpha_schedule]").expect("a schedule at the end");
        fs::write(&case.recipe, format!("{before}[{after}")).expect("writable");
        case
    }

    /// Everything that a run keeps beside an encoder between steps: queue, bank, support set, slow network, predictor, prototypes, centre,
    /// running rates, and a number of steps on which schedules and frozen layers depend. Sizes are such that queues are full and in use, and layers are
    /// frozen, when the run is interrupted; some thaw later.
    fn with_memory() -> Vec<Self> {
        vec![
            Self::scored(&[
                "--set",
                "method={kind='moco',queue=50,symmetric=true,synthetic={hardest=8,mixed=6,with_query=3}}",
            ]),
            Self::scored(&[
                "--set",
                "loss={kind='augmented',running=0.3}",
                "--set",
                "alpha_schedule={kind='constant'}",
            ]),
            Self::scored(&[
                "--set",
                "method={kind='cmc',negatives=20}",
                "--set",
                "views={side=16,count=1,colour='lab'}",
                "--set",
                "encoder.split_channels=1",
            ]),
            Self::direct(&[
                "--set",
                "method={kind='cmc',negatives=20,form='nce'}",
                "--set",
                "views={side=16,count=1,colour='ycbcr'}",
                "--set",
                "encoder.split_channels=1",
            ]),
            Self::scored(&[
                "--set",
                "recovery={warmup=2,ramp=2,every=2,components=4,clusters='coarser',attract=0.3}",
                "--set",
                "loss.temperature={kind='harmonic',start=0.5,end=0.2,steps=3}",
            ]),
            Self::scored(&["--set", "method={kind='nnclr',support=50,hidden=4}"]),
            Self::direct(&["--set", "method={kind='byol',hidden=4,momentum_schedule='cosine'}"]),
            Self::direct(&["--set", "method={kind='simsiam',hidden=4}"]),
            Self::direct(&[
                "--set",
                "method={kind='swav',prototypes=8,queue=40,queue_from=1,frozen_steps=20}",
                "--set",
                "views.local={count=1,side=8}",
            ]),
            Self::direct(&[
                "--set",
                "method={kind='dino',prototypes=8,momentum_schedule='cosine',teacher_temperature_start=0.02,\
                 teacher_warmup_epochs=6,frozen_epochs=4}",
                "--set",
                "views.local={count=1,side=8}",
            ]),
        ]
    }

    /// The methods whose loss is a statistic of the batch.
    fn of_statistics() -> Vec<Self> {
        vec![
            Self::direct(&["--set", "method={kind='barlow_twins'}"]),
            Self::direct(&["--set", "method={kind='vicreg'}"]),
        ]
    }

    /// Two phases with everything that recommenders and images share: gradients of several batches per step, momentum, a schedule of the
    /// learning rate, clipping.
    fn with_shared_tables(self) -> Self {
        let flags = &[
            "--set",
            "optimizer={kind='sgd',learning_rate=0.05,schedule='cosine',warmup_epochs=1,clip_norm=1.0}",
            "--set",
            "training.accumulate=3",
        ];
        Self { flags, ..self }
    }

    /// A learned temperature, and a parameter with a schedule.
    fn scheduled(self) -> Self {
        let flags = &[
            "--set",
            "loss.temperature={kind='learned',start=0.2}",
            "--set",
            "loss.beta={kind='cosine',start=0.5,end=0.9,period=7}",
        ];
        Self { flags, ..self }
    }

    /// Chooses the number of epochs on held-out images.
    fn selecting_images() -> Self {
        let flags = &[
            "--set",
            "selection.held_out=0.25",
            "--set",
            "evaluation.every=2",
            "--set",
            "training.patience=6",
        ];
        Self { flags, ..Self::images() }
    }

    /// A lazy optimizer, with a table of users that is so large that only the rows of a batch are updated.
    fn with_lazy_adam(self) -> Self {
        let flags = &[
            "--set",
            "optimizer.lazy=true",
            "--set",
            "data.planted={num_users=9000,num_items=300,interactions_per_user=8}",
            "--set",
            "encoder.dim=32",
            "--set",
            "training.batch_size=1024",
            "--set",
            "training.epochs=4",
        ];
        Self { flags, ..self }
    }

    /// Enables gradient caching.
    fn with_gradient_cache(self) -> Self {
        let flags = &["--set", "training.gradient_cache=7"];
        Self { flags, ..self }
    }

    /// The command that trains with output in `out`, and its run folder.
    fn train(&self, out: &str) -> (Command, PathBuf) {
        let out = self.folder.path().join(out);
        let mut command = bcl_train();
        command
            .arg(&self.recipe)
            .arg("--out")
            .arg(&out)
            .arg("--quiet")
            .args(self.flags);
        (command, out.join(self.run))
    }
}

fn run_to_the_end(mut command: Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
}

fn resume(run: &Path) {
    let mut command = bcl_train();
    command.arg("--resume").arg(run).arg("--quiet");
    run_to_the_end(command);
}

/// Number of epochs that a run has recorded so far.
fn num_epochs(run: &Path) -> u64 {
    fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |lines| lines.matches('\n').count() as u64)
}

/// The bytes of a run's weights and of its last checkpoint: weights, optimizer, schedule.
fn final_bytes(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut last = 0;
    let mut files = vec![run.join("model.bpk")];
    for phase in fs::read_dir(run.join("checkpoints")).expect("a run has checkpoints") {
        for file in fs::read_dir(phase.expect("readable").path()).expect("a folder") {
            let file = file.expect("readable").path();
            let step = |path: &Path| path.file_stem()?.to_str()?.split_once('-')?.1.parse().ok();
            if file.extension().is_some_and(|extension| extension == "bpk") {
                last = step(&file).max(Some(last)).unwrap_or(last);
                files.push(file);
            }
        }
    }
    let of_last = |file: &PathBuf| file.ends_with("model.bpk") || file.to_string_lossy().ends_with(&format!("-{last}.bpk"));
    let files = files.into_iter().filter(of_last);
    files
        .map(|file| {
            let name = file.file_name().expect("a file").to_string_lossy().into_owned();
            (name, fs::read(file).expect("readable"))
        })
        .collect()
}

/// Asserts that everything that must not depend on interruptions is equal to the uninterrupted run.
fn assert_same(run: &Path, straight: &Path, when: &str) {
    assert_eq!(lasting_figures(run), lasting_figures(straight), "{when}");
    let [found, expected] = [final_bytes(run), final_bytes(straight)];
    assert_eq!(expected.len(), 4, "{:?}", expected.keys());
    assert!(found.keys().eq(expected.keys()), "{when}: {:?}", found.keys());
    for (name, bytes) in &found {
        assert!(*bytes == expected[name], "{when}: {name} has other bytes");
    }
}

/// Kills a run at ten moments, from its first files to its last epochs, at different points within an epoch.
fn survives_ten_kills(case: &Case) {
    let (command, straight) = case.train("straight");
    run_to_the_end(command);
    let epochs = num_epochs(&straight);

    for i in 0..10 {
        let name = until_met("still training", |attempt| {
            let name = format!("killed-{i}-{attempt}");
            kill(case.train(&name), epochs * i / 10, Duration::from_millis(i * 6 % 10)).then_some(name)
        });
        let (command, run) = case.train(&name);
        if run.join("recipe.toml").exists() {
            resume(&run);
        } else {
            // Killed before the run had a folder with a recipe: nothing is lost, and the same command starts it again.
            let _ = fs::remove_dir_all(&run);
            run_to_the_end(command);
        }
        assert_same(&run, &straight, &format!("killed at moment {i}"));
    }
}

/// Kills a training run some time after it has recorded `epochs` epochs. Returns whether it was still running.
fn kill((mut command, run): (Command, PathBuf), epochs: u64, later: Duration) -> bool {
    let mut child = command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let is_running = |child: &mut Child| child.try_wait().expect("it can be asked").is_none();
    while num_epochs(&run) < epochs && is_running(&mut child) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(later);
    let was_running = is_running(&mut child);
    let _ = child.kill();
    child.wait().expect("it ends");
    was_running
}

#[test]
fn a_recommender_killed_at_any_moment_and_resumed_ends_as_if_it_had_never_stopped() {
    survives_ten_kills(&Case::recommender());
}

#[test]
fn an_image_encoder_killed_at_any_moment_and_resumed_ends_as_if_it_had_never_stopped() {
    survives_ten_kills(&Case::images());
}

#[test]
fn a_graph_encoder_killed_at_any_moment_and_resumed_ends_as_if_it_had_never_stopped() {
    survives_ten_kills(&Case::graphs());
}

/// Interrupts a run within an epoch and resumes it.
#[cfg(unix)]
fn survives_ctrl_c(case: &Case) {
    let (command, straight) = case.train("straight");
    run_to_the_end(command);

    let when = format!("interrupted with {:?}", case.flags);
    let (output, run) = until_met("within an epoch", |attempt| {
        let (output, run) = interrupted(case.train(&format!("interrupted-{attempt}")));
        if run.join("result.json").exists() {
            return None;
        }
        assert_eq!(output.status.code(), Some(130), "{when}: {}", shown(&output));
        (anchors_of_an_unfinished_epoch(&run) > 0).then_some((output, run))
    });
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("--resume"),
        "{}",
        shown(&output)
    );

    resume(&run);
    assert_same(&run, &straight, &when);
}

/// Sends Ctrl-C to a training run in progress and waits for it to end.
#[cfg(unix)]
fn interrupted((mut command, run): (Command, PathBuf)) -> (Output, PathBuf) {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // Once the first epoch is recorded, training is in progress and the handler of Ctrl-C is installed.
    while num_epochs(&run) == 0 && child.try_wait().expect("it can be asked").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signalled.expect("kill runs").success());
    (child.wait_with_output().expect("it ends"), run)
}

/// The number of anchors of the unfinished epoch that the newest checkpoint has processed.
#[cfg(unix)]
fn anchors_of_an_unfinished_epoch(run: &Path) -> u64 {
    let phases = fs::read_dir(run.join("checkpoints")).expect("a run has checkpoints");
    let files = phases.flat_map(|phase| fs::read_dir(phase.expect("readable").path()).expect("a folder"));
    let progress = files.filter_map(|file| {
        let file = file.expect("readable").path();
        file.extension()
            .is_some_and(|extension| extension == "json")
            .then(|| fs::read(file).expect("readable"))
    });
    let read = |bytes: Vec<u8>| serde_json::from_slice::<serde_json::Value>(&bytes).expect("JSON");
    let newest = progress.map(read).max_by_key(|progress| progress["step"].as_u64());
    newest.expect("a checkpoint")["anchors"].as_u64().expect("a number")
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_a_recommender_exits_with_130_and_says_how_to_resume() {
    survives_ctrl_c(&Case::recommender());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_an_image_encoder_exits_with_130_and_says_how_to_resume() {
    survives_ctrl_c(&Case::images());
}

#[cfg(unix)]
#[test]
fn views_of_graphs_resume_to_the_same_bits_after_ctrl_c() {
    survives_ctrl_c(&Case::views_of_graphs());
}

#[cfg(unix)]
#[test]
fn methods_with_memory_resume_to_the_same_bits_after_ctrl_c() {
    for case in Case::with_memory() {
        survives_ctrl_c(&case);
    }
}

#[cfg(unix)]
#[test]
fn methods_with_a_loss_of_the_batch_resume_to_the_same_bits_after_ctrl_c() {
    for case in Case::of_statistics() {
        survives_ctrl_c(&case);
    }
}

#[cfg(unix)]
#[test]
fn gradient_caching_resumes_to_the_same_bits_after_ctrl_c() {
    survives_ctrl_c(&Case::recommender().with_gradient_cache());
    survives_ctrl_c(&Case::images().with_gradient_cache());
}

#[cfg(unix)]
#[test]
fn a_lazy_optimizer_resumes_to_the_same_bits_after_ctrl_c() {
    survives_ctrl_c(&Case::recommender().with_lazy_adam());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_runs_with_the_tables_of_all_kinds_and_goes_on_to_the_same_bits() {
    survives_ctrl_c(&Case::recommender().with_shared_tables());
    survives_ctrl_c(&Case::selecting_images());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_a_learned_temperature_and_schedules_go_on_to_the_same_bits() {
    survives_ctrl_c(&Case::recommender().scheduled());
    survives_ctrl_c(&Case::images().scheduled());
}
