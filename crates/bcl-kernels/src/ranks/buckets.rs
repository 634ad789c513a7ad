//! The ranks of one row, found with buckets.
//!
//! A linear map from the smallest to the largest score sends each score to one of as many buckets as there are scores. The map never
//! decreases, so scores that are grouped by bucket are in order except within a bucket, and the rank of a score differs from its place
//! by less than the size of the largest bucket. Comparing it with as many neighbours on both sides gives the rank: neighbours in other
//! buckets count as they should, so that no bucket's bounds are needed and scores are compared by whole vectors. Comparing also gets
//! ties and `-0.0 = 0.0` right. Rows that crowd into few buckets are sorted instead, which bounds the work to `O(N log N)` for any scores.

use std::marker::PhantomData;

use pulp::{Simd, bytemuck};

use crate::cpu::Value;

/// The largest bucket for which comparing is faster than sorting the row.
const CROWDED: usize = 32;

/// The grouped scores are padded by as many on both sides, so that each has all its neighbours.
const PADDING: usize = CROWDED - 1;

/// The largest number of buckets: more would not fit into the mantissa of a single precision number.
const MOST_BUCKETS: usize = 1 << 22;

/// The float operations that ranking needs.
pub(crate) trait Score: Value {
    const INFINITY: Self;
    const NAN: Self;
    /// Orders as the scores do, then by index.
    type Key: Ord + Copy + Default;

    fn is_finite(self) -> bool;
    /// The score, with NaN replaced by `+∞`.
    fn or_infinite(self) -> Self;
    /// The slope that spreads `low..=high` over `0..=last`; positive for any arguments.
    fn slope(low: Self, high: Self, last: u32) -> Self;
    /// `(self - low) · slope`, rounded and clamped to `0..=last`; `last` must be below `MOST_BUCKETS`.
    fn bucket(self, low: Self, slope: Self, last: u32) -> u32;
    fn key(self, index: u32) -> Self::Key;
    fn index(key: Self::Key) -> u32;
    fn tied(left: Self::Key, right: Self::Key) -> bool;
    /// `counts[i] = #{ j < num_neighbours : neighbours[i + j] <= scores[i] }`
    fn count_at_most<S: Simd>(simd: S, scores: &[Self], neighbours: &[Self], num_neighbours: usize, counts: &mut [u32]);
}

macro_rules! score {
    ($float:ident, $bits:ty, $signed:ty, $key:ty, $vectors:ident) => {
        #[allow(clippy::cast_lossless, reason = "f32, unlike f64, cannot represent every u32")]
        impl Score for $float {
            const INFINITY: Self = $float::INFINITY;
            const NAN: Self = $float::NAN;
            type Key = $key;

            #[inline(always)]
            fn is_finite(self) -> bool {
                self.abs() < $float::INFINITY
            }

            #[inline(always)]
            fn or_infinite(self) -> Self {
                if self.is_nan() { $float::INFINITY } else { self }
            }

            #[inline(always)]
            fn slope(low: Self, high: Self, last: u32) -> Self {
                // If the range overflows to infinity, the slope would be 0, and 0 · ∞ would lose the order.
                (last as $float / (high - low)).max($float::MIN_POSITIVE)
            }

            #[inline(always)]
            fn bucket(self, low: Self, slope: Self, last: u32) -> u32 {
                const FRACTION: u32 = $float::MANTISSA_DIGITS - 1;
                let position = (self - low) * slope;
                // NaN, from 0 · ∞ or ∞ - ∞, fails the comparison and correctly joins the lowest scores.
                let position = if position > 0.0 { position } else { 0.0 };
                let position = if position < last as $float { position } else { last as $float };
                // At this magnitude floats are integers, so the low bits of the sum hold the rounded position.
                let whole = (1 as $bits << FRACTION) as $float;
                ((position + whole).to_bits() & ((1 << FRACTION) - 1)) as u32
            }

            #[inline(always)]
            fn key(self, index: u32) -> Self::Key {
                // Adding 0.0 turns -0.0 into 0.0.
                let bits = (self + 0.0).to_bits();
                let flip = ((bits as $signed >> (<$bits>::BITS - 1)) as $bits) | (1 << (<$bits>::BITS - 1));
                (<$key>::from(bits ^ flip) << 32) | <$key>::from(index)
            }

            #[inline(always)]
            fn index(key: Self::Key) -> u32 {
                key as u32
            }

            #[inline(always)]
            fn tied(left: Self::Key, right: Self::Key) -> bool {
                left >> 32 == right >> 32
            }

            // Written with vectors, because whether the compiler vectorises the plain loop depends on what surrounds it.
            #[inline(always)]
            fn count_at_most<S: Simd>(simd: S, scores: &[Self], neighbours: &[Self], num_neighbours: usize, counts: &mut [u32]) {
                let lanes = <$vectors<S>>::LANES;
                let vectors = scores.len() / lanes * lanes;
                for start in (0..vectors).step_by(lanes) {
                    let score = <$vectors<S>>::load(&scores[start..]);
                    let mut count = <$vectors<S>>::zero(simd);
                    for neighbours in neighbours[start..][..num_neighbours + lanes - 1].windows(lanes) {
                        count = <$vectors<S>>::count(simd, count, <$vectors<S>>::load(neighbours), score);
                    }
                    <$vectors<S>>::store(count, &mut counts[start..start + lanes]);
                }
                for index in vectors..scores.len() {
                    let neighbours = &neighbours[index..][..num_neighbours];
                    counts[index] = neighbours
                        .iter()
                        .map(|&neighbour| u32::from(neighbour <= scores[index]))
                        .sum();
                }
            }
        }
    };
}
score!(f32, u32, i32, u64, Singles);
score!(f64, u64, i64, u128, Doubles);

