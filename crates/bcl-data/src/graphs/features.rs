//! Node features: the columns that an encoder gets for each node.

use crate::DataError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Maximum number of columns for node labels, and of node attributes.
pub(super) const MOST_COLUMNS: usize = 10_000;

/// The largest degree from which on degrees are standardised instead of one-hot.
const FIRST_LARGE_DEGREE: u32 = 1000;

/// The features of a node. `node_attributes` of [`GraphOptions`](super::GraphOptions) puts its attributes before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeFeatures {
    /// Node labels if there are any; else nothing if attributes are used; else the degree.
    ///
    /// These are the features of `TUDataset` in PyTorch Geometric or, where it has none, the features of Robinson et al. (2021).
    #[default]
    Auto,
    /// One-hot node labels: a column per integer from the smallest to the largest label. Several labels per node are one-hot each, one after
    /// the other.
    ///
    /// Integers without a node keep their column, as in PyTorch Geometric: DD has 89 columns, of which 7 are always 0.
    Labels,
    /// One-hot degree: a column per degree from 0 to the largest. If the largest is at least 1,000, a single column instead:
    ///
    /// ```text
    /// (degree - mean) / std
    /// ```
    ///
    /// with mean and unbiased standard deviation over all nodes, as in the graph code of Robinson et al. (2021).
    Degree,
    /// The number 1.
    Constant,
}

/// The same number of values for each node or edge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid<T> {
    pub(super) width: usize,
    /// `[num_rows, width]`
    pub(super) values: Vec<T>,
}

/// Attributes of all nodes.
pub(super) type Attributes = Grid<f32>;

impl<T> Grid<T> {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.values.len() / self.width.max(1)
    }
}

impl Grid<i64> {
    /// The number of the combination of labels in each row, in ascending order; `None` for a single column, whose labels stand for themselves.
    pub(super) fn combinations(&self) -> Option<Vec<i64>> {
        if self.width < 2 {
            return None;
        }
        let rows = || self.values.chunks_exact(self.width);
        let distinct: Vec<&[i64]> = rows().collect::<BTreeSet<_>>().into_iter().collect();
        Some(
            rows()
                .map(|row| distinct.partition_point(|other| *other < row) as i64)
                .collect(),
        )
    }

    /// The smallest and largest label of each column, and the number of integers from one to the other.
    pub(super) fn ranges(&self) -> Vec<(i64, i64, u64)> {
        let column = |column| self.values.iter().skip(column).step_by(self.width.max(1)).copied();
        (0..self.width).map(|at| label_range(column(at))).collect()
    }
}

/// The features of all nodes, in a form that is smaller than the matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Columns {
    with_attributes: bool,
    pub(super) with_labels: bool,
    base: Base,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Base {
    #[default]
    None,
    Constant,
    OneHot {
        /// `[num_nodes, per_node]`
        columns: Vec<u32>,
        per_node: usize,
        width: usize,
    },
    Single(Vec<f32>),
}

impl Columns {
    pub(super) fn new(
        name: &str,
        features: NodeFeatures,
        attributes: Option<&Attributes>,
        use_attributes: bool,
        labels: Option<&Grid<i64>>,
        degrees: impl FnOnce() -> Vec<u32>,
    ) -> Result<Self, DataError> {
        if use_attributes && attributes.is_none() {
            let remedy = "Set `node_attributes = false`, or fetch a version that has them";
            return Err(DataError::Dataset(format!(
                "data set `{name}` has no node attributes. {remedy}"
            )));
        }
        let base = match (features, labels) {
            (NodeFeatures::Auto | NodeFeatures::Labels, Some(labels)) => one_hot_labels(labels),
            (NodeFeatures::Labels, None) => {
                let remedy = "Use the degree or a constant as features: `features = \"degree\"` or `\"constant\"`";
                return Err(DataError::Dataset(format!("data set `{name}` has no node labels. {remedy}")));
            }
            (NodeFeatures::Auto, None) if use_attributes => Base::None,
            (NodeFeatures::Auto | NodeFeatures::Degree, _) => of_degrees(degrees()),
            (NodeFeatures::Constant, _) => Base::Constant,
        };
        Ok(Self {
            with_attributes: use_attributes,
            with_labels: matches!(features, NodeFeatures::Auto | NodeFeatures::Labels) && labels.is_some(),
            base,
        })
    }

    pub(super) fn width(&self, attributes: Option<&Attributes>) -> usize {
        let base = match &self.base {
            Base::None => 0,
            Base::Constant | Base::Single(_) => 1,
            Base::OneHot { width, .. } => *width,
        };
        self.of(attributes).map_or(0, |attributes| attributes.width) + base
    }

    /// Writes the features of `node` into `row`, which is zero.
    pub(super) fn write(&self, attributes: Option<&Attributes>, node: usize, row: &mut [f32]) {
        let mut start = 0;
        if let Some(Attributes { width, values }) = self.of(attributes) {
            row[..*width].copy_from_slice(&values[node * width..(node + 1) * width]);
            start = *width;
        }
        match &self.base {
            Base::None => {}
            Base::Constant => row[start] = 1.0,
            Base::OneHot { columns, per_node, .. } => {
                for &column in &columns[node * per_node..(node + 1) * per_node] {
                    row[start + column as usize] = 1.0;
                }
            }
            Base::Single(values) => row[start] = values[node],
        }
    }

    fn of<'a>(&self, attributes: Option<&'a Attributes>) -> Option<&'a Attributes> {
        attributes.filter(|_| self.with_attributes)
    }
}

/// The smallest and largest label, and the number of integers from one to the other.
fn label_range(labels: impl Iterator<Item = i64> + Clone) -> (i64, i64, u64) {
    let least = labels.clone().min().unwrap_or(0);
    let largest = labels.max().unwrap_or(0);
    (least, largest, largest.abs_diff(least).saturating_add(1))
}

fn one_hot_labels(labels: &Grid<i64>) -> Base {
    let mut width = 0;
    let starts: Vec<(i64, u32)> = labels
        .ranges()
        .into_iter()
        .map(|(least, _, range)| {
            let start = width;
            width += range as u32;
            (least, start)
        })
        .collect();
    let columns = labels.values.iter().zip(starts.iter().cycle());
    Base::OneHot {
        columns: columns
            .map(|(&label, &(least, start))| start + (label - least) as u32)
            .collect(),
        per_node: labels.width,
        width: width as usize,
    }
}

fn of_degrees(degrees: Vec<u32>) -> Base {
    let largest = degrees.iter().copied().max().unwrap_or(0);
    if largest < FIRST_LARGE_DEGREE {
        return Base::OneHot {
            columns: degrees,
            per_node: 1,
            width: largest as usize + 1,
        };
    }
    // There are at least two nodes: a node of a large degree has that many neighbours.
    let count = degrees.len() as f64;
    let mean = degrees.iter().map(|&degree| f64::from(degree)).sum::<f64>() / count;
    let squares = degrees.iter().map(|&degree| (f64::from(degree) - mean).powi(2)).sum::<f64>();
    let std = (squares / (count - 1.0)).sqrt();
    // Equal degrees carry no information; their features are 0.
    let scale = if std > 0.0 { 1.0 / std } else { 0.0 };
    let scaled = |degree: u32| ((f64::from(degree) - mean) * scale) as f32;
    Base::Single(degrees.into_iter().map(scaled).collect())
}
