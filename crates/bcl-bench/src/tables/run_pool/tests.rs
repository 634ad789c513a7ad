//! A table is the same, however many processes share out its runs.

use super::*;
use crate::tables::{Family, Ranges, Row, Search, TablePlan, run};
use bcl_backend::BackendChoice;
use bcl_collective::{Alone, Checked, Threads};
use std::{collections::BTreeMap, fs, path::Path};

const SMALL: &[&str] = &[
    "data.planted.num_users=60",
    "data.planted.num_items=80",
    "data.planted.num_communities=4",
    "data.planted.interactions_per_user=5",
    "negatives.count=8",
    "training.batch_size=64",
    "training.epochs=4",
];

fn plan(search: Search) -> TablePlan {
    let changes: Vec<_> = SMALL.iter().map(|change| change.parse().unwrap()).collect();
    let mut rows = Row::find("quickstart", None, &changes, &Ranges::builtin()).unwrap();
    rows.truncate(2);
    TablePlan {
        title: "small".to_owned(),
        printed: None,
        rows,
        search,
        budget: 4,
        tuning_seeds: 1,
        seeds: 3,
        family: Family::default(),
        bound: 0.002,
        command: "bcl-bench table quickstart".to_owned(),
    }
}

fn pool(processes: Arc<dyn Collective>) -> RunPool {
    RunPool {
        backend: Backend::open(BackendChoice::Flex, None).unwrap(),
        data_dir: PathBuf::from("data"),
        jobs: 1,
        threads: 1,
        stop: Stop::new(),
        quiet: true,
        processes,
    }
}

/// The files of a table, with the content of those that do not contain times.
fn files(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_timeless = [
                "table.json",
                "table.md",
                "plan.json",
                "data.json",
                "looks.json",
                "outcome.json",
                "model.bpk",
            ]
            .contains(&name)
                || path.extension().is_some_and(|extension| extension == "toml");
            let content = is_timeless.then(|| fs::read(&path).unwrap());
            found.insert(path.strip_prefix(folder).unwrap().to_path_buf(), content);
        }
    }
    found
}

#[test]
fn any_number_of_processes_makes_the_table_of_one() {
    for (search, size) in [(Search::Halving, 2), (Search::Random, 3)] {
        let out = tempfile::tempdir().unwrap();
        let [one, several] = ["one", "several"].map(|name| out.path().join(name));
        let plan = plan(search);
        let expected = run(&plan, &one, &pool(Arc::new(Alone))).unwrap();
        let of_processes = Threads::run(size, |processes| {
            run(&plan, &several, &pool(Arc::new(Checked::new(processes)))).unwrap()
        });
        assert!(of_processes.iter().all(|table| *table == expected));
        let [expected, found] = [&one, &several].map(|folder| files(folder));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, content) in &expected {
            assert!(found[name] == *content, "{}", name.display());
        }
        // One process finds all runs done.
        assert_eq!(run(&plan, &several, &pool(Arc::new(Alone))).unwrap(), of_processes[0]);
    }
}

#[test]
fn processes_with_different_tables_are_refused_before_anything_is_written() {
    let out = tempfile::tempdir().unwrap();
    let errors = Threads::run(3, |processes| {
        let search = if processes.index() == 2 {
            Search::Halving
        } else {
            Search::Random
        };
        run(&plan(search), &out.path().join("table"), &pool(processes)).unwrap_err()
    });
    let message = errors[0].to_string();
    assert!(
        message.starts_with("process 2 has another search than process 0"),
        "{message}"
    );
    assert!(errors.iter().all(|error| error.exit_code() == 2));
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn a_process_that_is_asked_to_stop_stops_all() {
    let out = tempfile::tempdir().unwrap();
    let errors = Threads::run(2, |processes| {
        let pool = pool(processes);
        if pool.processes.index() == 1 {
            pool.stop.request();
        }
        run(&plan(Search::Random), &out.path().join("table"), &pool).unwrap_err()
    });
    assert!(errors.iter().all(|error| matches!(error, Error::Interrupted(_))));
}
