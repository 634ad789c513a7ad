//! Hostile input: recipes, flags, data, archives and weights that the program must refuse or survive.
//!
//! Each case runs the program in its own folder, with 6 GiB of address space. A refused case ends with exit code 2 and an error that names
//! the key or the file, without a panic, an abort or a run folder; a valid case ends with exit code 0.

// Tables of cases are long and have no logic.
#![allow(clippy::too_many_lines)]
#![cfg(target_os = "linux")]

mod archives;
mod case;
mod data_files;
mod flags;
mod graphs;
mod keys;
mod methods;
mod recipes;

use case::{Case, run_all};
use std::collections::BTreeSet;

#[test]
fn every_hostile_case_is_refused_or_survived() {
    let cases: Vec<Case> = [
        keys::cases(),
        methods::cases(),
        recipes::cases(),
        data_files::cases(),
        archives::cases(),
        flags::cases(),
        graphs::cases(),
    ]
    .concat();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "every case needs a unique name");
    assert!(cases.len() >= 300, "{} cases", cases.len());

    let failures = run_all(&cases);
    assert!(
        failures.is_empty(),
        "{} of {} cases failed:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}
