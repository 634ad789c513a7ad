//! Images that stay in their files: the same images and views as in memory, and errors that name the file.

use bcl_data::Seed;
use bcl_images::{
    CacheBytes, Collection, ImageData, ImageError, ImageSource, LoadOptions, PlantedImagesConfig, ViewsConfig, hold_out,
    load_with,
};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Room for about half of the images.
const HALF: CacheBytes = CacheBytes(10 * 20 * 20 * 3);
const NAMES: [&str; 3] = ["circle", "square", "star"];

/// A folder `pictures` with 18 training and 6 test images of 20 by 20 pixels in three classes.
fn pictures() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let planted = PlantedImagesConfig {
        train: 18,
        test: 6,
        side: 20,
        classes: 3,
        ..PlantedImagesConfig::default()
    };
    let ImageData { train, test, .. } = planted.generate();
    for (part, images) in [("train", &train), ("test", &test)] {
        for index in 0..images.len() {
            let class = NAMES[images.labels()[index].expect("planted") as usize];
            let extension = if index % 2 == 0 { "png" } else { "jpg" };
            let path = folder.path().join(format!("pictures/{part}/{class}/{index:02}.{extension}"));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let pixels = images.get(index).pixels.to_vec();
            let picture = image::RgbImage::from_raw(20, 20, pixels).expect("20 by 20");
            picture.save(path).expect("a file");
        }
    }
    folder
}

/// Packs the folder into an uncompressed tar archive.
fn packed(folder: &Path) -> PathBuf {
    let path = folder.join("pictures.tar");
    let mut archive = tar::Builder::new(fs::File::create(&path).expect("a file"));
    archive.append_dir_all("pictures", folder.join("pictures")).expect("packed");
    archive.into_inner().and_then(|mut file| file.flush()).expect("packed");
    path
}

fn read(path: &Path, stream: Option<CacheBytes>) -> Result<ImageData, ImageError> {
    let options = LoadOptions {
        stream,
        ..LoadOptions::default()
    };
    load_with(
        "pictures",
        &ImageSource::Archive { path: path.into() },
        Path::new(""),
        options,
    )
}

/// Two epochs of views of all images.
fn views(images: &Collection) -> Vec<f32> {
    let views = ViewsConfig {
        side: 12,
        ..ViewsConfig::default()
    };
    let (views, all) = (views.init(), (0..images.len()).rev().collect::<Vec<_>>());
    let mut batch = Vec::new();
    let mut both = Vec::new();
    for epoch in [0, 1] {
        views.batch(images, &all, epoch, Seed(5), &mut batch).expect("readable");
        both.extend_from_slice(&batch);
    }
    both
}

#[test]
fn streamed_images_and_views_are_those_in_memory_for_any_cache() {
    let folder = pictures();
    let archive = packed(folder.path());
    for path in [folder.path().join("pictures"), archive] {
        let in_memory = read(&path, None).expect("readable");
        for cache in [CacheBytes(0), HALF, CacheBytes(1 << 30)] {
            let streamed = read(&path, Some(cache)).expect("readable");
            for (mine, theirs) in [(&streamed.train, &in_memory.train), (&streamed.test, &in_memory.test)] {
                assert_eq!((mine.labels(), mine.classes()), (theirs.labels(), theirs.classes()));
                for index in 0..theirs.len() {
                    assert_eq!(mine.name(index), theirs.name(index));
                    assert_eq!(mine.read(index).expect("readable").as_image(), theirs.get(index));
                }
                assert!(views(mine) == views(theirs), "{path:?} {cache:?}");
            }
        }
    }
}

#[test]
fn any_number_of_threads_makes_the_same_views() {
    let folder = pictures();
    let streamed = read(&folder.path().join("pictures"), Some(HALF)).expect("readable").train;
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| views(&streamed))
    };
    assert!(with(1) == with(5));
}

#[test]
fn parts_and_classes_of_streamed_images_stay_in_their_files() {
    let folder = pictures();
    let [in_memory, streamed] =
        [None, Some(HALF)].map(|stream| read(&folder.path().join("pictures"), stream).expect("readable").train);
    for (mine, theirs) in [
        (
            streamed.select_classes(&["star", "circle"]),
            in_memory.select_classes(&["star", "circle"]),
        ),
        (
            Ok(hold_out(&streamed, 0.3, Seed(2)).1),
            Ok(hold_out(&in_memory, 0.3, Seed(2)).1),
        ),
    ] {
        let (mine, theirs) = (mine.expect("known"), theirs.expect("known"));
        assert!(mine.file_length(0).is_some() && theirs.file_length(0).is_none());
        assert_eq!(mine.labels(), theirs.labels());
        assert!(views(&mine) == views(&theirs));
    }
}

#[test]
fn a_broken_header_is_found_at_once_and_a_broken_image_when_it_is_needed() {
    let folder = pictures();
    let root = folder.path().join("pictures");
    let file = root.join("train/circle");
    let file = fs::read_dir(file)
        .expect("a folder")
        .next()
        .expect("an image")
        .expect("an image")
        .path();
    let bytes = fs::read(&file).expect("an image");

    fs::write(&file, b"GIF89a").expect("written");
    let error = read(&root, Some(HALF)).expect_err("no image").to_string();
    assert!(
        error.contains(file.file_name().expect("a name").to_str().expect("plain")),
        "{error}"
    );

    fs::write(&file, &bytes[..bytes.len() - 9]).expect("written");
    let streamed = read(&root, Some(HALF)).expect("the header is whole");
    let errors: Vec<String> = (0..streamed.train.len())
        .filter_map(|index| streamed.train.read(index).err())
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with(file.to_str().expect("plain")), "{}", errors[0]);
}

#[test]
fn a_file_that_is_gone_or_another_one_is_named() {
    let folder = pictures();
    let root = folder.path().join("pictures");
    let streamed = read(&root, Some(CacheBytes(0))).expect("readable").train;
    let path = |index: usize| root.join(streamed.name(index));

    fs::remove_file(path(0)).expect("removed");
    assert!(matches!(streamed.read(0), Err(ImageError::MissingFile { path: gone }) if gone == path(0)));

    let larger = image::RgbImage::new(40, 40);
    larger.save(path(1)).expect("written");
    let error = streamed.read(1).expect_err("changed").to_string();
    assert!(error.contains(path(1).to_str().expect("plain")), "{error}");
    streamed.read(2).expect("the others are still there");
}

#[test]
fn what_cannot_be_read_in_any_order_is_refused_with_a_remedy() {
    let folder = pictures();
    let archive = packed(folder.path());
    let compressed = folder.path().join("pictures.tar.gz");
    let mut packer = flate2::write::GzEncoder::new(fs::File::create(&compressed).expect("a file"), flate2::Compression::fast());
    packer.write_all(&fs::read(&archive).expect("an archive")).expect("packed");
    packer.finish().expect("packed");
    let error = read(&compressed, Some(HALF)).expect_err("compressed").to_string();
    assert!(error.contains("tar -xf"), "{error}");

    let options = LoadOptions {
        stream: Some(HALF),
        ..LoadOptions::default()
    };
    let source = ImageSource::Cifar10 { path: archive };
    let error = load_with("cifar", &source, Path::new(""), options)
        .expect_err("binary")
        .to_string();
    assert!(error.contains("data.stream"), "{error}");
}
