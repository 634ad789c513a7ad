//! The plan of a table, saved so that resuming makes the same table.

use super::{Family, Row, Rung, Search};
use bcl_files::{
    input::{self, MOST_WHOLE},
    notice,
};
use bcl_train::{error::Error, training::DataRecord};
use serde_json::{Value, json};
use std::path::Path;

/// Everything that determines a table, apart from the machine that computes it.
#[derive(Debug, Clone)]
pub struct TablePlan {
    /// The heading, such as `Table 10, ml-100k, mf`.
    pub title: String,
    /// The table of the paper, and which of its data sets, such as `("table10", "ml-100k")`.
    pub printed: Option<(String, String)>,
    /// The rows.
    pub rows: Vec<Row>,
    /// How settings are searched.
    pub search: Search,
    /// Tuning trials per row; with 0, the recipes stay as they are.
    pub budget: usize,
    /// Number of seeds that each trial is trained with.
    pub tuning_seeds: usize,
    /// Number of seeds, from 0 on, with which the best settings are tested.
    pub seeds: usize,
    /// Which rows are compared.
    pub family: Family,
    /// The difference up to which rows count as equivalent, in the metric of [`select_by`](Self::select_by). It is stated before anything is measured.
    pub bound: f64,
    /// The command, for the record.
    pub command: String,
}

impl TablePlan {
    /// The metric for tuning and for comparing rows.
    pub fn select_by(&self) -> String {
        self.rows[0].recipe().comparison_metric().to_owned()
    }

    /// The plan for these rows.
    #[must_use]
    pub fn with_rows(&self, rows: Vec<Row>) -> Self {
        // Without a range there is nothing to try.
        let is_searched = rows.iter().any(|row| !row.space.0.is_empty());
        Self {
            budget: if is_searched { self.budget } else { 0 },
            rows,
            ..self.clone()
        }
    }

    /// The rungs of the search.
    pub(super) fn rungs(&self) -> Vec<Rung> {
        let epochs = self.rows.iter().map(Row::epochs).max().unwrap_or(1);
        self.search.rungs(self.budget, epochs)
    }

    /// The plan without the oracles that the data cannot serve, because they have no classes.
    pub(super) fn served(&self, check: impl Fn(&Row) -> Result<(), Error>) -> Self {
        let is_served = |row: &&Row| {
            let problem = if row.is_oracle { check(row).err() } else { None };
            if let Some(problem) = &problem {
                notice::note(format!("no row {}: {problem}", row.name));
            }
            problem.is_none()
        };
        self.with_rows(self.rows.iter().filter(is_served).cloned().collect())
    }

    /// What the table in a folder recorded about its data; `None` if there is no table yet.
    ///
    /// # Errors
    /// Returns an error if the folder contains another table, or its record is missing.
    pub fn data_record(&self, out: &Path) -> Result<Option<DataRecord>, Error> {
        let path = out.join("plan.json");
        if !path.is_file() {
            return Ok(None);
        }
        let text = input::read(&path, MOST_WHOLE).map_err(Error::io("read", &path))?;
        let earlier: Value = serde_json::from_slice(&text)
            .map_err(|error| Error::Input(format!("{} is broken: {error}; choose another --out", path.display())))?;
        // An oracle that the data do not serve is not in the plan that was saved, and one may be added later: it is no candidate.
        let is_in_earlier = |row: &Row| {
            earlier["rows"]
                .as_array()
                .is_some_and(|rows| rows.iter().any(|of| of["name"] == row.name))
        };
        let rows = self.rows.iter().filter(|row| !row.is_oracle || is_in_earlier(row));
        let comparable = self.with_rows(rows.cloned().collect());
        if let Some(difference) = difference("", &earlier, &comparable.to_json()) {
            return Err(Error::Input(format!(
                "{} contains another table: {difference}; choose another --out",
                out.display()
            )));
        }
        let missing = || Error::Input(format!("{} has no data.json; choose another --out", out.display()));
        DataRecord::read(out)?.map(Some).ok_or_else(missing)
    }

    /// Saves the plan and the data of a table in its folder. More seeds than before do not make another table: existing runs
    /// count.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written to.
    pub fn keep(&self, out: &Path, data: &DataRecord) -> Result<(), Error> {
        bcl_files::create_folder(out)?;
        data.write(out)?;
        Ok(bcl_files::write_json(&out.join("plan.json"), &self.to_json())?)
    }

