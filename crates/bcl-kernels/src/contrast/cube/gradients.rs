//! The gradients of embeddings: tiles of scores are computed again, turned into the slopes of the loss, and multiplied by embeddings.

// The kernel language declares element types by arguments with an underscore. An array of a kernel is as large as its registers.
#![allow(clippy::used_underscore_binding, clippy::trivially_copy_pass_by_ref)]

use cubecl::ir::ElemType;
use cubecl::prelude::*;

use super::rule::{self, Rule, is_negative, mark, other_view};
use super::tile::{self, BELOW, Four, SIDE, Tile, add_scores, end_of, load, place, zeros};
use crate::cube::THREADS;

/// Which rows of a tile's tables are anchors: a table of both views has anchors on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Anchors {
    Rows,
    Columns,
    Both,
}

impl Anchors {
    const fn in_rows(self) -> bool {
        !matches!(self, Self::Columns)
    }

    const fn in_columns(self) -> bool {
        !matches!(self, Self::Rows)
    }
}

/// Where the exponentials come from that slopes are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Exponentials {
    /// From scores, which are computed again.
    Plain,
    /// As well, for weights by hardness.
    Hard,
    /// From device memory, times the weights by rank.
    Given,
}

/// What the positives add to a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pull {
    /// Nothing: these are negatives.
    None,
    /// Each row and the other view of its sample pull each other.
    Views,
    /// Anchors have positives in another table, whose gradient is written, too.
    Positives,
}

/// Numbers of the embeddings whose gradient a workgroup computes, per vector of a thread.
pub(super) const SPAN: usize = 4 * SIDE;

/// Columns whose slopes are in shared memory at once.
const STEP: usize = 16;

/// The gradient of `rows` from some of the columns. One workgroup per chunk of columns, span of numbers, and tile of rows.
///
/// `values` are what the slopes of the scores are proportional to, if they are [given](Exponentials::Given). `partial` has rows of all spans for each
/// chunk.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
pub(super) fn gradients<E: Numeric, N: Size, M: Size>(
    rows: &Tensor<Vector<E, N>>,
    columns: &Tensor<Vector<E, N>>,
    lists: &Tensor<u32>,
    values: &Tensor<Vector<f32, M>>,
    terms: &Tensor<Four>,
    grad: &Tensor<E>,
    partial: &mut Tensor<Four>,
    tiles_per_chunk: usize,
    first: usize,
    rate: f32,
    hardness: f32,
    #[comptime] exponentials: Exponentials,
    #[comptime] anchors: Anchors,
    #[comptime] rule: Rule,
    #[comptime] tile: Tile,
    #[comptime] spans: usize,
    #[define(E)] _dtype: ElemType,
) {
    let side = comptime!(tile.side());
    let own = comptime!(tile.own());
    let groups = comptime!(tile.groups);
    let (num_rows, num_columns) = (rows.shape(0), columns.shape(0));
    let blocks = num_rows.div_ceil(side);
    let tiles = num_columns.div_ceil(side);
    let parts = rows.shape(1).div_ceil(comptime!(spans * SPAN));
    let first_row = CUBE_POS % blocks * side;
    let part = CUBE_POS / blocks % parts;
    let chunk = CUBE_POS / blocks / parts;
    let first_tile = chunk * tiles_per_chunk;
    if first_tile >= tiles {
        terminate!();
    }
    let end_tile = end_of(first_tile, tiles_per_chunk, tiles);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    let mut memory = tile::memory();
    let mut marks = rule::memory(tile, rule);
    let mut sums = zeros(comptime!(own * spans));
    for number in first_tile..end_tile {
        let first_column = number * side;
        let mut slopes = zeros(comptime!(own * groups));
        if comptime!(exponentials == Exponentials::Given) {
            add_given(values, terms, grad, first_row, first_column, &mut slopes, anchors, tile);
        } else {
            if comptime!(anchors.in_rows()) {
                mark(lists, first_row, num_rows, first_column, first, &mut marks, tile, rule);
            } else {
                mark(lists, first_column, num_columns, first_row, first, &mut marks, tile, rule);
            }
            add_scores(rows, columns, first_row, first_column, &mut memory, &mut slopes, tile);
            into_slopes(
                &mut slopes,
                terms,
                grad,
                &marks,
                first_row,
                first_column,
                num_rows,
                num_columns,
                first,
                rate,
                hardness,
                exponentials,
                anchors,
                rule,
                tile,
            );
        }
        add_products(
            &slopes,
            columns,
            first_column,
            part * comptime!(spans * SPAN),
            &mut memory,
            &mut sums,
            tile,
            spans,
        );
    }
    let length = parts * comptime!(spans * SIDE);
    #[unroll]
    for i in 0..own {
        let row = first_row + place(down, i);
        if row < num_rows {
            #[unroll]
            for span in 0..spans {
                partial[(chunk * num_rows + row) * length + part * comptime!(spans * SIDE) + comptime!(span * SIDE) + right] =
                    sums[comptime!(i * spans + span)];
            }
        }
    }
}

