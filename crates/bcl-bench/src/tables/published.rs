//! Tables and figures of papers whose recipes are built in.

use super::{Fixed, Ranges};
use bcl_recipe::built_in;
use bcl_train::error::Error;

/// Tables and figures that are called by paper and number: name, folder of the recipes, heading, and file of ranges. Tables of the BCL paper
/// are called by their number only.
const NAMED: [(&str, &str, &str, &str); 4] = [
    (
        "pucl-1",
        "table1-pucl",
        "Table 1 of the PUCL paper",
        include_str!("ranges/pucl-1.toml"),
    ),
    (
        "pucl-2",
        "table2-pucl",
        "Table 2 of the PUCL paper",
        include_str!("ranges/pucl-2.toml"),
    ),
    (
        "pucl-fig3",
        "fig3-pucl",
        "Figure 3 of the PUCL paper",
        include_str!("ranges/pucl-fig3.toml"),
    ),
    (
        "bda-6",
        "table6-bda",
        "Table 6 of the BDA paper",
        include_str!("ranges/bda-6.toml"),
    ),
];

/// A table or figure of a paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The name on the command line, such as `10` or `pucl-1`.
    name: String,
    /// The folder of its recipes, such as `table10`.
    pub folder: String,
    /// The heading.
    pub title: String,
    /// Text of its ranges, if it has its own.
    ranges: Option<&'static str>,
}

impl Published {
    /// The table or figure of this name; `None` if the name belongs to recipes.
    ///
    /// # Errors
    /// Returns an error that lists all tables if the name is a number without a table.
    pub fn find(name: &str) -> Result<Option<Self>, Error> {
        if let Some((name, folder, title, ranges)) = NAMED.into_iter().find(|named| named.0 == name) {
            return Ok(Some(Self {
                name: name.to_owned(),
                folder: folder.to_owned(),
                title: title.to_owned(),
                ranges: Some(ranges),
            }));
        }
        let Ok(number) = name.parse::<u32>() else {
            return Ok(None);
        };
        let mut numbers: Vec<u32> = folders("")
            .into_iter()
            .filter_map(|folder| folder.strip_prefix("table")?.parse().ok())
            .collect();
        numbers.sort_unstable();
        if !numbers.contains(&number) {
            let known = numbers.iter().map(u32::to_string);
            let named = NAMED.iter().map(|named| named.0.to_owned());
            return Err(Error::Input(format!(
                "there is no table {number}; the built-in tables are {}; for your own recipes, name their folder",
                known.chain(named).collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(Some(Self {
            name: number.to_string(),
            folder: format!("table{number}"),
            title: format!("Table {number}"),
            ranges: None,
        }))
    }

    /// Checks that the table has this data set, and the data set this part, such as one framework or batch size.
    ///
    /// # Errors
    /// Returns an error that lists what there is if one is missing or unknown.
    pub fn check(&self, dataset: Option<&str>, part: Option<&str>) -> Result<(), Error> {
        let Self { name, folder, .. } = self;
        choose(
            &format!("table {name}"),
            "data sets",
            ("--dataset", dataset),
            &folders(&format!("{folder}/")),
        )?;
        let dataset = dataset.unwrap_or_default();
        let parts = folders(&format!("{folder}/{dataset}/"));
        choose(&format!("table {name}, {dataset},"), "parts", ("--part", part), &parts)
    }

    /// The built-in ranges for this table.
    pub fn ranges(&self) -> Ranges {
        self.ranges
            .map_or_else(Ranges::builtin, |text| Ranges::of_table(text, &self.name))
    }

    /// The parameter over which a figure draws its curves, with its values.
    pub fn curves(&self, part: Option<&str>) -> Option<Fixed> {
        let (name, values): (&str, &[f64]) = match (self.name.as_str(), part?) {
            ("pucl-fig3", "negatives") => ("negatives", &[62.0, 126.0, 254.0, 510.0]),
            ("pucl-fig3", "prior") => ("loss.class_prior", &[0.05, 0.1, 0.12, 0.15, 0.2]),
            _ => return None,
        };
        Some(Fixed {
            name: name.to_owned(),
            values: values.to_vec(),
        })
    }
}

/// Names of the folders within a folder of built-in recipes, whose name ends in `/` unless it is empty.
fn folders(within: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = built_in()
        .iter()
        .filter_map(|recipe| Some(recipe.name.strip_prefix(within)?.split_once('/')?.0))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Checks that a flag has one of the known values, or none if there are none.
fn choose(of: &str, what: &str, (flag, given): (&str, Option<&str>), known: &[&str]) -> Result<(), Error> {
    let names = known.join(", ");
    let of_sentence = of.trim_end_matches(',');
    match given {
        None if known.is_empty() => Ok(()),
        Some(given) if known.contains(&given) => Ok(()),
        None => Err(Error::Input(format!(
            "{of} has several {what}; choose one with {flag}: {names}"
        ))),
        Some(given) if known.is_empty() => Err(Error::Input(format!("{flag} {given}: {of} has no {what}; leave {flag} out"))),
        Some(given) => Err(Error::Input(format!(
            "{flag} {given} is not part of {of_sentence}, which has {names}"
        ))),
    }
}

#[cfg(test)]
mod tests;
