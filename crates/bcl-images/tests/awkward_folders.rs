//! Folders and archives as people have them: files under odd names, parts under other words, and what systems add.

mod read_support;

use bcl_images::{
    Background, CacheBytes, Collection, Decoding, ImageData, ImageError, ImageSource, LoadOptions, Orientation, load, load_with,
};
use image::{DynamicImage, ImageBuffer, ImageFormat, Rgba};
use read_support::*;
use std::{fs, path::Path};

fn load_files(files: &Files, options: LoadOptions) -> Result<ImageData, ImageError> {
    let folder = tempfile::tempdir().unwrap();
    write_folder(&folder.path().join("pics"), files);
    let source = ImageSource::Archive { path: "pics".into() };
    load_with("pics", &source, folder.path(), options)
}

fn read_files(files: &Files) -> ImageData {
    load_files(files, LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(files: &Files) -> String {
    load_files(files, LoadOptions::default()).expect_err("refused").to_string()
}

/// Images with these names.
fn images(names: &[&str]) -> Files {
    let image = |(seed, name): (u32, &&str)| ((*name).to_owned(), png(seed));
    (0..).zip(names).map(image).collect()
}

fn names_of(images: &Collection) -> Vec<&str> {
    (0..images.len()).map(|index| images.name(index)).collect()
}

fn sizes(data: &ImageData) -> (usize, usize, usize) {
    (data.train.classes().len(), data.train.len(), data.test.len())
}

/// Cases jfif-silently-left-out and other-image-names-ignored.
#[test]
fn images_are_found_by_their_content_whatever_their_names() {
    let names = [
        "0.jpg",
        "1.jfif",
        "a.jpe",
        "b.JPG",
        "c",
        "d.jpg_large",
        "e.pjpeg",
        "i.jpg.tmp",
        "j.JFIF",
        "k.txt.png",
        "l.gif",
    ];
    let mut files = images(&names);
    let data = read_files(&files);
    assert_eq!(names_of(&data.train), names);
    assert_eq!(data.notes, [""; 0]);
    files.push(("notes.doc".into(), b"words".to_vec()));
    files.push(("Thumbs.db".into(), b"\xd0\xcf".to_vec()));
    let data = read_files(&files);
    assert_eq!(data.train.len(), names.len());
    assert_eq!(data.notes, ["1 file left out, because they are no images: notes.doc"]);
}

#[test]
fn kinds_that_are_not_read_are_named_and_can_be_skipped() {
    let mut files = images(&["0.png", "1.png"]);
    for (name, head) in [
        ("2.heif", &b"\0\0\0\x18ftypheic"[..]),
        ("3", b"\0\0\0\x1cftypavif"),
        ("4.jxl", b"\xff\x0a"),
        ("5.jpg", b"II*\0\x08\0\0\0"),
        ("6.dib", b"BM"),
        ("7.JP2", b"\0\0\0\x0cjP  \r\n\x87\n"),
    ] {
        files.push((name.into(), head.to_vec()));
    }
    let text = refusal(&files);
    for words in [
        "6 of 8 images cannot be read",
        "2.heif (an HEIC image)",
        "3 (an AVIF image)",
        "4.jxl (a JPEG XL image)",
        "5.jpg (a TIFF)",
        "6.dib (a .dib file)",
        "7.JP2 (a JPEG 2000 image)",
        "data.skip_broken = true",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    let skipping = LoadOptions {
        skip_broken: true,
        ..LoadOptions::default()
    };
    let data = load_files(&files, skipping).unwrap();
    assert_eq!((data.train.len(), data.skipped.len()), (2, 6));
}

/// Cases Train-Test-leaks and valid-is-ignored.
#[test]
fn parts_are_recognised_under_other_names_and_in_up_to_two_folders() {
    for [train, test] in [
        ["Train", "Test"],
        ["TRAIN", "TEST"],
        ["Training", "Testing"],
        ["train", "valid"],
        ["train", "dev"],
        ["training_set", "test_set"],
        ["a/Train", "a/Test"],
        ["a/b/train", "a/b/val"],
        ["archive/seg_train/seg_train", "archive/seg_test/seg_test"],
        ["train/images", "test/images"],
    ] {
        let names = ["cat/1.png", "cat/2.png", "dog/3.png"].map(|name| format!("{train}/{name}"));
        let held_out = ["cat/4.png", "dog/5.png"].map(|name| format!("{test}/{name}"));
        let all: Vec<&str> = names.iter().chain(&held_out).map(String::as_str).collect();
        let data = read_files(&images(&all));
        assert_eq!(sizes(&data), (2, 3, 2), "{train} {test}");
        assert_eq!(data.train.classes(), ["cat", "dog"]);
        assert_eq!(names_of(&data.test), held_out);
        assert_eq!(data.notes, [""; 0]);
    }
}

#[test]
fn classes_inside_two_folders_are_recognised() {
    let data = read_files(&images(&["a/b/cat/1.png", "a/b/dog/2.png", "a/b/dog/3.png"]));
    assert_eq!(
        (data.train.classes(), data.train.len()),
        (&["cat".to_owned(), "dog".to_owned()][..], 3)
    );
}

#[test]
fn images_outside_the_parts_are_counted() {
    let data = read_files(&images(&[
        "train/cat/1.png",
        "train/dog/2.png",
        "test/cat/3.png",
        "extra/4.png",
        "5.png",
    ]));
    assert_eq!(sizes(&data), (2, 2, 1));
    assert_eq!(
        data.notes,
        ["2 images left out, because they are not in the folders of train, test or val: 5.png, extra/4.png"]
    );
}

#[test]
fn what_could_be_a_class_or_a_part_is_asked_for() {
    let text = refusal(&images(&["bus/1.png", "train/2.png", "train/3.png", "car/4.png"]));
    assert!(
        text.contains("train may be a class") && text.contains("train/train/"),
        "{text}"
    );
    let followed = read_files(&images(&[
        "train/bus/1.png",
        "train/train/2.png",
        "train/train/3.png",
        "train/car/4.png",
    ]));
    assert_eq!(followed.train.classes(), ["bus", "car", "train"]);

    let text = refusal(&images(&["cat/1.png", "dog/2.png", "test_images/cat/3.png"]));
    assert!(text.contains("test_images seems to hold images for testing"), "{text}");
    let followed = read_files(&images(&["train/cat/1.png", "train/dog/2.png", "test_images/cat/3.png"]));
    assert_eq!(sizes(&followed), (2, 2, 1));
    assert!(refusal(&images(&["Test/cat/1.png", "Test/dog/2.png"])).contains("no image in train/"));

    let inside = ["cat/test/1.png", "cat/train/2.png", "dog/test/1.png", "dog/train/2.png"];
    let text = refusal(&images(&inside));
    assert!(
        text.contains("cat/test/ and dog/test/") && text.contains("(test/CLASS/…)"),
        "{text}"
    );
    let followed = read_files(&images(&[
        "test/cat/1.png",
        "train/cat/2.png",
        "test/dog/1.png",
        "train/dog/2.png",
    ]));
    assert_eq!(sizes(&followed), (2, 2, 2));
    assert_eq!(sizes(&read_files(&images(&["valid/1.png", "invalid/2.png"]))), (2, 2, 0));
}

/// Case eaDir-becomes-a-class.
#[test]
fn what_systems_add_is_no_class() {
    let names = [
        "train/a/1.png",
        "train/b/2.png",
        "train/@eaDir/1.png/SYNOPHOTO_THUMB_M.jpg",
        "train/a/@eaDir/1.png/SYNOPHOTO_THUMB_M.jpg",
        "train/$RECYCLE.BIN/3.png",
        "train/#recycle/3.png",
        "__MACOSX/train/a/1.png",
        "train/.ipynb_checkpoints/1.png",
    ];
    assert_eq!(sizes(&read_files(&images(&names))), (2, 2, 0));
}

/// Case same-looking-class-names.
#[test]
fn class_names_that_differ_only_in_their_unicode_form_are_refused() {
    for names in [
        [
            "train/the/1.png",
            "train/cafe\u{301}/2.png",
            "test/the/3.png",
            "test/caf\u{e9}/4.png",
        ],
        [
            "train/the/1.png",
            "train/cafe\u{301}/2.png",
            "train/caf\u{e9}/3.png",
            "test/the/4.png",
        ],
    ] {
        let text = refusal(&images(&names));
        for words in ["look alike", "NFC, NFD", "U+0301", "U+00E9", "convmv"] {
            assert!(text.contains(words), "`{words}` is not in: {text}");
        }
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_named_with_the_remedy() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), &images(&["1.png", "2.png"]));
    fs::write(folder.path().join(OsStr::from_bytes(b"caf\xe9.png")), png(3)).unwrap();
    let source = ImageSource::Archive {
        path: folder.path().into(),
    };
    let text = load("pics", &source, Path::new("")).unwrap_err().to_string();
    assert!(
        text.contains("caf") && text.contains("not UTF-8") && text.contains("convmv"),
        "{text}"
    );
}

/// A drawing in black on transparent ground.
fn drawing(place: u32) -> Vec<u8> {
    let ink = |x: u32, _| Rgba([0, 0, 0, if x == place { 255 } else { 0 }]);
    let image: ImageBuffer<Rgba<u8>, Vec<u8>> = ImageBuffer::from_fn(4, 4, ink);
    encode(DynamicImage::from(image), ImageFormat::Png)
}

/// Case transparent-line-art-all-duplicates.
#[test]
fn transparent_drawings_differ_and_the_background_can_be_chosen() {
    let files = files([("0.png", drawing(0)), ("1.png", drawing(1))]);
    for (background, level) in [(Background::White, 255), (Background::Black, 0), (Background::Grey, 128)] {
        let options = LoadOptions {
            decoding: Decoding {
                background,
                ..Decoding::default()
            },
            ..LoadOptions::default()
        };
        let data = load_files(&files, options).unwrap();
        assert_eq!(data.train.get(0).pixels[..6], [0, 0, 0, level, level, level]);
        assert_eq!(data.train.get(0) == data.train.get(1), background == Background::Black);
    }
}

/// A JPEG of 20 x 12 pixels that a camera took upside down, as its metadata say.
fn turned_jpeg(orientation: u8) -> Vec<u8> {
    let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
    let tiff = [&b"MM\0*\0\0\0\x08\0\x01"[..], &entry, &[0; 4]].concat();
    let length = (tiff.len() as u16 + 8).to_be_bytes();
    let bytes = jpeg(&picture(20, 12, 1));
    [&bytes[..2], b"\xff\xe1", &length, b"Exif\0\0", &tiff, &bytes[2..]].concat()
}

#[test]
fn the_orientation_is_applied_on_request_and_mentioned_otherwise() {
    let files = files([("0.jpg", turned_jpeg(6)), ("1.jpg", turned_jpeg(1)), ("2.png", png(1))]);
    let turned = Decoding {
        orientation: Orientation::Exif,
        ..Decoding::default()
    };
    for stream in [None, Some(CacheBytes(0))] {
        let read = |decoding| {
            let options = LoadOptions {
                stream,
                decoding,
                ..LoadOptions::default()
            };
            load_files_kept(&files, options)
        };
        let (_folder, stored) = read(Decoding::default());
        let (_other, upright) = read(turned);
        assert_eq!(stored.train.size(0), [20, 12]);
        assert_eq!(upright.train.size(0), [12, 20]);
        assert!(
            stored.notes[0].contains("1 images have an orientation") && stored.notes[0].contains("data.orientation = \"exif\"")
        );
        assert_eq!(upright.notes, [""; 0]);
        let [before, after] = [&stored, &upright].map(|data| data.train.read(0).unwrap());
        // A quarter turn clockwise: the first row comes from the first column, from below.
        let pixel = |image: bcl_images::Image, x: usize, y: usize| image.pixels[(y * image.width + x) * 3..][..3].to_vec();
        assert_eq!(pixel(after.as_image(), 0, 0), pixel(before.as_image(), 0, 11));
        assert_eq!(pixel(after.as_image(), 11, 0), pixel(before.as_image(), 0, 0));
        assert_eq!(pixel(after.as_image(), 0, 19), pixel(before.as_image(), 19, 11));
        assert_eq!(upright.train.read(1).unwrap(), stored.train.read(1).unwrap());
    }
}

/// Like `load_files`, with the folder that streamed images need.
fn load_files_kept(files: &Files, options: LoadOptions) -> (tempfile::TempDir, ImageData) {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), files);
    let source = ImageSource::Archive {
        path: folder.path().into(),
    };
    let data = load_with("pics", &source, Path::new(""), options).unwrap();
    (folder, data)
}

