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
    /// The separator of a `.csv` file, by its first line. Spreadsheets write semicolons where the comma is the decimal mark, and some
    /// programs write tabs.
    pub(super) fn of_csv(first: &str) -> Self {
        let [commas, semicolons, tabs] = [',', ';', '\t'].map(|separator| count_unquoted(first, separator));
        if tabs > commas.max(semicolons) {
            Self::Tab
        } else if semicolons > commas {
            Self::Semicolon
        } else {
            Self::Comma
        }
    }

    /// The separator of `RecBole`'s files, by their header: tabs, unless somebody saved them with commas or blanks.
    pub(super) fn of_inter(first: &str) -> Self {
        match first {
            first if first.contains('\t') => Self::Tab,
            first if first.contains(',') => Self::Comma,
            _ => Self::TabOrBlanks,
        }
    }

    /// The delimiter of the CSV records of a file, in which quotes have a meaning. Between tabs, a quote is text.
    pub(super) fn delimiter(self) -> Option<u8> {
        match self {
            Self::Comma => Some(b','),
            Self::Semicolon => Some(b';'),
            Self::Tab | Self::DoubleColon | Self::Pipe | Self::TabOrBlanks => None,
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

    /// What to do if a line that should have this separator has another one.
    pub(super) fn another(self, line: &str) -> Option<&'static str> {
        let line = line.trim();
        match self {
            Self::Tab if line.contains([',', ';']) => Some("Separate the fields by tabs, or set `data.format = \"csv\"`"),
            Self::Comma | Self::Semicolon if line.contains("::") => {
                Some("Separate the fields by commas; `user::item::rating::timestamp` is `data.format = \"ratings_dat\"`")
            }
            Self::Comma | Self::Semicolon if line.contains('\t') => {
                Some("Separate the fields by commas, or set `format`: `data.format = \"tsv\"` has tabs")
            }
            Self::Comma | Self::Semicolon if line.contains(['|', ' ']) => {
                Some("Separate the fields by commas, semicolons or tabs, or set `format`")
            }
            _ => None,
        }
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
    fn the_most_frequent_of_commas_semicolons_and_tabs_separates() {
        for (line, expected) in [
            ("user,item", Separator::Comma),
            ("user;item", Separator::Semicolon),
            ("1;2;3,5", Separator::Semicolon),
            ("\"a;b;c\",d", Separator::Comma),
            ("a;b,c", Separator::Comma),
            ("7", Separator::Comma),
            ("user\titem", Separator::Tab),
            ("a, b\tc\td", Separator::Tab),
            ("a\tb,c", Separator::Comma),
        ] {
            assert_eq!(Separator::of_csv(line), expected, "{line}");
        }
    }
}
