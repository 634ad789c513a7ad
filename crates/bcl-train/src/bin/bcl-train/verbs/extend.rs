//! Extends a finished run to more epochs, in a folder of its own beside it.

use super::{
    Finished,
    earlier::{EarlierRun, epochs},
    session::Session,
};
use bcl_data::SearchPath;
use bcl_files::{checksums, notice, shell_quoted};
use bcl_recipe::{Recipe, RunRecipe, of_kind};
use bcl_report::{
    read_run,
    result::{EpochRecord, Phase},
};
use bcl_train::{
    error::Error,
    kinds::Prepared,
    training::{Invocation, RunFolder, checkpoint, folder::MODEL},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A finished run that is to be extended.
#[derive(Debug)]
pub(super) struct Extension<'a> {
    /// The finished run. It stays as it is.
    pub(super) shorter: &'a EarlierRun,
    /// Its recipe with more epochs.
    pub(super) longer: &'a Recipe,
    /// The folder of the longer run; a number is appended if it exists.
    pub(super) first: &'a Path,
    /// Where the files that the recipe names are looked for.
    pub(super) search: &'a SearchPath,
    /// Whether a run that ends by itself before its limit gets a longer run, too: results of several seeds are compared by recipe.
    pub(super) always: bool,
}

impl Extension<'_> {
    /// Trains the longer run from where the shorter one ended. The result is the same as with that many epochs from the start, because training
    /// draws by seed, phase, epoch and step.
    ///
    /// # Errors
    /// Returns an error that gives the reason and a remedy if the run cannot be extended exactly, and the errors of training.
    pub(super) fn train(&self, session: &Session, prepared: &dyn Prepared) -> Result<(PathBuf, Finished), Error> {
        self.check()?;
        let shorter = self.shorter.folder.path();
        checksums::check_all(shorter)?;
        let finished = read_run(shorter)?;
        if prepared.is_over(self.longer, &finished.1) {
            notice::note(format_args!(
                "{}: no epoch is added, because the run ended by training.patience before its {} epochs; a run with {} has the same result \
                 (raise training.patience to search longer, in a separate run)",
                shorter.display(),
                self.shorter.epochs(),
                epochs(self.longer)
            ));
            if !self.always {
                return Ok((shorter.to_path_buf(), finished));
            }
        }
        let invocation = Invocation {
            search: self.search.clone(),
            backend: session.backend.name().to_owned(),
            processes: session.processes.size(),
            trial_of: None,
        };
        prepared.refuse_processes(self.longer, &*session.processes)?;
        let run = session.create_folder(|| {
            RunFolder::create_with(self.first, self.longer, &invocation, prepared.record(), |run| {
                self.inherit(run, &finished.1)
            })
        })?;
        notice::status(format!(
            "{} is kept; the run with {} epochs continues it in {}",
            shorter.display(),
            epochs(self.longer),
            run.path().display()
        ));
        prepared.finish(self.longer, &session.around(&run, self.search))?;
        session.stop.advise(None);
        let result = session.on_first(|| Ok(read_run(run.path())?))?;
        Ok((run.path().to_path_buf(), result))
    }

    /// Checks that a longer run would be an exact continuation.
    pub(super) fn check(&self) -> Result<(), Error> {
        let path = self.shorter.folder.path();
        let run = path.display();
        let (before, now) = (self.shorter.epochs(), epochs(self.longer));
        if now < before {
            return Err(Error::Input(format!(
                "--epochs {now}: {run} has training.epochs = {before} already; give a larger number to extend it, or leave out --resume to train \
                 a shorter run"
            )));
        }
        if !self.shorter.is_finished() {
            return Err(Error::Input(format!(
                "{run} is not finished, and only finished runs can be extended; finish it with: bcl-train --resume {}",
                shell_quoted(path.display())
            )));
        }
        match of_kind!(self.longer, recipe => recipe.spread_over_epochs()) {
            None => Ok(()),
            Some(setting) => Err(Error::Input(format!(
                "{run} cannot be extended: {setting} is spread over all epochs, so a longer run differs from the first step on; leave \
                 out --resume to train one from the start"
            ))),
        }
    }

    /// Fills the folder of the longer run with the checkpoints of the shorter one, which has these records.
    fn inherit(&self, run: &RunFolder, records: &[EpochRecord]) -> Result<(), Error> {
        let shorter = &self.shorter.folder;
        let only = self.copy(Phase::Training, &run.checkpoints(Phase::Training))?;
        let first = self.copy(Phase::Selection, &run.checkpoints(Phase::Selection))?;
        let second = self.copy(Phase::Refit, &run.inherited())?;
        if second {
            checksums::write(&run.inherited(), MODEL, &checksums::read(shorter.path(), MODEL)?)?;
        }
        let in_first = records.iter().filter(|record| record.phase == Phase::Selection).count();
        let path = shorter.path().display();
        if !(only || first || second) {
            notice::note(format_args!(
                "{path} has no checkpoints, so the longer run is trained from the start"
            ));
        } else if !first && in_first >= self.shorter.epochs() {
            notice::note(format_args!(
                "{path} has no checkpoint of its first phase, so that phase is trained from the start"
            ));
        }
        copy_file(&shorter.steps_file(), &run.steps_file())?;
        copy_points(&shorter.tensorboard(), &run.tensorboard())
    }

    /// Copies the last checkpoint of a phase of the shorter run, as one of the longer run. Returns whether there is one.
    fn copy(&self, phase: Phase, to: &Path) -> Result<bool, Error> {
        let from = self.shorter.folder.checkpoints(phase);
        let Some(found) = checkpoint::newest(&from, phase)? else {
            return Ok(false);
        };
        found.remarks.iter().for_each(notice::warn);
        let mut progress = found.progress;
        progress.recipe_hash = self.longer.hash();
        checkpoint::copy(&from, to, &progress)?;
        Ok(true)
    }
}

/// Copies the event files of each phase.
fn copy_points(from: &Path, to: &Path) -> Result<(), Error> {
    let list = |folder: &Path| match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(Error::io("list", folder)),
    };
    for phase in list(from)? {
        let folder = to.join(phase.file_name());
        bcl_files::create_folder(&folder)?;
        for file in list(&phase.path())? {
            copy_file(&file.path(), &folder.join(file.file_name()))?;
        }
    }
    Ok(())
}

/// Copies a file, if there is one.
fn copy_file(from: &Path, to: &Path) -> Result<(), Error> {
    match fs::read(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        read => Ok(bcl_files::write_whole(to, &read.map_err(Error::io("read", from))?)?),
    }
}

/// The folder in which a run would be if it had no number appended: beside it, whatever the folder around both is called.
pub(super) fn unnumbered(run: &EarlierRun) -> PathBuf {
    let path = run.folder.path();
    let first = run.recipe.run_folder(Path::new(""));
    let is_numbered = |name: &str, first: &str| {
        let number = name.strip_prefix(first).and_then(|rest| rest.strip_prefix('.'));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    match (
        path.file_name().and_then(|name| name.to_str()),
        first.file_name().and_then(|name| name.to_str()),
    ) {
        (Some(name), Some(first)) if is_numbered(name, first) => path.with_file_name(first),
        _ => path.to_path_buf(),
    }
}
