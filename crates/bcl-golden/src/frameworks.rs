//! The file of losses of image frameworks, and of traces of what they remember.

use crate::{
    Array, Estimator, GoldenError, Gradient, Parameters,
    arrays::{self, Arrays},
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Reference values, read and checked.
#[derive(Debug)]
pub struct FrameworkFile {
    path: PathBuf,
    inputs: BTreeMap<String, Array>,
    /// Losses with their gradients.
    pub cases: Vec<FrameworkCase>,
    /// States over several steps.
    pub traces: Vec<Trace>,
}

/// A loss on named inputs, its value and its gradients.
#[derive(Debug, Deserialize)]
pub struct FrameworkCase {
    /// Its name.
    pub id: String,
    /// The kind of loss.
    pub loss: String,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Parameters,
    /// Keys of the inputs by their roles.
    inputs: BTreeMap<String, String>,
    /// The mean loss.
    pub value: f64,
    /// Further results by name.
    #[serde(skip)]
    pub outputs: BTreeMap<String, Output>,
    /// Gradients by the roles of the inputs; those that are missing must be zero or absent.
    #[serde(default)]
    pub gradients: BTreeMap<String, Gradient>,
    /// Roles whose gradient must be zero or absent.
    #[serde(default)]
    pub stopped: Vec<String>,
    /// The errors of `PyTorch` in f32, if measured.
    #[serde(rename = "f32")]
    pub in_f32: Option<ErrorsInF32>,
    #[serde(default)]
    full_grad: bool,
}

/// The errors of `PyTorch` in f32: of the value relative to it, and of the gradients relative to the largest entry.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[allow(missing_docs)] // the fields of the file
pub struct ErrorsInF32 {
    pub loss: f64,
    pub gradient: f64,
}

/// A further result of a case.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the names say it
pub enum Output {
    Number(f64),
    Array(Gradient),
}

/// The state of something over several steps.
#[derive(Debug)]
pub struct Trace {
    /// Its name.
    pub id: String,
    /// The kind of state.
    pub kind: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// What it starts from, and what each step gets.
    pub given: BTreeMap<String, Item>,
    /// The state after each step.
    pub expected: BTreeMap<String, Item>,
}

/// A value in a trace.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the names say it
pub enum Item {
    Number(f64),
    Flag(bool),
    Array(Array),
    List(Vec<Item>),
}

#[derive(Deserialize)]
struct RawFile {
    inputs: BTreeMap<String, Value>,
    cases: Vec<Value>,
    traces: Vec<RawTrace>,
}

#[derive(Deserialize)]
struct RawTrace {
    id: String,
    kind: String,
    #[serde(default)]
    parameters: Parameters,
    given: BTreeMap<String, Value>,
    expected: BTreeMap<String, Value>,
}

/// An array in full: its values, or the name of a tensor in the other file.
#[derive(Deserialize)]
struct RawArray {
    shape: Vec<usize>,
    #[serde(alias = "integers")]
    values: Option<Vec<f64>>,
    array: Option<String>,
}

/// What tells the layout of a file.
#[derive(Deserialize)]
struct RawFormat {
    format: Option<Value>,
}

/// The `format` of files that this module reads.
const FORMAT: &str = "frameworks-golden/1";

impl FrameworkFile {
    /// Returns whether a file says that it has this layout.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be read or is no JSON.
    pub fn is_one(path: impl AsRef<Path>) -> Result<bool, GoldenError> {
        let (raw, _): (RawFormat, _) = arrays::read(path.as_ref())?;
        Ok(raw.format.is_some_and(|format| format == FORMAT))
    }

    /// Reads a file, and the arrays that it needs from the `.safetensors` file beside it.
    ///
    /// # Errors
    /// Returns an error that names the file, the case and what is wrong with it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, GoldenError> {
        let path = path.as_ref();
        let (raw, arrays): (RawFile, _) = arrays::read(path)?;
        let mut inputs = BTreeMap::new();
        for (key, value) in raw.inputs {
            let array = array(value, path, &format!("input {key}"), &arrays)?;
            inputs.insert(key, array);
        }
        let mut file = Self {
            path: path.to_owned(),
            inputs,
            cases: Vec::new(),
            traces: Vec::new(),
        };
        for (index, value) in raw.cases.into_iter().enumerate() {
            let case = file.read_case(index, value, &arrays)?;
            file.cases.push(case);
        }
        for trace in raw.traces {
            let place = format!("trace {}", trace.id);
            let items = |values: BTreeMap<String, Value>| -> Result<_, GoldenError> {
                let item = |(key, value)| Ok((key, item(value, path, &place, &arrays)?));
                values.into_iter().map(item).collect()
            };
            file.traces.push(Trace {
                given: items(trace.given)?,
                expected: items(trace.expected)?,
                id: trace.id,
                kind: trace.kind,
                parameters: trace.parameters,
            });
        }
        Ok(file)
    }

    /// The input of a case in a role.
    ///
    /// # Errors
    /// Returns an error that names the case if it has no such role.
    pub fn input(&self, case: &FrameworkCase, role: &str) -> Result<&Array, GoldenError> {
        let key = case.inputs.get(role);
        key.and_then(|key| self.inputs.get(key))
            .ok_or_else(|| self.error(&case.id, format!("it has no input `{role}`")))
    }

    /// The estimator of a case or trace, from its parameters.
    ///
    /// # Errors
    /// Returns an error that names the case if its parameters name none.
    pub fn estimator(&self, case: &FrameworkCase) -> Result<Estimator, GoldenError> {
        let found = case.parameters.get("estimator").cloned().unwrap_or_default();
        serde_json::from_value(found).map_err(|error| self.error(&case.id, format!("its estimator: {error}")))
    }

    /// The keys of the inputs of a case, by role.
    pub fn roles<'a>(&self, case: &'a FrameworkCase) -> impl Iterator<Item = &'a str> {
        case.inputs.keys().map(String::as_str)
    }

    /// An error in a case of this file.
    pub fn error(&self, case: &str, problem: impl ToString) -> GoldenError {
        GoldenError::ill_formed(&self.path, format!("case {case}"), problem)
    }

    /// An error in a trace of this file.
    pub fn error_in_trace(&self, trace: &str, problem: impl ToString) -> GoldenError {
        GoldenError::ill_formed(&self.path, format!("trace {trace}"), problem)
    }

    fn read_case(&self, index: usize, value: Value, arrays: &Arrays) -> Result<FrameworkCase, GoldenError> {
        let id = value.get("id").and_then(Value::as_str);
        let id = id.map_or_else(|| format!("number {} (without an id)", index + 1), str::to_owned);
        let outputs = value.get("outputs").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut case: FrameworkCase = serde_json::from_value(value).map_err(|error| self.error(&id, error))?;
        for (name, value) in outputs {
            let output = output(value, &self.path, &format!("case {id}"), arrays)?;
            case.outputs.insert(name, output);
        }
        for (role, gradient) in std::mem::take(&mut case.gradients) {
            let key = format!("grad/{id}/{role}");
            let gradient = if case.full_grad {
                gradient.completed(&key, &id, arrays)?
            } else {
                gradient
            };
            let length = self.input(&case, &role)?.values.len();
            gradient.check(&key, length).map_err(|problem| self.error(&id, problem))?;
            case.gradients.insert(role, gradient);
        }
        Ok(case)
    }
}

