//! How much a table depends on one parameter: the same table at several fixed values of it.

use super::{
    Parts, Row, RowResult, RunPool, TablePlan, TableResult,
    make::{lock_folder, prepare_table},
    row::{ALPHA, why_not_set},
    run,
};
use bcl_files::{
    FileError,
    input::{self, MOST_WHOLE},
    notice,
};
use bcl_recipe::Override;
use bcl_report::{
    Interval,
    chart::{Axis, LineChart, Reference, Series, Shape},
    result::{EFFECTIVE_SAMPLE_SIZE, SCORE_SPREAD},
};
use bcl_train::error::Error;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::{fmt, path::Path, str::FromStr};

/// Names of the number of negatives per anchor.
const NEGATIVES: [&str; 3] = ["negatives", "n", "N"];

/// The key that decides how many negatives a batch of images or graphs has.
const BATCH_SIZE: &str = "training.batch_size";

/// More than the largest batch, queue and number of negatives that a recipe may have.
const MOST_NEGATIVES: usize = 1 << 25;

/// A parameter and the values to fix it at: `temperature=0.3`, or `temperature=0.1,0.2,0.4`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// The name as given.
    pub name: String,
    /// The values, ascending.
    pub values: Vec<f64>,
}

impl FromStr for Fixed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write a parameter and numbers, such as temperature=0.1,0.2,0.4";
        let (name, values) = text.split_once('=').ok_or(FORM)?;
        let mut values: Vec<f64> = values
            .split(',')
            .map(|value| {
                let number = value.trim().parse().ok().filter(|number: &f64| number.is_finite());
                number.ok_or_else(|| format!("`{value}` is not a number; {FORM}"))
            })
            .collect::<Result<_, _>>()?;
        values.sort_by(f64::total_cmp);
        values.dedup();
        Ok(Self {
            name: name.trim().to_owned(),
            values,
        })
    }
}

impl Fixed {
    /// The key of a row that the parameter means; `None` if the row does not have the parameter.
    ///
    /// Understands `temperature`, `beta`, `alpha`, `tau_plus` and `negatives` (N), and every other key of a recipe in full. The
    /// hard loss has another β than the Bayesian loss, so `beta` only fixes the latter.
    fn key<'a>(&'a self, row: &Row) -> Option<&'a str> {
        let key = match self.name.as_str() {
            name if NEGATIVES.contains(&name) => key_of_negatives(row)?,
            "beta" if row.loss_kind() != "bayesian" => return None,
            "temperature" => "loss.temperature",
            "beta" => "loss.beta",
            "alpha" => ALPHA,
            "tau_plus" => "loss.tau_plus",
            key => key,
        };
        row.has(key).then_some(key)
    }

    /// Refuses to fix a key of a row that the table or another flag sets, or that the row does not use: all values would have the same runs.
    fn check(&self, row: &Row, key: &str) -> Result<(), Error> {
        let problem = if let Some(problem) = why_not_set(key) {
            problem.to_owned()
        } else if row.ignores(key) {
            format!(
                "{} does not use {key}, because alpha_schedule.kind is \"linear\"; add --set alpha_schedule.kind=constant",
                row.name
            )
        } else if let Some(set) = row.flag_within(key) {
            format!("--set {set} sets {key}, too; leave one of them out")
        } else {
            return Ok(());
        };
        Err(Error::Input(format!("--fix {}: {problem}", self.name)))
    }

    /// Refuses a folder whose curves would be lost: it must have none, or curves over some of the same values. All values that were shown count in the
    /// correction of p-values.
    fn check_earlier(&self, out: &Path) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Earlier {
            parameter: String,
            tables: Vec<(f64, IgnoredAny)>,
        }
        let path = out.join("sensitivity.json");
        if !path.is_file() {
            return Ok(());
        }
        let text = input::read(&path, MOST_WHOLE).map_err(Error::io("read", &path))?;
        let earlier: Earlier = serde_json::from_slice(&text)
            .map_err(|error| Error::Input(format!("{} is broken: {error}; choose another --out", path.display())))?;
        let is_kept = |value: &f64| self.values.contains(value);
        if earlier.parameter == self.name && earlier.tables.iter().all(|(value, _)| is_kept(value)) {
            return Ok(());
        }
        let values: Vec<String> = earlier.tables.iter().map(|(value, _)| value.to_string()).collect();
        Err(Error::Input(format!(
            "{} has curves over {}={}; add these values to --fix, or choose another --out",
            out.display(),
            earlier.parameter,
            values.join(",")
        )))
    }

    /// The flag that fixes the parameter at a value, by a key of the row.
    fn flag(&self, row: &Row, key: &str, value: f64) -> Result<Override, Error> {
        let flag = format!("--fix {}={value}", self.name);
        let set = if NEGATIVES.contains(&self.name.as_str()) {
            let setting = setting_for_negatives(row, key, value);
            let setting = setting.map_err(|problem| Error::Input(format!("{flag}: {problem}")))?;
            toml::Value::Integer(setting as i64)
        } else if value.fract() == 0.0 && !key.starts_with("loss.") {
            toml::Value::Integer(value as i64)
        } else {
            value.into()
        };
        Ok(Override::new(key, set, flag))
    }
}

