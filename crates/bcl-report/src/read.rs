//! Reads a run folder.

use super::{ReportError, Showcase};
use crate::result::{EpochRecord, RunResult, SCHEMA};
use bcl_files::checksums;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Reads `result.json`, `metrics.jsonl` and, if present, `showcase.json` of the run in `dir`.
///
/// A resumed run repeats the epochs since its last checkpoint; of two records of the same epoch, the later one counts.
///
/// # Errors
/// Returns a [`ReportError`] that names the file and, for invalid content, the line.
pub fn read_run(dir: &Path) -> Result<(RunResult, Vec<EpochRecord>), ReportError> {
    let (path, text) = match read_file(dir, "result.json") {
        Err(ReportError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Err(ReportError::NotFinished { path: dir.to_owned() });
        }
        read => read?,
    };
    let result = RunResult {
        showcase: Showcase::read(dir)?,
        ..parse_result(&path, &text)?
    };
    let (path, text) = read_file(dir, "metrics.jsonl")?;
    Ok((result, parse_records(&path, &text)?))
}

/// Reads a text file of the run and verifies its checksum.
fn read_file(dir: &Path, name: &str) -> Result<(PathBuf, String), ReportError> {
    let path = dir.join(name);
    let unreadable = |source| ReportError::Read {
        path: path.clone(),
        source,
    };
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    checksums::check(dir, name, &bytes)?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(Error::new(ErrorKind::InvalidData, error)))?;
    Ok((path, text))
}

fn parse_result(path: &Path, text: &str) -> Result<RunResult, ReportError> {
    // Checked first: with another schema, parsing would fail with a misleading message.
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| ReportError::malformed(path, error.line(), &error))?;
    if let Some(found) = value.get("schema").and_then(serde_json::Value::as_u64)
        && found != u64::from(SCHEMA)
    {
        let version = value["environment"]["version"].as_str().unwrap_or("unknown");
        return Err(ReportError::Schema {
            path: path.to_owned(),
            found: u32::try_from(found).unwrap_or(u32::MAX),
            supported: SCHEMA,
            version: version.to_owned(),
        });
    }
    serde_json::from_str(text).map_err(|error| ReportError::malformed(path, error.line(), &error))
}

fn parse_records(path: &Path, text: &str) -> Result<Vec<EpochRecord>, ReportError> {
    let mut records: Vec<EpochRecord> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let record: EpochRecord = serde_json::from_str(line).map_err(|error| ReportError::malformed(path, index + 1, &error))?;
        match records
            .iter_mut()
            .rfind(|known| known.phase == record.phase && known.epoch == record.epoch)
        {
            Some(known) => *known = record,
            None => records.push(record),
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use std::fs;

    /// Writes a run and returns its folder.
    fn written() -> (tempfile::TempDir, RunResult, Vec<EpochRecord>) {
        let (result, records) = sample::run("ml/mf", "info_nce", 3);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("result.json"), serde_json::to_string_pretty(&result).unwrap()).unwrap();
        let lines: Vec<String> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
        fs::write(dir.path().join("metrics.jsonl"), lines.join("\n") + "\n").unwrap();
        (dir, result, records)
    }

    fn append_to_metrics(dir: &Path, text: &str) {
        let path = dir.join("metrics.jsonl");
        let old = fs::read_to_string(&path).unwrap();
        fs::write(path, old + text).unwrap();
    }

    #[test]
    fn a_run_reads_back_as_written() {
        let (dir, result, records) = written();
        assert_eq!(read_run(dir.path()).unwrap(), (result, records));
    }

    #[test]
    fn a_showcase_is_a_file_beside_the_result_and_a_broken_one_is_named() {
        let (dir, result, _) = written();
        let (of_images, _) = sample::image_run("planted/bayesian", "bayesian", 3);
        let showcase = of_images.showcase.clone().unwrap();
        showcase.write_map(dir.path()).unwrap();
        showcase.write(dir.path()).unwrap();
        assert_eq!(read_run(dir.path()).unwrap().0.showcase, Some(showcase));
        assert!(
            fs::read_to_string(dir.path().join("map.svg"))
                .unwrap()
                .starts_with("<svg xmlns=")
        );
        assert!(!serde_json::to_string(&of_images).unwrap().contains("png") && result.showcase.is_none());

        fs::write(dir.path().join("showcase.json"), "{\"classes\": 3}").unwrap();
        let error = read_run(dir.path()).unwrap_err().to_string();
        assert!(error.contains("showcase.json was damaged"), "{error}");
        fs::remove_file(dir.path().join(checksums::CHECKSUMS)).unwrap();
        let error = read_run(dir.path()).unwrap_err().to_string();
        assert!(error.contains("showcase.json:1: invalid type"), "{error}");
    }

    #[test]
    fn a_repeated_epoch_counts_once_and_the_later_record_wins() {
        let (dir, _, records) = written();
        let mut again = records[4].clone();
        again.loss = 77.0;
        append_to_metrics(dir.path(), &(serde_json::to_string(&again).unwrap() + "\n\n"));
        let (_, found) = read_run(dir.path()).unwrap();
        assert_eq!(found.len(), records.len());
        assert_eq!(found[4].loss, 77.0);
    }

    #[test]
    fn a_missing_result_and_an_unreadable_one_have_different_errors() {
        let dir = tempfile::tempdir().unwrap();
        let error = read_run(dir.path()).unwrap_err().to_string();
        assert!(error.contains("no result.json") && error.contains("--resume"), "{error}");

        fs::create_dir(dir.path().join("result.json")).unwrap();
        let error = read_run(dir.path()).unwrap_err();
        assert!(matches!(error, ReportError::Read { .. }), "{error}");
    }

    #[test]
    fn a_missing_metrics_file_is_named() {
        let (dir, ..) = written();
        fs::remove_file(dir.path().join("metrics.jsonl")).unwrap();
        let error = read_run(dir.path()).unwrap_err().to_string();
        assert!(error.contains("metrics.jsonl"), "{error}");
    }

    #[test]
    fn a_line_cut_short_is_named() {
        let (dir, _, records) = written();
        append_to_metrics(dir.path(), "{\"phase\": \"refit\", \"epo");
        let error = read_run(dir.path()).unwrap_err().to_string();
        let place = format!("metrics.jsonl:{}: ", records.len() + 1);
        assert!(error.contains(&place) && !error.contains("line 1 "), "{error}");
    }

    #[test]
    fn a_wrong_field_of_the_result_is_named_with_its_line() {
        let (dir, ..) = written();
        let path = dir.path().join("result.json");
        let text = fs::read_to_string(&path)
            .unwrap()
            .replace("\"seed\": 3", "\"seed\": \"three\"");
        fs::write(&path, text).unwrap();
        let error = read_run(dir.path()).unwrap_err().to_string();
        assert!(error.contains("result.json:5: invalid type: string \"three\""), "{error}");
    }

    #[test]
    fn another_schema_is_refused_by_number() {
        let (dir, ..) = written();
        let path = dir.path().join("result.json");
        let text = fs::read_to_string(&path).unwrap().replace("\"schema\": 1", "\"schema\": 2");
        fs::write(&path, text).unwrap();
        let error = read_run(dir.path()).unwrap_err().to_string();
        assert!(error.contains("schema is 2, but this program reads 1"), "{error}");
    }
}
