//! Valid files, mutated at random: none may panic, or take long or much memory.
//!
//! `BCL_FUZZ_RUNS=100000 cargo test --release -p bcl-images --test read_mutations -- --nocapture` runs longer; `BCL_FUZZ_START` sets the
//! first case. The targets of `cargo fuzz` in `fuzz/` use the same entry points.

mod read_support;

use bcl_data::{Seed, Xoshiro256PlusPlus};
use bcl_images::fuzz;
use image::{DynamicImage, ImageFormat};
use rand::RngExt;
use read_support::*;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// Edge values of lengths and sizes.
const EDGES: [u32; 12] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x0001_0000,
    0x7fff_ffff,
    0xffff_fffe,
    0xffff_ffff,
    0x2020_2020,
];

/// Changes `bytes` in one to eight positions.
fn mutate(mut bytes: Vec<u8>, rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    for _ in 0..rng.random_range(1..=8) {
        if bytes.is_empty() {
            bytes.push(0);
        }
        let place = rng.random_range(0..bytes.len());
        let end = (place + rng.random_range(1..=64)).min(bytes.len());
        match rng.random_range(0..8) {
            0 | 1 => bytes[place] ^= 1 << rng.random_range(0..8),
            2 => bytes[place] = rng.random(),
            3 => {
                let value = EDGES[rng.random_range(0..EDGES.len())];
                let value = if rng.random() {
                    value.to_be_bytes()
                } else {
                    value.to_le_bytes()
                };
                let room = (bytes.len() - place).min(rng.random_range(1..=4));
                bytes[place..place + room].copy_from_slice(&value[4 - room..]);
            }
            4 => drop(bytes.drain(place..end)),
            5 => {
                let copy = bytes[place..end].to_vec();
                let target = rng.random_range(0..=bytes.len());
                bytes.splice(target..target, copy);
            }
            6 => bytes[place..end].fill(rng.random()),
            _ if rng.random_range(0..4) == 0 => bytes.truncate(place),
            _ => {}
        }
    }
    bytes
}

/// Corrects the checksums of all headers, so that other changes in them take effect.
fn mend_headers(tar: &mut [u8]) {
    for header in tar.chunks_exact_mut(512).filter(|block| block[257..262] == *b"ustar") {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}

/// Images of all kinds, with one folder per class.
fn pictures() -> Files {
    let deep = DynamicImage::ImageRgb8(picture(9, 5, 3));
    files([
        ("train/cat/", vec![]),
        ("train/cat/1.png", png(1)),
        ("train/cat/2.jpg", jpeg(&picture(24, 17, 2))),
        ("train/dog/3.jpg", grey_jpeg(3)),
        (
            "train/dog/4.png",
            encode(DynamicImage::ImageRgba16(deep.to_rgba16()), ImageFormat::Png),
        ),
        (
            "test/dog/5.png",
            encode(DynamicImage::ImageLuma8(deep.to_luma8()), ImageFormat::Png),
        ),
        ("test/cat/6.jpeg", jpeg(&picture(8, 8, 4))),
    ])
}

fn an_archive(rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut files = match rng.random_range(0..8) {
        0 => cifar100(),
        1 => tiny_imagenet(),
        _ => pictures(),
    };
    let in_files = rng.random_range(0..2) == 0;
    if in_files {
        let file = rng.random_range(0..files.len());
        files[file].1 = mutate(std::mem::take(&mut files[file].1), rng);
    }
    match rng.random_range(0..4) {
        _ if in_files => tar(&files),
        0 => mutate(zip(&files), rng),
        1 => mutate(tar_gz(&files), rng),
        _ => {
            let mut bytes = mutate(tar(&files), rng);
            mend_headers(&mut bytes);
            if rng.random() { gzip(&bytes) } else { bytes }
        }
    }
}

fn a_cifar_file(rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    mutate(cifar_batch(&[&[1], &[9], &[0]], 0), rng)
}

fn an_stl_file(rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let labels = mutate(vec![1, 10], rng);
    let images = mutate(stl_images(2, 0), rng);
    [vec![labels.len() as u8], labels, images].concat()
}

/// Runs numbered cases; case `i` depends only on `i`.
fn run(name: &str, runs: u64, make: fn(&mut Xoshiro256PlusPlus) -> Vec<u8>, target: fn(&[u8])) {
    let number = |variable: &str| {
        std::env::var(variable)
            .ok()
            .map(|text| text.parse::<u64>().expect("a number of runs"))
    };
    let runs = number("BCL_FUZZ_RUNS").unwrap_or(runs);
    let start = number("BCL_FUZZ_START").unwrap_or(0);
    let (begin, mut slowest) = (Instant::now(), (Duration::ZERO, 0));
    for case in start..start + runs {
        let bytes = make(&mut Seed(0).named(name).index(case).rng());
        let before = Instant::now();
        assert!(catch_unwind(|| target(&bytes)).is_ok(), "case {case} of {name} panics");
        slowest = slowest.max((before.elapsed(), case));
    }
    println!(
        "{name}: {runs} cases in {:.1?}; the slowest, {}, took {:.1?}",
        begin.elapsed(),
        slowest.1,
        slowest.0
    );
}

#[test]
fn no_archive_panics() {
    run("archive", 1500, an_archive, fuzz::archive);
}

#[test]
fn no_file_of_cifar_panics() {
    run("cifar", 1000, a_cifar_file, fuzz::cifar);
}

#[test]
fn no_file_of_stl_panics() {
    run("stl", 200, an_stl_file, fuzz::stl);
}
