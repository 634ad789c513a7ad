//! Reads what a trace is given and what it expects.

use super::State;
use crate::parity::frameworks::problem::{Problem, ill_formed};
use crate::parity::precision::Arithmetic;
use bcl_golden::{Array, Item, Parameters, Trace};
use burn::tensor::{Tensor, TensorData};
use std::collections::BTreeMap;

type Items = BTreeMap<String, Item>;

/// A trace, whose arrays become tensors of the comparison.
pub(super) struct Reader<'a> {
    pub(super) trace: &'a Trace,
    pub(super) arithmetic: &'a Arithmetic,
}

impl<'a> Reader<'a> {
    pub(super) fn parameters(&self) -> &'a Parameters {
        &self.trace.parameters
    }

    pub(super) fn array(&self, name: &str) -> Result<&'a Array, Problem> {
        as_array(item(&self.trace.given, name)?, name)
    }

    pub(super) fn expected(&self, name: &str) -> Result<&'a Array, Problem> {
        as_array(item(&self.trace.expected, name)?, name)
    }

    /// The given arrays of a list, one per step.
    pub(super) fn arrays(&self, name: &str) -> Result<Vec<&'a Array>, Problem> {
        list(&self.trace.given, name)?
            .iter()
            .map(|item| as_array(item, name))
            .collect()
    }

    /// The expected arrays of a list, by step.
    pub(super) fn expected_by_step(&self, name: &str) -> Result<impl Iterator<Item = (usize, &'a Array)>, Problem> {
        let arrays = list(&self.trace.expected, name)?.iter().map(|item| as_array(item, name));
        Ok(arrays.collect::<Result<Vec<_>, _>>()?.into_iter().enumerate())
    }

    pub(super) fn tensor<const D: usize>(&self, name: &str) -> Result<Tensor<D>, Problem> {
        self.to_tensor(self.array(name)?, name)
    }

    /// An array as a tensor of its rank.
    pub(super) fn to_tensor<const D: usize>(&self, array: &Array, name: &str) -> Result<Tensor<D>, Problem> {
        let Ok(shape) = <[usize; D]>::try_from(array.shape.as_slice()) else {
            return ill_formed(format!(
                "its item `{name}` has shape {:?}, but must have {D} axes",
                array.shape
            ));
        };
        if array.values.is_empty() {
            return ill_formed(format!("its item `{name}` is empty"));
        }
        let data = TensorData::new(array.values.clone(), shape);
        Ok(Tensor::from_data(data, self.arithmetic.options()))
    }

    /// Tables of one shape, one per array.
    pub(super) fn to_tables(&self, arrays: &[&Array], name: &str) -> Result<Vec<Tensor<2>>, Problem> {
        let tables = arrays.iter().map(|array| self.to_tensor(array, name));
        let tables = tables.collect::<Result<Vec<Tensor<2>>, _>>()?;
        let shapes = || tables.iter().map(Tensor::dims);
        match shapes().find(|shape| *shape != tables[0].dims()) {
            Some(other) => ill_formed(format!(
                "its item `{name}` has tables of shapes {:?} and {other:?}",
                tables[0].dims()
            )),
            None => Ok(tables),
        }
    }

    /// A table with as many columns as another.
    pub(super) fn table_like(&self, name: &str, like: &Tensor<2>) -> Result<Tensor<2>, Problem> {
        let table: Tensor<2> = self.tensor(name)?;
        let [expected, found] = [like, &table].map(|table| table.dims()[1]);
        if found == expected {
            return Ok(table);
        }
        ill_formed(format!("`{name}` has {found} columns, but must have {expected}"))
    }

    /// A state, with the expected array of its name.
    pub(super) fn state(&self, item: &'static str, found: Vec<f64>) -> Result<State, Problem> {
        Ok(State::new(item, found, self.expected(item)?.values.clone()))
    }

    pub(super) fn states<const N: usize>(&self, found: [(&'static str, Vec<f64>); N]) -> Result<Vec<State>, Problem> {
        found.into_iter().map(|(item, found)| self.state(item, found)).collect()
    }
}

/// The pairs of arrays of a list, one pair per step.
pub(super) fn pairs<'a>(items: &'a Items, name: &str) -> Result<Vec<[&'a Array; 2]>, Problem> {
    let pair = |item: &'a Item| match item.as_list() {
        Some([first, second]) => Ok([as_array(first, name)?, as_array(second, name)?]),
        _ => ill_formed(format!("its item `{name}` must have two arrays per step")),
    };
    list(items, name)?.iter().map(pair).collect()
}

pub(super) fn number(items: &Items, name: &str) -> Result<f64, Problem> {
    let number = item(items, name)?.as_number();
    Ok(number.ok_or_else(|| format!("its item `{name}` must be a number"))?)
}

/// The switches of a list, one per step, as 0 and 1.
pub(super) fn flags(items: &Items, name: &str) -> Result<Vec<f64>, Problem> {
    let flag = |item: &Item| match item {
        Item::Flag(flag) => Ok(f64::from(u8::from(*flag))),
        _ => ill_formed(format!("its item `{name}` must be a list of true and false")),
    };
    list(items, name)?.iter().map(flag).collect()
}

fn item<'a>(items: &'a Items, name: &str) -> Result<&'a Item, Problem> {
    Ok(items.get(name).ok_or_else(|| format!("it has no item `{name}`"))?)
}

fn as_array<'a>(item: &'a Item, name: &str) -> Result<&'a Array, Problem> {
    let array = item.as_array();
    Ok(array.ok_or_else(|| format!("its item `{name}` must be an array"))?)
}

fn list<'a>(items: &'a Items, name: &str) -> Result<&'a [Item], Problem> {
    let list = item(items, name)?.as_list();
    Ok(list.ok_or_else(|| format!("its item `{name}` must be a list"))?)
}