/// The key that decides how many negatives an anchor of a row has; `None` if it has none.
fn key_of_negatives(row: &Row) -> Option<&'static str> {
    match row.method().as_str() {
        _ if row.is_recommender() => Some("negatives.count"),
        "moco" => Some("method.queue"),
        "cmc" => Some("method.negatives"),
        _ => row.negatives_in_batch(2).map(|_| BATCH_SIZE),
    }
}

/// The value of this key with which an anchor of a row has exactly so many negatives.
fn setting_for_negatives(row: &Row, key: &str, wanted: f64) -> Result<usize, String> {
    let is_of_batch = key == BATCH_SIZE;
    let negatives = |setting: usize| match row.negatives_in_batch(setting) {
        Some(negatives) if is_of_batch => negatives,
        _ => setting,
    };
    let least = if is_of_batch { 2 } else { 1 };
    let reaches = |setting: &usize| negatives(*setting) as f64 >= wanted;
    let setting = (least..MOST_NEGATIVES).find(reaches).unwrap_or(MOST_NEGATIVES);
    if negatives(setting) as f64 == wanted {
        return Ok(setting);
    }
    let nearest = (setting - 1).max(least)..=setting;
    let nearest: Vec<String> = nearest.map(|setting| negatives(setting).to_string()).collect();
    Err(format!(
        "{} cannot have {wanted} negatives per anchor; use {}",
        row.name,
        nearest.join(" or ")
    ))
}

/// Curves over one parameter, one per estimator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// Version of the layout.
    pub schema: u32,
    /// The heading.
    pub title: String,
    /// The command that made the curves.
    pub command: String,
    /// The parameter.
    pub parameter: String,
    /// The metric.
    pub metric: String,
    /// The rows that have the parameter.
    pub curves: Vec<Curve>,
    /// The rows that do not have it, at their single value.
    pub levels: Vec<(String, Interval)>,
    /// The table at each value.
    pub tables: Vec<(f64, TableResult)>,
}

/// The curve of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the row.
    pub row: String,
    /// Pairs of value and metric, by value.
    pub points: Vec<(f64, Interval)>,
    /// Pairs of value and metric on held-out training data, by value; empty if nothing was held out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub held_out: Vec<(f64, f64)>,
}

/// The folder of the table at a value.
fn folder(parameter: &str, value: f64) -> String {
    format!("{parameter}-{value}")
}

