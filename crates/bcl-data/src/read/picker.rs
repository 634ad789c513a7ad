//! Which column of a row contains what: by the names in a header, by numbers, or by the usual order.

use super::lines::Line;
use super::separator::Separator;
use crate::error::excerpt;
use crate::{ColumnRef, DataError};
use bcl_files::notice::note;

/// A field to be found in each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Its name in errors.
    pub(super) field: &'static str,
    /// The name that its column should have, for errors.
    pub(super) column: &'static str,
    /// The key of recipes that names its column.
    pub(super) key: &'static str,
    /// The column that the recipe names.
    pub(super) given: Option<&'a ColumnRef>,
    /// Names that its column usually has, as [`column_name`] writes them.
    pub(super) known: &'static [&'static str],
    /// Its place in files without a header, from 0.
    pub(super) place: Option<usize>,
    /// Whether every file has it.
    pub(super) required: bool,
}

impl Wanted<'_> {
    /// Whether a column of this name is meant.
    pub(super) fn is_called(&self, name: &str) -> bool {
        match self.given {
            Some(ColumnRef::Name(given)) => same_name(given, name),
            Some(ColumnRef::Number(_)) => false,
            None => self.known.contains(&column_name(name).as_str()),
        }
    }

    fn is_named(&self) -> bool {
        matches!(self.given, Some(ColumnRef::Name(_)))
    }
}

/// The positions of the wanted fields in the rows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Picker<const N: usize> {
    separator: Separator,
    width: usize,
    places: [Option<usize>; N],
}

impl<const N: usize> Picker<N> {
    /// Finds the columns from the first line of a file, which `is_header` or not. Columns that recipes name need a header.
    pub(super) fn detect(
        separator: Separator,
        wanted: &[Wanted<'_>; N],
        first: &Line<'_>,
        is_header: bool,
    ) -> Result<(Self, bool), DataError> {
        let names: Vec<&str> = separator.fields(first).collect();
        let is_header = is_header || wanted.iter().any(Wanted::is_named);
        let mut places = [None; N];
        for (place, wanted) in places.iter_mut().zip(wanted) {
            if is_header || matches!(wanted.given, Some(ColumnRef::Number(_))) {
                *place = self::place(wanted, &names, first)?;
            }
        }
        if !is_header {
            fill_usual(&mut places, wanted, names.len());
        }
        check_distinct(&places, wanted, first)?;
        Ok((
            Self {
                separator,
                width: names.len(),
                places,
            },
            is_header,
        ))
    }

    /// Number of fields per row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether the file has the wanted field at `index`.
    pub(super) fn has(&self, index: usize) -> bool {
        self.places[index].is_some()
    }

    /// Replaces the number of fields per row.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// The wanted fields of a row, or else the number of fields it has.
    pub(super) fn pick<'a>(&self, line: &Line<'a>) -> Result<[Option<&'a str>; N], usize> {
        // Two loops for speed: files have millions of lines, nearly all without quotes.
        match line.quoted {
            None => self.pick_from(self.separator.split(line.text)),
            Some(record) => self.pick_from(record.fields()),
        }
    }

    fn pick_from<'a>(&self, fields: impl Iterator<Item = &'a str>) -> Result<[Option<&'a str>; N], usize> {
        let mut picked = [None; N];
        let mut found = 0;
        for field in fields {
            for (picked, &place) in picked.iter_mut().zip(&self.places) {
                if place == Some(found) {
                    *picked = Some(field);
                }
            }
            found += 1;
        }
        if found == self.width { Ok(picked) } else { Err(found) }
    }
}