/// Turns the scores of a tile into their slopes.
#[cube]
#[expect(clippy::too_many_arguments, reason = "kernels pass what a structure would hold")]
fn into_slopes<E: Numeric>(
    slopes: &mut Array<Four>,
    terms: &Tensor<Four>,
    grad: &Tensor<E>,
    marks: &Shared<[u32]>,
    first_row: usize,
    first_column: usize,
    num_rows: usize,
    num_columns: usize,
    first: usize,
    rate: f32,
    hardness: f32,
    #[comptime] exponentials: Exponentials,
    #[comptime] anchors: Anchors,
    #[comptime] rule: Rule,
    #[comptime] tile: Tile,
) {
    let own = comptime!(tile.own());
    let groups = comptime!(tile.groups);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    let mut terms_of_columns = zeros(own);
    if comptime!(anchors.in_columns()) {
        #[unroll]
        for j in 0..own {
            terms_of_columns[j] = weighted(terms, grad, first_column + place(right, j));
        }
    }
    #[unroll]
    for i in 0..own {
        let row = place(down, i);
        let at = first_row + row;
        let mut terms_of_row = Four::zero();
        if comptime!(anchors.in_rows()) {
            terms_of_row = weighted(terms, grad, at);
        }
        #[unroll]
        for group in 0..groups {
            let four = comptime!(i * groups + group);
            let mut line = slopes[four];
            #[unroll]
            for j in 0..4usize {
                let column = place(right, comptime!(4 * group + j));
                let opposite = first_column + column;
                let negative = if comptime!(anchors.in_rows()) {
                    is_negative(at, opposite, row, column, num_columns, first, marks, tile, rule)
                } else {
                    is_negative(opposite, at, column, row, num_rows, first, marks, tile, rule)
                };
                let score = select(negative && opposite < num_columns, line.extract(j), BELOW.runtime());
                let mut slope = 0.0f32;
                if comptime!(anchors.in_rows()) {
                    slope += slope_of(score, terms_of_row, rate, hardness, exponentials);
                }
                if comptime!(anchors.in_columns()) {
                    slope += slope_of(
                        score,
                        terms_of_columns[comptime!(4 * group + j)],
                        rate,
                        hardness,
                        exponentials,
                    );
                }
                line.insert(j, slope);
            }
            slopes[four] = line;
        }
    }
}

/// Adds the slopes of a tile's scores, from what they are proportional to.
#[cube]
#[expect(clippy::too_many_arguments, reason = "kernels pass what a structure would hold")]
fn add_given<E: Numeric, M: Size>(
    values: &Tensor<Vector<f32, M>>,
    terms: &Tensor<Four>,
    grad: &Tensor<E>,
    first_row: usize,
    first_column: usize,
    slopes: &mut Array<Four>,
    #[comptime] anchors: Anchors,
    #[comptime] tile: Tile,
) {
    let own = comptime!(tile.own());
    let groups = comptime!(tile.groups);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    if comptime!(anchors.in_rows()) {
        #[unroll]
        for i in 0..own {
            let anchor = first_row + place(down, i);
            let slope = Four::new(weighted(terms, grad, anchor).extract(1usize));
            #[unroll]
            for group in 0..groups {
                let negatives = first_column + place(right, comptime!(4 * group));
                slopes[comptime!(i * groups + group)] += load(values, anchor, negatives) * slope;
            }
        }
    }
    if comptime!(anchors.in_columns()) {
        #[unroll]
        for j in 0..own {
            let anchor = first_column + place(right, j);
            let slope = Four::new(weighted(terms, grad, anchor).extract(1usize));
            #[unroll]
            for group in 0..groups {
                let negatives = first_row + place(down, comptime!(4 * group));
                let of_rows = load(values, anchor, negatives) * slope;
                #[unroll]
                for k in 0..4usize {
                    let four = comptime!((4 * group + k) * groups + j / 4);
                    let mut line = slopes[four];
                    line.insert(comptime!(j % 4), line.extract(comptime!(j % 4)) + of_rows.extract(k));
                    slopes[four] = line;
                }
            }
        }
    }
}

/// The terms of an anchor times the gradient of its loss; 0 for anchors that do not exist.
#[cube]
fn weighted<E: Numeric>(terms: &Tensor<Four>, grad: &Tensor<E>, anchor: usize) -> Four {
    let mut weighted = Four::zero();
    if anchor < terms.shape(0) {
        let terms = terms[anchor];
        weighted = terms * Four::new(f32::cast_from(grad[anchor]));
        weighted.insert(0usize, terms.extract(0usize));
    }
    weighted
}

/// The slope of an anchor's loss in the score of a negative.
#[cube]
fn slope_of(score: f32, terms: Four, rate: f32, hardness: f32, #[comptime] exponentials: Exponentials) -> f32 {
    let difference = (score - terms.extract(0usize)) * rate;
    let mut slope = terms.extract(1usize) * difference.exp();
    if comptime!(exponentials == Exponentials::Hard) {
        slope = (slope - terms.extract(2usize)) * (difference * hardness).exp();
    }
    slope
}

