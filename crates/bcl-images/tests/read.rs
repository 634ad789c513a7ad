//! Each format, packed in every way, against the pixels that were written.

mod read_support;

use bcl_data::Manifest;
use bcl_images::{Collection, ImageData, ImageError, ImageSource, Subset, load, load_manifest};
use image::{DynamicImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb, Rgba};
use read_support::*;
use std::fs;
use std::path::PathBuf;

const PACKED: [&str; 4] = ["data.tar", "data.tar.gz", "data.zip", "data"];

/// Loads `files`, packed as the name `packed` says.
fn read(files: &Files, packed: &str, source: impl Fn(PathBuf) -> ImageSource) -> Result<ImageData, ImageError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(packed);
    match packed {
        "data.tar" => fs::write(&path, tar(files)).unwrap(),
        "data.tar.gz" => fs::write(&path, tar_gz(files)).unwrap(),
        "data.zip" => fs::write(&path, zip(files)).unwrap(),
        _ => write_folder(&path, files),
    }
    load("mine", &source(packed.into()), dir.path())
}

/// Loads `files` packed in every way, which must not make a difference.
fn read_all(files: &Files, source: impl Fn(PathBuf) -> ImageSource + Copy) -> ImageData {
    let [first, rest @ ..] = PACKED.map(|packed| read(files, packed, source).unwrap());
    for (data, packed) in rest.iter().zip(&PACKED[1..]) {
        assert_eq!(*data, first, "{packed}");
    }
    first
}

fn archive(path: PathBuf) -> ImageSource {
    ImageSource::Archive { path }
}

fn labels(images: &Collection) -> Vec<u32> {
    images.labels().iter().map(|label| label.unwrap()).collect()
}

fn pixel(images: &Collection, index: usize, row: usize, column: usize) -> [u8; 3] {
    let image = images.get(index);
    let start = (row * image.width + column) * 3;
    image.pixels[start..start + 3].try_into().unwrap()
}

#[test]
fn an_image_folder_is_read_alike_from_a_folder_and_from_every_archive() {
    let data = read_all(&image_folder(), archive);
    assert_eq!(data.name, "mine");
    assert_eq!(data.train.classes(), ["cat", "dog"]);
    assert_eq!((labels(&data.train), labels(&data.test)), (vec![0, 0, 1], vec![0, 1]));
    for (image, seed) in [(data.train.get(0), 1), (data.train.get(2), 3), (data.test.get(1), 5)] {
        assert_eq!((image.width, image.height), (8, 6));
        assert_eq!(image.pixels, picture(8, 6, seed).as_raw().as_slice());
    }
}

/// Two classes of a whole data set must train like an archive of only these two.
#[test]
fn chosen_classes_equal_an_archive_of_those_classes() {
    let mut whole = image_folder();
    for (name, seed) in [
        ("train/ant/9.png", 6),
        ("train/cow/0.png", 7),
        ("test/emu/1.png", 8),
        ("train/emu/2.png", 9),
    ] {
        whole.insert(seed as usize % 3, (name.to_string(), png(seed)));
    }
    let classes = Some(["cat", "dog"].map(String::from).to_vec());
    let choice = Subset {
        classes,
        ..Subset::default()
    };
    let chosen = choice.apply(read(&whole, "data.tar.gz", archive).unwrap()).unwrap();
    assert_eq!(chosen, read(&image_folder(), "data.tar.gz", archive).unwrap());
}

