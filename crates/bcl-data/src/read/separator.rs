//! How the fields of a line are separated.

use super::lines::Line;
use super::quoted::QuotedRecord;

/// What stands between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    Tab,
    DoubleColon,
    Pipe,
    /// A tab in lines with tabs, otherwise one or more spaces.
    TabOrBlanks,
}

impl Separator {
    /// The separator of a file of comma- or semicolon-separated values, by its first line. Spreadsheets write semicolons where the comma
    /// is the decimal mark.
    pub(super) fn of_csv(first: &str) -> Self {
        let [commas, semicolons] = [',', ';'].map(|separator| count_unquoted(first, separator));
        if semicolons > commas { Self::Semicolon } else { Self::Comma }
    }

    /// The delimiter of the CSV records of a file, in which quotes have a meaning.
    pub(super) fn delimiter(self) -> Option<u8> {
        match self {
            Self::Comma => Some(b','),
            Self::Semicolon => Some(b';'),
            Self::Tab => Some(b'\t'),
            Self::DoubleColon | Self::Pipe | Self::TabOrBlanks => None,
        }
    }

    /// The fields of a line, without surrounding quotes and spaces.
    pub(super) fn fields<'a>(self, line: &Line<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
        let plain = line.quoted.is_none().then(|| self.split(line.text));
        let quoted = line.quoted.map(QuotedRecord::fields);
        plain.into_iter().flatten().chain(quoted.into_iter().flatten())
    }

    /// The fields of a line without quoted separators, without surrounding quotes and spaces.
    pub(super) fn split(self, text: &str) -> impl Iterator<Item = &str> {
        let separator = self.in_line(text);
        text.split(separator)
            .map(move |field| {
                let field = field.trim();
                let quoted = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
                quoted.unwrap_or(field)
            })
            // Columns may be aligned with several spaces.
            .filter(move |field| separator != " " || !field.is_empty())
    }

    fn in_line(self, line: &str) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Tab => "\t",
            Self::TabOrBlanks if line.contains('\t') => "\t",
            Self::TabOrBlanks => " ",
            Self::DoubleColon => "::",
            Self::Pipe => "|",
        }
    }
}

/// How often `wanted` occurs outside of quotes.
pub(super) fn count_unquoted(line: &str, wanted: char) -> usize {
    let mut quoted = false;
    line.chars()
        .filter(|&char| {
            quoted ^= char == '"';
            !quoted && char == wanted
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_separate_where_there_are_more_of_them_than_commas() {
        for (line, expected) in [
            ("user,item", Separator::Comma),
            ("user;item", Separator::Semicolon),
            ("1;2;3,5", Separator::Semicolon),
            ("\"a;b;c\",d", Separator::Comma),
            ("a;b,c", Separator::Comma),
            ("7", Separator::Comma),
        ] {
            assert_eq!(Separator::of_csv(line), expected, "{line}");
        }
    }
}