impl Sensitivity {
    /// Makes the table at every value, each in its own folder, and draws the curves.
    ///
    /// # Errors
    /// As [`run`]; also returns an error if no row has the parameter, a row cannot have one of the values, or the folder has curves over other values.
    pub fn run(plan: &TablePlan, fixed: &Fixed, out: &Path, pool: &RunPool) -> Result<Self, Error> {
        let (has, has_not): (Vec<&Row>, Vec<&Row>) = plan.rows.iter().partition(|row| fixed.key(row).is_some());
        let has: Vec<(&Row, &str)> = has.into_iter().filter_map(|row| Some((row, fixed.key(row)?))).collect();
        if has.is_empty() {
            return Err(Error::Input(format!(
                "--fix {}: no row has this parameter; use temperature, negatives, alpha, beta, tau_plus, or a key of the recipes in full",
                fixed.name
            )));
        }
        for (row, key) in &has {
            fixed.check(row, key)?;
        }
        // Values that a recipe refuses are found before the first run.
        let at = |&value: &f64| {
            let title = format!("{}, {} {value}", plan.title, fixed.name);
            let row_at = |(row, key): &(&Row, &str)| Ok(row.set(&[fixed.flag(row, key, value)?])?);
            let rows = has.iter().map(row_at).collect::<Result<_, Error>>()?;
            Ok((
                value,
                TablePlan {
                    title,
                    ..plan.with_rows(rows)
                },
            ))
        };
        let plans = fixed.values.iter().map(at).collect::<Result<Vec<_>, Error>>()?;
        let rows = has_not.into_iter().cloned().collect();
        let others = plan.with_rows(rows);
        fixed.check_earlier(out)?;
        // Find what could stop the first table before there is a folder.
        let folder_of = |value: f64| out.join(folder(&fixed.name, value));
        if others.rows.is_empty() {
            prepare_table(&plans[0].1, &folder_of(plans[0].0), pool)?;
        } else {
            prepare_table(&others, &out.join("others"), pool)?;
        }
        let _lock = lock_folder(out, pool)?;
        let metric = plan.select_by();
        let others_table = (!others.rows.is_empty()).then(|| run(&others, &out.join("others"), pool));
        let mut others_table = others_table.transpose()?;
        let mut tables = Vec::new();
        for (value, plan) in &plans {
            let folder = folder_of(*value);
            if !pool.quiet {
                notice::status(format!("{} {value}", fixed.name));
            }
            tables.push((*value, run(plan, &folder, pool)?));
        }
        // Any of the values might have been the one to show, so p-values are corrected for all of them together.
        let mut all: Vec<&mut TableResult> = tables.iter_mut().map(|(_, table)| table).chain(&mut others_table).collect();
        TableResult::correct_together(&mut all);
        pool.on_first(|| {
            for (value, table) in &tables {
                table.write(&folder_of(*value))?;
            }
            if let Some(table) = &others_table {
                table.write(&out.join("others"))?;
            }
            Ok(())
        })?;
        let levels = others_table.as_ref().map(|table| figures(table, &metric)).unwrap_or_default();
        let curves = has.iter().map(|(row, _)| Curve::of(&row.name, &tables, &metric));
        // An oracle that the data do not serve has no points.
        let curves = curves.filter(|curve| !curve.points.is_empty()).collect();
        let sensitivity = Self {
            schema: 1,
            title: format!("{} over {}", plan.title, fixed.name),
            command: plan.command.clone(),
            parameter: fixed.name.clone(),
            metric,
            curves,
            levels,
            tables,
        };
        pool.on_first(|| Ok(sensitivity.write(out)?))?;
        Ok(sensitivity)
    }

