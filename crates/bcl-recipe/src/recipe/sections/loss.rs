//! The `[loss]` table.

use super::super::Refusal;
use bcl_core::{
    ContrastiveObjective, EstimatorConfig, PositiveUnlabelledFloor,
    prior::{balanced_classes, suggested_beta},
    schedule::{Moment, Schedule, Schedules},
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

/// The word for the density of interactions.
const DENSITY: &str = "density";
/// The word for what follows from the number of classes.
const CLASSES: &str = "classes";
/// The key of the prior, and of the hardness of the Bayesian loss.
const PRIOR: &str = "tau_plus";
const HARDNESS: &str = "beta";
/// The key of the objective.
const OBJECTIVE: &str = "objective";

/// What the words of a [`LossConfig`] are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DataFacts {
    /// Share of all pairs of user and item that are training interactions, in [0, 1]; `None` for images and graphs.
    pub density: Option<f64>,
    /// Number of classes of the training samples; `None` for interactions, and without labels.
    pub num_classes: Option<usize>,
}

impl DataFacts {
    /// The facts of interactions of this density.
    pub fn of_density(density: f64) -> Self {
        Self {
            density: Some(density),
            num_classes: None,
        }
    }

    /// The facts of images or graphs, with labels of so many classes or without.
    pub fn of_classes(num_classes: Option<usize>) -> Self {
        Self {
            density: None,
            num_classes,
        }
    }
}

/// A word in place of a number, which the data of a run replace.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    /// `tau_plus = "density"`.
    Density,
    /// `tau_plus = "classes"`.
    PriorOfClasses,
    /// `beta = "classes"`.
    HardnessOfClasses,
}

impl Word {
    fn of(key: &str, word: &str) -> Option<Self> {
        match (key, word) {
            (PRIOR, DENSITY) => Some(Self::Density),
            (PRIOR, CLASSES) => Some(Self::PriorOfClasses),
            (HARDNESS, CLASSES) => Some(Self::HardnessOfClasses),
            _ => None,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Density | Self::PriorOfClasses => PRIOR,
            Self::HardnessOfClasses => HARDNESS,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Density => DENSITY,
            Self::PriorOfClasses | Self::HardnessOfClasses => CLASSES,
        }
    }

    /// The number until the data are known; any in range works.
    fn placeholder(self) -> f64 {
        match self {
            Self::Density | Self::PriorOfClasses => 0.01,
            Self::HardnessOfClasses => 0.9,
        }
    }

    fn value(self, data: DataFacts) -> Option<f64> {
        match self {
            Self::Density => data.density,
            Self::PriorOfClasses => data.num_classes.map(balanced_classes),
            Self::HardnessOfClasses => data.num_classes.map(suggested_beta),
        }
    }
}

/// How negatives are weighted: an [`EstimatorConfig`] whose numbers may be [schedules](Schedule) or words. The key `objective` says what becomes of the
/// weighted negatives: a [`ContrastiveObjective`], by default `"nce"`.
///
/// The words are those of the papers: `tau_plus = "density"` is the probability that a user is known to like a random item. With C classes, `tau_plus =
/// "classes"` is 1/C, and `beta = "classes"` of the Bayesian loss is 1 - 1/C.
///
/// ```
/// use bcl_core::schedule::Moment;
/// use bcl_recipe::{DataFacts, LossConfig};
///
/// let loss: LossConfig = toml::from_str(
///     "kind = 'bayesian'
///      tau_plus = 'density'
///      temperature = { kind = 'linear', start = 0.5, end = 0.1, epochs = 50 }",
/// )
/// .unwrap();
/// let first = loss.estimator(DataFacts::of_density(0.05)).unwrap();
/// assert_eq!(first.tau_plus(), Some(0.05));
/// assert_eq!(loss.schedules().at(&first, Moment::in_epoch(50)).temperature(), 0.1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LossConfig {
    /// The estimator of the first epoch.
    estimator: EstimatorConfig,
    objective: ContrastiveObjective,
    words: Vec<Word>,
    schedules: Schedules,
}

