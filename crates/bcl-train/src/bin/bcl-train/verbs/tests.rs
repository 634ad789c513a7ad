//! Commands on several processes.

use super::{Earlier, Session, resume, train};
use bcl_backend::{Backend, BackendChoice};
use bcl_collective::{Alone, Checked, Collective, Threads};
use bcl_recipe::{Recipe, find};
use bcl_report::read_run;
use bcl_train::training::Stop;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

const SMALL: &[&str] = &[
    "data.planted.num_users=60",
    "data.planted.num_items=80",
    "data.planted.num_communities=4",
    "data.planted.interactions_per_user=5",
    "negatives.count=8",
    "training.batch_size=64",
    "training.patience=9",
];

fn recipe(seed: u64, epochs: usize) -> Recipe {
    let more = [format!("seed={seed}"), format!("training.epochs={epochs}")];
    let changes = SMALL.iter().copied().chain(more.iter().map(|change| &**change));
    let changes: Vec<_> = changes.map(|change| change.parse().expect("a key and a value")).collect();
    Recipe::read(&find("quickstart/infonce").expect("a built-in recipe")[0], &changes).expect("it reads")
}

fn session(processes: Arc<dyn Collective>, out: &Path, earlier: Earlier) -> Session {
    Session {
        backend: Backend::open(BackendChoice::Flex, None).expect("it is in every build"),
        data_dir: PathBuf::from("data"),
        moved_data: None,
        out: out.to_path_buf(),
        quiet: true,
        json: true,
        earlier,
        stop: Stop::new(),
        processes: Arc::new(Checked::new(processes)),
    }
}

/// Paths and times of all files of a folder.
fn files(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((
                path.clone(),
                path.metadata().and_then(|about| about.modified()).expect("a time"),
            ));
        }
    }
    found.sort();
    found
}

#[test]
fn a_command_on_several_processes_trains_each_run_once_and_extends_it_together() {
    let recipes = [recipe(0, 2), recipe(1, 2)];
    let out = tempfile::tempdir().expect("a folder");
    let train_in = |out: &Path, earlier, recipes: &[Recipe]| {
        let folders = Threads::run(2, |processes| {
            train(&session(processes, out, earlier), recipes).expect("it trains")
        });
        assert_eq!(folders[0], folders[1]);
        folders[0].clone()
    };
    let trained = train_in(out.path(), Earlier::Show, &recipes);
    assert_eq!(trained.len(), 2);
    let before = files(out.path());
    assert_eq!(
        train_in(out.path(), Earlier::Show, &recipes),
        trained,
        "finished runs are not trained again"
    );
    let pages = |(path, _): &(PathBuf, _)| path.parent() != Some(out.path());
    let [before, after] = [before, files(out.path())].map(|files| files.into_iter().filter(pages).collect::<Vec<_>>());
    assert_eq!(before, after);

    let longer = train_in(out.path(), Earlier::Continue, &[recipe(0, 4)]);
    assert_ne!(longer[0], trained[0]);
    let straight = tempfile::tempdir().expect("a folder");
    let alone = train(&session(Arc::new(Alone), straight.path(), Earlier::Keep), &[recipe(0, 4)]).expect("it trains");
    let losses = |folder: &Path| -> Vec<f64> {
        let (_, records) = read_run(folder).expect("a finished run");
        records.iter().map(|record| record.loss).collect()
    };
    let (expected, found) = (losses(&alone[0]), losses(&longer[0]));
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.iter().zip(&found) {
        assert!((expected - found).abs() < 1e-4 * expected.abs(), "{found} is not {expected}");
    }

    let shown = Threads::run(2, |processes| {
        resume(&session(processes, out.path(), Earlier::Continue), &longer[0], None, &[])
    });
    assert!(shown.iter().all(Result::is_ok));
    let different = Threads::run(2, |processes| {
        let own = &recipes[processes.index()];
        train(&session(processes, out.path(), Earlier::Keep), std::slice::from_ref(own)).expect_err("processes differ")
    });
    let message = different[0].to_string();
    assert!(message.contains("process 1 has another recipe or seed"), "{message}");
}
