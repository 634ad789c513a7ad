//! What to try after the quickstart.

use bcl_files::{notice, shell_quoted};
use bcl_train::training::DataRecord;
use std::path::{Path, PathBuf};

/// Prints three commands that go on from runs of the quickstart.
pub(crate) fn suggest(runs: &[PathBuf]) {
    let Some(run) = runs.first() else { return };
    let user = DataRecord::read(run)
        .ok()
        .flatten()
        .and_then(|record| record.known_ids().users.iter().next().map(str::to_owned));
    let Some(user) = user else { return };
    notice::status("try next:");
    for (command, what) in commands(run, &user) {
        notice::status(format_args!("  {command}\n      {what}"));
    }
}

/// The commands, each with what it does.
fn commands(run: &Path, user: &str) -> [(String, &'static str); 3] {
    let [folder, run] = [run.parent().unwrap_or(run), run].map(|path| shell_quoted(path.display()));
    let user = shell_quoted(user);
    [
        (
            format!("bcl-train recommend {run} --user {user} --top 5"),
            "recommends items to a user of this run",
        ),
        (
            format!("bcl-train report {folder} --metric recall@20 --metric ndcg@20"),
            "compares the runs of a folder, in a table and on a page",
        ),
        (
            "bcl-train quickstart/bayesian --set name=mine --set 'data={file=\"ratings.csv\"}'".to_owned(),
            "trains on your own ratings: lines of user,item,rating",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_name_the_run_its_folder_and_a_user() {
        let [recommend, report, own] = commands(Path::new("my runs/quickstart/bayesian-0"), "o'hara").map(|(command, _)| command);
        assert_eq!(
            recommend,
            r"bcl-train recommend 'my runs/quickstart/bayesian-0' --user 'o'\''hara' --top 5"
        );
        assert!(report.starts_with("bcl-train report 'my runs/quickstart' "), "{report}");
        assert!(own.contains("data={file="), "{own}");
    }
}
