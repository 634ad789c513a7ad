//! The losses of anchors: sums of exponentials of tiles of scores, then the loss and its slopes from the sums.

// The kernel language declares element types by arguments with an underscore.
#![allow(clippy::used_underscore_binding)]

use cubecl::ir::ElemType;
use cubecl::prelude::*;

use super::rule::{self, Rule, is_negative, mark, num_negatives, other_view};
use super::tile::{self, BELOW, Four, SIDE, Tile, add_scores, end_of, load, place, zeros};
use crate::cube::THREADS;
use crate::logarithm::cube::log1p;

/// Rows of [`losses`] per workgroup.
pub(super) const ROWS: usize = THREADS as usize / SIDE;

/// What a kernel knows of a loss.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
pub(super) struct Formula {
    /// One over the temperature.
    pub(super) rate: f32,
    /// β.
    pub(super) hardness: f32,
    /// What the mass of the negatives is multiplied by.
    pub(super) unlabelled: f32,
    /// What is subtracted from it, per negative, in masses of the positive.
    pub(super) positive: f32,
    /// The least score that there can be.
    pub(super) least: f32,
}

/// How the mass becomes a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Plain,
    Decoupled,
    Floored,
}

/// Highest score, sum of `exp((1 + β) (score - highest))` and of `exp(β (score - highest))`, of one row. One workgroup per chunk of a tile's rows.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
pub(super) fn sums<E: Numeric, N: Size>(
    anchors: &Tensor<Vector<E, N>>,
    negatives: &Tensor<Vector<E, N>>,
    lists: &Tensor<u32>,
    partial: &mut Tensor<Four>,
    tiles_per_chunk: usize,
    first: usize,
    rate: f32,
    hardness: f32,
    #[comptime] is_hard: bool,
    #[comptime] rule: Rule,
    #[comptime] tile: Tile,
    #[define(E)] _dtype: ElemType,
) {
    let side = comptime!(tile.side());
    let own = comptime!(tile.own());
    let groups = comptime!(tile.groups);
    let (num_anchors, num_rows) = (anchors.shape(0), negatives.shape(0));
    let blocks = num_anchors.div_ceil(side);
    let tiles = num_rows.div_ceil(side);
    let chunk = CUBE_POS / blocks;
    let first_anchor = CUBE_POS % blocks * side;
    let first_tile = chunk * tiles_per_chunk;
    if first_tile >= tiles {
        terminate!();
    }
    let end_tile = end_of(first_tile, tiles_per_chunk, tiles);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    let mut memory = tile::memory();
    let mut marks = rule::memory(tile, rule);
    let mut highest = Array::<f32>::new(own);
    let mut products = Array::<f32>::new(own);
    let mut weights = Array::<f32>::new(own);
    #[unroll]
    for i in 0..own {
        highest[i] = BELOW.runtime();
        products[i] = 0.0f32;
        weights[i] = 0.0f32;
    }
    for number in first_tile..end_tile {
        let first_row = number * side;
        let mut sums = zeros(comptime!(own * groups));
        mark(lists, first_anchor, num_anchors, first_row, first, &mut marks, tile, rule);
        add_scores(anchors, negatives, first_anchor, first_row, &mut memory, &mut sums, tile);
        #[unroll]
        for i in 0..own {
            let anchor = place(down, i);
            let mut scores = Array::<f32>::new(own);
            let mut above = highest[i];
            #[unroll]
            for j in 0..own {
                let row = place(right, j);
                let counts = first_row + row < num_rows
                    && is_negative(
                        first_anchor + anchor,
                        first_row + row,
                        anchor,
                        row,
                        num_rows,
                        first,
                        &marks,
                        tile,
                        rule,
                    );
                let score = select(
                    counts,
                    sums[comptime!(i * groups + j / 4)].extract(comptime!(j % 4)),
                    BELOW.runtime(),
                );
                above = select(score > above, score, above);
                scores[j] = score;
            }
            let step = (highest[i] - above) * rate;
            highest[i] = above;
            if comptime!(is_hard) {
                let shift = (step * hardness).exp();
                weights[i] *= shift;
                products[i] *= shift * step.exp();
            } else {
                products[i] *= step.exp();
            }
            #[unroll]
            for j in 0..own {
                let difference = (scores[j] - above) * rate;
                if comptime!(is_hard) {
                    let weight = (difference * hardness).exp();
                    weights[i] += weight;
                    products[i] += weight * difference.exp();
                } else {
                    products[i] += difference.exp();
                }
            }
        }
    }
    // The threads side by side have the sums of the same rows.
    #[unroll]
    for group in 0..groups {
        sync_cube();
        #[unroll]
        for i in 0..4usize {
            let own = comptime!(4 * group + i);
            memory[(4 * down + i) * SIDE + right] = sums_of(highest[own], products[own], weights[own]);
        }
        sync_cube();
        let anchor = first_anchor + comptime!(4 * group * SIDE) + unit;
        if unit < comptime!(4 * SIDE) && anchor < num_anchors {
            partial[chunk * num_anchors + anchor] = joined(&memory, unit * SIDE, rate, hardness, is_hard);
        }
    }
}

#[cube]
fn sums_of(highest: f32, products: f32, weights: f32) -> Four {
    let mut sums = Four::zero();
    sums.insert(0usize, highest);
    sums.insert(1usize, products);
    sums.insert(2usize, weights);
    sums
}

