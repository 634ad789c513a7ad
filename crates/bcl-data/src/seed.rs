//! Counter-based seeds: from one seed per run, every random choice derives its own stream by name and index.
//!
//! If a generator is passed along, every draw depends on the ones before it, so another number of workers, or an interruption, changes
//! the result. A fresh seed derived from (name, index) avoids that: the negatives of step 17 are the same no matter who draws them, and
//! when.

use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

pub use rand_xoshiro::Xoshiro256PlusPlus;

/// A seed, from which further seeds are derived by [name](Seed::named) and by [index](Seed::index).
///
/// ```
/// use bcl_data::Seed;
///
/// let run = Seed(3);
/// let negatives_of_step_17 = run.named("negatives").index(17);
/// assert_eq!(negatives_of_step_17, Seed(3).named("negatives").index(17));
/// assert_ne!(negatives_of_step_17, run.named("order").index(17));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

/// Separates seeds derived by name from those derived by index.
const NAME_DOMAIN: u64 = 0x6e61_6d65_2073_6565;
/// 2^64 divided by the golden ratio: the increment of `SplitMix64`.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Seed {
    /// Derives a seed for the random choice called `name`.
    pub fn named(self, name: &str) -> Seed {
        let start = mix(self.0 ^ NAME_DOMAIN);
        let hash = name
            .bytes()
            .fold(start, |hash, byte| mix(hash.wrapping_add(GOLDEN) ^ u64::from(byte)));
        Seed(mix(hash ^ name.len() as u64))
    }

    /// Derives the `i`-th seed of a sequence, for example for a step, an epoch or a user.
    pub fn index(self, i: u64) -> Seed {
        Seed(mix(mix(self.0.wrapping_add(GOLDEN)) ^ mix(i)))
    }

    /// Creates a generator from this seed.
    pub fn rng(self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.0)
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014): a bijection in which every input bit affects every output bit.
#[inline]
pub(crate) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::HashSet;

    #[test]
    fn derived_seeds_do_not_collide() {
        let names = ["", "a", "b", "ab", "ba", "init", "order", "negatives"];
        let mut seen = HashSet::new();
        for run in 0..50 {
            for name in names {
                let named = Seed(run).named(name);
                assert!(seen.insert(named), "{run} {name}");
                for i in 0..50 {
                    assert!(seen.insert(named.index(i)), "{run} {name} {i}");
                }
            }
        }
    }

    #[test]
    fn the_boundary_between_names_matters() {
        assert_ne!(Seed(0).named("ab"), Seed(0).named("a").named("b"));
    }

    #[test]
    fn order_of_derivation_matters() {
        assert_ne!(Seed(0).index(1).index(2), Seed(0).index(2).index(1));
        assert_ne!(Seed(0).index(1), Seed(1).index(0));
    }

    #[test]
    fn the_first_draws_of_neighbouring_seeds_are_spread_evenly() {
        let mean = (0..4000)
            .map(|i| Seed(0).named("step").index(i).rng().random::<f64>())
            .sum::<f64>()
            / 4000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    /// Changing this constant would change every published run.
    #[test]
    fn derivation_is_frozen() {
        assert_eq!(Seed(0).named("negatives").index(17), Seed(16_651_468_879_064_992_045));
    }
}