    /// Writes `sensitivity.json` and `sensitivity.svg` into a folder, and a picture each of what the rows tell of their weights.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        bcl_files::write_json(&folder.join("sensitivity.json"), self)?;
        if let Some(picture) = self.chart().to_file() {
            bcl_files::write_whole(&folder.join("sensitivity.svg"), picture.as_bytes())?;
        }
        for metric in [EFFECTIVE_SAMPLE_SIZE, SCORE_SPREAD] {
            let curves = self.curves.iter().map(|curve| Curve::of(&curve.row, &self.tables, metric));
            let curves: Vec<Curve> = curves.filter(|curve| !curve.points.is_empty()).collect();
            if !curves.is_empty()
                && let Some(picture) = self.chart_of(metric, &curves).to_file()
            {
                bcl_files::write_whole(&folder.join(format!("{metric}.svg")), picture.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The folders of the tables, beside the file of the curves.
    pub(crate) fn folders(&self) -> impl Iterator<Item = String> {
        self.tables.iter().map(|(value, _)| folder(&self.parameter, *value))
    }

    /// What a badly chosen value costs each row, in sentences.
    pub fn verdict(&self) -> Vec<String> {
        let costs = self.curves.iter().filter_map(|curve| {
            let [(at_best, best), (at_worst, worst)] = curve.ends()?;
            let (row, parameter) = (&curve.row, &self.parameter);
            Some(match curve.chosen() {
                Some((value, figure)) => format!(
                    "{row}: held-out data choose {parameter} {value}, with {figure:.4} on test; test means go from {worst:.4} at {at_worst} to \
                     {best:.4} at {at_best}.",
                ),
                None => format!(
                    "{row}: test means go from {worst:.4} at {parameter} {at_worst} to {best:.4} at {at_best}; without held-out data, no value is \
                     chosen.",
                ),
            })
        });
        costs.collect()
    }

    /// One row per curve, one column per value.
    pub(crate) fn parts(&self) -> Parts {
        let values = self.tables.iter().map(|(value, _)| format!("{} {value}", self.parameter));
        let cell = |curve: &Curve, value: f64| {
            let point = curve.points.iter().find(|(at, _)| *at == value);
            point.map(|(_, figure)| figure.to_string()).unwrap_or_default()
        };
        let row = |curve: &Curve| {
            let cells = self.tables.iter().map(|(value, _)| cell(curve, *value));
            std::iter::once(curve.row.clone()).chain(cells).collect()
        };
        Parts {
            header: std::iter::once("row".to_owned()).chain(values).collect(),
            rows: self.curves.iter().map(row).collect(),
        }
    }

    /// All curves in one chart, with a reference line for each row that does not have the parameter.
    pub fn chart(&self) -> LineChart {
        let levels = self.levels.iter().map(|(row, level)| Reference {
            name: row.clone(),
            value: level.mean,
        });
        self.chart_of(&self.metric, &self.curves).with_references(levels)
    }

    /// Curves of one metric in one chart.
    fn chart_of(&self, metric: &str, curves: &[Curve]) -> LineChart {
        let series = curves
            .iter()
            .map(|curve| Series::new(&curve.row, Shape::MarkedLine, curve.points.clone()));
        let [first, last] = [self.tables.first(), self.tables.last()].map(|table| table.map_or(1.0, |(value, _)| *value));
        // Values that span a factor of four or more are drawn on a logarithmic axis.
        let x = if first > 0.0 && last / first >= 4.0 {
            Axis::logarithmic(&self.parameter, if first >= 2.0 { 2 } else { 10 })
        } else {
            Axis::linear(&self.parameter)
        };
        LineChart::new(
            format!("{metric} over {}", self.parameter),
            format!("{}, one line per estimator", self.title),
            x,
            Axis::linear(metric),
        )
        .with_series(series)
        .with_decimals(4)
        .with_size(760.0, 340.0)
    }
}

impl Curve {
    fn of(name: &str, tables: &[(f64, TableResult)], metric: &str) -> Self {
        let rows = tables
            .iter()
            .filter_map(|(value, table)| Some((*value, table.rows.iter().find(|row| row.name == name)?)));
        let point = |(value, row): (f64, &RowResult)| Some((value, figure(row, metric)?));
        Self {
            row: name.to_owned(),
            points: rows.clone().filter_map(point).collect(),
            held_out: rows.filter_map(|(value, row)| Some((value, row.held_out()?))).collect(),
        }
    }

    /// The value that is best on held-out training data, with its mean on test.
    pub fn chosen(&self) -> Option<(f64, f64)> {
        let (chosen, _) = self.held_out.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        self.points
            .iter()
            .find_map(|(value, figure)| (value == chosen).then_some((*value, figure.mean)))
    }

    /// The values with the highest and the lowest mean, each with that mean.
    fn ends(&self) -> Option<[(f64, f64); 2]> {
        let means = || self.points.iter().map(|(value, figure)| (*value, figure.mean));
        let best = means().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let worst = means().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some([best, worst])
    }
}

impl fmt::Display for Sensitivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}\n", self.title, self.metric)?;
        self.parts().table(1).fmt(f)?;
        writeln!(f)?;
        for (row, level) in &self.levels {
            writeln!(f, "{row} has no {}: {level}", self.parameter)?;
        }
        for sentence in self.verdict() {
            writeln!(f, "{sentence}")?;
        }
        for (value, table) in &self.tables {
            writeln!(f, "\n{} {value}:", self.parameter)?;
            for sentence in &table.verdict {
                writeln!(f, "{sentence}")?;
            }
        }
        Ok(())
    }
}