/// Case zip-with-backslashes.
#[test]
fn a_zip_with_backslashes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["train\\a\\1.png", "train\\b\\2.png", "test\\a\\3.png"];
    fs::write(folder.path().join("d.zip"), zip(&images(&names))).unwrap();
    let data = load("d", &ImageSource::Archive { path: "d.zip".into() }, folder.path()).unwrap();
    assert_eq!(names_of(&data.train), ["train/a/1.png", "train/b/2.png"]);
    assert_eq!(sizes(&data), (2, 2, 1));
    let upwards = zip(&images(&["train\\a\\1.png", "..\\2.png"]));
    fs::write(folder.path().join("d.zip"), upwards).unwrap();
    let text = load("d", &ImageSource::Archive { path: "d.zip".into() }, folder.path())
        .unwrap_err()
        .to_string();
    assert!(text.contains("points outside"), "{text}");
}

/// Case zip-encrypted. Bit 0 of the flags of each entry says that it is encrypted.
#[test]
fn an_encrypted_zip_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = zip(&images(&["train/a/1.png", "train/b/2.png"]));
    for (signature, flags) in [(b"PK\x01\x02", 8), (b"PK\x03\x04", 6)] {
        let places: Vec<usize> = (0..bytes.len() - 4)
            .filter(|&at| bytes[at..].starts_with(signature))
            .collect();
        for at in places {
            bytes[at + flags] |= 1;
        }
    }
    fs::write(folder.path().join("d.zip"), bytes).unwrap();
    let text = load("d", &ImageSource::Archive { path: "d.zip".into() }, folder.path())
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("train/a/1.png") && text.contains("is encrypted") && text.contains("password"),
        "{text}"
    );
}