impl LossConfig {
    /// A loss with the estimator's own parameters.
    pub fn new(estimator: EstimatorConfig) -> Self {
        Self {
            estimator,
            objective: ContrastiveObjective::default(),
            words: Vec::new(),
            schedules: Schedules::default(),
        }
    }

    /// What becomes of the weighted negatives.
    pub fn objective(&self) -> ContrastiveObjective {
        self.objective
    }

    /// The estimator of the first epoch, with numbers from the data in place of words.
    ///
    /// # Errors
    /// Returns an error if the data do not have what a word stands for, or if a parameter is out of range: the density of dense data can be 1.
    pub fn estimator(&self, data: DataFacts) -> Result<EstimatorConfig, Refusal> {
        let mut estimator = self.estimator.clone();
        for word in &self.words {
            let value = word.value(data).ok_or_else(|| Self::without_meaning(*word))?;
            estimator.set_parameter(word.key(), value);
        }
        let checked = estimator.check().map_err(|error| Refusal::of_parameter("loss", &error));
        checked.map(|()| estimator)
    }

    /// Refuses words that have no meaning for interactions (`has_density`), or for images and graphs.
    ///
    /// # Errors
    /// Returns an error that names the key, the word, and what to write instead.
    pub fn check_words(&self, has_density: bool) -> Result<(), Refusal> {
        let has_meaning = |word: &&Word| (**word == Word::Density) == has_density;
        match self.words.iter().find(|word| !has_meaning(word)) {
            None => Ok(()),
            Some(word) => Err(Self::without_meaning(*word)),
        }
    }

    fn without_meaning(word: Word) -> Refusal {
        let problem = match word {
            Word::Density => {
                "is \"density\", which images and graphs do not have; write \"classes\", or give the share of samples that have the anchor's class, such \
                 as 0.1 for ten classes of equal size"
            }
            Word::PriorOfClasses => {
                "is \"classes\", but the training data have no classes; give the share of negatives that are false, such as 0.1, or for interactions \
                 \"density\""
            }
            Word::HardnessOfClasses => {
                "is \"classes\", but the training data have no classes; give a number in [0, 1], such as 0.9"
            }
        };
        Refusal::new(format!("loss.{}", word.key()), problem)
    }

