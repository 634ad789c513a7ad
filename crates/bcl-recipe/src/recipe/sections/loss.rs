//! The `[loss]` table.

use super::super::Refusal;
use bcl_core::{
    ContrastiveObjective, EstimatorConfig, ParameterError,
    schedule::{Schedule, Schedules},
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
    ser,
};
use std::fmt;

/// Placeholder of the density until the data are known; any value in range works.
const PLACEHOLDER: f64 = 0.01;
/// The word for the density of the data.
const DENSITY: &str = "density";
/// The key that may have it.
const PRIOR: &str = "tau_plus";
/// The key of the objective.
const OBJECTIVE: &str = "objective";

/// How negatives are weighted: an [`EstimatorConfig`] whose numbers may be [schedules](Schedule), and whose `tau_plus` may be the word
/// `"density"`. The key `objective` says what becomes of the weighted negatives: a [`ContrastiveObjective`], by default `"nce"`.
///
/// The papers use the density of the training interactions as the prior for recommenders: the probability that the user is known to like
/// a random item.
///
/// ```
/// use bcl_recipe::LossConfig;
///
/// let loss: LossConfig = toml::from_str(
///     "kind = 'bayesian'
///      tau_plus = 'density'
///      temperature = { kind = 'linear', start = 0.5, end = 0.1, epochs = 50 }",
/// )
/// .unwrap();
/// let first = loss.estimator(0.05).unwrap();
/// assert_eq!(first.tau_plus(), Some(0.05));
/// assert_eq!(loss.schedules().at(&first, 50).temperature(), 0.1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LossConfig {
    /// The estimator of the first epoch.
    estimator: EstimatorConfig,
    objective: ContrastiveObjective,
    tau_plus_is_density: bool,
    schedules: Schedules,
}

impl LossConfig {
    /// A loss with the estimator's own parameters.
    pub fn new(estimator: EstimatorConfig) -> Self {
        Self {
            estimator,
            objective: ContrastiveObjective::default(),
            tau_plus_is_density: false,
            schedules: Schedules::default(),
        }
    }

    /// What becomes of the weighted negatives.
    pub fn objective(&self) -> ContrastiveObjective {
        self.objective
    }

    /// The estimator of the first epoch, for training interactions of the given density in [0, 1).
    ///
    /// # Errors
    /// Returns an error if a parameter is out of range; for dense data, the density can be 1.
    pub fn estimator(&self, density: f64) -> Result<EstimatorConfig, ParameterError> {
        let estimator = if self.tau_plus_is_density {
            self.estimator.clone().with_tau_plus(density)
        } else {
            self.estimator.clone()
        };
        estimator.check().map(|()| estimator)
    }

    /// Whether `tau_plus` is the density of the interactions.
    pub fn tau_plus_is_density(&self) -> bool {
        self.tau_plus_is_density
    }

    /// The estimator of the first epoch before the data are known; `tau_plus` is a placeholder if it is the density.
    pub fn without_data(&self) -> &EstimatorConfig {
        &self.estimator
    }

    /// The schedules of parameters that are not constant.
    pub fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// Checks every value that a parameter can have in so many epochs.
    ///
    /// # Errors
    /// Returns an error that names the key, its value and the range.
    pub fn check(&self, num_epochs: usize) -> Result<(), Refusal> {
        let Self {
            estimator, objective, ..
        } = self;
        if !objective.supports(estimator) {
            let supported: Vec<&str> = EstimatorConfig::all()
                .iter()
                .filter(|estimator| objective.supports(estimator))
                .map(EstimatorConfig::name)
                .collect();
            return Err(Refusal::new(
                "loss.objective",
                format!(
                    "is \"{}\", which is not defined for loss.kind = \"{}\"; use \"nce\", or one of the kinds {}",
                    objective.name(),
                    estimator.name(),
                    supported.join(", ")
                ),
            ));
        }
        match self.estimator.check() {
            // Of a parameter with a schedule, the schedule has the key to name.
            Err(error) if self.schedules.get(error.name).is_none() => Err(Refusal::of_parameter("loss", &error)),
            _ => {
                let checked = self.schedules.check(&self.estimator, num_epochs);
                checked.map_err(|error| Refusal::of_parameter("loss", &error))
            }
        }
    }

    /// The name of the estimator, with the objective unless it is the default.
    pub fn name(&self) -> String {
        match self.objective {
            ContrastiveObjective::Nce => self.estimator.name().to_owned(),
            objective => format!("{} ({})", self.estimator.name(), objective.name()),
        }
    }

    /// The loss in a few words: its name and its temperature.
    pub fn in_words(&self) -> String {
        let temperature = match self.schedules.get("temperature") {
            Some(schedule) => schedule.to_string(),
            None => self.estimator.temperature().to_string(),
        };
        format!("{}, temperature {temperature}", self.name())
    }
}

impl Serialize for LossConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_nce = self.objective == ContrastiveObjective::default();
        if is_nce && !self.tau_plus_is_density && self.schedules.is_empty() {
            return self.estimator.serialize(serializer);
        }
        let mut table = toml::Table::try_from(&self.estimator).map_err(ser::Error::custom)?;
        if !is_nce {
            table.insert(OBJECTIVE.to_owned(), self.objective.name().into());
        }
        if self.tau_plus_is_density {
            table.insert(PRIOR.to_owned(), DENSITY.into());
        }
        for (key, schedule) in self.schedules.iter() {
            let schedule = toml::Value::try_from(schedule).map_err(ser::Error::custom)?;
            table.insert(key.to_owned(), schedule);
        }
        table.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LossConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LossVisitor)
    }
}

