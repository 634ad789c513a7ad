//! Keeps features between searches. The name of a file says what its features are of, so features of other images, weights or recipes are never read.

use super::Features;
use bcl_files::{FileError, WholeFile, create_folder, hexadecimal, notice, sha256};
use safetensors::{
    Dtype, SafeTensors,
    tensor::{Metadata, TensorInfo},
};
use sha2::{Digest, Sha256};
use std::{fs, io::Write, path::PathBuf};

/// Name of the array in the file.
const ARRAY: &str = "features";
/// Key of the checksum of what was left out and of the array.
const CHECKSUM: &str = "sha256";
/// Key of the numbers of the images without features.
const LEFT_OUT: &str = "left_out";

/// A folder of features, and the key of those that are wanted.
pub(super) struct Cache {
    pub(super) folder: PathBuf,
    pub(super) key: String,
}

/// The key of the features of images: the identity of the images, the checksum of the weights and the hash of the recipe, which says how images are
/// resized and normalised.
///
/// `DECODING` changes with what the same file is decoded to: transparent pixels were once dropped instead of being put on a background.
pub(super) fn key(images: &str, weights: &str, recipe: &str) -> String {
    const DECODING: &str = "2";
    sha256([images, weights, recipe, DECODING].join("\n").as_bytes())
}

impl Cache {
    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.safetensors", &self.key[..16]))
    }

    /// The features of `rows` images, less those that were left out, if the cache has them intact.
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
        let left_out = about.get(LEFT_OUT)?;
        let sum = hexadecimal(checksum_after(left_out).chain_update(view.data()));
        let is_intact = about.get("key") == Some(&self.key) && about.get(CHECKSUM) == Some(&sum);
        let left_out: Vec<usize> = serde_json::from_str(left_out).ok()?;
        let are_numbers = left_out.is_sorted_by(|a, b| a < b) && left_out.last().is_none_or(|&last| last < rows);
        if !is_intact || !are_numbers || found + left_out.len() != rows || dim == 0 || view.dtype() != Dtype::F32 {
            return None;
        }
        let values = view.data().as_chunks::<4>().0.iter().map(|&value| f32::from_le_bytes(value));
        Some(Features {
            values: values.collect(),
            dim,
            left_out,
        })
    }

    /// Writes features for [`read`](Self::read) and returns the file. Row by row: features of millions of images are not copied.
    pub(super) fn write(&self, features: &Features) -> Result<PathBuf, FileError> {
        create_folder(&self.folder)?;
        let path = self.file();
        let mut file = WholeFile::create(&path)?;
        let header = self.header(features);
        let length = (header.len() as u64).to_le_bytes();
        let written = file.write_all(&length).and_then(|()| file.write_all(&header));
        let written = written.and_then(|()| rows_of(features).try_for_each(|row| file.write_all(&row)));
        written.map_err(FileError::io("write", &path))?;
        file.finish()?;
        Ok(path)
    }

    /// The description of the array, which the file begins with.
    fn header(&self, features: &Features) -> Vec<u8> {
        const PLAIN: &str = "one array and texts are plain data";
        let left_out = serde_json::to_string(&features.left_out).expect(PLAIN);
        let sum = rows_of(features).fold(checksum_after(&left_out), Sha256::chain_update);
        let about = [("key", self.key.clone()), (CHECKSUM, hexadecimal(sum)), (LEFT_OUT, left_out)];
        let about = about.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let array = TensorInfo {
            dtype: Dtype::F32,
            shape: vec![features.values.len() / features.dim, features.dim],
            data_offsets: (0, size_of_val(&*features.values)),
        };
        let metadata = Metadata::new(Some(about), vec![(ARRAY.to_owned(), array)]).expect(PLAIN);
        let mut header = serde_json::to_vec(&metadata).expect(PLAIN);
        // The array begins at a multiple of eight bytes.
        header.resize(header.len().next_multiple_of(8), b' ');
        header
    }
}

/// The checksum of the file, before the array is added to it.
fn checksum_after(left_out: &str) -> Sha256 {
    Sha256::new().chain_update(left_out)
}

/// The bytes of each row.
fn rows_of(features: &Features) -> impl Iterator<Item = Vec<u8>> {
    let rows = features.values.chunks(features.dim);
    rows.map(|row| row.iter().flat_map(|value| value.to_le_bytes()).collect())
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
            left_out: vec![1],
        };
        assert_eq!(cache("a").read(3), None);
        let file = cache("a").write(&features).unwrap();
        assert_eq!(cache("a").read(3), Some(features));
        assert_eq!(cache("b").read(3), None, "other weights");
        assert_eq!(cache("a").read(2), None, "another number of images");
        fs::copy(&file, cache("b").file()).unwrap();
        assert_eq!(cache("b").read(3), None, "a renamed file");
        let whole = fs::read(&file).unwrap();
        for byte in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[byte] ^= 1;
            fs::write(&file, &damaged).unwrap();
            let read = cache("a").read(3);
            assert!(read.is_none() || read == cache("a").parse(&whole, 3), "byte {byte}");
            assert!(cache("a").parse(&whole[..byte], 3).is_none(), "cut at {byte}");
        }
    }
}