/// The sums of two sets of negatives together.
#[cube]
fn together(one: Four, other: Four, rate: f32, hardness: f32, #[comptime] is_hard: bool) -> Four {
    let left = one.extract(0usize);
    let right = other.extract(0usize);
    let highest = select(right > left, right, left);
    let left = (left - highest) * rate;
    let right = (right - highest) * rate;
    let mut of_left = left.exp();
    let mut of_right = right.exp();
    let mut weights = 0.0f32;
    if comptime!(is_hard) {
        let weight = (left * hardness).exp();
        let other_weight = (right * hardness).exp();
        weights = one.extract(2usize) * weight + other.extract(2usize) * other_weight;
        of_left *= weight;
        of_right *= other_weight;
    }
    let products = one.extract(1usize) * of_left + other.extract(1usize) * of_right;
    sums_of(highest, products, weights)
}

/// The sums of all threads side by side, in their order.
#[cube]
fn joined(memory: &Shared<[Four]>, start: usize, rate: f32, hardness: f32, #[comptime] is_hard: bool) -> Four {
    let mut sums = memory[start];
    for i in 1..SIDE {
        sums = together(sums, memory[start + i], rate, hardness, is_hard);
    }
    sums
}

/// The loss of each anchor, and its slopes: what `exp((1 + β) (score - highest))` and `exp(β (score - highest))` of a negative are multiplied by, and
/// the slope in the score of the positive. `terms` are the highest score and these.
///
/// The formula is that of `outcome` in `row.rs`. [`SIDE`] threads per anchor.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
pub(super) fn losses<E: Numeric, N: Size>(
    anchors: &Tensor<Vector<E, N>>,
    positives: &Tensor<Vector<E, N>>,
    lists: &Tensor<u32>,
    partial: &Tensor<Four>,
    losses: &mut Tensor<E>,
    terms: &mut Tensor<Four>,
    num_rows: usize,
    num_chunks: usize,
    first: usize,
    formula: Formula,
    #[comptime] is_hard: bool,
    #[comptime] form: Form,
    #[comptime] rule: Rule,
    #[comptime] are_views: bool,
    #[define(E)] _dtype: ElemType,
) {
    let num_anchors = anchors.shape(0);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    if CUBE_POS * ROWS >= num_anchors {
        terminate!();
    }
    let anchor = CUBE_POS * ROWS + down;
    let mut positive_row = anchor;
    if comptime!(are_views) {
        positive_row = other_view(anchor, num_anchors);
    }
    let mut dots = Four::zero();
    let mut start = 4 * right;
    while start < anchors.shape(1) {
        dots += load(anchors, anchor, start) * load(positives, positive_row, start);
        start += 4 * SIDE;
    }
    let dot = (dots.extract(0usize) + dots.extract(1usize)) + (dots.extract(2usize) + dots.extract(3usize));
    let mut sums = sums_of(BELOW.runtime(), 0.0f32, 0.0f32);
    if anchor < num_anchors {
        let mut chunk = right;
        while chunk < num_chunks {
            let of_chunk = partial[chunk * num_anchors + anchor];
            sums = together(sums, of_chunk, formula.rate, formula.hardness, is_hard);
            chunk += SIDE;
        }
    }
    sums.insert(3usize, dot);
    let mut memory = Shared::<[Four]>::new_slice(comptime!(THREADS as usize));
    memory[unit] = sums;
    sync_cube();
    if right == 0 && anchor < num_anchors {
        let mut positive = 0.0f32;
        for i in 0..SIDE {
            positive += memory[unit + i].extract(3usize);
        }
        let sums = joined(&memory, unit, formula.rate, formula.hardness, is_hard);
        let number = num_negatives(lists, anchor, num_rows, first, rule);
        let mut loss = 0.0f32;
        let mut slopes = Four::zero();
        if number > 0 {
            let count = f32::cast_from(number as u32);
            let (rate, highest) = (formula.rate, sums.extract(0usize));
            let above = (highest - positive) * rate;
            let mut mass = sums.extract(1usize);
            let mut of_product = 1.0f32;
            let mut of_weight = 0.0f32;
            if comptime!(is_hard) {
                let total = sums.extract(2usize);
                let mean = mass / total;
                mass = count * mean;
                of_product = count / total * (1.0f32 + formula.hardness);
                of_weight = count / total * formula.hardness * mean;
            }
            let mut slope = rate / mass;
            let mut positive_slope = -rate;
            if comptime!(form == Form::Decoupled) {
                loss = mass.ln() + above;
            } else {
                let least_above = (formula.least - positive) * rate;
                let mut shift = select(above > 0.0f32, above, 0.0f32);
                if comptime!(form == Form::Floored) {
                    shift = select(least_above > shift, least_above, shift);
                }
                let scale = formula.unlabelled * (above - shift).exp();
                let positive_mass = (-shift).exp();
                let mut pull = mass * scale;
                let mut corrected = pull - formula.positive * count * positive_mass;
                slope = rate * scale;
                if comptime!(form == Form::Floored) {
                    let floor = count * (least_above - shift).exp();
                    if corrected <= floor {
                        corrected = floor;
                        pull = floor;
                        slope = 0.0f32;
                    }
                }
                let denominator = corrected + positive_mass;
                slope /= denominator;
                positive_slope = -rate * pull / denominator;
                loss = select(shift > 0.0f32, denominator.ln() + shift, log1p(corrected));
            }
            slopes.insert(0usize, highest);
            slopes.insert(1usize, of_product * slope);
            slopes.insert(2usize, of_weight * slope);
            slopes.insert(3usize, positive_slope);
        }
        losses[anchor] = E::cast_from(loss);
        terms[anchor] = slopes;
    }
}