/// Vectors of single precision scores, and of counts.
struct Singles<S>(PhantomData<S>);

impl<S: Simd> Singles<S> {
    const LANES: usize = S::F32_LANES;

    #[inline(always)]
    fn load(scores: &[f32]) -> S::f32s {
        S::as_simd_f32s(scores).0[0]
    }

    #[inline(always)]
    fn zero(simd: S) -> S::u32s {
        simd.splat_u32s(0)
    }

    /// Counts where `other` is at most `score`.
    #[inline(always)]
    fn count(simd: S, count: S::u32s, other: S::f32s, score: S::f32s) -> S::u32s {
        let is_counted = simd.less_than_or_equal_f32s(other, score);
        simd.select_u32s(is_counted, simd.add_u32s(count, simd.splat_u32s(1)), count)
    }

    #[inline(always)]
    fn store(count: S::u32s, counts: &mut [u32]) {
        S::as_mut_simd_u32s(counts).0[0] = count;
    }
}

/// The same in double precision.
struct Doubles<S>(PhantomData<S>);

impl<S: Simd> Doubles<S> {
    const LANES: usize = S::F64_LANES;

    #[inline(always)]
    fn load(scores: &[f64]) -> S::f64s {
        S::as_simd_f64s(scores).0[0]
    }

    #[inline(always)]
    fn zero(simd: S) -> S::u64s {
        simd.splat_u64s(0)
    }

    #[inline(always)]
    fn count(simd: S, count: S::u64s, other: S::f64s, score: S::f64s) -> S::u64s {
        let is_counted = simd.less_than_or_equal_f64s(other, score);
        simd.select_u64s(is_counted, simd.add_u64s(count, simd.splat_u64s(1)), count)
    }

    #[inline(always)]
    fn store(count: S::u64s, counts: &mut [u32]) {
        let wide: &[u64] = bytemuck::cast_slice(std::slice::from_ref(&count));
        for (count, &wide) in counts.iter_mut().zip(wide) {
            *count = wide as u32;
        }
    }
}

/// Ranks one row after another, reusing its memory.
#[derive(Default)]
pub(crate) struct Ranker<T: Score> {
    scores: Vec<T>,
    /// First the bucket of each score, then its place among the grouped scores, at last its rank.
    ranks: Vec<u32>,
    /// The scores grouped by bucket, unsorted within each, between paddings.
    grouped: Vec<T>,
    /// The rank of each of them.
    grouped_ranks: Vec<u32>,
    /// The next free place of each bucket.
    places: Vec<u32>,
    keys: Vec<T::Key>,
}

impl<T: Score> Ranker<T> {
    /// Computes `#{ j : row[j] <= row[i] }` for each `i`.
    ///
    /// # Panics
    /// Panics if the row has more than `u32::MAX` scores.
    #[inline(always)]
    pub(crate) fn ranks<S: Simd>(&mut self, simd: S, row: &[T]) -> &[u32] {
        let num_scores = row.len();
        assert!(
            u32::try_from(num_scores).is_ok(),
            "a row of {num_scores} scores is too long to rank"
        );
        self.scores.clear();
        self.scores.extend(row.iter().map(|score| score.or_infinite()));
        self.ranks.resize(num_scores, 0);
        let largest = self.group();
        if largest <= CROWDED {
            self.compare(simd, largest);
        } else {
            self.sort();
        }
        &self.ranks
    }

