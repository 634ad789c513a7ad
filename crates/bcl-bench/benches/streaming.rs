//! Two random views per image of a batch of JPEG files: decoded beforehand, decoded now, and decoded now but in the cache.

use bcl_data::Seed;
use bcl_images::{CacheBytes, Collection, ImageSource, LoadOptions, PlantedImagesConfig, ViewsConfig, load_with};
use criterion::{Criterion, Throughput};
use image::RgbImage;
use std::{cell::LazyCell, hint::black_box, path::Path};

/// Images per batch, height and width of an image, and of a view.
const BATCHES: [[usize; 3]; 2] = [[256, 32, 32], [32, 256, 224]];
const WAYS: [(&str, Option<CacheBytes>); 3] = [
    ("memory", None),
    ("files", Some(CacheBytes(0))),
    ("cache", Some(CacheBytes(1 << 30))),
];

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("streaming");
    for [batch_size, side, view_side] in BATCHES {
        let folder = LazyCell::new(|| files(batch_size, side));
        let config = ViewsConfig {
            side: view_side,
            ..ViewsConfig::default()
        };
        let (views, batch) = (config.init(), (0..batch_size).collect::<Vec<_>>());
        group.throughput(Throughput::Elements(batch_size as u64));
        for (way, stream) in WAYS {
            let images = LazyCell::new(|| load(folder.path(), stream));
            group.bench_function(format!("{side}x{side}/{way}"), |bencher| {
                let images = LazyCell::force(&images);
                let (mut pixels, mut epoch) = (Vec::new(), 0);
                bencher.iter(|| {
                    views
                        .batch(images, &batch, epoch, Seed(0), &mut pixels)
                        .expect("the files are there");
                    epoch += 1;
                    black_box(&mut pixels);
                });
            });
        }
    }
}

/// A folder of planted images as JPEG files.
fn files(batch_size: usize, side: usize) -> tempfile::TempDir {
    let planted = PlantedImagesConfig {
        train: batch_size,
        test: 10,
        side,
        ..PlantedImagesConfig::default()
    };
    let images = planted.generate().train;
    let folder = tempfile::tempdir().expect("a folder");
    for index in 0..images.len() {
        let pixels = images.get(index).pixels.to_vec();
        let picture = RgbImage::from_raw(side as u32, side as u32, pixels).expect("a square");
        picture.save(folder.path().join(format!("{index:04}.jpg"))).expect("a file");
    }
    folder
}

fn load(folder: &Path, stream: Option<CacheBytes>) -> Collection {
    let source = ImageSource::Archive { path: folder.into() };
    let options = LoadOptions {
        stream,
        ..LoadOptions::default()
    };
    load_with("files", &source, Path::new(""), options).expect("images").train
}
