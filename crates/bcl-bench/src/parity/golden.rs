//! The file of reference values: views of batches, cases (an estimator, its parameters and the expected results), and rows of
//! weights.

use super::{
    ParityError,
    arrays::{Array, Arrays},
    case::Case,
    weight_row::WeightRow,
};
use bcl_data::input::{self, MOST_WHOLE};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Reference values, read and checked: every array has the length that its shape requires, and every parameter is in its range.
#[derive(Debug)]
pub struct Golden {
    pub(crate) views: BTreeMap<String, Views>,
    pub(crate) cases: Vec<Case>,
    pub(crate) weights: Vec<WeightRow>,
}

/// Two views of a batch, with rows of unit length.
///
/// # Shapes
/// - first, second: `[batch_size, dim]`, row-major
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) batch_size: usize,
    pub(crate) dim: usize,
    pub(crate) first: Vec<f64>,
    pub(crate) second: Vec<f64>,
}

#[derive(Deserialize)]
struct RawGolden {
    #[serde(default)]
    shapes: BTreeMap<String, Value>,
    #[serde(default)]
    cases: Vec<Value>,
    #[serde(default)]
    weights: Vec<Value>,
}

#[derive(Deserialize)]
struct RawViews {
    out_1: Vec<Vec<f64>>,
    out_2: Vec<Vec<f64>>,
}

impl Golden {
    /// Reads a reference file, and the arrays that it needs from the `.safetensors` file beside it.
    ///
    /// # Errors
    /// Returns an error that names the file, the case and what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, ParityError> {
        let text = input::read_text(path, MOST_WHOLE).map_err(|source| ParityError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let raw: RawGolden = serde_json::from_str(&text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            ParityError::ill_formed(path, place, format!("is not a file of reference values: {error}"))
        })?;
        if raw.cases.is_empty() && raw.weights.is_empty() {
            let problem = "has neither `cases` nor `weights`, so there is nothing to compare";
            return Err(ParityError::ill_formed(path, "top level", problem));
        }
        let arrays = Arrays::beside(path)?;
        let mut golden = Self {
            views: BTreeMap::new(),
            cases: Vec::new(),
            weights: Vec::new(),
        };
        for (name, value) in raw.shapes {
            let views = Views::read(&name, value, path, &arrays)?;
            golden.views.insert(name, views);
        }
        for (index, value) in raw.cases.into_iter().enumerate() {
            let case = Case::read(index, value, &golden.views, path, &arrays)?;
            golden.cases.push(case);
        }
        for (index, value) in raw.weights.into_iter().enumerate() {
            golden.weights.push(WeightRow::read(index, value, path)?);
        }
        Ok(golden)
    }
}

impl Views {
    /// Reads views. Small ones are rows in the JSON; for large ones the JSON has a note, and the arrays are in the other file.
    fn read(name: &str, value: Value, path: &Path, arrays: &Arrays) -> Result<Self, ParityError> {
        let place = format!("shape {name}");
        let wrong = |problem: String| ParityError::ill_formed(path, place.clone(), problem);
        let [first, second] = if value.is_object() {
            let raw: RawViews = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
            [raw.out_1, raw.out_2].map(from_rows)
        } else {
            let of = |view: &str| arrays.need(&format!("inputs/{name}/{view}"), &place).map(Some);
            [of("out_1")?, of("out_2")?]
        };
        let (Some(first), Some(second)) = (first, second) else {
            return Err(wrong("the rows of a view must have equal length".to_owned()));
        };
        let &[batch_size, dim] = first.shape.as_slice() else {
            return Err(wrong(format!("a view must be [batch_size, dim], but is {:?}", first.shape)));
        };
        if second.shape != first.shape {
            let problem = format!("out_2 is {:?}, but must be {:?} like out_1", second.shape, first.shape);
            return Err(wrong(problem));
        }
        if batch_size < 2 || dim == 0 {
            let problem = format!("the views are {:?}, but at least 2 rows of 1 value are needed", first.shape);
            return Err(wrong(problem));
        }
        Ok(Self {
            batch_size,
            dim,
            first: first.values,
            second: second.values,
        })
    }
}

fn from_rows(rows: Vec<Vec<f64>>) -> Option<Array> {
    let dim = rows.first().map_or(0, Vec::len);
    rows.iter().all(|row| row.len() == dim).then(|| Array {
        shape: vec![rows.len(), dim],
        values: rows.concat(),
    })
}
