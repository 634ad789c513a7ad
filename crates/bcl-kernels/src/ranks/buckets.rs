//! The ranks of one row, found with buckets.
//!
//! A linear map from the smallest to the largest score sends each score to one of about two buckets per score. The map never
//! decreases, so the rank of a score is the number of scores in lower buckets plus the number in its own bucket that do not exceed it.
//! [`WINDOW`] numbers, starting with the bucket's first, are compared at once. Numbers past the end of the bucket are larger and count
//! nothing, so there is no branch to mispredict. Comparing also gets ties and `-0.0 = 0.0` right. Rows that crowd into few buckets are
//! sorted instead, which bounds the work to `O(N log N)` for any scores.

use crate::cpu::Value;

/// The largest bucket for which comparing is faster than sorting the row.
const CROWDED: u32 = 32;

/// The largest number of buckets: more would not fit into the mantissa of a single precision number.
const MOST_BUCKETS: usize = 1 << 22;

/// Number of scores compared at once. The grouped scores are padded by as many.
const WINDOW: usize = 4;

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
}

macro_rules! score {
    ($float:ident, $bits:ty, $signed:ty, $key:ty) => {
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
        }
    };
}
score!(f32, u32, i32, u64);
score!(f64, u64, i64, u128);

/// Ranks one row after another, reusing its memory.
#[derive(Default)]
pub(crate) struct Ranker<T: Score> {
    scores: Vec<T>,
    /// First the bucket of each score, later its rank.
    ranks: Vec<u32>,
    /// The scores grouped by bucket, unsorted within each.
    grouped: Vec<T>,
    /// The end of each bucket in `grouped`, after a leading zero.
    ends: Vec<u32>,
    keys: Vec<T::Key>,
}

impl<T: Score> Ranker<T> {
    /// Computes `#{ j : row[j] <= row[i] }` for each `i`.
    ///
    /// # Panics
    /// Panics if the row has more than `u32::MAX` scores.
    #[inline(always)]
    pub(crate) fn ranks(&mut self, row: &[T]) -> &[u32] {
        let num_scores = row.len();
        assert!(
            u32::try_from(num_scores).is_ok(),
            "a row of {num_scores} scores is too long to rank"
        );
        self.scores.clear();
        self.scores.extend(row.iter().map(|score| score.or_infinite()));
        self.ranks.clear();
        self.ranks.resize(num_scores, 0);
        let largest = self.group();
        if largest <= WINDOW as u32 {
            self.count_in_one_window();
        } else if largest <= CROWDED {
            self.count_in_windows();
        } else {
            self.sort();
        }
        &self.ranks
    }

    /// Groups the scores by bucket and returns the size of the largest group.
    #[inline(always)]
    fn group(&mut self) -> u32 {
        let num_scores = self.scores.len();
        let num_buckets = (2 * num_scores).clamp(2, MOST_BUCKETS);
        let last = num_buckets as u32 - 1;
        self.ends.clear();
        self.ends.resize(num_buckets + 2, 0);
        self.grouped.resize(num_scores + WINDOW, T::NAN);
        // Plain slices: the compiler cannot tell that writing through one vector leaves the length of the next unchanged.
        let (scores, buckets) = (&self.scores[..], &mut self.ranks[..]);
        let (ends, grouped) = (&mut self.ends[..], &mut self.grouped[..]);

        let (low, high) = finite_range(scores);
        let slope = T::slope(low, high, last);
        for (bucket, &score) in buckets.iter_mut().zip(scores) {
            *bucket = score.bucket(low, slope, last);
        }
        // Counts are stored two slots up, so that after the running total the start of a bucket is one slot up, ...
        for &bucket in buckets.iter() {
            ends[bucket as usize + 2] += 1;
        }
        let mut largest = 0;
        let mut total = 0;
        for end in &mut ends[2..] {
            largest = largest.max(*end);
            total += *end;
            *end = total;
        }
        // ... where it becomes the bucket's end as the scores move in.
        for (&bucket, &score) in buckets.iter().zip(scores) {
            let next = &mut ends[bucket as usize + 1];
            grouped[*next as usize] = score;
            *next += 1;
        }
        grouped[num_scores..].fill(T::NAN);
        largest
    }

    #[inline(always)]
    fn count_in_one_window(&mut self) {
        let (ends, grouped) = (&self.ends[..], &self.grouped[..]);
        for (rank, &score) in self.ranks.iter_mut().zip(&self.scores) {
            let start = ends[*rank as usize];
            *rank = start + count_in_window(grouped, start, score);
        }
    }

    #[inline(always)]
    fn count_in_windows(&mut self) {
        let (ends, grouped) = (&self.ends[..], &self.grouped[..]);
        for (rank, &score) in self.ranks.iter_mut().zip(&self.scores) {
            let bucket = *rank as usize;
            let (mut start, end) = (ends[bucket], ends[bucket + 1]);
            *rank = start;
            while start < end {
                *rank += count_in_window(grouped, start, score);
                start += WINDOW as u32;
            }
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

/// Counts the numbers in one window from `start` that do not exceed the score.
#[inline(always)]
fn count_in_window<T: Score>(grouped: &[T], start: u32, score: T) -> u32 {
    let window: &[T; WINDOW] = grouped[start as usize..]
        .first_chunk()
        .expect("the groups are padded by one window");
    window.iter().map(|&other| u32::from(other <= score)).sum()
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
