//! Keeps features between searches. The name of a file says what its features are of, so features of other images, weights or recipes are never read.

use super::Features;
use bcl_report::{
    files::{FileError, checksums::sha256, create_folder, write_whole},
    notice,
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{fs, path::PathBuf};

/// Name of the array in the file.
const ARRAY: &str = "features";
/// Key of the checksum of the array.
const CHECKSUM: &str = "sha256";

/// A folder of features, and the key of those that are wanted.
pub(super) struct Cache {
    pub(super) folder: PathBuf,
    pub(super) key: String,
}

/// The key of the features of images: the identity of the images, the checksum of the weights and the hash of the recipe, which says how images are
/// resized and normalised.
pub(super) fn key(images: &str, weights: &str, recipe: &str) -> String {
    sha256([images, weights, recipe].join("\n").as_bytes())
}

impl Cache {
    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.safetensors", &self.key[..16]))
    }

    /// The features of `rows` images, if the cache has them intact.
    pub(super) fn read(&self, rows: usize) -> Option<Features> {
        let file = self.file();
        let bytes = fs::read(&file).ok()?;
        let features = self.parse(&bytes, rows);
        if features.is_none() {
            notice::warn(format_args!("{} is damaged; its features are computed again", file.display()));
        }
        features
    }

    fn parse(&self, bytes: &[u8], rows: usize) -> Option<Features> {
        let (_, about) = SafeTensors::read_metadata(bytes).ok()?;
        let about = about.metadata().as_ref()?;
        let tensors = SafeTensors::deserialize(bytes).ok()?;
        let view = tensors.tensor(ARRAY).ok()?;
        let [found, dim] = <[usize; 2]>::try_from(view.shape()).ok()?;
        let is_intact = about.get("key") == Some(&self.key) && about.get(CHECKSUM) == Some(&sha256(view.data()));
        if !is_intact || found != rows || dim == 0 || view.dtype() != Dtype::F32 {
            return None;
        }
        let values = view.data().as_chunks::<4>().0.iter().map(|&value| f32::from_le_bytes(value));
        Some(Features {
            values: values.collect(),
            dim,
        })
    }

    /// Writes features for [`read`](Self::read) and returns the file.
    pub(super) fn write(&self, features: &Features) -> Result<PathBuf, FileError> {
        let Features { values, dim } = features;
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let about = [("key", self.key.clone()), (CHECKSUM, sha256(&data))];
        let about = about.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let view = TensorView::new(Dtype::F32, vec![values.len() / dim, *dim], &data).expect("the bytes fill the shape");
        let bytes = safetensors::serialize([(ARRAY, view)], Some(about)).expect("one array of known size");
        create_folder(&self.folder)?;
        let file = self.file();
        write_whole(&file, &bytes)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_come_back_and_other_keys_shapes_and_damage_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = |weights: &str| Cache {
            folder: folder.path().to_owned(),
            key: key("images", weights, "recipe"),
        };
        let features = Features {
            values: vec![1.0, -2.5, 3.0, 0.0, 1e-40, f32::MAX],
            dim: 3,
        };
        assert_eq!(cache("a").read(2), None);
        let file = cache("a").write(&features).unwrap();
        assert_eq!(cache("a").read(2), Some(features));
        assert_eq!(cache("b").read(2), None, "other weights");
        assert_eq!(cache("a").read(3), None, "another number of images");
        fs::copy(&file, cache("b").file()).unwrap();
        assert_eq!(cache("b").read(2), None, "a renamed file");
        let whole = fs::read(&file).unwrap();
        for byte in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[byte] ^= 1;
            fs::write(&file, &damaged).unwrap();
            let read = cache("a").read(2);
            assert!(read.is_none() || read == cache("a").parse(&whole, 2), "byte {byte}");
            assert!(cache("a").parse(&whole[..byte], 2).is_none(), "cut at {byte}");
        }
    }
}
