//! Synthetic interactions with planted communities, for which the false negatives are known.

use crate::error::shown;
use crate::split::held_out_count;
use crate::{
    DataError, HoldOut, IdMap, InteractionData, Interactions, LoadReport, Seed, Truth, Xoshiro256PlusPlus, split_per_user,
};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Maximum number of users and of items: ten times as many as in the field's largest public data sets.
const MOST_IDS: usize = 10_000_000;

/// Configuration of planted interactions: users and items belong to communities, and a user likes the items of their own.
///
/// The number of interactions of a user is between half and one and a half times `interactions_per_user`. With probability `noise` an
/// interaction is with an item of another community, else with one of the user's own. Within a community the `r`-th most popular item
/// is drawn with probability
///
/// ```text
/// p(r) ∝ r^-skew
/// ```
///
/// so that, as in real data, a few items get most of the interactions.
///
/// The [`Truth`] that comes with the data says which unlabelled items a user likes nevertheless.
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
    /// Number of communities, at least 2, of equal size (up to one item).
    pub num_communities: usize,
    /// Mean number of interactions per user, train and test together: from 4 to a third of the items of a community.
    pub interactions_per_user: usize,
    /// Exponent of the items' popularity, in [0, 2]; with 0, all items of a community are equally popular.
    pub skew: f64,
    /// Fraction of interactions with items of other communities, in [0, 1).
    pub noise: f64,
    /// Fraction of each user's interactions held out for test, in (0, 1).
    pub test_ratio: f64,
    /// Seed of the data.
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
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range.
    pub fn check(&self) -> Result<(), DataError> {
        in_range("num_users", self.num_users, 2, MOST_IDS)?;
        // The smallest number that leaves room for the minimum of four interactions per user.
        in_range("num_items", self.num_items, 24, MOST_IDS)?;
        in_range("num_communities", self.num_communities, 2, self.num_items / 12)?;
        // One and a half times the mean still leaves half of the community, so drawing without repetition stays fast.
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

    /// Generates the data. The same configuration gives the same data on every machine.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn generate(&self) -> InteractionData {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        let seed = Seed(self.seed).named("planted");
        let user_community = self.communities(self.num_users, seed.named("users"));
        let item_community = self.communities(self.num_items, seed.named("items"));
        let popularity = Popularity::new(&item_community, self, seed.named("popularity"));

        let mut pairs = Vec::new();
        // The last user who took each item: replaces one set per user.
        let mut taken_by = vec![u32::MAX; self.num_items];
        for (user, &community) in (0..).zip(&user_community) {
            let mut rng = seed.named("interactions").index(u64::from(user)).rng();
            let half = self.interactions_per_user / 2;
            let least = self.interactions_per_user - half;
            for _ in 0..rng.random_range(least..=least + 2 * half) {
                // Drawn only once per interaction. Redrawing it along with a repeated item would favour the other communities.
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
            report: LoadReport::default(),
            hold_out: HoldOut::default(),
        }
    }

    /// The user's own community or, with probability `noise`, another one.
    fn community_of_interaction(&self, own: u32, rng: &mut Xoshiro256PlusPlus) -> usize {
        let own = own as usize;
        if rng.random::<f64>() < self.noise {
            (own + rng.random_range(1..self.num_communities)) % self.num_communities
        } else {
            own
        }
    }

    /// Assigns communities of equal size (up to one) in random order.
    fn communities(&self, count: usize, seed: Seed) -> Vec<u32> {
        let mut communities: Vec<u32> = (0..count).map(|i| (i % self.num_communities) as u32).collect();
        communities.shuffle(&mut seed.rng());
        communities
    }
}

/// The items of each community, most popular first, and their distribution.
struct Popularity {
    items: Vec<Vec<u32>>,
    /// Cumulative sums of `r^-skew`, as long as the largest community.
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

    /// Draws an item of `community`.
    fn draw(&self, community: usize, rng: &mut Xoshiro256PlusPlus) -> u32 {
        let items = &self.items[community];
        let cumulative = &self.cumulative[..items.len()];
        let target = rng.random::<f64>() * cumulative[items.len() - 1];
        let rank = cumulative.partition_point(|&sum| sum <= target);
        // Rounding may put the target past the last sum.
        items[rank.min(items.len() - 1)]
    }
}

pub(crate) fn in_range(name: &'static str, value: usize, low: usize, high: usize) -> Result<(), DataError> {
    holds(name, value, (low..=high).contains(&value), &format!("[{low}, {high}]"))
}

pub(crate) fn holds(name: &'static str, value: impl std::fmt::Display, holds: bool, range: &str) -> Result<(), DataError> {
    if holds {
        return Ok(());
    }
    Err(DataError::out_of_range(format!("data.planted.{name}"), value, range))
}

#[cfg(test)]
mod tests;