/// Adds the products of a tile's slopes with its columns, whose numbers start at `start`. Uses all shared memory.
#[cube]
#[expect(clippy::too_many_arguments, reason = "kernels pass what a structure would hold")]
fn add_products<E: Numeric, N: Size>(
    slopes: &Array<Four>,
    columns: &Tensor<Vector<E, N>>,
    first_column: usize,
    start: usize,
    memory: &mut Shared<[Four]>,
    sums: &mut Array<Four>,
    #[comptime] tile: Tile,
    #[comptime] spans: usize,
) {
    let groups = comptime!(tile.groups);
    let width = comptime!(groups * SIDE);
    let quads = comptime!(STEP / 4);
    let length = comptime!(spans * SIDE);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    let (line_of, at) = (first_column + unit / length, start + 4 * (unit % length));
    let mut ahead = Array::<Four>::new(spans);
    #[unroll]
    for i in 0..spans {
        ahead[i] = load(columns, line_of + comptime!(i * STEP / spans), at);
    }
    #[unroll]
    for group in 0..groups {
        for step in 0..comptime!(4 * SIDE / STEP) {
            // Those threads that have the slopes of these columns, four each, write them as groups of four rows.
            if right / quads == step {
                #[unroll]
                for j in 0..4usize {
                    #[unroll]
                    for i in 0..groups {
                        let mut line = Four::zero();
                        #[unroll]
                        for k in 0..4usize {
                            line.insert(k, slopes[comptime!((4 * i + k) * groups + group)].extract(j));
                        }
                        let quad = right % quads;
                        memory[(4 * quad + j) * width + tile::swizzled(down, quad, quads) + comptime!(i * SIDE)] = line;
                    }
                }
            }
            #[unroll]
            for i in 0..spans {
                memory[unit + comptime!(STEP * width + i * THREADS as usize)] = ahead[i];
            }
            sync_cube();
            // The next columns arrive while these are multiplied.
            let next = line_of + comptime!(4 * group * SIDE) + (step + 1) * STEP;
            #[unroll]
            for i in 0..spans {
                ahead[i] = load(columns, next + comptime!(i * STEP / spans), at);
            }
            for quad in 0..quads {
                let row = 4 * quad * width + tile::swizzled(down, quad, quads);
                let column = comptime!(STEP * width) + 4 * quad * comptime!(spans * SIDE) + right;
                #[unroll]
                for line in 0..4usize {
                    #[unroll]
                    for i in 0..groups {
                        let of_rows = memory[row + comptime!(line * width + i * SIDE)];
                        #[unroll]
                        for span in 0..spans {
                            let of_columns = memory[column + comptime!((line * spans + span) * SIDE)];
                            #[unroll]
                            for k in 0..4usize {
                                let sum = comptime!((4 * i + k) * spans + span);
                                sums[sum] += Four::new(of_rows.extract(k)) * of_columns;
                            }
                        }
                    }
                }
            }
            sync_cube();
        }
    }
}

/// Adds up the chunks of a gradient and the pull of the positives. One thread per vector of the gradient.
///
/// `beside` are the positives, or the rows themselves; `of_positives` is written for [`Pull::Positives`] alone.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
pub(super) fn total<E: Numeric, N: Size>(
    partial: &Tensor<Vector<f32, N>>,
    rows: &Tensor<Vector<E, N>>,
    beside: &Tensor<Vector<E, N>>,
    terms: &Tensor<Four>,
    grad: &Tensor<E>,
    out: &mut Tensor<Vector<E, N>>,
    of_positives: &mut Tensor<Vector<E, N>>,
    num_chunks: usize,
    vectors: usize,
    #[comptime] pull: Pull,
    #[define(E)] _dtype: ElemType,
) {
    let num_rows = rows.shape(0);
    if ABSOLUTE_POS >= num_rows * vectors {
        terminate!();
    }
    let (row, at) = (ABSOLUTE_POS / vectors, ABSOLUTE_POS % vectors);
    let length = partial.shape(1) / N::value();
    let mut sum = Vector::<f32, N>::zero();
    for chunk in 0..num_chunks {
        sum += partial[(chunk * num_rows + row) * length + at];
    }
    if comptime!(pull != Pull::None) {
        let mut slope = terms[row].extract(3usize) * f32::cast_from(grad[row]);
        let mut other = row;
        if comptime!(pull == Pull::Views) {
            other = other_view(row, num_rows);
            slope += terms[other].extract(3usize) * f32::cast_from(grad[other]);
        }
        sum += Vector::<f32, N>::new(slope) * Vector::<f32, N>::cast_from(beside[other * vectors + at]);
        if comptime!(pull == Pull::Positives) {
            let of_positive = Vector::<f32, N>::new(slope) * Vector::<f32, N>::cast_from(rows[ABSOLUTE_POS]);
            of_positives[ABSOLUTE_POS] = Vector::cast_from(of_positive);
        }
    }
    out[ABSOLUTE_POS] = Vector::cast_from(sum);
}
