//! Maps between ids in files and dense ids.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::sync::Arc;

/// Maps raw id text to dense `u32` ids, numbered in order of first appearance, and back.
///
/// Memory grows with the number of different ids, not with the largest one: the id `4000000000` costs as much as `4`.
///
/// ```
/// use bcl_data::IdMap;
///
/// let mut users = IdMap::default();
/// assert_eq!(users.get_or_insert("4000000000"), 0);
/// assert_eq!(users.get_or_insert("alice"), 1);
/// assert_eq!(users.get("4000000000"), Some(0));
/// assert_eq!(users.raw(1), "alice");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdMap {
    /// Shares its text with `raw`, so that each id is stored once.
    dense: HashMap<Arc<str>, u32>,
    raw: Vec<Arc<str>>,
}

impl IdMap {
    /// The identity map of `0` to `count - 1`.
    pub fn numbered(count: usize) -> Self {
        (0..count).map(|id| id.to_string()).collect()
    }

    /// Number of different ids.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether there are no ids yet.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The dense id of `raw`, if known.
    pub fn get(&self, raw: &str) -> Option<u32> {
        self.dense.get(raw).copied()
    }

    /// The text of a dense id.
    ///
    /// # Panics
    /// Panics if `id` is not below [`len`](Self::len).
    pub fn raw(&self, id: u32) -> &str {
        assert!(
            (id as usize) < self.len(),
            "id is {id}, but must be below {}, the number of ids",
            self.len()
        );
        &self.raw[id as usize]
    }

    /// The dense id of `raw`, which gets a new one if it is not known.
    ///
    /// # Panics
    /// Panics at the 2^32nd different id.
    pub fn get_or_insert(&mut self, raw: &str) -> u32 {
        if let Some(id) = self.get(raw) {
            return id;
        }
        let id = u32::try_from(self.raw.len()).expect("at most 2^32 different ids");
        let text: Arc<str> = raw.into();
        self.raw.push(text.clone());
        self.dense.insert(text, id);
        id
    }

    /// Iterates over the ids' texts, in the order of their dense ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.raw.iter().map(AsRef::as_ref)
    }
}

/// The ids of users and items from an earlier load. With them, a later load does not depend on the order of rows: known ids keep their
/// numbers, and new ones are numbered after them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownIds {
    /// The users' ids.
    pub users: IdMap,
    /// The items' ids.
    pub items: IdMap,
}

/// Serialises as the list of texts, in the order of the dense ids.
impl Serialize for IdMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for IdMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(deserializer).map(|ids| ids.into_iter().collect())
    }
}

impl<S: AsRef<str>> FromIterator<S> for IdMap {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut map = IdMap::default();
        for id in ids {
            map.get_or_insert(id.as_ref());
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_numbered_in_order_of_first_appearance() {
        let map: IdMap = ["b", "a", "b", "c", "a"].into_iter().collect();
        assert_eq!(map.iter().collect::<Vec<_>>(), ["b", "a", "c"]);
    }

    #[test]
    fn ids_that_differ_only_in_leading_zeros_are_different() {
        let map: IdMap = ["1", "01"].into_iter().collect();
        assert_eq!(map.len(), 2);
    }

    #[test]
    #[should_panic(expected = "id is 2, but must be below 2")]
    fn an_unknown_dense_id_is_named() {
        IdMap::numbered(2).raw(2);
    }

    proptest! {
        #[test]
        fn raw_and_dense_are_inverse(raw in proptest::collection::vec("[a-z0-9]{1,3}", 0..60)) {
            let map: IdMap = raw.iter().collect();
            for text in &raw {
                let id = map.get(text).expect("inserted");
                prop_assert_eq!(map.raw(id), text);
            }
            for (id, text) in map.iter().enumerate() {
                prop_assert_eq!(map.get(text), Some(id as u32));
            }
        }
    }
}
