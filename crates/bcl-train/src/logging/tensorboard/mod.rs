//! Event files of TensorBoard: `tensorboard --logdir runs` shows them.
//!
//! Each phase has a folder of its own, so that TensorBoard shows it as a run of its own. A resumed phase drops the points behind its
//! checkpoint from the files that are there and continues in a new one.

mod event;
mod events_file;
mod record;

use super::{Logger, LoggerError, Picture, Scalars, phase_name};
use bcl_files::wire::Message;
use bcl_files::{FileError, create_folder};
use bcl_report::result::Phase;
use event::{image, scalar, session_start, text, value_event, version};
use events_file::EventsFile;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// Writes the event files of a run.
#[derive(Debug)]
pub struct TensorBoard {
    folder: PathBuf,
    file: Option<EventsFile>,
}

impl TensorBoard {
    /// Creates a logger that writes below a folder, which is created with the first phase.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file: None }
    }

    fn write(&mut self, events: impl IntoIterator<Item = Message>) -> Result<(), LoggerError> {
        let Some(file) = &mut self.file else {
            return Err(LoggerError::other("TensorBoard", "a point came before the phase began"));
        };
        let bytes: Vec<u8> = events
            .into_iter()
            .flat_map(|event| record::framed(&event.into_bytes()))
            .collect();
        Ok(file.append(&bytes)?)
    }
}

impl Logger for TensorBoard {
    fn begin(&mut self, phase: Phase, step: usize) -> Result<(), LoggerError> {
        let folder = self.folder.join(phase_name(phase));
        create_folder(&folder)?;
        let earlier = events_file::own(&folder).map_err(FileError::io("read", &folder))?;
        for path in &earlier {
            keep_until(path, step)?;
        }
        let number = earlier.last().and_then(|path| events_file::number(path)).unwrap_or(0);
        self.file = Some(EventsFile::create(&folder, number + 1)?);
        let started = (step > 0).then(|| session_start(now(), step + 1));
        self.write([version(now())].into_iter().chain(started))
    }

    fn scalars(&mut self, step: usize, scalars: &Scalars) -> Result<(), LoggerError> {
        let now = now();
        let values = scalars.iter().map(|(tag, &value)| scalar(tag, value));
        self.write([value_event(now, step, values)])
    }

    fn image(&mut self, step: usize, tag: &str, picture: &Picture) -> Result<(), LoggerError> {
        self.write([value_event(now(), step, [image(tag, picture)])])
    }

    fn text(&mut self, step: usize, tag: &str, markdown: &str) -> Result<(), LoggerError> {
        self.write([value_event(now(), step, [text(tag, markdown)])])
    }
}

/// Drops all events behind a step from a file, and the file if nothing remains. At step 0 a phase begins anew, so nothing does.
fn keep_until(path: &Path, step: usize) -> Result<(), FileError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(FileError::io("read", path))?,
    };
    let is_kept = |event: &&[u8]| event::step(event).is_some_and(|of_event| of_event <= step);
    let events = || record::unframed(&bytes).take_while(is_kept);
    let kept: Vec<u8> = events().flat_map(record::framed).collect();
    // The first event is the version of the format.
    if step == 0 || events().count() < 2 {
        fs::remove_file(path).map_err(FileError::io("remove", path))
    } else if kept.len() < bytes.len() {
        bcl_files::write_whole(path, &kept)
    } else {
        Ok(())
    }
}

/// Seconds since 1970, which TensorBoard shows beside a point.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests;
