//! Text layout for the terminal.

use bcl_files::printable;
use std::{fmt::Display, io::IsTerminal};

/// How to lay out text: line width and bold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// Maximum number of characters per line; `None` for no limit.
    pub width: Option<usize>,
    /// Whether to use bold, as an ANSI escape sequence.
    pub bold: bool,
}

impl TextStyle {
    /// No limit and no escape sequences: for files and pipes.
    pub const PLAIN: Self = Self {
        width: None,
        bold: false,
    };

    /// The style for standard output: the terminal's width and bold, or [`PLAIN`](Self::PLAIN) if it is not a terminal.
    /// `NO_COLOR`, `CLICOLOR=0` and `TERM=dumb` turn bold off.
    pub fn of_stdout() -> Self {
        if !std::io::stdout().is_terminal() {
            return Self::PLAIN;
        }
        Self {
            width: terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
            bold: !is_plain(|name| std::env::var(name).unwrap_or_default()),
        }
    }

    /// Formats `text` so that its [tables](super::Table) fit.
    pub fn fitted(self, text: impl Display) -> String {
        match self.width {
            Some(width) => format!("{text:width$}"),
            None => text.to_string(),
        }
    }

    /// Wraps `text` into lines that fit, each with a line break; continuation lines are indented.
    pub(crate) fn wrapped(self, text: &str) -> String {
        const INDENT: &str = "  ";
        let width = self.width.unwrap_or(usize::MAX);
        let mut lines = String::new();
        let mut line = String::new();
        for word in text.split_whitespace() {
            let word = printable(word);
            if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines += &(line + "\n");
                line = String::from(INDENT);
            } else if !line.is_empty() {
                line.push(' ');
            }
            line += &word;
        }
        lines + &line + "\n"
    }
}

/// Whether the environment asks for text without escape sequences; see <https://no-color.org> and <https://bixense.com/clicolors>.
fn is_plain(variable: impl Fn(&str) -> String) -> bool {
    !variable("NO_COLOR").is_empty() || variable("CLICOLOR") == "0" || variable("TERM") == "dumb"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_can_turn_escape_sequences_off() {
        let with = |name: &str, value: &str| is_plain(|asked| if asked == name { value.to_owned() } else { String::new() });
        for (name, value) in [("NO_COLOR", "1"), ("NO_COLOR", "0"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            assert!(with(name, value), "{name}={value}");
        }
        for (name, value) in [("NO_COLOR", ""), ("CLICOLOR", "1"), ("TERM", "xterm")] {
            assert!(!with(name, value), "{name}={value}");
        }
    }

    #[test]
    fn wrapped_lines_fit_and_keep_every_word() {
        let style = TextStyle {
            width: Some(12),
            bold: false,
        };
        assert_eq!(style.wrapped("one two three four"), "one two\n  three four\n");
        assert_eq!(style.wrapped("unbreakablylong x"), "unbreakablylong\n  x\n");
        assert_eq!(TextStyle::PLAIN.wrapped("one two three four"), "one two three four\n");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(TextStyle::PLAIN.wrapped("a\u{1b}[2Jb c"), "a\\u{1b}[2Jb c\n");
    }
}
