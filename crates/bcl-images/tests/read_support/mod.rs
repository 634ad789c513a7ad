//! Miniature archives, built by the tests.
#![allow(dead_code, reason = "each test uses only some of it")]

use flate2::{Compression, write::GzEncoder};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Names and contents of files; a name that ends in a slash is a folder.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

pub(crate) fn files<const N: usize>(files: [(&str, Vec<u8>); N]) -> Files {
    files.into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect()
}

/// A tar archive with any entries under any name; the builder of `tar` refuses harmful ones.
pub(crate) fn tar_of(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn tar(files: &Files) -> Vec<u8> {
    let kind = |name: &str| {
        if name.ends_with('/') {
            tar::EntryType::Directory
        } else {
            tar::EntryType::Regular
        }
    };
    tar_of(
        &files
            .iter()
            .map(|(name, bytes)| (name.as_str(), kind(name), bytes.as_slice()))
            .collect::<Vec<_>>(),
    )
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn tar_gz(files: &Files) -> Vec<u8> {
    gzip(&tar(files))
}

pub(crate) fn zip(files: &Files) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        if name.ends_with('/') {
            writer.add_directory(name.as_str(), SimpleFileOptions::default()).unwrap();
        } else {
            writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn write_folder(dir: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = dir.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

/// A coloured image that is different for each `seed`.
pub(crate) fn picture(width: u32, height: u32, seed: u32) -> RgbImage {
    let value = |x: u32, y: u32, channel: u32| (x * 7 + y * 13 + channel * 50 + seed * 31) as u8;
    RgbImage::from_fn(width, height, |x, y| Rgb([0, 1, 2].map(|channel| value(x, y, channel))))
}

pub(crate) fn encode(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub(crate) fn png(seed: u32) -> Vec<u8> {
    encode(picture(8, 6, seed), ImageFormat::Png)
}

pub(crate) fn jpeg(image: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, 95).encode_image(image).unwrap();
    bytes
}

pub(crate) fn grey_jpeg(value: u8) -> Vec<u8> {
    encode(GrayImage::from_pixel(8, 8, Luma([value])), ImageFormat::Jpeg)
}

/// Two classes, three training images and two test images, not in alphabetical order.
pub(crate) fn image_folder() -> Files {
    files([
        ("test/dog/5.png", png(5)),
        ("train/dog/3.png", png(3)),
        ("train/cat/2.png", png(2)),
        ("train/cat/1.png", png(1)),
        ("test/cat/4.png", png(4)),
    ])
}

/// A value for each byte of an image, different for each image.
fn byte(image: usize, index: usize) -> u8 {
    (index * 31 + image * 101 + index / 257) as u8
}

/// A CIFAR file with the given labels before each image; images are numbered from `first`.
pub(crate) fn cifar_batch(labels: &[&[u8]], first: usize) -> Vec<u8> {
    let images = (first..).zip(labels);
    images
        .flat_map(|(image, labels)| labels.iter().copied().chain((0..3072).map(move |index| byte(image, index))))
        .collect()
}

/// The pixel of an image written by `cifar_batch`.
pub(crate) fn cifar_pixel(image: usize, row: usize, column: usize) -> [u8; 3] {
    [0, 1, 2].map(|plane| byte(image, plane * 1024 + row * 32 + column))
}

pub(crate) fn names(count: usize) -> Vec<u8> {
    let names: Vec<String> = (0..count).map(|class| format!("class {class}")).collect();
    names.join("\n").into_bytes()
}

/// CIFAR-10 with two images per file.
pub(crate) fn cifar10() -> Files {
    let mut files: Files = (0..5)
        .map(|batch| {
            let labels = [[batch as u8], [9 - batch as u8]];
            let bytes = cifar_batch(&[&labels[0], &labels[1]], batch * 2);
            (format!("cifar-10-batches-bin/data_batch_{}.bin", batch + 1), bytes)
        })
        .collect();
    files.reverse();
    files.push(("cifar-10-batches-bin/test_batch.bin".into(), cifar_batch(&[&[7], &[1]], 10)));
    files.push((
        "cifar-10-batches-bin/batches.meta.txt".into(),
        [names(10), b"\n".to_vec()].concat(),
    ));
    files.push(("cifar-10-batches-bin/readme.html".into(), b"<html>".to_vec()));
    files
}

pub(crate) fn cifar100() -> Files {
    files([
        ("cifar-100-binary/train.bin", cifar_batch(&[&[19, 99], &[0, 42]], 0)),
        ("cifar-100-binary/test.bin", cifar_batch(&[&[3, 7]], 2)),
        ("cifar-100-binary/fine_label_names.txt", names(100)),
        ("cifar-100-binary/coarse_label_names.txt", names(20)),
    ])
}

const STL: usize = 96 * 96;

pub(crate) fn stl_images(count: usize, first: usize) -> Vec<u8> {
    (first..first + count)
        .flat_map(|image| (0..3 * STL).map(move |index| byte(image, index)))
        .collect()
}

pub(crate) fn stl_pixel(image: usize, row: usize, column: usize) -> [u8; 3] {
    [0, 1, 2].map(|plane| byte(image, plane * STL + column * 96 + row))
}

/// STL-10 in the order of the publisher's archive: test before train.
pub(crate) fn stl10() -> Files {
    files([
        ("stl10_binary/test_X.bin", stl_images(1, 2)),
        ("stl10_binary/test_y.bin", vec![10]),
        ("stl10_binary/unlabeled_X.bin", stl_images(3, 3)),
        ("stl10_binary/train_X.bin", stl_images(2, 0)),
        ("stl10_binary/train_y.bin", vec![1, 4]),
        ("stl10_binary/class_names.txt", names(10)),
        ("stl10_binary/fold_indices.txt", b"0 1".to_vec()),
    ])
}

pub(crate) fn tiny_imagenet() -> Files {
    let annotations = "val_1.JPEG\tn02\t0\t0\t9\t9\nval_0.JPEG\tn01\t0\t0\t9\t9\n";
    files([
        (
            "tiny-imagenet-200/words.txt",
            b"n02\tcrane\nn01\tgoldfish, Carassius auratus\nn03\tcrane, wader\nn99\tother\n".to_vec(),
        ),
        ("tiny-imagenet-200/wnids.txt", b"n03\nn01\nn02".to_vec()),
        ("tiny-imagenet-200/train/n03/images/n03_0.JPEG", grey_jpeg(30)),
        ("tiny-imagenet-200/train/n01/images/n01_0.JPEG", grey_jpeg(10)),
        ("tiny-imagenet-200/train/n02/images/n02_0.JPEG", jpeg(&picture(64, 64, 2))),
        ("tiny-imagenet-200/train/n01/n01_boxes.txt", b"x".to_vec()),
        ("tiny-imagenet-200/val/val_annotations.txt", annotations.as_bytes().to_vec()),
        ("tiny-imagenet-200/val/images/val_0.JPEG", grey_jpeg(100)),
        ("tiny-imagenet-200/val/images/val_1.JPEG", grey_jpeg(200)),
        ("tiny-imagenet-200/test/images/test_0.JPEG", grey_jpeg(1)),
    ])
}