    /// What all processes that make a table together must agree on, for [`refuse_differences`](bcl_train::processes::refuse_differences).
    pub(super) fn facts(&self, data: &DataRecord) -> [(&'static str, String); 5] {
        let Self {
            search,
            budget,
            tuning_seeds,
            seeds,
            ..
        } = self;
        let of_rows = |describe: &dyn Fn(&Row) -> String| self.rows.iter().map(describe).collect::<Vec<_>>().join(", ");
        [
            ("version of bcl-bench", env!("CARGO_PKG_VERSION").to_owned()),
            (
                "search",
                format!("{search:?} with {budget} trials of {tuning_seeds} seeds, and {seeds} test seeds"),
            ),
            (
                "list of recipes",
                of_rows(&|row| format!("{} ({})", row.name, row.recipe().hash())),
            ),
            ("list of ranges", of_rows(&|row| json!(row.space).to_string())),
            ("data set", data.identity.digest()),
        ]
    }

    /// The part of a plan that must not change when a table is resumed.
    fn to_json(&self) -> Value {
        let row = |row: &Row| json!({ "name": row.name, "recipe": row.json(), "space": row.space });
        json!({
            "search": self.search,
            "budget": self.budget,
            "tuning_seeds": self.tuning_seeds,
            "seeds": self.seeds,
            "bound": self.bound,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

/// Describes the first difference between two plans. Plans of earlier versions have no bound.
fn difference(key: &str, earlier: &Value, now: &Value) -> Option<String> {
    if earlier == now || key == "seeds" || (key == "bound" && earlier.is_null()) {
        return None;
    }
    let inner = |name: &str| {
        if key.is_empty() {
            name.to_owned()
        } else {
            format!("{key}.{name}")
        }
    };
    match (earlier, now) {
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).find_map(|name| {
            difference(
                &inner(name),
                a.get(name).unwrap_or(&Value::Null),
                b.get(name).unwrap_or(&Value::Null),
            )
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|index| difference(&inner(&index.to_string()), &a[index], &b[index]))
        }
        _ => Some(format!("{key} was {earlier} and is {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Ranges;
    use bcl_data::PlantedConfig;

    fn plan(budget: usize, seeds: usize) -> TablePlan {
        TablePlan {
            title: "t".to_owned(),
            printed: None,
            rows: Row::find("quickstart", None, &[], &Ranges::builtin()).unwrap(),
            search: Search::Random,
            budget,
            tuning_seeds: 3,
            seeds,
            family: Family::default(),
            bound: 0.002,
            command: String::new(),
        }
    }

    #[test]
    fn another_table_in_the_same_folder_is_refused_and_the_difference_named() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataRecord::of_interactions(&PlantedConfig::default().generate());
        assert_eq!(plan(4, 2).data_record(folder.path()).unwrap(), None);
        plan(4, 2).keep(folder.path(), &data).unwrap();
        assert_eq!(plan(4, 2).data_record(folder.path()).unwrap(), Some(data));
        plan(4, 5).data_record(folder.path()).expect("more seeds are the same table");
        let error = plan(5, 2).data_record(folder.path()).unwrap_err().to_string();
        assert!(error.contains("budget was 4 and is 5"), "{error}");
        let wider = TablePlan {
            bound: 0.01,
            ..plan(4, 2)
        };
        let error = wider.data_record(folder.path()).unwrap_err().to_string();
        assert!(error.contains("bound was 0.002 and is 0.01"), "{error}");
    }

    #[test]
    fn an_oracle_that_the_data_did_not_serve_does_not_make_another_table() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataRecord::of_interactions(&PlantedConfig::default().generate());
        let mut rows = Row::find("table2/planted", None, &[], &Ranges::builtin()).unwrap();
        rows.extend(Row::oracles(&rows));
        let whole = plan(0, 2).with_rows(rows);
        let served = whole.served(|_| Err(Error::Input("no classes".to_owned())));
        assert_eq!(served.rows.len(), whole.rows.len() - 1);
        served.keep(folder.path(), &data).unwrap();
        assert_eq!(whole.data_record(folder.path()).unwrap(), Some(data));
        let fewer = whole.with_rows(whole.rows[1..].to_vec());
        let error = fewer.data_record(folder.path()).unwrap_err().to_string();
        assert!(error.contains("rows was"), "{error}");
    }

    #[test]
    fn a_table_without_data_json_cannot_be_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataRecord::of_interactions(&PlantedConfig::default().generate());
        plan(4, 2).keep(folder.path(), &data).unwrap();
        std::fs::remove_file(folder.path().join("data.json")).unwrap();
        let error = plan(4, 2).data_record(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no data.json") && error.contains("--out"), "{error}");
    }
}
