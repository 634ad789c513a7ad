//! `data.json` in the folder of a run: the identity of its data, and the order of its ids.

use super::identity::DataIdentity;
use crate::error::Error;
use bcl_data::{InteractionData, KnownIds, graphs::GraphData};
use bcl_files::checksums;
use bcl_images::ImageData;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file.
const FILE: &str = "data.json";

/// The identity and ids of a run's data, with which later commands detect changed data.
///
/// The ids give the meaning of each row of a recommender's embedding tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRecord {
    /// Counts and checksums.
    pub identity: DataIdentity,
    /// Ids of users and items; `None` for images and graphs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<KnownIds>,
}

impl DataRecord {
    /// The record of a run on interactions.
    pub fn of_interactions(data: &InteractionData) -> Self {
        Self {
            identity: DataIdentity::of_interactions(data),
            ids: Some(KnownIds {
                users: data.users.clone(),
                items: data.items.clone(),
            }),
        }
    }

    /// The record of a run on images.
    pub fn of_images(data: &ImageData) -> Self {
        Self {
            identity: DataIdentity::of_images(data),
            ids: None,
        }
    }

    /// The record of a run on graphs.
    pub fn of_graphs(data: &GraphData) -> Self {
        Self {
            identity: DataIdentity::of_graphs(data),
            ids: None,
        }
    }

    /// Reads `data.json` from a folder; `None` if there is none.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(FILE);
        if !path.try_exists().unwrap_or(true) {
            return Ok(None);
        }
        let text = checksums::read(folder, FILE)?;
        let broken = |problem: &str| {
            Error::Input(format!(
                "{} is damaged: {problem}; restore it from a copy, or train again",
                path.display()
            ))
        };
        let record: Self = serde_json::from_slice(&text).map_err(|error| broken(&error.to_string()))?;
        match &record.ids {
            Some(KnownIds { users, items }) if !record.identity.has_ids(users, items) => {
                Err(broken("its ids do not match their checksum"))
            }
            _ => Ok(Some(record)),
        }
    }

    /// Writes `data.json` into a folder, whose lock the caller must hold.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).expect("a data record is plain data");
        Ok(checksums::write(folder, FILE, &text)?)
    }

    /// The ids with which to read interactions.
    pub fn known_ids(&self) -> KnownIds {
        self.ids.clone().unwrap_or_default()
    }

    /// Checks that the run in `folder` was trained on the data found `now` in `source`.
    ///
    /// # Errors
    /// Names the differences.
    pub fn check(&self, now: &DataIdentity, source: &str, folder: &Path) -> Result<(), Error> {
        match self.identity.difference(now) {
            None => Ok(()),
            Some(difference) => Err(Error::Input(format!(
                "{} was trained on other data than {source} holds now: {difference}; restore the data, name their folder with --data DIR, \
                 or train again",
                folder.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::PlantedConfig;
    use std::fs;

    #[test]
    fn data_json_round_trips_and_a_changed_id_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(DataRecord::read(folder.path()).unwrap(), None);
        let record = DataRecord::of_interactions(&PlantedConfig::default().generate());
        record.write(folder.path()).unwrap();
        assert_eq!(DataRecord::read(folder.path()).unwrap().as_ref(), Some(&record));

        // Even if checksums.json is lost, the ids have a checksum of their own.
        fs::remove_file(folder.path().join(checksums::CHECKSUMS)).unwrap();
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"7\"", "\"seven\"", 1)).unwrap();
        let error = DataRecord::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("data.json is damaged"), "{error}");
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        let error = DataRecord::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("data.json is damaged"), "{error}");
    }
}
