//! Files with one id per line.

use bcl_data::IdMap;
use bcl_files::input;
use bcl_train::{error::Error, training::run_summary::grouped};
use std::path::Path;

/// An id of a file, as text, with its line.
pub(super) struct Listed {
    pub(super) line: usize,
    pub(super) id: String,
}

/// Reads a file with one id per line. Blank lines and repeated ids are left out.
///
/// # Errors
/// Returns an error that names the flag and the file if it cannot be read or has no ids.
pub(super) fn read(flag: &str, path: &Path) -> Result<Vec<Listed>, Error> {
    let shown = path.display();
    let text = input::read_text(path, input::MOST_WHOLE)
        .map_err(|error| Error::Input(format!("{flag} {shown}: cannot read the file: {error}")))?;
    let mut seen = IdMap::default();
    let mut listed = Vec::new();
    for (line, id) in (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim)) {
        if !id.is_empty() && seen.get(id).is_none() {
            seen.get_or_insert(id);
            listed.push(Listed { line, id: id.to_owned() });
        }
    }
    if listed.is_empty() {
        return Err(Error::Input(format!(
            "{flag} {shown}: the file has no ids; write one id per line"
        )));
    }
    Ok(listed)
}

/// A number with its noun: "1 item", "2,000 items".
pub(in super::super) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Says that an id is unknown, with examples of known ones.
pub(super) fn unknown(flag: &str, id: &str, ids: &IdMap, what: &str, data: &str) -> Error {
    let examples: Vec<&str> = ids.iter().take(3).collect();
    Error::Input(format!(
        "{flag} {id} is not among the {} {what} of {data}; their ids look like {}",
        ids.len(),
        examples.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_repeats_and_windows_line_ends_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.txt");
        std::fs::write(&path, "\u{feff}ann\r\n\r\n bob \nann\n").unwrap();
        let found: Vec<(usize, String)> = read("--users", &path).unwrap().into_iter().map(|l| (l.line, l.id)).collect();
        assert_eq!(found, [(1, "ann".to_owned()), (3, "bob".to_owned())]);
        std::fs::write(&path, "\n \n").unwrap();
        let error = read("--users", &path).err().unwrap().to_string();
        assert!(error.contains("has no ids"), "{error}");
    }
}
