//! Reads what a trace is given and what it expects.

use super::super::{super::precision::Arithmetic, problem::Problem};
use bcl_golden::{Array, Item, Trace};
use burn::tensor::{Tensor, TensorData};
use std::collections::BTreeMap;

/// Items by name.
pub(super) type Items = BTreeMap<String, Item>;

pub(super) fn item<'a>(items: &'a Items, name: &str) -> Result<&'a Item, Problem> {
    items
        .get(name)
        .ok_or_else(|| Problem::IllFormed(format!("it has no item `{name}`")))
}

pub(super) fn array<'a>(items: &'a Items, name: &str) -> Result<&'a Array, Problem> {
    as_array(item(items, name)?, name)
}

pub(super) fn as_array<'a>(item: &'a Item, name: &str) -> Result<&'a Array, Problem> {
    item.as_array()
        .ok_or_else(|| Problem::IllFormed(format!("its item `{name}` must be an array")))
}

/// The arrays of a list, one per step.
pub(super) fn arrays<'a>(items: &'a Items, name: &str) -> Result<Vec<&'a Array>, Problem> {
    list(items, name)?.iter().map(|item| as_array(item, name)).collect()
}

/// The pairs of arrays of a list, one pair per step.
pub(super) fn pairs<'a>(items: &'a Items, name: &str) -> Result<Vec<[&'a Array; 2]>, Problem> {
    let pair = |item: &'a Item| match item.as_list() {
        Some([first, second]) => Ok([as_array(first, name)?, as_array(second, name)?]),
        _ => Err(Problem::IllFormed(format!("its item `{name}` must have two arrays per step"))),
    };
    list(items, name)?.iter().map(pair).collect()
}

fn list<'a>(items: &'a Items, name: &str) -> Result<&'a [Item], Problem> {
    item(items, name)?
        .as_list()
        .ok_or_else(|| Problem::IllFormed(format!("its item `{name}` must be a list")))
}

pub(super) fn number(items: &Items, name: &str) -> Result<f64, Problem> {
    item(items, name)?
        .as_number()
        .ok_or_else(|| Problem::IllFormed(format!("its item `{name}` must be a number")))
}

/// The switches of a list, one per step, as 0 and 1.
pub(super) fn flags(items: &Items, name: &str) -> Result<Vec<f64>, Problem> {
    let flag = |item: &Item| match item {
        Item::Flag(flag) => Ok(f64::from(u8::from(*flag))),
        _ => Err(Problem::IllFormed(format!(
            "its item `{name}` must be a list of true and false"
        ))),
    };
    list(items, name)?.iter().map(flag).collect()
}

/// An array as a tensor of its rank.
pub(super) fn tensor<const D: usize>(array: &Array, name: &str, arithmetic: &Arithmetic) -> Result<Tensor<D>, Problem> {
    let shape: [usize; D] = array.shape.clone().try_into().map_err(|shape: Vec<usize>| {
        Problem::IllFormed(format!("its item `{name}` has shape {shape:?}, but must have {D} axes"))
    })?;
    if array.values.is_empty() {
        return Err(Problem::IllFormed(format!("its item `{name}` is empty")));
    }
    Ok(Tensor::from_data(
        TensorData::new(array.values.clone(), shape),
        arithmetic.options(),
    ))
}

/// Tables of one shape, one per array.
pub(super) fn tables(arrays: &[&Array], name: &str, arithmetic: &Arithmetic) -> Result<Vec<Tensor<2>>, Problem> {
    let tables: Vec<Tensor<2>> = arrays
        .iter()
        .map(|array| tensor(array, name, arithmetic))
        .collect::<Result<_, _>>()?;
    match tables.iter().find(|table| table.dims() != tables[0].dims()) {
        Some(other) => Err(Problem::IllFormed(format!(
            "its item `{name}` has tables of shapes {:?} and {:?}",
            tables[0].dims(),
            other.dims()
        ))),
        None => Ok(tables),
    }
}

/// A table with as many columns as another.
pub(super) fn table_like(trace: &Trace, name: &str, like: &Tensor<2>, arithmetic: &Arithmetic) -> Result<Tensor<2>, Problem> {
    let table: Tensor<2> = tensor(array(&trace.given, name)?, name, arithmetic)?;
    let [expected, found] = [like, &table].map(|table| table.dims()[1]);
    if found == expected {
        return Ok(table);
    }
    Err(Problem::IllFormed(format!(
        "`{name}` has {found} columns, but must have {expected}"
    )))
}
