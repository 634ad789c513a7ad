//! Escapes text from outside for terminals and shells: ids, class names and file names come from data, and data may be hostile.

use std::{
    fmt::{Display, Write},
    path::is_separator,
};

/// Escapes control characters, for example as `\u{1b}`, so that an id, class name or file name cannot move the cursor, set the window
/// title or hide what follows.
///
/// Line breaks are escaped, too, so the result is a single line, and so are marks that reverse the text direction. Use this only for
/// text shown to a person; files (JSON, CSV, NumPy) keep the exact values.
///
/// ```
/// use bcl_files::printable;
///
/// assert_eq!(printable("\u{1b}[2Jann\n"), "\\u{1b}[2Jann\\n");
/// assert_eq!(printable("Zoë 木"), "Zoë 木");
/// ```
pub fn printable(text: impl Display) -> String {
    let text = text.to_string();
    if !text.contains(acts_on_terminal) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if acts_on_terminal(char) {
            write!(safe, "{}", char.escape_default()).expect("a string grows");
        } else {
            safe.push(char);
        }
    }
    safe
}

/// Like [`printable`], but keeps line breaks, for text of several lines.
pub fn printable_lines(text: impl Display) -> String {
    let text = text.to_string();
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Quotes a word, such as a path in a command that a message advises, if a shell would read it otherwise.
///
/// ```
/// use bcl_files::shell_quoted;
///
/// assert_eq!(shell_quoted("runs/a-0"), "runs/a-0");
/// assert_eq!(shell_quoted("my runs/a-0"), "'my runs/a-0'");
/// ```
pub fn shell_quoted(word: impl Display) -> String {
    let word = word.to_string();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.+:@%".contains(char) || is_separator(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Shortens text from outside to `longest` characters and escapes what is not visible, to keep errors readable.
pub fn excerpt(text: &str, longest: usize) -> String {
    let shown: String = text.escape_debug().take(longest + 1).collect();
    match shown.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

fn acts_on_terminal(char: char) -> bool {
    // Direction marks and Unicode line breaks are not control characters by category.
    char.is_control() || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_escaped() {
        for (text, safe) in [
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\rb\tc\u{7f}", "a\\rb\\tc\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("\u{2028}", "\\u{2028}"),
        ] {
            assert_eq!(printable(text), safe);
        }
    }

    #[test]
    fn only_words_that_the_shell_would_change_are_quoted() {
        let words = ["runs/a-0", "", "a b", "$HOME", "ü", "o'hara"];
        assert_eq!(
            words.map(shell_quoted),
            ["runs/a-0", "''", "'a b'", "'$HOME'", "'ü'", r"'o'\''hara'"]
        );
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(printable_lines("a\u{1b}\nb\n"), "a\\u{1b}\nb\n");
    }
}
