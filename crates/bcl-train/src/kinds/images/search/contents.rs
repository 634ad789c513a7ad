//! A checksum of what is searched: features are kept under it, so it covers every byte that features depend on.

use crate::{error::Error, training::DataIdentity};
use bcl_files::{hexadecimal, sha256};
use bcl_images::{Collection, ImageData, ImageError};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// A checksum of names, sizes, labels and pixels. Of images that stay in their files, the files are covered instead of the pixels: reading them takes a
/// small part of the time that decoding them takes.
pub(super) fn checksum(data: &ImageData) -> Result<String, Error> {
    let identity = DataIdentity::of_images(data).digest();
    let files = [files_of(&data.train)?, files_of(&data.test)?];
    if files.iter().all(Option::is_none) {
        return Ok(identity);
    }
    let of_files = files.map(Option::unwrap_or_default);
    Ok(sha256([&*identity, &*of_files[0], &*of_files[1]].join("\n").as_bytes()))
}

/// A checksum of the files of a collection; `None` if its images are in memory. `DataIdentity` covers the length of each.
fn files_of(images: &Collection) -> Result<Option<String>, ImageError> {
    let sums = (0..images.len()).into_par_iter().map(|index| {
        let bytes = images.file_bytes(index)?;
        Ok(bytes.map(Sha256::digest))
    });
    let sums: Vec<_> = sums.collect::<Result<Vec<_>, ImageError>>()?.into_iter().flatten().collect();
    let all = sums.iter().fold(Sha256::new(), Sha256::chain_update);
    Ok((!sums.is_empty()).then(|| hexadecimal(all)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_images::{CacheBytes, ImageSource, LoadOptions, PlantedImagesConfig, load_with};
    use std::{fs, path::Path};

    #[test]
    fn every_byte_of_a_file_counts_also_where_neither_size_nor_length_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        // A header of a PNG image, which is all that is read of a file before it is needed.
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x04\0\0\0\x04\x08\x02\0\0\0\x26\x93\x09\x29".to_vec();
        png.extend([0; 40]);
        for name in ["a.png", "b.png"] {
            fs::write(file(name), &png).unwrap();
        }
        let now = || {
            let options = LoadOptions {
                stream: Some(CacheBytes(0)),
                ..LoadOptions::default()
            };
            let source = ImageSource::Archive {
                path: folder.path().into(),
            };
            checksum(&load_with("", &source, Path::new(""), options).unwrap()).unwrap()
        };
        let before = now();
        *png.last_mut().unwrap() = 1;
        fs::write(file("b.png"), &png).unwrap();
        assert_ne!(now(), before);
        *png.last_mut().unwrap() = 0;
        fs::write(file("b.png"), &png).unwrap();
        assert_eq!(now(), before);
    }

    #[test]
    fn images_in_memory_have_the_checksum_of_their_pixels() {
        let data = PlantedImagesConfig::default().generate();
        assert_eq!(checksum(&data).unwrap(), DataIdentity::of_images(&data).digest());
    }
}
