//! Reads serde types from TOML values, with errors that contain the path of keys.

use crate::read_error::{ReadError, ReadErrorKind};
use serde::{
    Deserializer,
    de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Unexpected, Visitor, value::SeqDeserializer},
    forward_to_deserialize_any,
};
use toml::{Table, Value};

/// Reads a `T` from a table.
pub(crate) fn read<T: DeserializeOwned>(table: &Table) -> Result<T, ReadError> {
    let attempt = |table: &Table| T::deserialize(Node(&Value::Table(table.clone())));
    attempt(table).map_err(|error| blame(table, error, |table| attempt(table).err()))
}

/// Finds the keys of a wrong value, or of the table with an unknown key, within a table with a `kind`.
///
/// Serde buffers such a table until it knows the kind, and loses the keys. So each key is tried alone with the kind; the one that fails with
/// the same error is to blame, or one within it.
fn blame(table: &Table, error: ReadError, attempt: impl Fn(&Table) -> Option<ReadError>) -> ReadError {
    let mut path = error.path.clone();
    let mut table = table.clone();
    while let Some(key) = guilty(&mut table, &path, &error, &attempt) {
        path.push(key);
    }
    ReadError { path, ..error }
}

/// The key to blame for an error in the table at `path`, which then keeps only this key and its kind.
fn guilty(
    table: &mut Table,
    path: &[String],
    error: &ReadError,
    attempt: impl Fn(&Table) -> Option<ReadError>,
) -> Option<String> {
    let fields = path.iter().try_fold(&*table, |table, key| table.get(key)?.as_table());
    let fields = fields.filter(|_| !path.is_empty())?;
    let is_candidate = |value: &Value| match &error.kind {
        ReadErrorKind::WrongValue { .. } | ReadErrorKind::UnknownWord { .. } => true,
        // The error names the key itself; only its table is to be found.
        ReadErrorKind::UnknownKey { key, .. } => !fields.contains_key(key) && value.is_table(),
        ReadErrorKind::Other(_) => value.is_table(),
        ReadErrorKind::MissingKey { .. } => false,
    };
    // The kind comes first: if it is wrong, every key fails.
    let kind = fields.get_key_value("kind");
    for (key, value) in kind.into_iter().chain(fields).filter(|(_, value)| is_candidate(value)) {
        let alone = kind
            .into_iter()
            .chain([(key, value)])
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut reduced = table.clone();
        *at(&mut reduced, path) = alone;
        if attempt(&reduced).as_ref() == Some(error) {
            let key = key.clone();
            *table = reduced;
            return Some(key);
        }
    }
    None
}

/// The first key that has a list where what was read from it is a table.
///
/// Serde buffers the tables inside a table with a `kind`, and then takes lists for them.
pub(crate) fn list_for_a_table(given: &Table, read: &Table) -> Option<String> {
    given.iter().find_map(|(key, value)| match (value, read.get(key)?) {
        (Value::Array(_), Value::Table(_)) => Some(key.clone()),
        (Value::Table(given), Value::Table(read)) => list_for_a_table(given, read).map(|inner| format!("{key}.{inner}")),
        _ => None,
    })
}

/// The table at a path of keys, which is there.
fn at<'a>(table: &'a mut Table, path: &[String]) -> &'a mut Table {
    path.iter().fold(table, |table, key| {
        let inner = table.get_mut(key).and_then(Value::as_table_mut);
        inner.expect("a path leads through tables")
    })
}