#[test]
fn an_enclosing_folder_val_as_test_and_system_files_are_accepted() {
    let expected = read(&image_folder(), "data.tar", archive).unwrap();
    let renamed = |change: &dyn Fn(&str) -> String| -> Files {
        image_folder()
            .into_iter()
            .map(|(name, bytes)| (change(&name), bytes))
            .collect()
    };
    let mut with_others = image_folder();
    for other in [
        "__MACOSX/train/cat/._1.png",
        "train/cat/.DS_Store",
        "train/cat/notes.txt",
        "README.md",
    ] {
        with_others.push((other.to_string(), b"not an image".to_vec()));
    }
    let cases = [
        renamed(&|name| format!("pets/{name}")),
        renamed(&|name| name.replace("test/", "val/")),
        renamed(&|name| name.replace("cat/", "cat/more/")),
        with_others,
    ];
    for files in &cases {
        let ImageData { train, test, .. } = read_all(files, archive);
        assert_eq!((train, test), (expected.train.clone(), expected.test.clone()));
    }
    let others = read_all(&cases[3], archive).notes;
    assert_eq!(
        others,
        ["2 files left out, because they are no images: README.md, train/cat/notes.txt"]
    );
}

#[test]
fn test_is_preferred_to_val() {
    let mut files = image_folder();
    files.push(("val/cat/9.png".into(), png(9)));
    let data = read_all(&files, archive);
    assert_eq!(data.test, read(&image_folder(), "data.tar", archive).unwrap().test);
    assert_eq!(
        data.notes,
        ["1 image of val left out, because there is a test: val/cat/9.png"]
    );
}

#[test]
fn names_longer_than_a_tar_header_are_read() {
    let long = format!("train/cat/{}.png", "x".repeat(180));
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in image_folder().iter().chain([&(long, png(7))]) {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("long.tar"), builder.into_inner().unwrap()).unwrap();
    assert_eq!(load("mine", &archive("long.tar".into()), dir.path()).unwrap().train.len(), 4);
}

#[test]
fn two_folders_or_archives_of_classes_are_read_as_train_and_test() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path(), &image_folder());
    let below = |part: &str| -> Files {
        let files = image_folder().into_iter();
        files
            .filter_map(|(name, bytes)| Some((name.strip_prefix(part)?.to_string(), bytes)))
            .collect()
    };
    fs::write(dir.path().join("test.zip"), zip(&below("test/"))).unwrap();
    for test in ["test", "test.zip"] {
        let source = ImageSource::Folder {
            train: "train".into(),
            test: test.into(),
        };
        let data = load("mine", &source, dir.path()).unwrap();
        assert_eq!(data, read(&image_folder(), "data", archive).unwrap());
    }
}

#[test]
fn every_kind_of_image_becomes_rgb_by_the_documented_rule() {
    let one = |image: DynamicImage| {
        let mut files = image_folder();
        files.push(("train/cat/0.png".into(), encode(image, ImageFormat::Png)));
        pixel(&read(&files, "data.tar", archive).unwrap().train, 0, 0, 0)
    };
    // Values that distinguish rounding from truncation: 257 * 100 + 200 is closer to 101 than to 100.
    let deep = 257 * 100 + 200;
    assert_eq!(one(ImageBuffer::from_pixel(2, 2, Luma([77_u8])).into()), [77; 3]);
    // On white: 77 · 51/255 + 255 · 204/255.
    assert_eq!(one(ImageBuffer::from_pixel(2, 2, LumaA([77_u8, 51])).into()), [219; 3]);
    assert_eq!(one(ImageBuffer::from_pixel(2, 2, Rgba([1_u8, 2, 3, 255])).into()), [1, 2, 3]);
    assert_eq!(one(ImageBuffer::from_pixel(2, 2, Rgba([1_u8, 2, 3, 0])).into()), [255; 3]);
    assert_eq!(one(ImageBuffer::from_pixel(2, 2, Luma([deep])).into()), [101; 3]);
    assert_eq!(
        one(ImageBuffer::from_pixel(2, 2, Rgb([0, deep, u16::MAX])).into()),
        [0, 101, 255]
    );
    assert_eq!(
        one(ImageBuffer::from_pixel(2, 2, Rgba([0, deep, u16::MAX, u16::MAX])).into()),
        [0, 101, 255]
    );
}

