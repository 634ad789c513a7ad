//! The inputs of a case as tensors, checked against each other.

use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, ill_formed},
    golden::configuration,
    precision::Arithmetic,
};
use bcl_core::{Estimator, SideInformation};
use bcl_golden::{FrameworkCase, FrameworkFile, Parameters};
use burn::tensor::{Int, Tensor, TensorData};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The inputs of a case. All tables are leaves of a graph.
pub(in super::super) struct Inputs<'a> {
    file: &'a FrameworkFile,
    case: &'a FrameworkCase,
    tables: BTreeMap<&'a str, Tensor<2>>,
    arithmetic: &'a Arithmetic,
}

impl<'a> Inputs<'a> {
    pub(in super::super) fn new(
        file: &'a FrameworkFile,
        case: &'a FrameworkCase,
        arithmetic: &'a Arithmetic,
    ) -> Result<Self, Problem> {
        let table = |role: &'a str| {
            let array = file.input(case, role)?;
            let shape = match *array.shape {
                [rows, columns] if rows * columns > 0 => [rows, columns],
                [columns] if columns > 0 => [1, columns],
                _ => return ill_formed(format!("its input `{role}` must be a table or a vector")),
            };
            let data = TensorData::new(array.values.clone(), shape);
            Ok((role, Tensor::from_data(data, arithmetic.options()).require_grad()))
        };
        Ok(Self {
            tables: file.roles(case).map(table).collect::<Result<_, Problem>>()?,
            file,
            case,
            arithmetic,
        })
    }

    pub(super) fn kind(&self) -> &'a str {
        &self.case.loss
    }

    pub(super) fn parameters(&self) -> &'a Parameters {
        &self.case.parameters
    }

    /// A parameter that one of our types reads.
    pub(super) fn choice<T: DeserializeOwned>(&self, name: &str) -> Result<T, Problem> {
        let value = self.parameters().get(name).cloned().unwrap_or_default();
        serde_json::from_value(value).map_err(|error| Problem::Unsupported(format!("its parameter `{name}`: {error}")))
    }

    /// A table; a vector is a table of one row.
    pub(super) fn table(&self, role: &str) -> Result<Tensor<2>, Problem> {
        let table = self.tables.get(role).cloned();
        Ok(table.ok_or_else(|| format!("it has no input `{role}`"))?)
    }

    /// Tables of one shape, with at least two rows.
    pub(super) fn tables<const N: usize>(&self, roles: [&str; N]) -> Result<[Tensor<2>; N], Problem> {
        let first = self.table(roles[0])?;
        let dims = first.dims();
        let mut tables = Vec::with_capacity(N);
        for role in roles {
            let table = self.table(role)?;
            let [rows, columns] = table.dims();
            if table.dims() != dims || rows < 2 || columns < 2 {
                return ill_formed(format!(
                    "its input `{role}` is [{rows}, {columns}], but must be like `{}`, {dims:?}, with at least 2 rows of 2 values",
                    roles[0]
                ));
            }
            tables.push(table);
        }
        Ok(tables.try_into().expect("one table per role"))
    }

    /// A table with the given number of columns.
    pub(super) fn table_of(&self, role: &str, columns: usize) -> Result<Tensor<2>, Problem> {
        let table = self.table(role)?;
        let [_, found] = table.dims();
        if found == columns {
            return Ok(table);
        }
        ill_formed(format!("its input `{role}` has {found} columns, but must have {columns}"))
    }

    /// A vector of the given length.
    pub(super) fn vector(&self, role: &str, length: usize) -> Result<Tensor<1>, Problem> {
        let table = self.table_of(role, length)?;
        match table.dims() {
            [1, _] => Ok(table.squeeze_dim(0)),
            dims => ill_formed(format!("its input `{role}` must be a vector, but is {dims:?}")),
        }
    }

    /// The tables `PREFIX0`, `PREFIX1`, … that the case has, all of one shape.
    pub(super) fn views(&self, prefix: &str) -> Result<Vec<Tensor<2>>, Problem> {
        let names = (0..).map(|view| format!("{prefix}{view}"));
        let names: Vec<_> = names.take_while(|name| self.tables.contains_key(name.as_str())).collect();
        let Some(first) = names.first() else { return Ok(Vec::new()) };
        names
            .iter()
            .map(|name| self.tables([first, name]).map(|[_, table]| table))
            .collect()
    }

    /// Row numbers below `num_rows`, in the shape of the input.
    pub(super) fn rows(&self, role: &str, num_rows: usize) -> Result<(Vec<usize>, Vec<usize>), Problem> {
        let array = self.file.input(self.case, role)?;
        let is_row = |value: &&f64| value.fract() == 0.0 && (0.0..num_rows as f64).contains(*value);
        if let Some(value) = array.values.iter().find(|value| !is_row(value)) {
            return ill_formed(format!(
                "its input `{role}` has {value}, which is no row of a table of {num_rows}"
            ));
        }
        let rows = array.values.iter().map(|&value| value as usize).collect();
        Ok((array.shape.clone(), rows))
    }

    /// Row numbers on the device.
    pub(super) fn to_device<const D: usize>(&self, rows: &[usize], shape: [usize; D]) -> Tensor<D, Int> {
        let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
        Tensor::from_data(TensorData::new(rows, shape), &self.arithmetic.device)
    }

    /// A number in the precision of the comparison.
    pub(super) fn scalar(&self, value: f64) -> Tensor<1> {
        Tensor::from_data([value], self.arithmetic.options())
    }

    /// The estimator among the parameters, and its draws.
    pub(super) fn estimator(&self, num_anchors: usize) -> Result<(Box<dyn Estimator>, SideInformation), Problem> {
        let golden = self.file.estimator(self.case)?;
        let config = configuration(&golden)?;
        let mut side = SideInformation::none();
        if let Some(draws) = golden.beside.get("g") {
            let draws: Vec<f64> = serde_json::from_value(draws.clone()).map_err(|error| format!("its draws `g`: {error}"))?;
            if draws.len() != num_anchors {
                return ill_formed(format!("it has {} draws `g` for {num_anchors} anchors", draws.len()));
            }
            side = side.with_noise(Tensor::from_data(draws.as_slice(), self.arithmetic.options()));
        }
        let estimator = config.init();
        if estimator.requirements().gamma_shape.is_some() && side.noise.is_none() {
            return ill_formed("its estimator needs draws `g`");
        }
        Ok((estimator, side))
    }

    /// Number of values of an input; 0 if it is missing.
    pub(in super::super) fn len(&self, role: &str) -> usize {
        self.tables.get(role).map_or(0, |table| table.shape().num_elements())
    }

    /// The gradients of all inputs that have one.
    pub(in super::super) fn gradients(&self, loss: Tensor<1>) -> BTreeMap<&'a str, Vec<f64>> {
        let gradients = loss.backward();
        let of_input = |(role, table): (&&'a str, &Tensor<2>)| {
            let gradient = table.grad(&gradients)?;
            Some((*role, values(gradient)))
        };
        self.tables.iter().filter_map(of_input).collect()
    }
}
