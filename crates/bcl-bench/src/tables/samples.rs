//! The metric of each test sample, a user or a graph, for every run of a table, kept so that its bootstrap can be repeated.

use bcl_files::FileError;
use flate2::{Compression, GzBuilder, read::GzDecoder};
use std::{
    collections::BTreeMap,
    fs,
    io::{ErrorKind, Write},
    path::Path,
};

const FILE: &str = "samples.csv.gz";
/// Figures are kept as multiples of 1 / 10,000. That moves each by 0.00003 (its standard deviation) where samples differ by tenths, and keeps thousands of
/// samples of a hundred runs below the megabyte that a repository should take in one file.
const RESOLUTION: f64 = 10_000.0;

/// The metric by which rows are compared, of each sample by seed, for each row; `None` if it was not recorded for every run of the row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Samples(pub(super) Vec<Option<BTreeMap<u64, Vec<f64>>>>);

impl Samples {
    /// Rounds to [`RESOLUTION`] in single precision, which is what is kept, so that what is computed now is what can be computed again.
    pub(super) fn rounded(mut self) -> Self {
        let figures = self.0.iter_mut().flatten().flat_map(BTreeMap::values_mut).flatten();
        figures.for_each(|figure| *figure = f64::from(((*figure * RESOLUTION).round() / RESOLUTION) as f32));
        self
    }

    /// Writes one line per run, `row,seed,…`, where rows are numbered; nothing if nothing was recorded.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), FileError> {
        const IN_MEMORY: &str = "writing to memory cannot fail";
        if self.0.iter().all(Option::is_none) {
            return Ok(());
        }
        // Without a name and a time, the same table has the same bytes.
        let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
        for (number, row) in self.0.iter().enumerate() {
            for (seed, figures) in row.iter().flatten() {
                write!(writer, "{number},{seed}").expect(IN_MEMORY);
                for figure in figures {
                    let figure = (*figure as f32).to_string();
                    // `.25` for 0.25: zeros before points would be a twentieth of the file.
                    let short = figure.strip_prefix('0').filter(|rest| rest.starts_with('.'));
                    write!(writer, ",{}", short.unwrap_or(&figure)).expect(IN_MEMORY);
                }
                writeln!(writer).expect(IN_MEMORY);
            }
        }
        bcl_files::write_whole(&folder.join(FILE), &writer.finish().expect(IN_MEMORY))
    }

    /// Reads what was written into the folder of a table with so many rows; `None` if there is nothing.
    ///
    /// # Errors
    /// Returns an error that names the file and the line if it cannot be read.
    pub(crate) fn read(folder: &Path, num_rows: usize) -> Result<Option<Self>, String> {
        let path = folder.join(FILE);
        let packed = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            packed => packed.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
        };
        let text = std::io::read_to_string(GzDecoder::new(&*packed)).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut rows = vec![None; num_rows];
        for (index, line) in text.lines().enumerate() {
            let malformed = || format!("{}:{}: is not `row,seed,` and numbers", path.display(), index + 1);
            let (number, rest) = line.split_once(',').ok_or_else(malformed)?;
            let (seed, figures) = rest.split_once(',').ok_or_else(malformed)?;
            let row = number.parse().ok().and_then(|number: usize| rows.get_mut(number));
            let row: &mut Option<BTreeMap<u64, Vec<f64>>> = row.ok_or_else(malformed)?;
            let seed = seed.parse().map_err(|_| malformed())?;
            let figures = figures.split(',').map(|figure| figure.parse::<f32>().map(f64::from));
            let figures = figures.collect::<Result<Vec<f64>, <f32 as std::str::FromStr>::Err>>();
            let figures = figures.map_err(|_| malformed())?;
            row.get_or_insert_default().insert(seed, figures);
        }
        Ok(Some(Self(rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rounded_reads_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Samples::read(folder.path(), 3).unwrap(), None);
        let of_row = BTreeMap::from([(0, vec![1.0 / 3.0, 0.0]), (7, vec![1e-9, -0.25]), (8, vec![1.0, 12.5])]);
        let samples = Samples(vec![Some(of_row.clone()), None, Some(of_row)]).rounded();
        assert_eq!(samples.0[0].as_ref().unwrap()[&0], [f64::from(0.3333_f32), 0.0]);
        samples.write(folder.path()).unwrap();
        assert_eq!(Samples::read(folder.path(), 3).unwrap(), Some(samples));
        let error = Samples::read(folder.path(), 2).unwrap_err();
        assert!(error.contains("samples.csv.gz:4:"), "{error}");
    }

    #[test]
    fn nothing_is_written_if_nothing_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        Samples(vec![None, None]).write(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
