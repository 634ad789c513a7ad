//! The `[loss]` table.

use bcl_core::{EstimatorConfig, ParameterError};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeSeed, IntoDeserializer, MapAccess, Unexpected, Visitor, value::MapAccessDeserializer},
    ser,
};
use std::fmt;

/// Placeholder of the density until the data are known; any value in range works.
const PLACEHOLDER: f64 = 0.01;
/// The word for the density of the data.
const DENSITY: &str = "density";

/// How negatives are weighted: an [`EstimatorConfig`] whose `tau_plus` may be the word `"density"`.
///
/// The papers use the density of the training interactions as the prior for recommenders: the probability that the user is known to like
/// a random item.
///
/// ```
/// use bcl_train::recipe::LossConfig;
///
/// let loss: LossConfig = toml::from_str("kind = 'bayesian'\ntau_plus = 'density'").unwrap();
/// assert_eq!(loss.estimator(0.05).unwrap().tau_plus(), Some(0.05));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LossConfig {
    estimator: EstimatorConfig,
    tau_plus_is_density: bool,
}

impl LossConfig {
    /// A loss with the estimator's own parameters.
    pub fn new(estimator: EstimatorConfig) -> Self {
        Self {
            estimator,
            tau_plus_is_density: false,
        }
    }

    /// The estimator, for training interactions of the given density in [0, 1).
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

    /// The estimator before the data are known; `tau_plus` is a placeholder if it is the density.
    pub fn without_data(&self) -> &EstimatorConfig {
        &self.estimator
    }
}

impl Serialize for LossConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.tau_plus_is_density {
            return self.estimator.serialize(serializer);
        }
        let mut table = toml::Table::try_from(&self.estimator).map_err(ser::Error::custom)?;
        table.insert("tau_plus".to_owned(), DENSITY.into());
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
        let mut tau_plus_is_density = false;
        let entries = Numbers {
            map,
            at_tau_plus: false,
            tau_plus_is_density: &mut tau_plus_is_density,
        };
        let estimator = EstimatorConfig::deserialize(MapAccessDeserializer::new(entries))?;
        Ok(LossConfig {
            estimator,
            tau_plus_is_density,
        })
    }
}

/// The entries of the table, with a number in place of the word `"density"`.
struct Numbers<'a, A> {
    map: A,
    at_tau_plus: bool,
    tau_plus_is_density: &'a mut bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Numbers<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.map.next_key::<String>()? else {
            return Ok(None);
        };
        self.at_tau_plus = key == "tau_plus";
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        if !self.at_tau_plus {
            return self.map.next_value_seed(seed);
        }
        let number = match self.map.next_value::<Prior>()? {
            Prior::Number(number) => number,
            Prior::Density => {
                *self.tau_plus_is_density = true;
                PLACEHOLDER
            }
        };
        seed.deserialize(number.into_deserializer())
    }
}

/// A number, or the word `"density"`.
enum Prior {
    Number(f64),
    Density,
}

impl<'de> Deserialize<'de> for Prior {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PriorVisitor)
    }
}

struct PriorVisitor;

impl Visitor<'_> for PriorVisitor {
    type Value = Prior;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or the word \"density\"")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Prior, E> {
        Ok(Prior::Number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Prior, E> {
        Ok(Prior::Number(number as f64))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Prior, E> {
        Ok(Prior::Number(number as f64))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Prior, E> {
        match word {
            DENSITY => Ok(Prior::Density),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
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
        ] {
            let loss: LossConfig = toml::from_str(text).unwrap();
            let written = toml::to_string(&loss).unwrap();
            assert_eq!(toml::from_str::<LossConfig>(&written).unwrap(), loss, "{written}");
            assert_eq!(written.contains("density"), text.contains("density"));
        }
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
