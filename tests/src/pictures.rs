//! Generates valid and broken image files.

use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};
use std::{fs, io::Cursor, path::Path};

/// Names and contents of files; a name ending in a slash is a folder.
pub type Files = Vec<(String, Vec<u8>)>;

/// A coloured JPEG that depends on the seed.
pub fn jpeg(seed: u32) -> Vec<u8> {
    let value = |x: u32, y: u32, channel: u32| (x * 7 + y * 13 + channel * 50 + seed * 31) as u8;
    let image = RgbImage::from_fn(24, 20, |x, y| Rgb([0, 1, 2].map(|channel| value(x, y, channel))));
    encoded(image)
}

/// A greyscale JPEG.
pub fn grey_jpeg(seed: u32) -> Vec<u8> {
    encoded(GrayImage::from_fn(24, 20, |x, y| Luma([(x * 7 + y * 13 + seed * 31) as u8])))
}

/// The beginning of a CMYK JPEG.
pub fn cmyk_jpeg() -> Vec<u8> {
    let frame = [
        0xff, 0xc0, 0, 20, 8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0,
    ];
    [&[0xff, 0xd8][..], &frame, &[0xff, 0xd9]].concat()
}

fn encoded(image: impl Into<DynamicImage>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, ImageFormat::Jpeg).expect("memory");
    bytes.into_inner()
}

/// `pictures/train` and `pictures/test` with `train` and `test` images of cats and as many of dogs.
pub fn cats_and_dogs(train: u32, test: u32) -> Files {
    let mut files = Files::new();
    for (part, count) in [("train", train), ("test", test)] {
        for (class, first) in [("cat", 0), ("dog", 100)] {
            files.extend((0..count).map(|i| (format!("pictures/{part}/{class}/{i}.jpg"), jpeg(first + i))));
        }
    }
    files
}

/// CIFAR-10 with two images per file.
pub fn cifar10() -> Files {
    let file = |label: u8| {
        [label, 9 - label]
            .iter()
            .flat_map(|&label| [vec![label], vec![label * 20; 3072]].concat())
            .collect()
    };
    let batches = (1..=5).map(|batch| (format!("cifar-10-batches-bin/data_batch_{batch}.bin"), file(batch)));
    let names: Vec<String> = (0..10).map(|class| format!("class {class}")).collect();
    batches
        .chain([
            ("cifar-10-batches-bin/test_batch.bin".to_owned(), file(0)),
            (
                "cifar-10-batches-bin/batches.meta.txt".to_owned(),
                names.join("\n").into_bytes(),
            ),
        ])
        .collect()
}

/// A .tar with one file of any name, including malicious names that `tar::Builder` would refuse.
pub fn tar_with(name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, content).expect("memory");
    builder.into_inner().expect("memory")
}

/// Writes files to a folder.
pub fn write(folder: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = folder.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).expect("writable");
        } else {
            fs::create_dir_all(path.parent().expect("below the folder")).expect("writable");
            fs::write(path, bytes).expect("writable");
        }
    }
}
