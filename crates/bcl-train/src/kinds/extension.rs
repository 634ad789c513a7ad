//! What an extended run takes over from the phases of the shorter one.
//!
//! An extended run begins with checkpoints of the shorter one. Its first or only phase continues from that phase's checkpoint. The end of
//! the second phase waits in [`RunFolder::inherited`], because only the longer first phase shows whether it can be continued.
//!
//! [`RunFolder::inherited`]: crate::training::RunFolder::inherited

use super::{Kind, Phases, Run};
use crate::{
    error::Error,
    training::{checkpoint, folder::MODEL, phase, progress::Progress},
};
use bcl_files::checksums;
use bcl_report::result::{EpochRecord, Phase};
use std::fs;

impl<K: Kind> Run<'_, K> {
    /// The first phase of the shorter run, if it is over for this run, too.
    ///
    /// # Errors
    /// Returns an error if a checkpoint cannot be read.
    pub(super) fn inherited_selection(&self) -> Result<Option<Progress>, Error> {
        let (phases, rule) = (self.phases(), self.phases().first());
        Ok(self.inherited()?.and_then(|end| {
            let records = Phases::<K>::under(rule, Phase::Selection, &end.records);
            phases.is_over(rule, &records).then_some(Progress {
                phase: Phase::Selection,
                records,
                ..end
            })
        }))
    }

    /// Moves the end of the shorter run's second phase to where the phase that starts with `start` continues from it, if it does.
    ///
    /// # Errors
    /// Returns an error if a checkpoint cannot be read or written.
    pub(super) fn inherit_refit(&self, start: &Progress, epochs: usize) -> Result<(), Error> {
        let folder = self.around.folder;
        let Some(end) = self.inherited()? else { return Ok(()) };
        if phase::newest(folder, start)?.is_none()
            && let Some(end) = self.continued(end, start, epochs)?
        {
            checkpoint::copy(&folder.inherited(), &folder.checkpoints(Phase::Refit), &end)?;
        }
        fs::remove_dir_all(folder.inherited()).map_err(Error::io("remove", folder.inherited()))
    }

    /// The state from which the second phase continues for so many epochs; `None` if the shorter run has gone past them. Takes over its weights
    /// if they come from the chosen epoch.
    fn continued(&self, end: Progress, start: &Progress, epochs: usize) -> Result<Option<Progress>, Error> {
        let shorter = Progress {
            phase: Phase::Selection,
            ..end.clone()
        };
        if self.chosen(&shorter)?.epoch == epochs {
            let folder = self.around.folder;
            let weights = checksums::read(&folder.inherited(), MODEL)?;
            checksums::write(folder.path(), MODEL, &weights)?;
        } else if epochs <= end.epoch {
            return Ok(None);
        }
        let own = Phases::<K>::under(self.phases().second(epochs), Phase::Refit, &end.records);
        let records: Vec<EpochRecord> = start.records.iter().cloned().chain(own).collect();
        Ok(Some(Progress { records, ..end }))
    }

    /// The end of the second phase of the shorter run.
    fn inherited(&self) -> Result<Option<Progress>, Error> {
        let folder = self.around.folder;
        let beginning = self.beginning(Phase::Refit, &self.data, Vec::new());
        let found = phase::newest_in(&folder.inherited(), folder, &beginning)?;
        Ok(found.map(|found| found.progress))
    }
}
