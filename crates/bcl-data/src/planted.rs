//! Interactions with planted communities, so that false negatives are known.

use crate::error::shown;
use crate::split::held_out_count;
use crate::{DataError, IdMap, InteractionData, Interactions, Seed, Truth, Xoshiro256PlusPlus, split_per_user};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// The most users, and items: ten times those of the largest public data sets of the field.
const MOST_IDS: usize = 10_000_000;

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
    /// Number of users, 2 to 10,000,000.
    pub num_users: usize,
    /// Number of items, 24 to 10,000,000.
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
        in_range("num_users", self.num_users, 2, MOST_IDS)?;
        // The smallest that leaves room for the four interactions a user has at least.
        in_range("num_items", self.num_items, 24, MOST_IDS)?;
        in_range("num_communities", self.num_communities, 2, self.num_items / 12)?;
        // At one and a half times the mean, half of the community is left: drawing without repeats stays fast.
        let most = self.num_items / self.num_communities / 3;
        in_range("interactions_per_user", self.interactions_per_user, 4, most)?;

        holds("skew", shown(self.skew), (0.0..=2.0).contains(&self.skew), "[0, 2]")?;
        holds("noise", shown(self.noise), (0.0..1.0).contains(&self.noise), "[0, 1)")?;
        let test = self.test_ratio;
        let least = self.interactions_per_user - self.interactions_per_user / 2;
        let smallest = 0.5 / least as f64;
        holds(
            "test_ratio",
            shown(test),
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
            let least = self.interactions_per_user - half;
            for _ in 0..rng.random_range(least..=least + 2 * half) {
                // Chosen once: were it drawn again with a repeated item, the small own community would lose to the others.
                let community = self.community_of_interaction(community, &mut rng);
                let item = loop {
                    let item = popularity.draw(community, &mut rng);
                    if taken_by[item as usize] != user {
                        break item;
                    }
                };
                taken_by[item as usize] = user;
                pairs.push((user, item));
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

    /// The own community of a user, or another one where noise has it so.
    fn community_of_interaction(&self, own: u32, rng: &mut Xoshiro256PlusPlus) -> usize {
        let own = own as usize;
        if rng.random::<f64>() < self.noise {
            (own + rng.random_range(1..self.num_communities)) % self.num_communities
        } else {
            own
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

    /// An item of `community`.
    fn draw(&self, community: usize, rng: &mut Xoshiro256PlusPlus) -> u32 {
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
mod tests;