/// A TOML value as a deserializer.
#[derive(Debug, Clone, Copy)]
struct Node<'a>(&'a Value);

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(value) => visitor.visit_bool(*value),
            // No key takes a date; as a string, it gets the usual error.
            Value::Datetime(date) => visitor.visit_string(date.to_string()),
            Value::Array(values) => {
                let mut values = SeqDeserializer::new(values.iter().map(Node));
                let read = visitor.visit_seq(&mut values)?;
                // A list of fixed length leaves what is too much.
                values.end().map(|()| read)
            }
            Value::Table(table) => visitor.visit_map(Entries {
                entries: table.iter(),
                current: None,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.0 {
            // Serde would read the fields by position.
            Value::Array(_) => Err(de::Error::invalid_type(Unexpected::Seq, &"a table")),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        map identifier ignored_any
    }
}

impl IntoDeserializer<'_, ReadError> for Node<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The entries of a table. The current key is kept, to be named in errors of its value.
struct Entries<'a> {
    entries: toml::map::Iter<'a, String, Value>,
    current: Option<(&'a String, &'a Value)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.current = self.entries.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let (key, value) = self.current.expect("serde asks for a value after its key");
        seed.deserialize(Node(value)).map_err(|error| error.below(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        inner: Inner,
        #[serde(default)]
        tagged: Tagged,
        #[serde(default)]
        list: Vec<f64>,
        #[serde(default)]
        pair: [f64; 2],
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        count: usize,
        share: Option<f64>,
        nested: Option<Tagged>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Tagged {
        #[default]
        None,
        Some(Fields),
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Fields {
        first: f64,
        second: f64,
        deep: Deep,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Deep {
        first: f64,
        second: f64,
    }

    fn read_text(text: &str) -> Result<Outer, ReadError> {
        read(&text.parse().unwrap())
    }

    fn error(text: &str) -> (String, ReadErrorKind) {
        let error = read_text(text).unwrap_err();
        (error.path.join("."), error.kind)
    }

    #[test]
    fn whole_numbers_are_numbers() {
        let outer = read_text("list = [1, 2.5]\n[inner]\ncount = 3\nshare = 1\n[tagged]\nkind = 'some'\nsecond = 2").unwrap();
        assert_eq!(
            outer.inner,
            Inner {
                count: 3,
                share: Some(1.0),
                nested: None,
            }
        );
        assert_eq!(outer.list, [1.0, 2.5]);
        let second = Fields {
            second: 2.0,
            ..Fields::default()
        };
        assert_eq!(outer.tagged, Tagged::Some(second));
    }

    #[test]
    fn a_wrong_value_is_found_by_its_keys() {
        let wrong = |found: &str, expected: &str| ReadErrorKind::WrongValue {
            found: found.into(),
            expected: expected.into(),
        };
        let whole = "a whole number, 0 or more";
        assert_eq!(error("[inner]\ncount = -1"), ("inner.count".into(), wrong("-1", whole)));
        assert_eq!(error("[inner]\ncount = 1.5"), ("inner.count".into(), wrong("1.5", whole)));
        assert_eq!(
            error("[inner]\ncount = 1\nshare = 'x'"),
            ("inner.share".into(), wrong("the string \"x\"", "a number"))
        );
        assert_eq!(error("inner = 3"), ("inner".into(), wrong("3", "a table")));
    }

    #[test]
    fn lists_of_fixed_length_are_neither_longer_nor_shorter() {
        for (list, found) in [("[1]", "a list of 1"), ("[1, 2, 3]", "a list of 3")] {
            let (path, kind) = error(&format!("inner.count = 1\npair = {list}"));
            assert_eq!(path, "pair");
            assert!(
                matches!(&kind, ReadErrorKind::WrongValue { found: list, .. } if list == found),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_wrong_value_in_a_table_with_a_kind_is_found_too() {
        let text = |fields: &str| format!("inner.count = 1\n[tagged]\nkind = 'some'\n{fields}");
        assert_eq!(error(&text("first = 1\nsecond = 'x'")).0, "tagged.second");
        let nested = |fields: &str| error(&format!("inner = {{count = 1, nested = {{kind = 'some', {fields}}}}}")).0;
        assert_eq!(nested("first = 1, second = 'x'"), "inner.nested.second");
        let deep = |fields: &str| error(&format!("inner.count = 1\n[tagged]\nkind = 'some'\ndeep = {{ {fields} }}")).0;
        assert_eq!(deep("first = 1, second = 'x'"), "tagged.deep.second");
        assert_eq!(deep("frist = 1"), "tagged.deep");
        // Of two equal errors, the first is reported.
        assert_eq!(error(&text("first = 'x'\nsecond = 'x'")).0, "tagged.first");
    }

    #[test]
    fn unknown_and_missing_keys_come_with_their_table() {
        assert!(
            matches!(error("[inner]\ncuont = 1"), (path, ReadErrorKind::UnknownKey { key, .. }) if path == "inner" && key == "cuont")
        );
        assert!(matches!(error("[inner]"), (path, ReadErrorKind::MissingKey { key: "count" }) if path == "inner"));
        assert!(matches!(
            error("inner.count = 1\ntagged.kind = 'sum'"),
            (path, ReadErrorKind::UnknownWord { word, .. }) if path == "tagged.kind" && word == "sum"
        ));
    }
}
