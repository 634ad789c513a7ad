//! Metrics of each test sample, stored as `users.csv` or `graphs.csv` in the folder of a run.

use super::ReportError;
use bcl_files::{FileError, checksums};
use std::{collections::BTreeMap, io::ErrorKind, path::Path};

/// What the samples of a test are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleKind {
    /// Users with test items. Means over users are the metrics of the result.
    #[default]
    User,
    /// Graphs, each with 1 in place of an accuracy if its class is predicted in the fold that tests it, or else 0. The metrics of the result are means over
    /// folds, whose sizes differ by a few graphs.
    Graph,
}

impl SampleKind {
    const ALL: [Self; 2] = [Self::User, Self::Graph];

    /// Name of the column of ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Graph => "graph",
        }
    }

    /// Name of the file in the folder of a run.
    pub fn file(self) -> &'static str {
        match self {
            Self::User => "users.csv",
            Self::Graph => "graphs.csv",
        }
    }
}

/// Metrics of each test sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleMetrics {
    /// What a sample is.
    pub kind: SampleKind,
    /// Ids of the samples: users as in the data files, graphs counted from 1.
    pub ids: Vec<String>,
    /// The metrics by name, such as `ndcg@20`, each with one value per sample.
    pub metrics: BTreeMap<String, Vec<f64>>,
}

impl SampleMetrics {
    /// The metrics as CSV: a header such as `user,METRIC,…` and one line per sample. Numbers are written so that they read back unchanged.
    pub fn to_csv(&self) -> Vec<u8> {
        const IN_MEMORY: &str = "writing to memory cannot fail";
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = std::iter::once(self.kind.name()).chain(self.metrics.keys().map(String::as_str));
        writer.write_record(header).expect(IN_MEMORY);
        for (index, id) in self.ids.iter().enumerate() {
            let figures = self.metrics.values().map(|figures| figures[index].to_string());
            writer
                .write_record(std::iter::once(id.clone()).chain(figures))
                .expect(IN_MEMORY);
        }
        writer.into_inner().expect(IN_MEMORY)
    }

    /// Writes the [file](SampleKind::file) into a run folder.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        checksums::write(dir, self.kind.file(), &self.to_csv())
    }

    /// Reads the file of either kind from a run folder; `None` if there is none, as for encoders of images and for runs of earlier versions.
    ///
    /// # Errors
    /// Returns an error that names the file and the line if it cannot be read, or is damaged.
    pub fn read(dir: &Path) -> Result<Option<Self>, ReportError> {
        let found = SampleKind::ALL
            .into_iter()
            .find_map(|kind| Self::of_kind(kind, dir).transpose());
        found.transpose()
    }

    fn of_kind(kind: SampleKind, dir: &Path) -> Result<Option<Self>, ReportError> {
        let path = dir.join(kind.file());
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ReportError::Read { path, source }),
            Ok(text) => text,
        };
        checksums::check(dir, kind.file(), &text)?;
        let malformed = |line: u64, problem: &dyn std::fmt::Display| ReportError::Malformed {
            path: path.clone(),
            line: line as usize,
            message: problem.to_string(),
        };
        let mut reader = csv::Reader::from_reader(text.as_slice());
        let header = reader.headers().map_err(|error| malformed(1, &error))?.clone();
        let mut read = Self { kind, ..Self::default() };
        let mut columns = vec![Vec::new(); header.len().saturating_sub(1)];
        for record in reader.records() {
            let line = |position: Option<&csv::Position>| position.map_or(0, csv::Position::line);
            let record = record.map_err(|error| malformed(line(error.position()), &error))?;
            read.ids.push(record.get(0).unwrap_or_default().to_owned());
            for (column, text) in columns.iter_mut().zip(record.iter().skip(1)) {
                let figure: f64 = text
                    .parse()
                    .map_err(|error| malformed(line(record.position()), &format!("`{text}` is not a number: {error}")))?;
                column.push(figure);
            }
        }
        read.metrics = header.iter().skip(1).map(str::to_owned).zip(columns).collect();
        Ok(Some(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_to_the_bit() {
        for kind in SampleKind::ALL {
            let metrics = SampleMetrics {
                kind,
                ids: vec!["a".to_owned(), "b, \"c\"".to_owned()],
                metrics: BTreeMap::from([
                    ("ndcg@20".to_owned(), vec![1.0 / 3.0, 0.0]),
                    ("recall@20".to_owned(), vec![f64::MIN_POSITIVE, 1.0]),
                ]),
            };
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(SampleMetrics::read(folder.path()).unwrap(), None);
            metrics.write(folder.path()).unwrap();
            assert_eq!(SampleMetrics::read(folder.path()).unwrap(), Some(metrics));
        }
    }

    #[test]
    fn a_damaged_file_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let error = |text: &str| {
            std::fs::write(folder.path().join(SampleKind::User.file()), text).unwrap();
            SampleMetrics::read(folder.path()).unwrap_err().to_string()
        };
        let message = error("user,ndcg@20\n1,0.5\n2,half\n");
        assert!(
            message.contains("users.csv") && message.contains('3') && message.contains("`half`"),
            "{message}"
        );
        let message = error("user,ndcg@20\n1,0.5\n2\n");
        assert!(message.contains("users.csv") && message.contains('3'), "{message}");
    }
}
