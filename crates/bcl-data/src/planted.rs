//! Interactions with planted communities, so that false negatives are known.

use crate::split::held_out_count;
use crate::{DataError, IdMap, InteractionData, Interactions, Seed, Truth, Xoshiro256PlusPlus, split_per_user};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Describes planted interactions: users and items belong to communities, and a user likes the items of the own one.
///
/// Each user has between half and one and a half times `interactions_per_user` interactions. Each of them is, with probability
/// `noise`, with an item of another community, else with one of the own; within a community the `r`-th most popular item is
/// drawn with
///
/// ```text
/// p(r) ∝ r^-skew
/// ```
///
/// so that, as in collected data, a few items gather most of the interactions.
///
/// The [`Truth`] that comes with the data tells which unlabelled items a user likes all the same.
///
/// ```
/// use bcl_data::PlantedConfig;
///
/// let data = PlantedConfig { num_users: 50, seed: 7, ..PlantedConfig::default() }.generate();
/// let truth = data.truth.expect("planted data knows its truth");
/// let liked = (0..800).filter(|&item| truth.same_class(0, item)).count();
/// assert_eq!(liked, 100); // 800 items in 8 communities
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlantedConfig {
    /// Number of users, at least 2.
    pub num_users: usize,
    /// Number of items.
    pub num_items: usize,
    /// Number of communities, at least 2; each has as many items as the others, give or take one.
    pub num_communities: usize,
    /// Mean number of interactions a user, train and test together: from 4 to a third of the items of a community.
    pub interactions_per_user: usize,
    /// Exponent of the items' popularity, in [0, 2]; 0 makes all items of a community equally popular.
    pub skew: f64,
    /// Share of interactions with items of other communities, in [0, 1).
    pub noise: f64,
    /// Share of each user's interactions that is held out for test, in (0, 1).
    pub test_ratio: f64,
    /// Which data it is.
    pub seed: u64,
}

impl Default for PlantedConfig {
    fn default() -> Self {
        Self {
            num_users: 600,
            num_items: 800,
            num_communities: 8,
            interactions_per_user: 30,
            skew: 0.8,
            noise: 0.1,
            test_ratio: 0.2,
            seed: 0,
        }
    }
}

impl PlantedConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first field that is out of range.
    pub fn check(&self) -> Result<(), DataError> {
        let most_items = u32::MAX as usize;
        in_range("num_users", self.num_users, 2, most_items)?;
        // The smallest that leaves room for the four interactions a user has at least.
        in_range("num_items", self.num_items, 24, most_items)?;
        in_range("num_communities", self.num_communities, 2, self.num_items / 12)?;
        // At one and a half times the mean, half of the community is left: drawing without repeats stays fast.
        let most = self.num_items / self.num_communities / 3;
        in_range("interactions_per_user", self.interactions_per_user, 4, most)?;

        holds("skew", self.skew, (0.0..=2.0).contains(&self.skew), "[0, 2]")?;
        holds("noise", self.noise, (0.0..1.0).contains(&self.noise), "[0, 1)")?;
        let test = self.test_ratio;
        let least = self.interactions_per_user - self.interactions_per_user / 2;
        let smallest = 0.5 / least as f64;
        holds(
            "test_ratio",
            test,
            test > 0.0 && test < 1.0 && held_out_count(least, test) > 0,
            &format!("[{smallest:.4}, 1), so that every user has a test item"),
        )
    }

    /// Draws the data: the same for the same configuration, on every machine.
    ///
    /// # Panics
    /// If [`check`](Self::check) fails.
    pub fn generate(&self) -> InteractionData {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        let seed = Seed(self.seed).named("planted");
        let user_community = self.communities(self.num_users, seed.named("users"));
        let item_community = self.communities(self.num_items, seed.named("items"));
        let popularity = Popularity::new(&item_community, self, seed.named("popularity"));

        let mut pairs = Vec::new();
        // The user who had the item last: what a set a user would say, without the sets.
        let mut taken_by = vec![u32::MAX; self.num_items];
        for (user, &community) in (0..).zip(&user_community) {
            let mut rng = seed.named("interactions").index(u64::from(user)).rng();
            let half = self.interactions_per_user / 2;
            let mut missing = rng.random_range(self.interactions_per_user - half..=self.interactions_per_user + half);
            while missing > 0 {
                let item = popularity.draw(community, self.noise, &mut rng);
                if taken_by[item as usize] != user {
                    taken_by[item as usize] = user;
                    pairs.push((user, item));
                    missing -= 1;
                }
            }
        }

        let all = Interactions::from_pairs(self.num_users, self.num_items, pairs);
        let (train, test) = split_per_user(&all, self.test_ratio, seed.named("test"));
        let truth = Truth::new(user_community, item_community, &train);
        InteractionData {
            name: "planted".into(),
            train,
            test,
            users: IdMap::numbered(self.num_users),
            items: IdMap::numbered(self.num_items),
            truth: Some(truth),
        }
    }

    /// Communities of equal size, give or take one, in random order.
    fn communities(&self, count: usize, seed: Seed) -> Vec<u32> {
        let mut communities: Vec<u32> = (0..count).map(|i| (i % self.num_communities) as u32).collect();
        communities.shuffle(&mut seed.rng());
        communities
    }
}