/// Refuses one column for the user and the item, which `data.columns` may name by mistake.
pub(super) fn check_distinct<const N: usize>(
    places: &[Option<usize>; N],
    wanted: &[Wanted<'_>; N],
    first: &Line<'_>,
) -> Result<(), DataError> {
    let (one, other) = (&wanted[0], &wanted[1]);
    match places[0] {
        Some(place) if places[1] == Some(place) && other.required => {
            Err(shared(&format!("column {}", place + 1), one, other, first))
        }
        _ => Ok(()),
    }
}

/// As [`check_distinct`], where columns have names but no places.
pub(super) fn check_distinct_names(wanted: &[Wanted<'_>], line: &Line<'_>) -> Result<(), DataError> {
    let [one, other, ..] = wanted else { return Ok(()) };
    for (given, by_name) in [(one, other), (other, one)] {
        if let Some(ColumnRef::Name(name)) = given.given
            && other.required
            && by_name.is_called(name)
        {
            return Err(shared(&format!("`{}`", excerpt(name)), one, other, line));
        }
    }
    Ok(())
}

fn shared(column: &str, one: &Wanted<'_>, other: &Wanted<'_>, line: &Line<'_>) -> DataError {
    line.error(format!(
        "{column} would be both the {} and the {}. Name different columns in `{}` and `{}`",
        one.field, other.field, one.key, other.key
    ))
}

/// Gives the fields without a column their usual places. Where recipes number some columns, what they leave out is not there, and the user
/// or the item is in the first column that is left.
fn fill_usual<const N: usize>(places: &mut [Option<usize>; N], wanted: &[Wanted<'_>; N], width: usize) {
    let numbered = places.iter().any(Option::is_some);
    for index in 0..N {
        let (wanted, taken) = (&wanted[index], *places);
        if taken[index].is_some() {
            continue;
        }
        places[index] = match wanted.place {
            Some(_) if numbered && wanted.required => (0..=N).find(|place| !taken.contains(&Some(*place))),
            Some(place) if !numbered && (wanted.required || place < width) => Some(place),
            _ => None,
        };
    }
}

/// The place of a column among the names of a header, by its number or its name.
pub(super) fn place(wanted: &Wanted<'_>, names: &[&str], line: &Line<'_>) -> Result<Option<usize>, DataError> {
    match wanted.given {
        Some(ColumnRef::Number(number)) => numbered(*number, wanted, names, line).map(Some),
        _ => named(wanted, names, line),
    }
}

fn numbered(number: usize, wanted: &Wanted<'_>, names: &[&str], line: &Line<'_>) -> Result<usize, DataError> {
    if number <= names.len() {
        return Ok(number - 1);
    }
    let (key, width, text) = (wanted.key, names.len(), excerpt(line.text));
    let what = format!("{key} is {number}, but the line `{text}` has {width} column(s)");
    Err(line.error(format!("{what}. Use a number from 1 to {width}, or set `data.format`")))
}

fn named(wanted: &Wanted<'_>, names: &[&str], line: &Line<'_>) -> Result<Option<usize>, DataError> {
    let mut found: Vec<usize> = (0..names.len()).filter(|&index| wanted.is_called(names[index])).collect();
    if let Some(ColumnRef::Name(given)) = wanted.given
        && let [exact] = found
            .iter()
            .copied()
            .filter(|&index| names[index] == given)
            .collect::<Vec<_>>()[..]
    {
        found = vec![exact];
    }
    if let [first, second, ..] = found[..] {
        ambiguous(wanted, [names[first], names[second]], line)?;
    }
    let found = found.first().copied();
    if found.is_some() || !wanted.required && wanted.given.is_none() {
        return Ok(found);
    }
    Err(missing(wanted, names.iter().copied(), line))
}

/// Two columns could be the wanted one: refused if it is needed, otherwise told.
pub(super) fn ambiguous(wanted: &Wanted<'_>, [first, second]: [&str; 2], line: &Line<'_>) -> Result<(), DataError> {
    let Wanted { field, key, .. } = wanted;
    let [first, second] = [first, second].map(excerpt);
    if wanted.required || wanted.given.is_some() {
        let remedy = if first == second {
            format!("Set `{key}` to the number of the column, from 1")
        } else {
            format!("Set `{key} = \"{first}\"` or `{key} = \"{second}\"`")
        };
        return Err(line.error(format!("both `{first}` and `{second}` could be the {field}. {remedy}")));
    }
    note(format_args!(
        "{}: both `{first}` and `{second}` could be the {field}; `{first}` is taken, because it comes first. `{key}` names another",
        line.path.display()
    ));
    Ok(())
}

/// The error for a column that a file or an object lacks.
pub(super) fn missing<'a>(wanted: &Wanted<'_>, names: impl Iterator<Item = &'a str>, line: &Line<'_>) -> DataError {
    let names: Vec<String> = names.take(20).map(|name| format!("`{}`", excerpt(name))).collect();
    let column = wanted.given.map_or_else(|| wanted.column.to_owned(), ToString::to_string);
    let (columns, key) = (excerpt_of_list(&names), wanted.key);
    let remedy = if names.len() == 1 && names[0].contains('|') {
        "Separate the columns by commas, semicolons or tabs; `|` does not separate them".to_owned()
    } else {
        format!("Name the right one, `{key} = \"…\"`, or number it from 1 if the file has no header")
    };
    DataError::MissingColumn {
        at: line.location(),
        problem: format!("no column `{column}`. The columns are {columns}. {remedy}"),
    }
}

/// A list that is cut off after some hundred characters.
fn excerpt_of_list(names: &[String]) -> String {
    const LONGEST: usize = 300;
    let mut text = String::new();
    for name in names {
        if text.len() + name.len() > LONGEST {
            return text + ", …";
        }
        if !text.is_empty() {
            text += ", ";
        }
        text += name;
    }
    text
}

/// Compares names as written in a header, without regard to case and to the type suffix of `RecBole`'s headers.
fn same_name(given: &str, name: &str) -> bool {
    given.eq_ignore_ascii_case(name) || name.split(':').next().is_some_and(|name| given.eq_ignore_ascii_case(name))
}

/// A column's name as lists of known names write it: in lower case, with `_` for blanks and dashes, without the type suffix of `RecBole`'s
/// headers.
pub(super) fn column_name(field: &str) -> String {
    let name = field.split(':').next().unwrap_or_default().trim();
    name.to_ascii_lowercase().replace(['-', ' '], "_")
}
