//! Finds out which kind of recipe a document is before its keys are read: by `encoder.kind`, with which `[data]` must agree.

use super::{KINDS, Recipe, RunRecipe};
use crate::{Chain, Document, DroppedKeys, Origins, Override, RecipeError, Refusal, nearest};
use bcl_data::{Manifest, manifest::Layout};
use toml::Value;

/// Reads a chain of documents as recipes of one kind.
type Read = fn(&Chain, &[Override], &mut Vec<DroppedKeys>) -> Result<(Recipe, Origins), RecipeError>;

/// Reads recipes of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    samples: &'static str,
    encoders: &'static [&'static str],
    own_keys: &'static [&'static str],
    has_layout: fn(&Layout) -> bool,
    pub(super) read: Read,
}

impl Reader {
    /// The reader of a kind.
    pub(super) const fn of<R: RunRecipe>(read: Read) -> Self {
        Self {
            samples: R::SAMPLES,
            encoders: R::ENCODERS,
            own_keys: R::OWN_KEYS,
            has_layout: R::has_layout,
            read,
        }
    }

    /// The reader for a document.
    ///
    /// # Errors
    /// Returns an error if `encoder.kind` is unknown or contradicts the data. Found later, the mistake would appear as unknown keys.
    pub(super) fn for_document(document: &Document) -> Result<&'static Self, RecipeError> {
        let data = Self::by_data(document);
        let Some(kind) = document.text("encoder.kind") else {
            // Recommenders have a default encoder. Values of the wrong type are refused later, with their table.
            return Ok(data.map_or(&KINDS[0], |(_, reader)| reader));
        };
        let Some(reader) = KINDS.iter().find(|reader| reader.encoders.contains(&kind)) else {
            let known: Vec<&str> = match data {
                Some((_, reader)) => reader.encoders.to_vec(),
                None => KINDS.iter().flat_map(|reader| reader.encoders).copied().collect(),
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
            Some((key, other)) if other.samples != reader.samples => Err(document.refuse(Refusal::new(
                "encoder.kind",
                format!(
                    "is \"{kind}\", which trains on {}, but {key} is for {}; use encoder.kind = {} or other data",
                    reader.samples,
                    other.samples,
                    quoted(other.encoders, " or ")
                ),
            ))),
            _ => Ok(reader),
        }
    }

    /// The kind that the data suggest, and the key that says so.
    fn by_data(document: &Document) -> Option<(String, &'static Self)> {
        let named = || {
            let name = document.value("data.dataset").and_then(Value::as_str)?;
            let manifest = Manifest::all().iter().find(|manifest| manifest.name == name)?;
            let reader = KINDS.iter().find(|reader| (reader.has_layout)(&manifest.layout))?;
            Some((format!("data.dataset = \"{name}\""), reader))
        };
        let given = |reader: &'static Self| {
            let key = reader.own_keys.iter().find(|key| document.value(key).is_some())?;
            Some(((*key).to_owned(), reader))
        };
        // Images first: a recipe with keys of both kinds counts as one on images.
        named().or_else(|| KINDS.iter().rev().find_map(given))
    }
}

fn quoted(words: &[&str], separator: &str) -> String {
    words
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect::<Vec<_>>()
        .join(separator)
}