/// The items of each community, most popular first, and what to draw them by.
struct Popularity {
    items: Vec<Vec<u32>>,
    /// Running sums of `r^-skew`, as long as the largest community.
    cumulative: Vec<f64>,
}

impl Popularity {
    fn new(item_community: &[u32], config: &PlantedConfig, seed: Seed) -> Self {
        let mut order: Vec<u32> = (0..item_community.len() as u32).collect();
        order.shuffle(&mut seed.rng());
        let mut items = vec![Vec::new(); config.num_communities];
        for item in order {
            items[item_community[item as usize] as usize].push(item);
        }
        let largest = items.iter().map(Vec::len).max().unwrap_or(0);
        let cumulative = (1..=largest)
            .scan(0.0, |sum, rank| {
                *sum += (rank as f64).powf(-config.skew);
                Some(*sum)
            })
            .collect();
        Self { items, cumulative }
    }

    /// An item for a user of `community`.
    fn draw(&self, community: u32, noise: f64, rng: &mut Xoshiro256PlusPlus) -> u32 {
        let mut community = community as usize;
        if rng.random::<f64>() < noise {
            let step = rng.random_range(1..self.items.len());
            community = (community + step) % self.items.len();
        }
        let items = &self.items[community];
        let cumulative = &self.cumulative[..items.len()];
        let target = rng.random::<f64>() * cumulative[items.len() - 1];
        let rank = cumulative.partition_point(|&sum| sum <= target);
        // Rounding may put the target at the very end.
        items[rank.min(items.len() - 1)]
    }
}

fn in_range(name: &'static str, value: usize, low: usize, high: usize) -> Result<(), DataError> {
    holds(name, value, (low..=high).contains(&value), &format!("[{low}, {high}]"))
}

