//! Finds runs that need not be trained again.

use super::Finished;
use crate::{
    error::Error,
    recipe::Recipe,
    training::{DataRecord, RunFolder},
};
use bcl_report::{files::checksums, notice, read_run};
use std::path::{Path, PathBuf};

/// The finished run of a recipe with its seed on these data in the folder for runs, if there is one. A note names an unfinished one.
///
/// # Errors
/// Returns an error if such a run is there but damaged.
pub(super) fn finished_run(out: &Path, recipe: &Recipe, data: &DataRecord) -> Result<Option<(PathBuf, Finished)>, Error> {
    let first = recipe.run_folder(out);
    let numbered = (2..).map(|number| PathBuf::from(format!("{}.{number}", first.display())));
    for path in std::iter::once(first.clone())
        .chain(numbered)
        .take_while(|path| path.exists())
    {
        if !is_of(&path, recipe, data) {
            continue;
        }
        if path.join("result.json").is_file() {
            checksums::check_all(&path)?;
            let run = read_run(&path)?;
            return Ok(Some((path, run)));
        }
        notice::note(format_args!(
            "{run} is unfinished and left as it is; a new run is trained (to continue the unfinished one: bcl-train --resume {run})",
            run = path.display()
        ));
    }
    Ok(None)
}

/// Whether a folder has a run of a recipe with its seed on these data. A folder of anything else is not looked at further.
fn is_of(path: &Path, recipe: &Recipe, data: &DataRecord) -> bool {
    if !path.join("recipe.toml").is_file() {
        return false;
    }
    let Ok((folder, earlier, invocation)) = RunFolder::open(path) else {
        return false;
    };
    let same_recipe = (earlier.hash(), earlier.seed()) == (recipe.hash(), recipe.seed());
    let same_data = || {
        let record = DataRecord::read(folder.path()).ok().flatten();
        record.is_some_and(|record| record.identity == data.identity)
    };
    same_recipe && invocation.trial_of.is_none() && same_data()
}
