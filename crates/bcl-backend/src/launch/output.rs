//! Reads what cargo prints while it builds.

/// The width to which cargo right-aligns the first word of a progress line.
const STATUS_WIDTH: usize = 12;
/// Lines of an error to show: the first says what is wrong, the next ones where.
const SHOWN: usize = 8;

/// Splits a progress line of cargo into what it does, such as `Compiling`, and with what, such as `toml v1.2.0`.
pub(super) fn status(line: &str) -> Option<(&str, &str)> {
    let (head, tail) = line.split_at_checked(STATUS_WIDTH)?;
    let word = head.trim_start();
    let is_word = word.starts_with(|c: char| c.is_ascii_uppercase()) && word.chars().all(|c| c.is_ascii_alphabetic());
    (is_word && tail.starts_with(' ')).then(|| (word, tail.trim()))
}

/// The first error, without its empty lines.
pub(super) fn first_error(output: &[String]) -> String {
    let begin = output.iter().position(|line| line.starts_with("error"));
    let lines = output.iter().skip(begin.unwrap_or(output.len().saturating_sub(SHOWN)));
    let shown: Vec<&str> = lines
        .map(|line| line.trim_end())
        .filter(|line| !line.is_empty())
        .take(SHOWN)
        .collect();
    if shown.is_empty() {
        "cargo failed without a message".to_owned()
    } else {
        shown.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_are_recognised() {
        assert_eq!(status("   Compiling toml v1.2.0"), Some(("Compiling", "toml v1.2.0")));
        assert_eq!(
            status("    Blocking waiting for file lock on build directory"),
            Some(("Blocking", "waiting for file lock on build directory"))
        );
        assert_eq!(
            status("    Finished `dev` profile in 0.1s"),
            Some(("Finished", "`dev` profile in 0.1s"))
        );
        for line in [
            "",
            "warning: unused",
            "error: it failed",
            "   |",
            "  --> src/x.rs:1:2 in a long path",
            "   = note: expected type",
        ] {
            assert_eq!(status(line), None, "{line}");
        }
    }

    #[test]
    fn an_error_is_shown_from_its_first_line() {
        let output: Vec<String> = (0..9)
            .map(|i| format!("   Compiling c{i} v1"))
            .chain([
                "error[E0432]: unresolved import".into(),
                "  --> a.rs:1".into(),
                String::new(),
                "error: aborting".into(),
            ])
            .collect();
        assert_eq!(
            first_error(&output),
            "error[E0432]: unresolved import\n  --> a.rs:1\nerror: aborting"
        );
        assert_eq!(first_error(&["note: killed".to_owned()]), "note: killed");
        assert_eq!(first_error(&[]), "cargo failed without a message");
    }
}