fn holds(name: &'static str, value: impl ToString, holds: bool, range: &str) -> Result<(), DataError> {
    if holds {
        return Ok(());
    }
    Err(DataError::OutOfRange {
        name: format!("data.planted.{name}"),
        value: value.to_string(),
        range: range.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> PlantedConfig {
        PlantedConfig::default()
    }

    /// Train and test together.
    fn all(data: &InteractionData) -> Interactions {
        data.train.union(&data.test)
    }

    #[test]
    fn equal_configurations_give_equal_data_and_seeds_matter() {
        assert_eq!(config().generate(), config().generate());
        assert_ne!(config().generate(), PlantedConfig { seed: 1, ..config() }.generate());
    }

    #[test]
    fn users_have_the_number_of_interactions_asked_for() {
        let data = all(&config().generate());
        let sizes: Vec<usize> = (0..600).map(|user| data.items_of(user).len()).collect();
        assert!(sizes.iter().all(|size| (15..=45).contains(size)));
        let mean = data.len() as f64 / 600.0;
        // Uniform from 15 to 45: the mean of 600 has a standard deviation of 0.36.
        assert!((mean - 30.0).abs() < 1.5, "{mean}");
    }

    #[test]
    fn the_share_of_other_communities_is_the_noise() {
        for noise in [0.0, 0.1, 0.5] {
            let data = PlantedConfig {
                noise,
                skew: 0.0,
                ..config()
            }
            .generate();
            let truth = data.truth.as_ref().unwrap();
            let all = all(&data);
            let others = all.pairs().filter(|&(user, item)| !truth.same_class(user, item)).count();
            let share = others as f64 / all.len() as f64;
            // Repeats are drawn again, and more of them fall into the own, smaller community: noise 0.1 becomes 0.12.
            assert!((share - noise).abs() < 0.1 * noise.max(0.3), "{noise}: {share}");
            assert_eq!(others == 0, noise == 0.0);
        }
    }

    #[test]
    fn skew_makes_few_items_gather_most_interactions() {
        let share_of_top_tenth = |skew| {
            let mut counts = all(&PlantedConfig { skew, ..config() }.generate()).item_counts();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            f64::from(counts[..80].iter().sum::<u32>()) / f64::from(counts.iter().sum::<u32>())
        };
        assert!(share_of_top_tenth(0.0) < 0.18);
        assert!(share_of_top_tenth(1.0) > 0.25);
    }

    #[test]
    fn every_user_has_train_and_test_items() {
        let data = config().generate();
        for user in 0..600 {
            assert!(!data.train.items_of(user).is_empty() && !data.test.items_of(user).is_empty());
        }
    }

    #[test]
    fn mean_tau_plus_is_near_the_share_of_one_community() {
        let truth = config().generate().truth.unwrap();
        // An eighth of the items is liked, of which a fifth or so is known.
        assert!((0.09..0.125).contains(&truth.mean_tau_plus()), "{}", truth.mean_tau_plus());
    }

    #[test]
    fn the_largest_setting_that_passes_the_check_ends() {
        let extreme = PlantedConfig {
            num_users: 20,
            interactions_per_user: 33,
            skew: 2.0,
            noise: 0.99,
            test_ratio: 0.99,
            ..config()
        };
        assert!(all(&extreme.generate()).len() > 20 * 16);
        let smallest = PlantedConfig {
            num_users: 2,
            num_items: 24,
            num_communities: 2,
            interactions_per_user: 4,
            test_ratio: 0.25,
            ..config()
        };
        assert!(smallest.generate().test.len() >= 2);
    }

    #[test]
    fn settings_out_of_range_are_named_with_their_range() {
        let cases = [
            (
                PlantedConfig {
                    num_users: 1,
                    ..config()
                },
                "data.planted.num_users is 1",
            ),
            (
                PlantedConfig {
                    num_items: 5,
                    ..config()
                },
                "data.planted.num_items is 5",
            ),
            (
                PlantedConfig {
                    num_communities: 1,
                    ..config()
                },
                "data.planted.num_communities is 1",
            ),
            (
                PlantedConfig {
                    num_communities: 0,
                    ..config()
                },
                "[2, 66]",
            ),
            (
                PlantedConfig {
                    interactions_per_user: 34,
                    ..config()
                },
                "data.planted.interactions_per_user is 34, but must lie in [4, 33]",
            ),
            (PlantedConfig { skew: -0.1, ..config() }, "data.planted.skew is -0.1"),
            (
                PlantedConfig {
                    skew: f64::NAN,
                    ..config()
                },
                "data.planted.skew is NaN",
            ),
            (PlantedConfig { noise: 1.0, ..config() }, "data.planted.noise is 1"),
            (
                PlantedConfig {
                    test_ratio: 0.01,
                    ..config()
                },
                "data.planted.test_ratio is 0.01",
            ),
            (
                PlantedConfig {
                    test_ratio: 1.0,
                    ..config()
                },
                "data.planted.test_ratio is 1",
            ),
        ];
        for (config, text) in cases {
            let error = config.check().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        let error = toml::from_str::<PlantedConfig>("num_user = 3").unwrap_err();
        assert!(error.to_string().contains("num_user"), "{error}");
    }
}