/// A row's figure, or the mean of its runs for a metric that the table does not show.
fn figure(row: &RowResult, metric: &str) -> Option<Interval> {
    let of_runs = || {
        row.runs
            .values()
            .map(|run| run.get(metric).copied())
            .collect::<Option<Vec<f64>>>()
    };
    row.figures.get(metric).copied().or_else(|| Interval::of(&of_runs()?))
}

fn figures(table: &TableResult, metric: &str) -> Vec<(String, Interval)> {
    let figure = |row: &RowResult| Some((row.name.clone(), *row.figures.get(metric)?));
    table.rows.iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Ranges;

    #[test]
    fn a_curve_knows_its_ends() {
        let figure = |value| Interval::of(&[value]).unwrap();
        let curve = Curve {
            row: "r".to_owned(),
            points: vec![(0.1, figure(0.3)), (0.2, figure(0.5)), (0.4, figure(0.2))],
            held_out: Vec::new(),
        };
        assert_eq!(curve.ends(), Some([(0.2, 0.5), (0.4, 0.2)]));
        assert_eq!(curve.chosen(), None, "test data choose nothing");
        let curve = Curve {
            held_out: vec![(0.1, 0.35), (0.2, 0.3), (0.4, 0.1)],
            ..curve
        };
        assert_eq!(curve.chosen(), Some((0.1, 0.3)), "the value that is best on held-out data");
    }

    fn fixed(name: &str) -> Fixed {
        Fixed {
            name: name.to_owned(),
            values: vec![0.5],
        }
    }

    fn row(name: &str) -> Row {
        Row::find(name, None, &[], &Ranges::builtin()).unwrap().remove(0)
    }

    #[test]
    fn values_are_read_in_order() {
        let fixed: Fixed = "temperature=0.4, 0.1,0.4".parse().unwrap();
        assert_eq!(fixed.values, [0.1, 0.4]);
        for text in ["temperature", "temperature=", "temperature=warm", "temperature=nan"] {
            assert!(text.parse::<Fixed>().unwrap_err().contains("such as"), "{text}");
        }
    }

    #[test]
    fn a_fixed_value_adds_nothing_to_the_search() {
        let flag = |row: &Row| fixed("temperature").flag(row, "loss.temperature", 0.3).unwrap();
        let rows = Row::find("table5/planted", None, &[], &Ranges::builtin()).unwrap();
        assert!(rows.len() > 1);
        for row in &rows {
            // The rows differ in beta, so nothing searches it.
            let at = row.set(&[flag(row)]).unwrap();
            let expected: Vec<&String> = row.space.0.keys().filter(|key| *key != "loss.temperature").collect();
            assert!(
                at.space.0.keys().eq(expected) && !at.space.0.contains_key("loss.beta"),
                "{}",
                row.name
            );
        }
        let rows = Row::find("table2/planted", None, &[], &Ranges::builtin()).unwrap();
        let oracle = Row::oracles(&rows).remove(0);
        assert!(oracle.set(&[flag(&oracle)]).unwrap().is_oracle);
    }

    #[test]
    fn curves_over_other_values_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let check = |text: &str| {
            text.parse::<Fixed>()
                .unwrap()
                .check_earlier(folder.path())
                .map_err(|error| error.to_string())
        };
        check("temperature=0.3").expect("an empty folder");
        let earlier = r#"{ "parameter": "temperature", "tables": [[0.1, {}], [0.2, {}]] }"#;
        std::fs::write(folder.path().join("sensitivity.json"), earlier).unwrap();
        check("temperature=0.1,0.2,0.3").expect("values are added");
        for other in ["temperature=0.1,0.3", "beta=0.1,0.2"] {
            let error = check(other).unwrap_err();
            assert!(
                error.ends_with("has curves over temperature=0.1,0.2; add these values to --fix, or choose another --out"),
                "{error}"
            );
        }
    }

    #[test]
    fn short_names_mean_keys_where_the_row_has_them() {
        let key = |name: &str, row: &Row| fixed(name).key(row).map(str::to_owned);
        let (info_nce, bayesian, hard) = (
            row("table10/ml-100k/mf-infonce"),
            row("table10/ml-100k/mf-bayesian"),
            row("table10/ml-100k/mf-hard"),
        );
        assert_eq!(key("temperature", &info_nce).as_deref(), Some("loss.temperature"));
        assert_eq!(key("beta", &bayesian).as_deref(), Some("loss.beta"));
        assert_eq!(key("beta", &hard), None, "another beta");
        assert_eq!(key("loss.beta", &hard).as_deref(), Some("loss.beta"));
        assert_eq!(key("tau_plus", &info_nce), None);
        assert_eq!(key("negatives", &bayesian).as_deref(), Some("negatives.count"));
        let image = row("table3/cifar10/bayesian");
        assert_eq!(key("negatives", &image).as_deref(), Some("training.batch_size"));
        let method = |name: &str| row(&format!("quickstart-methods/{name}"));
        assert_eq!(key("negatives", &method("moco")).as_deref(), Some("method.queue"));
        assert_eq!(key("negatives", &method("byol")), None, "its loss has no negatives");
    }

    #[test]
    fn a_row_has_exactly_as_many_negatives_as_its_label_says() {
        let setting = |recipe: &str, value: f64| {
            let (row, fixed) = (row(recipe), fixed("negatives"));
            let flag = fixed.flag(&row, fixed.key(&row).unwrap(), value);
            let flag = flag.map_err(|error| error.to_string())?;
            row.set(std::slice::from_ref(&flag)).unwrap();
            Ok::<_, String>(flag.value().as_integer().unwrap())
        };
        let (recommender, images) = ("table10/ml-100k/mf-infonce", "table3/cifar10/bayesian");
        assert_eq!(setting(recommender, 8.0), Ok(8));
        assert_eq!(setting(images, 8.0), Ok(5));
        assert_eq!(setting("quickstart-methods/simclr_four_views", 60.0), Ok(16));
        for (recipe, value, expected) in [
            (recommender, 4.5, "cannot have 4.5 negatives per anchor; use 4 or 5"),
            (recommender, 0.0, "cannot have 0 negatives per anchor; use 1"),
            (
                images,
                7.0,
                "--fix negatives=7: bayesian cannot have 7 negatives per anchor; use 6 or 8",
            ),
            (images, 8.5, "cannot have 8.5 negatives per anchor; use 8 or 10"),
            (images, -3.0, "cannot have -3 negatives per anchor; use 2"),
        ] {
            let error = setting(recipe, value).unwrap_err();
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn a_parameter_without_effect_is_not_fixed() {
        let problem = |name: &str, recipe: &str, set: &str| {
            let set: Vec<Override> = set.split_whitespace().map(|flag| flag.parse().unwrap()).collect();
            let row = Row::find(recipe, None, &set, &Ranges::builtin()).unwrap().remove(0);
            let fixed = fixed(name);
            let problem = fixed.check(&row, fixed.key(&row).unwrap()).err();
            problem.map(|error| error.to_string())
        };
        let (recommender, note) = ("table10/ml-100k/mf-bayesian", "table3/cifar10-revision-note/bayesian");
        for (name, recipe, set, words) in [
            ("seed", recommender, "", "--seeds"),
            ("alpha", note, "", "alpha_schedule.kind=constant"),
            (
                "temperature",
                recommender,
                "loss.temperature=0.3",
                "--set loss.temperature sets loss.temperature, too",
            ),
            (
                "loss.temperature",
                note,
                "loss.temperature={kind='constant',value=0.3}",
                "leave one of them out",
            ),
            ("negatives", note, "training.batch_size=64", "--set training.batch_size"),
        ] {
            let problem = problem(name, recipe, set).unwrap();
            assert!(
                problem.starts_with(&format!("--fix {name}: ")) && problem.contains(words),
                "{problem}"
            );
        }
        assert_eq!(problem("alpha", note, "alpha_schedule.kind=constant loss.beta=0.9"), None);
        assert_eq!(problem("alpha", recommender, "loss.temperature=0.3"), None);
        let end_of_schedule = "loss.temperature={kind='linear',start=0.3,end=0.1,epochs=9}";
        assert_eq!(problem("loss.temperature.end", recommender, end_of_schedule), None);
    }
}
