//! `steps.jsonl`: the loss within epochs, one line per point.

use super::{Logger, LoggerError, Scalars};
use bcl_files::{FileError, critical_section, write_whole};
use bcl_report::result::Phase;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// A line of `steps.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Phase of the run.
    pub phase: Phase,
    /// Batches trained on in this phase.
    pub step: usize,
    /// Mean loss of the batch, in nats.
    pub loss: f64,
    /// Learning rate of the step.
    pub learning_rate: f64,
}

/// Appends the loss and the learning rate of every so many steps to a file.
#[derive(Debug)]
pub struct StepsFile {
    path: PathBuf,
    phase: Phase,
}

impl StepsFile {
    /// Creates the logger of a file, which is there from the first phase on.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            phase: Phase::Training,
        }
    }
}

/// Reads the lines of a file of steps. A killed run may have left half a line at its end, which is skipped; a missing file has no lines.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read_steps(path: &Path) -> Result<Vec<StepRecord>, FileError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(FileError::io("read", path))?,
    };
    Ok(text.lines().map_while(|line| serde_json::from_str(line).ok()).collect())
}

fn line_of(record: &StepRecord) -> Vec<u8> {
    let mut line = serde_json::to_vec(record).expect("a record is plain data");
    line.push(b'\n');
    line
}

impl Logger for StepsFile {
    fn begin(&mut self, phase: Phase, step: usize) -> Result<(), LoggerError> {
        self.phase = phase;
        let mut kept = read_steps(&self.path)?;
        kept.retain(|record| record.phase != phase || record.step <= step);
        // In an extended run the first phase goes on when points of the second one are there already.
        kept.sort_by_key(|record| record.phase == Phase::Refit);
        let lines: Vec<u8> = kept.iter().flat_map(line_of).collect();
        Ok(write_whole(&self.path, &lines)?)
    }

    fn scalars(&mut self, step: usize, scalars: &Scalars) -> Result<(), LoggerError> {
        let (Some(&loss), Some(&learning_rate)) = (scalars.get("step/loss"), scalars.get("step/learning_rate")) else {
            return Ok(());
        };
        let record = StepRecord {
            phase: self.phase,
            step,
            loss,
            learning_rate,
        };
        let _critical = critical_section();
        let file = fs::OpenOptions::new().append(true).create(true).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(&line_of(&record)));
        Ok(written.map_err(FileError::io("write", &self.path))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(file: &mut StepsFile, step: usize) {
        let scalars = [("step/loss", step as f64), ("step/learning_rate", 0.1), ("other", 1.0)];
        file.scalars(step, &scalars.map(|(tag, value)| (tag.to_owned(), value)).into())
            .unwrap();
    }

    fn steps(path: &Path) -> Vec<(Phase, usize)> {
        let lines = read_steps(path).unwrap();
        lines.iter().map(|line| (line.phase, line.step)).collect()
    }

    #[test]
    fn a_resumed_phase_repeats_no_step_and_keeps_those_of_the_first_phase() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.jsonl");
        let mut file = StepsFile::new(path.clone());
        file.begin(Phase::Selection, 0).unwrap();
        log(&mut file, 5);
        file.begin(Phase::Refit, 0).unwrap();
        for step in [2, 4, 6] {
            log(&mut file, step);
        }
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"phase\": \"ref").unwrap();

        let mut resumed = StepsFile::new(path.clone());
        resumed.begin(Phase::Refit, 4).unwrap();
        log(&mut resumed, 6);
        let of_refit = [2, 4, 6].map(|step| (Phase::Refit, step));
        assert_eq!(steps(&path), [&[(Phase::Selection, 5)][..], &of_refit].concat());
    }

    #[test]
    fn values_that_belong_to_no_step_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.jsonl");
        let mut file = StepsFile::new(path.clone());
        file.begin(Phase::Training, 0).unwrap();
        file.scalars(3, &Scalars::from([("epoch/loss".to_owned(), 1.0)])).unwrap();
        assert_eq!(steps(&path), []);
    }
}