    /// Groups the scores by bucket and returns the size of the largest group.
    #[inline(always)]
    fn group(&mut self) -> usize {
        let num_scores = self.scores.len();
        let num_buckets = num_scores.clamp(2, MOST_BUCKETS);
        let last = num_buckets as u32 - 1;
        self.places.clear();
        self.places.resize(num_buckets, 0);
        self.grouped.resize(num_scores + 2 * PADDING, T::NAN);
        // Plain slices: the compiler cannot tell that writing through one vector leaves the length of the next unchanged.
        let (scores, buckets) = (&self.scores[..], &mut self.ranks[..]);
        let (counts, grouped) = (&mut self.places[..], &mut self.grouped[PADDING..]);

        let (low, high) = finite_range(scores);
        let slope = T::slope(low, high, last);
        for (bucket, &score) in buckets.iter_mut().zip(scores) {
            *bucket = score.bucket(low, slope, last);
        }
        for &bucket in buckets.iter() {
            counts[bucket as usize] += 1;
        }
        let largest = counts.iter().fold(0, |largest, &count| largest.max(count));
        let mut total = 0;
        for place in &mut *counts {
            (*place, total) = (total, total + *place);
        }
        let places = counts;
        for (place, &score) in buckets.iter_mut().zip(scores) {
            let next = &mut places[*place as usize];
            grouped[*next as usize] = score;
            *place = *next;
            *next += 1;
        }
        largest as usize
    }

    /// Finds the ranks of the grouped scores, none of which is further than the size of the largest group from its place in order.
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S, largest: usize) {
        let num_scores = self.scores.len();
        self.grouped_ranks.resize(num_scores, 0);
        // Before all scores what is below each, after them what is below none.
        self.grouped[..PADDING].fill(T::INFINITY.negative());
        self.grouped[PADDING + num_scores..].fill(T::NAN);
        // An empty row has no group.
        let reach = largest.saturating_sub(1);
        let neighbours = &self.grouped[PADDING - reach..];
        let grouped = &self.grouped[PADDING..][..num_scores];
        T::count_at_most(simd, grouped, neighbours, 2 * reach + 1, &mut self.grouped_ranks);
        // All that is more than `reach` places before a score is below it; with the padding, that can be less than nothing.
        for (place, rank) in (0u32..).zip(&mut self.grouped_ranks) {
            *rank = rank.wrapping_add(place.wrapping_sub(reach as u32));
        }
        for rank in &mut self.ranks {
            // Written so that it compiles to gathers: there is no place without a rank.
            *rank = self.grouped_ranks.get(*rank as usize).copied().unwrap_or_default();
        }
    }

    /// Sorts the scores together with their indices. All scores of a run of equals get the rank of the last one.
    #[inline(never)]
    fn sort(&mut self) {
        self.keys.clear();
        self.keys
            .extend(self.scores.iter().zip(0..).map(|(score, index)| score.key(index)));
        self.keys.sort_unstable();
        let mut rank = 0;
        let mut next: Option<T::Key> = None;
        for (position, &key) in self.keys.iter().enumerate().rev() {
            if next.is_none_or(|next| !T::tied(key, next)) {
                rank = position as u32 + 1;
            }
            self.ranks[T::index(key) as usize] = rank;
            next = Some(key);
        }
    }
}

/// The weight of a score of this rank. Written so that a loop compiles to gathers: every rank has a weight.
#[inline(always)]
pub(crate) fn weight<T: Value>(table: &[T], rank: u32) -> T {
    table.get((rank as usize).wrapping_sub(1)).copied().unwrap_or(T::ZERO)
}

/// The smallest and the largest finite score, or `(∞, -∞)` if none is finite.
#[inline(always)]
fn finite_range<T: Score>(scores: &[T]) -> (T, T) {
    const LANES: usize = 16;
    let mut low = [T::INFINITY; LANES];
    let mut high = [T::INFINITY.negative(); LANES];
    let mut widen = |lane: usize, score: T| {
        let (above, below) = if score.is_finite() {
            (score, score)
        } else {
            (T::INFINITY, T::INFINITY.negative())
        };
        low[lane] = if above < low[lane] { above } else { low[lane] };
        high[lane] = if below > high[lane] { below } else { high[lane] };
    };
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &score) in chunk.iter().enumerate() {
            widen(lane, score);
        }
    }
    for (lane, &score) in rest.iter().enumerate() {
        widen(lane, score);
    }
    for lane in 1..LANES {
        low[0] = if low[lane] < low[0] { low[lane] } else { low[0] };
        high[0] = if high[lane] > high[0] { high[lane] } else { high[0] };
    }
    (low[0], high[0])
}
