//! Rows in the order of their nearest pivots, so that the triangle inequality rules out most pairs.
//!
//! The angle of two unit vectors is a metric. If the angles of two vectors with a third, the pivot, differ by more than some angle, their own angle exceeds it.

use super::UnitRows;
use rayon::prelude::*;
use std::{cmp::Ordering, f32::consts::PI, ops::Range};

/// Number of rows that are compared with all others at a time.
const BLOCK: usize = 256;
/// The most rows that a block is compared with at a time; the similarities take 4 MiB.
const OTHERS: usize = 4096;
/// Added to angles, in radians: the arc cosine of 1 - 1e-6, which rounding may yield for equal vectors, is 0.0014.
const SLACK: f32 = 4e-3;

/// Rows, grouped by the pivot with which they have the smallest angle.
pub(super) struct Pivots {
    /// The pivots themselves.
    points: UnitRows,
    /// The rows of each pivot's group, one group after the other, the farthest row of a group first.
    sorted: UnitRows,
    /// The index of each sorted row in the original order.
    order: Vec<usize>,
    /// The angle of each sorted row with the pivot of its group.
    angles: Vec<f32>,
    /// The sorted rows of each group.
    groups: Vec<Range<usize>>,
}

/// Memory that a thread uses again.
pub(super) struct Scratch {
    cosines: Vec<f32>,
    products: Vec<f32>,
    reaching: Vec<usize>,
    gathered: UnitRows,
    found: Vec<(usize, usize)>,
}

impl Pivots {
    /// Chooses pivots at equal distances in the order of the rows, and groups the rows.
    pub(super) fn new(rows: &UnitRows) -> Self {
        let num_pivots = (4 * rows.len().isqrt()).min(rows.len());
        let pivots = rows.chosen((0..num_pivots).map(|pivot| pivot * rows.len() / num_pivots));
        let nearest = nearest_pivots(rows, &pivots);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.par_sort_unstable_by(|&a, &b| in_group(nearest[a], nearest[b]).then(a.cmp(&b)));
        let mut groups = vec![0..0; num_pivots];
        for (sorted, &row) in order.iter().enumerate() {
            let group = &mut groups[nearest[row].0];
            let start = if group.end == 0 { sorted } else { group.start };
            *group = start..sorted + 1;
        }
        Self {
            sorted: rows.chosen(order.iter().copied()),
            angles: order.iter().map(|&row| nearest[row].1).collect(),
            points: pivots,
            order,
            groups,
        }
    }

    /// The blocks of sorted rows that [`close_pairs`](Self::close_pairs) takes.
    pub(super) fn blocks(&self) -> Vec<Range<usize>> {
        self.sorted.ranges(BLOCK)
    }

    /// Finds all pairs with a cosine of at least `least`, of a row of a block with a row that comes later in the sorted order, and passes them on in parts.
    /// A pair has the original indices, the lower one first.
    pub(super) fn close_pairs(
        &self,
        block: &Range<usize>,
        least: f32,
        scratch: &mut Scratch,
        mut pass_on: impl FnMut(&[(usize, usize)]),
    ) {
        let within = angle(least) + SLACK;
        let Scratch {
            cosines,
            products,
            reaching,
            gathered,
            found,
        } = scratch;
        self.sorted.cosines(block, &self.points, &(0..self.points.len()), cosines);
        for (pivot, group) in self.groups.iter().enumerate().filter(|(_, group)| group.end > block.start) {
            let with_pivot = |row: usize| cosines[(row - block.start) * self.points.len() + pivot];
            // The farthest row of the group is its first one.
            let bar = cosine(self.angles[group.start] + within);
            reaching.clear();
            reaching.extend(block.clone().filter(|&row| with_pivot(row) >= bar));
            let Some(others) = self.others(group, reaching, with_pivot, within) else {
                continue;
            };
            gathered.choose(&self.sorted, reaching.iter().copied());
            for start in others.clone().step_by(OTHERS) {
                let others = start..others.end.min(start + OTHERS);
                gathered.cosines(&(0..reaching.len()), &self.sorted, &others, products);
                found.clear();
                for (&row, products) in reaching.iter().zip(products.chunks(others.len())) {
                    let close = |(other, &cosine): (usize, &f32)| (other > row && cosine >= least).then(|| self.pair(row, other));
                    found.extend(others.clone().zip(products).filter_map(close));
                }
                pass_on(found);
            }
        }
    }

    /// The rows of a group, after the first of `reaching`, that may be within an angle of one of these.
    fn others(
        &self,
        group: &Range<usize>,
        reaching: &[usize],
        with_pivot: impl Fn(usize) -> f32,
        within: f32,
    ) -> Option<Range<usize>> {
        let first = *reaching.first()?;
        let cosines = || reaching.iter().map(|&row| with_pivot(row));
        let nearest = angle(cosines().fold(f32::NEG_INFINITY, f32::max)) - within;
        let farthest = angle(cosines().fold(f32::INFINITY, f32::min)) + within;
        // Angles are descending.
        let angles = &self.angles[group.clone()];
        let start = group.start + angles.partition_point(|&angle| angle > farthest);
        let end = group.start + angles.partition_point(|&angle| angle >= nearest);
        let others = start.max(first + 1)..end;
        (!others.is_empty()).then_some(others)
    }

    fn pair(&self, a: usize, b: usize) -> (usize, usize) {
        let [a, b] = [a, b].map(|row| self.order[row]);
        (a.min(b), a.max(b))
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            cosines: Vec::new(),
            products: Vec::new(),
            reaching: Vec::new(),
            gathered: UnitRows::empty(),
            found: Vec::new(),
        }
    }
}

/// The nearest pivot of each row and the angle with it; the first of equally near ones.
fn nearest_pivots(rows: &UnitRows, pivots: &UnitRows) -> Vec<(usize, f32)> {
    let blocks = rows.ranges(BLOCK).into_par_iter();
    let of_block = |cosines: &mut Vec<f32>, block: Range<usize>| -> Vec<(usize, f32)> {
        rows.cosines(&block, pivots, &(0..pivots.len()), cosines);
        cosines.chunks(pivots.len()).map(nearest).collect()
    };
    blocks.map_init(Vec::new, of_block).flatten_iter().collect()
}

fn nearest(cosines: &[f32]) -> (usize, f32) {
    let larger = |best: (usize, f32), next: (usize, f32)| if next.1 > best.1 { next } else { best };
    let (pivot, cosine) = cosines.iter().copied().enumerate().fold((0, f32::NEG_INFINITY), larger);
    (pivot, angle(cosine))
}

/// By pivot, then the farthest first.
fn in_group((pivot, angle): (usize, f32), (other_pivot, other_angle): (usize, f32)) -> Ordering {
    pivot.cmp(&other_pivot).then(other_angle.total_cmp(&angle))
}

fn angle(cosine: f32) -> f32 {
    cosine.clamp(-1.0, 1.0).acos()
}

/// The cosine of an angle that may exceed a half turn: then all vectors are within it.
fn cosine(angle: f32) -> f32 {
    if angle < PI { angle.cos() } else { f32::NEG_INFINITY }
}