impl FrameworkCase {
    /// The relative errors that f32 may make: ten times `PyTorch`'s, and at least 1e-6.
    pub fn tolerances_in_f32(&self) -> ErrorsInF32 {
        let ErrorsInF32 { loss, gradient } = self.in_f32.unwrap_or(ErrorsInF32 {
            loss: 0.0,
            gradient: 0.0,
        });
        ErrorsInF32 {
            loss: (10.0 * loss).max(1e-6),
            gradient: (10.0 * gradient).max(1e-6),
        }
    }
}

impl Trace {
    /// An item that the trace starts from.
    ///
    /// # Panics
    /// Panics with the name of the trace if there is none.
    pub fn given(&self, key: &str) -> &Item {
        self.given
            .get(key)
            .unwrap_or_else(|| panic!("trace {} is given no `{key}`", self.id))
    }

    /// An item that the trace leads to.
    ///
    /// # Panics
    /// Panics with the name of the trace if there is none.
    pub fn expected(&self, key: &str) -> &Item {
        self.expected
            .get(key)
            .unwrap_or_else(|| panic!("trace {} expects no `{key}`", self.id))
    }
}

impl Item {
    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The items of the list, one per step, if it is one.
    pub fn as_list(&self) -> Option<&[Item]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The array.
    ///
    /// # Panics
    /// Panics if it is something else.
    pub fn array(&self) -> &Array {
        self.as_array().unwrap_or_else(|| panic!("{self:?} is no array"))
    }

    /// The number.
    ///
    /// # Panics
    /// Panics if it is something else.
    pub fn number(&self) -> f64 {
        self.as_number().unwrap_or_else(|| panic!("{self:?} is no number"))
    }

    /// The items of the list, one per step.
    ///
    /// # Panics
    /// Panics if it is something else.
    pub fn list(&self) -> &[Item] {
        self.as_list().unwrap_or_else(|| panic!("{self:?} is no list"))
    }
}

/// A number, an array, or the summary of a long one.
fn output(value: Value, path: &Path, place: &str, arrays: &Arrays) -> Result<Output, GoldenError> {
    if let Some(number) = value.as_f64() {
        return Ok(Output::Number(number));
    }
    let is_summary = value.get("l2").is_some();
    Ok(Output::Array(if is_summary {
        serde_json::from_value(value).map_err(|error| GoldenError::ill_formed(path, place, error))?
    } else {
        Gradient::Full(array(value, path, place, arrays)?.values)
    }))
}

fn item(value: Value, path: &Path, place: &str, arrays: &Arrays) -> Result<Item, GoldenError> {
    Ok(match value {
        Value::Number(number) => Item::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::Bool(flag) => Item::Flag(flag),
        Value::Array(values) => {
            let items: Result<_, _> = values.into_iter().map(|value| item(value, path, place, arrays)).collect();
            Item::List(items?)
        }
        value => Item::Array(array(value, path, place, arrays)?),
    })
}

fn array(value: Value, path: &Path, place: &str, arrays: &Arrays) -> Result<Array, GoldenError> {
    let raw: RawArray = serde_json::from_value(value).map_err(|error| GoldenError::ill_formed(path, place, error))?;
    let values = match (raw.values, raw.array) {
        (Some(values), None) => values,
        (None, Some(key)) => arrays.need(&key, place)?.values,
        _ => {
            return Err(GoldenError::ill_formed(
                path,
                place,
                "an array needs either `values`, `integers` or `array`",
            ));
        }
    };
    let Array { shape, values } = Array {
        shape: raw.shape,
        values,
    };
    let expected: usize = shape.iter().product();
    if values.len() != expected {
        let problem = format!("{} values do not fill the shape {shape:?}", values.len());
        return Err(GoldenError::ill_formed(path, place, problem));
    }
    Ok(Array { shape, values })
}