#[test]
fn a_jpeg_is_decoded_closely_and_a_grey_one_becomes_rgb() {
    let smooth = image::RgbImage::from_fn(16, 16, |x, y| Rgb([(x * 8) as u8, (y * 8) as u8, 90]));
    let mut files = image_folder();
    files.push(("train/cat/0.jpg".into(), jpeg(&smooth)));
    files.push(("train/cat/00.JPEG".into(), grey_jpeg(120)));
    // The content decides: a file called .png may be a JPEG.
    files.push(("train/cat/000.png".into(), jpeg(&smooth)));
    let data = read_all(&files, archive);
    let order: Vec<usize> = (0..3).map(|index| data.train.get(index).width).collect();
    assert_eq!(order, [16, 8, 16], "images come in the order of their paths");
    for (value, written) in data.train.get(0).pixels.iter().zip(smooth.as_raw()) {
        assert!(value.abs_diff(*written) < 24, "{value} for {written}");
    }
    assert_eq!(data.train.get(0), data.train.get(2));
    assert_eq!(pixel(&data.train, 1, 3, 3), [120; 3]);
}

#[test]
fn cifar_10_is_read_in_the_order_of_its_batches() {
    let data = read_all(&cifar10(), |path| ImageSource::Cifar10 { path });
    assert_eq!(labels(&data.train), [0, 9, 1, 8, 2, 7, 3, 6, 4, 5]);
    assert_eq!(labels(&data.test), [7, 1]);
    assert_eq!(
        (data.train.classes().len(), data.train.classes()[3].as_str()),
        (10, "class 3")
    );
    for (index, row, column) in [(0, 0, 0), (3, 5, 30), (9, 31, 31)] {
        assert_eq!(pixel(&data.train, index, row, column), cifar_pixel(index, row, column));
    }
    assert_eq!(pixel(&data.test, 1, 2, 3), cifar_pixel(11, 2, 3));
}

#[test]
fn cifar_100_has_its_fine_classes() {
    let data = read_all(&cifar100(), |path| ImageSource::Cifar100 { path });
    assert_eq!((labels(&data.train), labels(&data.test)), (vec![99, 42], vec![7]));
    assert_eq!(data.train.classes().len(), 100);
    assert_eq!(pixel(&data.train, 1, 20, 3), cifar_pixel(1, 20, 3));
}

#[test]
fn binary_files_are_found_without_their_folder_too() {
    let bare: Files = cifar10()
        .into_iter()
        .map(|(name, bytes)| (name.rsplit('/').next().unwrap().into(), bytes))
        .collect();
    let source = |path| ImageSource::Cifar10 { path };
    assert_eq!(read_all(&bare, source), read(&cifar10(), "data.tar", source).unwrap());
}

#[test]
fn stl_10_is_transposed_and_its_unlabelled_images_come_last() {
    let data = read_all(&stl10(), |path| ImageSource::Stl10 { path, unlabelled: true });
    assert_eq!(data.train.labels(), [Some(0), Some(3), None, None, None]);
    assert_eq!(data.test.labels(), [Some(9)]);
    for (index, row, column) in [(0, 0, 1), (1, 95, 2), (4, 17, 80)] {
        let written = if index < 2 { index } else { index + 1 };
        assert_eq!(pixel(&data.train, index, row, column), stl_pixel(written, row, column));
    }
}

#[test]
fn stl_10_can_be_read_without_its_unlabelled_images() {
    let labelled = read_all(&stl10(), |path| ImageSource::Stl10 { path, unlabelled: false });
    let all = read(&stl10(), "data.tar", |path| ImageSource::Stl10 { path, unlabelled: true }).unwrap();
    assert_eq!(labelled.train, all.train.labelled());
    // An archive without them is enough.
    let without: Files = stl10().into_iter().filter(|(name, _)| !name.contains("unlabeled")).collect();
    assert_eq!(
        read_all(&without, |path| ImageSource::Stl10 { path, unlabelled: false }),
        labelled
    );
}

