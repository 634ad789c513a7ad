//! The ranks of one row, by buckets.
//!
//! A line through the smallest and the largest score sends each score to one of about two buckets a score. The map never decreases,
//! so a score's rank is the number of scores in lower buckets plus those in its own bucket that do not exceed it. Eight numbers
//! from the bucket's first on are compared at once: whatever lies beyond the bucket is larger and adds nothing, so there is no branch
//! to mispredict. Ties and `-0.0 = 0.0` come right by comparing. Rows that crowd into few buckets are sorted instead, which bounds the
//! work at `O(N log N)` whatever the scores are.

use crate::cpu::Value;

/// The largest bucket for which comparing beats sorting the row.
const CROWDED: u32 = 32;

/// More buckets would not fit into the fraction of a single precision number.
const MOST_BUCKETS: usize = 1 << 22;

/// How many numbers one comparison takes; the sorted scores are padded by as many.
const WINDOW: usize = 4;

/// What ranking needs to know of a type of float.
pub(crate) trait Score: Value {
    const INFINITY: Self;
    const NAN: Self;
    /// Orders as the score does, then by index.
    type Key: Ord + Copy + Default;

    fn is_finite(self) -> bool;
    /// The number itself, with NaN as `+∞`.
    fn or_infinite(self) -> Self;
    /// The slope that spreads `low..=high` over `0..=last`; positive whatever the arguments.
    fn slope(low: Self, high: Self, last: u32) -> Self;
    /// `(self - low) · slope`, rounded and kept within `0..=last`; `last` is below `MOST_BUCKETS`.
    fn bucket(self, low: Self, slope: Self, last: u32) -> u32;
    fn key(self, index: u32) -> Self::Key;
    fn index(key: Self::Key) -> u32;
    fn tied(left: Self::Key, right: Self::Key) -> bool;
}

macro_rules! score {
    ($float:ident, $bits:ty, $signed:ty, $key:ty) => {
        #[allow(clippy::cast_lossless, reason = "f32, unlike f64, does not hold every u32")]
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
                // A range beyond the largest float has slope 0, and 0 · ∞ would lose the order.
                (last as $float / (high - low)).max($float::MIN_POSITIVE)
            }

            #[inline(always)]
            fn bucket(self, low: Self, slope: Self, last: u32) -> u32 {
                const FRACTION: u32 = $float::MANTISSA_DIGITS - 1;
                let position = (self - low) * slope;
                // NaN, from 0 · ∞ or ∞ - ∞, fails the comparison and joins the lowest scores, where it belongs.
                let position = if position > 0.0 { position } else { 0.0 };
                let position = if position < last as $float { position } else { last as $float };
                // From here on floats are whole numbers, so the sum holds the rounded position in its low bits.
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

/// Ranks rows, one after another, in memory it keeps.
#[derive(Default)]
pub(crate) struct Ranker<T: Score> {
    scores: Vec<T>,
    /// The bucket of each score, then its rank.
    ranks: Vec<u32>,
    /// The scores by bucket, in no order inside one.
    grouped: Vec<T>,
    /// Where each bucket of `grouped` ends, after a leading zero.
    ends: Vec<u32>,
    keys: Vec<T::Key>,
}

impl<T: Score> Ranker<T> {
    /// `#{ j : row[j] <= row[i] }` for each `i`.
    ///
    /// # Panics
    /// When the row has more than `u32::MAX` scores.
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
        // Plain slices: the compiler cannot see that writing through one vector leaves the length of the next alone.
        let (scores, buckets) = (&self.scores[..], &mut self.ranks[..]);
        let (ends, grouped) = (&mut self.ends[..], &mut self.grouped[..]);

        let (low, high) = finite_range(scores);
        let slope = T::slope(low, high, last);
        for (bucket, &score) in buckets.iter_mut().zip(scores) {
            *bucket = score.bucket(low, slope, last);
        }
        // A bucket is counted two places up, so that the running total finds its start one place up, ...
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

    /// Sorts the scores with their indices; each run of equal scores takes the rank of its last.
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

/// How many of the numbers from `start` on, within one window, do not exceed the score.
#[inline(always)]
fn count_in_window<T: Score>(grouped: &[T], start: u32, score: T) -> u32 {
    let window: &[T; WINDOW] = grouped[start as usize..]
        .first_chunk()
        .expect("the groups are padded by one window");
    window.iter().map(|&other| u32::from(other <= score)).sum()
}

/// The smallest and the largest finite score, or `(∞, -∞)` when there is none.
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