    /// The estimator of the first epoch before the data are known, with placeholders for words.
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
        if *objective != ContrastiveObjective::default() && estimator.parameter("num_negatives").is_some() {
            return Err(Refusal::new(
                "loss.num_negatives",
                format!(
                    "does not apply to loss.objective = \"{}\", which takes means over the negatives; remove it",
                    objective.name()
                ),
            ));
        }
        if *objective != ContrastiveObjective::default()
            && let EstimatorConfig::PositiveUnlabelled(loss) = estimator
            && loss.floor == PositiveUnlabelledFloor::Printed
        {
            return Err(Refusal::new(
                "loss.floor",
                format!(
                    "does not apply to loss.objective = \"{}\", whose floor is 0; remove it",
                    objective.name()
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
        if is_nce && self.words.is_empty() && self.schedules.is_empty() {
            return self.estimator.serialize(serializer);
        }
        let mut table = toml::Table::try_from(&self.estimator).map_err(ser::Error::custom)?;
        if !is_nce {
            table.insert(OBJECTIVE.to_owned(), self.objective.name().into());
        }
        for word in &self.words {
            table.insert(word.key().to_owned(), word.word().into());
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
        let is_bayesian = matches!(estimator, EstimatorConfig::Bayesian(_));
        if given.words.contains(&Word::HardnessOfClasses) && !is_bayesian {
            return Err(<A::Error as de::Error>::custom(format!(
                "beta = \"classes\" is the hardness of loss.kind \"bayesian\", not of \"{}\"; give a number",
                estimator.name()
            )));
        }
        Ok(LossConfig {
            estimator,
            objective: given.objective,
            words: given.words,
            schedules: given.schedules.into_iter().collect(),
        })
    }
}

/// What a table has beside the estimator's own keys, and in place of numbers.
#[derive(Default)]
struct Given {
    objective: ContrastiveObjective,
    words: Vec<Word>,
    schedules: Vec<(String, Schedule)>,
}

/// The entries of the table, with numbers in place of schedules and of words.
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
        match self.key {
            HARDNESS => f.write_str("a number or the word \"classes\""),
            _ => f.write_str("a number or one of the words \"density\" and \"classes\""),
        }
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
        match Word::of(self.key, word) {
            Some(word) => {
                self.given.words.push(word);
                self.seed.deserialize(word.placeholder().into_deserializer())
            }
            None if [PRIOR, HARDNESS].contains(&self.key) => Err(E::invalid_value(Unexpected::Str(word), &self)),
            None => self.seed.deserialize(word.into_deserializer()),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<S::Value, A::Error> {
        self.seed.deserialize(SeqAccessDeserializer::new(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S::Value, A::Error> {
        let schedule = Schedule::deserialize(MapAccessDeserializer::new(map))?;
        let first = schedule.value(Moment::default());
        self.given.schedules.push((self.key.to_owned(), schedule));
        self.seed.deserialize(first.into_deserializer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_classes_stand_for_one_over_their_number() {
        let loss: LossConfig = toml::from_str("kind = 'bayesian'\ntau_plus = 'classes'\nbeta = 'classes'").unwrap();
        let estimator = loss.estimator(DataFacts::of_classes(Some(4))).unwrap();
        assert_eq!((estimator.tau_plus(), estimator.parameter("beta")), (Some(0.25), Some(0.75)));
        let error = loss.estimator(DataFacts::default()).unwrap_err().to_string();
        assert!(
            error.contains("is \"classes\", but the training data have no classes"),
            "{error}"
        );
        assert!(loss.check_words(true).is_err() && loss.check_words(false).is_ok());
        let error = toml::from_str::<LossConfig>("kind = 'hard'\nbeta = 'classes'").unwrap_err();
        assert!(error.to_string().contains("not of \"hard\""), "{error}");
    }

    #[test]
    fn words_survive_writing_and_reading() {
        for text in [
            "kind = 'bayesian'\ntau_plus = 'density'\nbeta = 0.7",
            "kind = 'hard'\ntau_plus = 0.03",
            "kind = 'info_nce'",
            "kind = 'debiased'\nobjective = 'jsd'\ntau_plus = 'density'",
            "kind = 'bayesian'\ntau_plus = 'classes'\nbeta = 'classes'",
            "kind = 'hard'\nobjective = 'jsd_official'",
        ] {
            let loss: LossConfig = toml::from_str(text).unwrap();
            let written = toml::to_string(&loss).unwrap();
            assert_eq!(toml::from_str::<LossConfig>(&written).unwrap(), loss, "{written}");
            assert_eq!(written.contains("density"), text.contains("density"));
            assert_eq!(written.matches("classes").count(), text.matches("classes").count());
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
        assert_eq!(loss.estimator(DataFacts::of_density(0.5)).unwrap().tau_plus(), Some(0.03));
    }

    #[test]
    fn a_density_of_one_is_refused() {
        let loss: LossConfig = toml::from_str("kind = 'debiased'\ntau_plus = 'density'").unwrap();
        assert!(
            loss.estimator(DataFacts::of_density(1.0))
                .unwrap_err()
                .to_string()
                .contains("tau_plus is 1")
        );
    }

    #[test]
    fn an_estimator_without_a_prior_has_no_density() {
        let error = toml::from_str::<LossConfig>("kind = 'info_nce'\ntau_plus = 'density'").unwrap_err();
        assert!(error.to_string().contains("unknown field `tau_plus`"), "{error}");
    }
}