#[test]
fn tiny_imagenet_is_read_with_its_words_and_annotations() {
    let data = read_all(&tiny_imagenet(), |path| ImageSource::TinyImageNet { path });
    assert_eq!(data.train.classes(), ["goldfish", "crane (n02)", "crane (n03)"]);
    assert_eq!((labels(&data.train), labels(&data.test)), (vec![0, 1, 2], vec![0, 1]));
    assert_eq!(pixel(&data.train, 2, 0, 0), [30; 3]);
    assert_eq!(pixel(&data.test, 1, 0, 0), [200; 3]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut files = image_folder();
    files.extend((10..300).map(|seed| (format!("train/dog/{seed}.jpg"), jpeg(&picture(24, 24, seed)))));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| read(&files, "data.tar.gz", archive).unwrap())
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn a_broken_image_is_named_alike_for_any_number_of_threads() {
    let mut files = image_folder();
    files.extend((10..300).map(|seed| {
        let mut bytes = png(seed);
        // Damage the compressed pixels of some images.
        if seed % 40 == 0 {
            let middle = bytes.len() / 2;
            bytes[middle..middle + 8].fill(0xaa);
        }
        (format!("train/dog/{seed}.png"), bytes)
    }));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let error = pool.install(|| read(&files, "data.tar", archive).unwrap_err().to_string());
        error.split_once(": ").unwrap().1.to_string()
    };
    // Names are sorted as text: 120 comes before 40, but the archive contains 40 first.
    assert!(on(1).contains("train/dog/40.png"), "{}", on(1));
    assert_eq!(on(1), on(2));
}

/// A manifest for the images of `image_folder`.
const PETS: &str = r#"
name = "pets"
title = "Pets"
licence = "none"
citation = "none"
homepage = "https://example.org"
layout = { kind = "images", format = "image_folder", paths = ["pets.tar.gz"] }

[counts.images]
train = 3
test = 2
classes = 2
side = 6
paper = { train = 3, test = 2, two_class_train = 3, two_class_test = 2 }
"#;

#[test]
fn a_manifest_finds_the_archive_and_its_counts_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let square = |(name, _): (String, Vec<u8>)| (name, encode(picture(6, 6, 0), ImageFormat::Png));
    let files: Files = image_folder().into_iter().map(square).collect();
    fs::write(dir.path().join("pets.tar.gz"), tar_gz(&files)).unwrap();
    let pets = |text: &str| load_manifest(&Manifest::parse("datasets/pets.toml", text).unwrap(), dir.path());
    assert_eq!(pets(PETS).unwrap().name, "pets");

    let cases = [
        ("train = 3\n", "train = 4\n", "has 3 training images, but must have 4"),
        ("test = 2\n", "test = 1\n", "has 2 test images, but must have 1"),
        ("classes = 2", "classes = 3", "has 2 classes, but must have 3"),
        ("side = 6", "side = 32", "has 6 rows or columns in an image, but must have 32"),
        (
            "side = 6",
            "side = 6\nunlabelled = 1",
            "has 0 unlabelled training images, but must have 1",
        ),
    ];
    for (right, wrong, words) in cases {
        let error = pets(&PETS.replacen(right, wrong, 1)).unwrap_err().to_string();
        for words in [words, "pets.tar.gz", "`pets`", "fetch it again"] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}

#[test]
fn a_source_is_read_from_a_recipe() {
    let source: ImageSource = toml::from_str("kind = \"stl10\"\npath = \"stl\"").unwrap();
    assert_eq!(
        source,
        ImageSource::Stl10 {
            path: "stl".into(),
            unlabelled: true
        }
    );
    let source: ImageSource = toml::from_str("kind = \"folder\"\ntrain = \"a\"\ntest = \"b\"").unwrap();
    assert_eq!(
        source,
        ImageSource::Folder {
            train: "a".into(),
            test: "b".into()
        }
    );
    assert!(toml::from_str::<ImageSource>("kind = \"archive\"\npath = \"a\"\nfile = \"b\"").is_err());
}