struct LossVisitor;

impl<'de> Visitor<'de> for LossVisitor {
    type Value = LossConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LossConfig, A::Error> {
        let mut given = Given::default();
        let entries = Numbers {
            map,
            key: String::new(),
            given: &mut given,
        };
        let estimator = EstimatorConfig::deserialize(MapAccessDeserializer::new(entries))?;
        Ok(LossConfig {
            estimator,
            objective: given.objective,
            tau_plus_is_density: given.density,
            schedules: given.schedules.into_iter().collect(),
        })
    }
}

/// What a table has beside the estimator's own keys, and in place of numbers.
#[derive(Default)]
struct Given {
    objective: ContrastiveObjective,
    density: bool,
    schedules: Vec<(String, Schedule)>,
}

/// The entries of the table, with numbers in place of schedules and of the word `"density"`.
struct Numbers<'a, A> {
    map: A,
    key: String,
    given: &'a mut Given,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Numbers<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            if key == OBJECTIVE {
                self.given.objective = self.map.next_value()?;
                continue;
            }
            self.key.clone_from(&key);
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(Number {
            seed,
            key: &self.key,
            given: self.given,
        })
    }
}

/// Reads the value of a key as `seed` does, from a number if the recipe has something in its place.
struct Number<'a, S> {
    seed: S,
    key: &'a str,
    given: &'a mut Given,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Number<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Number<'_, S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or the word \"density\"")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<S::Value, E> {
        self.seed.deserialize(value.into_deserializer())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<S::Value, E> {
        self.seed.deserialize(number.into_deserializer())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<S::Value, E> {
        self.seed.deserialize(number.into_deserializer())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<S::Value, E> {
        self.seed.deserialize(number.into_deserializer())
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<S::Value, E> {
        match (self.key, word) {
            (PRIOR, DENSITY) => {
                self.given.density = true;
                self.seed.deserialize(PLACEHOLDER.into_deserializer())
            }
            (PRIOR, _) => Err(E::invalid_value(Unexpected::Str(word), &self)),
            _ => self.seed.deserialize(word.into_deserializer()),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<S::Value, A::Error> {
        self.seed.deserialize(SeqAccessDeserializer::new(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S::Value, A::Error> {
        let schedule = Schedule::deserialize(MapAccessDeserializer::new(map))?;
        let first = schedule.value(0);
        self.given.schedules.push((self.key.to_owned(), schedule));
        self.seed.deserialize(first.into_deserializer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_density_survives_writing_and_reading() {
        for text in [
            "kind = 'bayesian'\ntau_plus = 'density'\nbeta = 0.7",
            "kind = 'hard'\ntau_plus = 0.03",
            "kind = 'info_nce'",
            "kind = 'debiased'\nobjective = 'jsd'\ntau_plus = 'density'",
            "kind = 'hard'\nobjective = 'jsd_official'",
        ] {
            let loss: LossConfig = toml::from_str(text).unwrap();
            let written = toml::to_string(&loss).unwrap();
            assert_eq!(toml::from_str::<LossConfig>(&written).unwrap(), loss, "{written}");
            assert_eq!(written.contains("density"), text.contains("density"));
            assert_eq!(written.contains("jsd"), text.contains("jsd"));
        }
    }

    #[test]
    fn an_objective_without_this_kind_of_weights_is_refused() {
        let check = |text: &str| toml::from_str::<LossConfig>(text).unwrap().check(1);
        let error = check("kind = 'decoupled'\nobjective = 'jsd'").unwrap_err().to_string();
        assert!(error.contains("loss.objective") && error.contains("bayesian"), "{error}");
        assert!(check("kind = 'ring'\nobjective = 'jsd_official'").is_err());
        assert!(check("kind = 'ring'\nobjective = 'jsd'").is_ok());
        let error = toml::from_str::<LossConfig>("kind = 'ring'\nobjective = 'js'").unwrap_err();
        assert!(error.to_string().contains("`nce`, `jsd`"), "{error}");
    }

    #[test]
    fn a_configured_number_does_not_depend_on_the_density() {
        let loss: LossConfig = toml::from_str("kind = 'debiased'\ntau_plus = 0.03").unwrap();
        assert_eq!(loss.estimator(0.5).unwrap().tau_plus(), Some(0.03));
    }

    #[test]
    fn a_density_of_one_is_refused() {
        let loss: LossConfig = toml::from_str("kind = 'debiased'\ntau_plus = 'density'").unwrap();
        assert!(loss.estimator(1.0).unwrap_err().to_string().contains("tau_plus is 1"));
    }

    #[test]
    fn an_estimator_without_a_prior_has_no_density() {
        let error = toml::from_str::<LossConfig>("kind = 'info_nce'\ntau_plus = 'density'").unwrap_err();
        assert!(error.to_string().contains("unknown field `tau_plus`"), "{error}");
    }
}
