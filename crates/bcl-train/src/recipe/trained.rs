//! What a recipe trains, decided before its keys are read: by `encoder.kind`, with which `[data]` must agree.

use super::ImageEncoderKind;
use bcl_data::{Manifest, manifest::Layout};
use bcl_models::RecommenderConfig;
use bcl_recipe::{Document, RecipeError, Refusal, nearest};
use toml::Value;

/// What a recipe trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trained {
    Recommender,
    Images,
}

/// Keys of image recipes only.
const OF_IMAGES: [&str; 6] = [
    "data.images",
    "data.classes",
    "data.two_random_classes",
    "data.skip_broken",
    "views",
    "method",
];
/// Keys of recommender recipes only.
const OF_INTERACTIONS: [&str; 5] = ["data.train", "data.test", "data.file", "data.split", "negatives"];

impl Trained {
    /// Decides what a recipe trains.
    ///
    /// # Errors
    /// Returns an error if `encoder.kind` is unknown or contradicts the data. Found later, the mistake would appear as unknown keys.
    pub(super) fn by(document: &Document) -> Result<Self, RecipeError> {
        let data = Self::by_data(document);
        let Some(kind) = document.text("encoder.kind") else {
            // Recommenders have a default encoder. Values of the wrong type are refused later, with their table.
            return Ok(data.map_or(Self::Recommender, |(_, trained)| trained));
        };
        let Some(trained) = [Self::Recommender, Self::Images]
            .into_iter()
            .find(|trained| trained.kinds().contains(&kind))
        else {
            let known: Vec<&str> = match data {
                Some((_, trained)) => trained.kinds().to_vec(),
                None => [Self::Recommender.kinds(), Self::Images.kinds()].concat(),
            };
            let meant = nearest(kind, known.iter().copied()).map_or(String::new(), |meant| format!("; did you mean {meant}?"));
            return Err(RecipeError::UnknownWord {
                at: document.origin("encoder.kind"),
                key: "encoder.kind".to_owned(),
                word: kind.to_owned(),
                known: quoted(&known, ", ") + &meant,
            });
        };
        match data {
            Some((key, other)) if other != trained => Err(document.refuse(Refusal::new(
                "encoder.kind",
                format!(
                    "is \"{kind}\", which trains on {}, but {key} is for {}; use encoder.kind = {} or other data",
                    trained.data(),
                    other.data(),
                    quoted(other.kinds(), " or ")
                ),
            ))),
            _ => Ok(trained),
        }
    }

    /// What the data suggest, and the key that says so.
    fn by_data(document: &Document) -> Option<(String, Self)> {
        let given = |keys: &[&str], trained| {
            let key = keys.iter().find(|key| document.value(key).is_some())?;
            Some(((*key).to_owned(), trained))
        };
        let named = || {
            let name = document.value("data.dataset").and_then(Value::as_str)?;
            let manifest = Manifest::all().iter().find(|manifest| manifest.name == name)?;
            let trained = match manifest.layout {
                Layout::Images { .. } => Self::Images,
                _ => Self::Recommender,
            };
            Some((format!("data.dataset = \"{name}\""), trained))
        };
        named()
            .or_else(|| given(&OF_IMAGES, Self::Images))
            .or_else(|| given(&OF_INTERACTIONS, Self::Recommender))
    }

    fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Recommender => &RecommenderConfig::KINDS,
            Self::Images => &ImageEncoderKind::KINDS,
        }
    }

    fn data(self) -> &'static str {
        match self {
            Self::Recommender => "interactions",
            Self::Images => "images",
        }
    }
}

fn quoted(words: &[&str], separator: &str) -> String {
    words
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect::<Vec<_>>()
        .join(separator)
}
