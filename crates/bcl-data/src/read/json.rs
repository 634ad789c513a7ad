//! JSON lines: one object per line, whose keys are the columns.

use super::lines::Line;
use super::picker::{Wanted, ambiguous, check_distinct_names};
use super::value::{Value, texts};
use crate::error::excerpt;
use crate::{ColumnRef, DataError};
use serde::Deserializer;
use serde::de::{self, Deserialize, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The wanted values of an object, as text. `null` and a missing key are `None`.
pub(super) fn pick<const N: usize>(line: &Line<'_>, wanted: &[Wanted<'_>; N]) -> Result<[Option<String>; N], DataError> {
    check(line, wanted)?;
    let mut reader = serde_json::Deserializer::from_str(line.text);
    let object = reader
        .deserialize_map(ObjectVisitor { wanted })
        .and_then(|object| reader.end().map(|()| object))
        .map_err(|error| not_an_object(line, &error))?;
    if let Some((index, keys)) = &object.twice {
        // Objects need not have the same order of keys, so the first key is no answer where every row needs one.
        ambiguous(&wanted[*index], keys.each_ref().map(String::as_str), line)?;
    }
    texts(line, wanted, object.values, object.keys.iter().map(String::as_str))
}

fn not_an_object(line: &Line<'_>, error: &serde_json::Error) -> DataError {
    let text = excerpt(line.text);
    if line.text.starts_with('[') {
        let remedy =
            "Write one object per line: `jq -c '.[]' OLD > NEW`, or in pandas `to_json(\"NEW\", orient=\"records\", lines=True)`";
        return line.error(format!("`{text}` begins a JSON array, not an object. {remedy}"));
    }
    if error.is_eof() {
        let remedy = "Write one object per line: `jq -c . OLD > NEW`";
        return line.error(format!(
            "`{text}` is not a whole JSON object; it may go on in the next line. {remedy}"
        ));
    }
    // 0 if the line is no object at all.
    let column = error.column().max(1);
    line.error(format!(
        "column {column} of `{text}` is where the line stops being a JSON object. Write one object per line, as in {{\"user\": 1, \"item\": 2}}"
    ))
}

/// Refuses columns that a recipe names by number, because objects have no order, and one column for two fields.
fn check(line: &Line<'_>, wanted: &[Wanted<'_>]) -> Result<(), DataError> {
    let numbered = wanted.iter().find_map(|wanted| match wanted.given {
        Some(ColumnRef::Number(number)) => Some((wanted.key, *number)),
        _ => None,
    });
    if let Some((key, number)) = numbered {
        let problem = format!("{key} is {number}, but JSON objects have names instead of numbered columns");
        return Err(line.error(format!("{problem}. Set it to the name: `{key} = \"…\"`")));
    }
    check_distinct_names(wanted, line)
}

struct Object<const N: usize> {
    values: [Value; N],
    /// Kept for errors.
    keys: Vec<String>,
    /// A wanted value that two keys could be, and both.
    twice: Option<(usize, [String; 2])>,
}

struct ObjectVisitor<'w, 'a, const N: usize> {
    wanted: &'w [Wanted<'a>; N],
}

impl<'de, const N: usize> Visitor<'de> for ObjectVisitor<'_, '_, N> {
    type Value = Object<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<N>, A::Error> {
        let mut object = Object {
            values: [const { Value::Missing }; N],
            keys: Vec::new(),
            twice: None,
        };
        while let Some(key) = map.next_key::<String>()? {
            let found = self.wanted.iter().position(|wanted| wanted.is_called(&key));
            match found {
                // As in a header, the first of several fitting columns counts.
                Some(index) if !matches!(object.values[index], Value::Missing) => {
                    let before = object.keys.iter().find(|other| self.wanted[index].is_called(other));
                    object.twice = before.map(|before| (index, [before.clone(), key.clone()]));
                    map.next_value::<IgnoredAny>()?;
                }
                Some(index) => object.values[index] = map.next_value()?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
            object.keys.push(key);
        }
        Ok(object)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::of_text(text))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Text(number.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Text(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::of_float(number))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }
}
