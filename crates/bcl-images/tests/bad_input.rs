//! Bad images, and what their errors must say: the file, the entry, and the remedy.

mod read_support;

use bcl_images::{ImageError, ImageSource, load, load_named};
use image::{ImageFormat, RgbImage};
use read_support::*;
use std::fs;
use tar::EntryType::{self, Regular};

/// The content of a file, how to read it, and words that the error must contain.
struct Case {
    what: &'static str,
    file: &'static str,
    content: Vec<u8>,
    kind: &'static str,
    words: Vec<&'static str>,
}

fn case<const N: usize>(what: &'static str, file: &'static str, content: Vec<u8>, words: [&'static str; N]) -> Case {
    Case {
        what,
        file,
        content,
        kind: "archive",
        words: words.to_vec(),
    }
}

impl Case {
    fn of(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    fn check(&self) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(self.file), &self.content).unwrap();
        let result = load("mine", &source(self.kind, self.file), dir.path());
        check(self.what, &result.map(drop), self.file, &self.words);
    }
}

fn source(kind: &str, path: &str) -> ImageSource {
    toml::from_str(&format!("kind = \"{kind}\"\npath = \"{path}\"")).unwrap()
}

fn check(what: &str, result: &Result<(), ImageError>, file: &str, words: &[&str]) {
    let Err(error) = result else { panic!("{what}: was accepted") };
    let text = error.to_string();
    for word in words.iter().chain([&file]) {
        assert!(text.contains(word), "{what}: `{word}` is not in: {text}");
    }
    assert!(text.len() < 700, "{what}: {} bytes: {text}", text.len());
}

/// `base` with the file `name` replaced or added.
fn with(mut base: Files, name: &str, bytes: Vec<u8>) -> Files {
    match base.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = bytes,
        None => base.push((name.to_string(), bytes)),
    }
    base
}

fn without(mut base: Files, part: &str) -> Files {
    base.retain(|(name, _)| !name.contains(part));
    base
}

fn truncated(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.truncate(length);
    bytes
}

/// Incompressible pixels, so that a truncated archive ends within an image.
fn noise(seed: u32) -> Vec<u8> {
    let mut state = seed;
    let image = RgbImage::from_fn(64, 64, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        image::Rgb(state.to_be_bytes()[..3].try_into().unwrap())
    });
    encode(image, ImageFormat::Png)
}

/// The start of a JPEG in four colours (CMYK), as used for printing.
fn cmyk() -> Vec<u8> {
    let frame = [
        0xff, 0xc0, 0, 20, 8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0,
    ];
    [&[0xff, 0xd8][..], &frame, &[0xff, 0xd9]].concat()
}

/// A PNG header that declares the given number of columns.
fn wide_png(columns: u32) -> Vec<u8> {
    let mut bytes = png(1);
    bytes[16..20].copy_from_slice(&columns.to_be_bytes());
    bytes
}

fn folder_with(name: &str, bytes: Vec<u8>) -> Vec<u8> {
    tar(&with(image_folder(), name, bytes))
}

fn evil(name: &str, kind: EntryType) -> Vec<u8> {
    tar_of(&[("train/cat/1.png", Regular, &png(1)), (name, kind, b"")])
}

/// Bytes that gzip hardly shrinks, because highly compressed ones are refused as a bomb.
fn hardly_packed(count: u32) -> Vec<u8> {
    let mixed = |i: u32| {
        let mixed = i.wrapping_mul(0x9e37_79b9);
        (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b)
    };
    (0..count).map(|i| (mixed(i) >> 24) as u8).collect()
}

fn damaged_gzip() -> Vec<u8> {
    let mut bytes = tar_gz(&image_folder());
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    bytes
}

fn damaged_zip() -> Vec<u8> {
    let files = files([
        ("train/cat/1.png", noise(1)),
        ("train/cat/2.png", noise(2)),
        ("test/cat/3.png", noise(3)),
    ]);
    let mut bytes = zip(&files);
    // Within the compressed bytes of the first file.
    bytes[2000..2040].fill(0);
    bytes
}

/// A name of 4 MiB, far more header than any file needs.
fn endless_name() -> Vec<u8> {
    let name = vec![b'x'; 4 << 20];
    let (first, second) = (png(1), png(2));
    let entries: [(&str, EntryType, &[u8]); 3] = [
        ("train/cat/1.png", Regular, &first),
        ("././@LongLink", EntryType::GNULongName, &name),
        ("train/cat/2.png", Regular, &second),
    ];
    gzip(&tar_of(&entries))
}

fn bad_checksum() -> Vec<u8> {
    let mut bytes = tar(&image_folder());
    bytes[3] ^= 1;
    bytes
}

#[rustfmt::skip]
fn archives() -> Vec<Case> {
    let noisy = || files([("train/cat/1.png", noise(1)), ("train/cat/2.png", noise(2)), ("test/cat/3.png", noise(3))]);
    vec![
        case("empty file", "a.tar.gz", vec![], ["an empty file", "Name a folder, or a .tar"]),
        case("text", "a.zip", b"Some words".to_vec(), ["not an archive", "`Some words`", ".zip archive"]),
        case("an error page", "a.zip", b"<html>".to_vec(), ["a web page", "Name a folder"]),
        case("xz", "a.tar.xz", b"\xfd7zXZ\0abc".to_vec(), ["packed with xz", ".tar.gz"]),
        case("7z", "a.7z", b"7z\xbc\xaf\x27\x1c".to_vec(), ["a 7-Zip archive", ".tar.gz"]),
        case("a single image", "a.jpg", jpeg(&picture(8, 8, 1)), ["a single image", "Name a folder"]),
        case("gzip of no tar", "a.tar.gz", gzip(&[b'x'; 2000]), ["cannot be read", "Fetch it again"]),
        case("gzip of a short text", "a.gz", gzip(b"words"), ["truncated", "again"]),
        case("gzip truncated", "a.tar.gz", truncated(tar_gz(&noisy()), 14_000), ["entry train/cat/2.png", "truncated", "Fetch or copy it again"]),
        case("gzip header only", "a.tar.gz", b"\x1f\x8b\x08\0".to_vec(), ["truncated", "again"]),
        case("gzip with a wrong checksum", "a.tar.gz", damaged_gzip(), ["cannot be read", "Fetch it again"]),
        case("tar truncated in a file", "a.tar", truncated(tar(&noisy()), 15_000), ["entry train/cat/2.png", "truncated", "again"]),
        case("tar with a damaged header", "a.tar", bad_checksum(), ["checksum", "Fetch it again"]),
        case("zip truncated", "a.zip", truncated(zip(&noisy()), 15_000), ["truncated", "again"]),
        case("zip with damaged content", "a.zip", damaged_zip(), ["entry train/cat/1.png", "cannot be read", "Fetch it again"]),
        case("tar with steps upwards", "a.tar", evil("train/../../x", Regular), ["entry train/../../x", "points outside the archive", "Do not trust"]),
        case("zip with steps upwards", "a.zip", zip(&with(image_folder(), "../train/cat/9.png", png(9))), ["entry ../train/cat/9.png", "points outside", "Do not trust"]),
        case("tar with an absolute name", "a.tar", evil("/etc/passwd", Regular), ["entry /etc/passwd", "is absolute", "relative names"]),
        case("tar with a drive", "a.tar", evil("C:/train/x.png", Regular), ["entry C:/train/x.png", "is absolute"]),
        case("tar with backslashes", "a.tar", evil("train\\cat\\1.png", Regular), ["train\\\\cat", "backslash", "repack it"]),
        case("tar with a link", "a.tar", evil("train/cat/2.png", EntryType::Symlink), ["entry train/cat/2.png", "a link", "--dereference"]),
        case("tar with a hard link", "a.tar", evil("train/cat/2.png", EntryType::Link), ["entry train/cat/2.png", "a link"]),
        case("tar with a device", "a.tar", evil("train/null", EntryType::Char), ["entry train/null", "neither a file nor a folder"]),
        case("tar with a name without end", "a.tar.gz", endless_name(), ["headers before a file", "1 MiB"]),
        case("the same file twice", "a.tar", tar(&[image_folder(), image_folder()].concat()), ["entry test/dog/5.png", "exists twice", "Remove one"]),
    ]
}

#[rustfmt::skip]
fn image_folders() -> Vec<Case> {
    let small = jpeg(&picture(32, 32, 1));
    let half = small.len() / 2;
    vec![
        case("truncated JPEG", "a.tar", folder_with("train/cat/9.jpg", truncated(small, half)), ["entry train/cat/9.jpg", "image is truncated", "Fetch or copy it again"]),
        case("truncated PNG", "a.tar", folder_with("train/cat/9.png", truncated(noise(1), 5000)), ["entry train/cat/9.png", "truncated"]),
        case("PNG header only", "a.tar", folder_with("train/cat/9.png", truncated(png(1), 12)), ["entry train/cat/9.png", "truncated"]),
        case("damaged JPEG", "a.tar", folder_with("train/cat/9.jpg", b"\xff\xd8\xff\xc0\0\x08\x08\0\x08\0\x08\x03\xff\xd9".to_vec()), ["entry train/cat/9.jpg", "cannot be decoded", "save it again"]),
        case("text for an image", "a.tar", folder_with("train/cat/9.jpg", b"words".to_vec()), ["entry train/cat/9.jpg", "not an image", "`words`", "only JPEG, PNG and WebP"]),
        case("empty image", "a.tar", folder_with("train/cat/9.jpg", vec![]), ["entry train/cat/9.jpg", "an empty file", "remove it"]),
        case("GIF that is called JPEG", "a.tar", folder_with("train/cat/9.jpg", b"GIF89a".to_vec()), ["entry train/cat/9.jpg", "a GIF", "Convert it"]),
        case("GIF", "a.tar", folder_with("train/cat/9.gif", vec![]), ["entry train/cat/9.gif", "a .gif file", "Convert it"]),
        case("CMYK", "a.tar", folder_with("train/cat/9.jpg", cmyk()), ["entry train/cat/9.jpg", "CMYK", "Convert it to RGB"]),
        case("a million columns", "a.tar", folder_with("train/cat/9.png", wide_png(1_000_000)), ["entry train/cat/9.png", "longer side", "1000000", "8192", "shrink"]),
        case("no column", "a.tar", folder_with("train/cat/9.png", wide_png(0)), ["entry train/cat/9.png", "0 columns and 6 rows"]),
        case("a huge file", "a.tar.gz", gzip(&folder_with("train/cat/9.png", hardly_packed((64 << 20) + 1))), ["entry train/cat/9.png", "its size in bytes is 67108865", "67108864", "Remove it"]),
        case("no train", "a.tar", tar(&without(image_folder(), "train")), ["no image in train/", "It contains test", "Check the layout"]),
        case("train without images", "a.tar", tar(&files([("train/notes.txt", vec![]), ("README", vec![])])), ["no image in train/", "It contains README, train"]),
        case("no images", "a.tar", tar(&files([("notes.txt", vec![]), ("more/README", vec![])])), ["no image in it", "It contains more, notes.txt", "train/CLASS"]),
        case("nothing", "a.zip", zip(&vec![]), ["no image in it", "It is empty", "Check the layout"]),
        case("classes in test alone", "a.tar", tar(&files([("train/1.png", png(1)), ("train/2.png", png(2)), ("test/cat/2.png", png(2))])), ["entry train/1.png", "no class folder", "Move it", "leave out test"]),
        case("classes in train alone", "a.tar", folder_with("test/2.png", png(2)), ["entry test/2.png", "no class folder", "Move it"]),
        case("an empty class", "a.tar", folder_with("train/frog/", vec![]), ["train/frog", "contains no JPEG, PNG or WebP", "Fill it or remove it"]),
        case("an empty class of test", "a.zip", zip(&with(with(image_folder(), "train/frog/1.png", png(6)), "test/frog/", vec![])), ["test/frog", "contains no JPEG"]),
        case("only an empty class", "a.tar", tar(&files([("train/cat/", vec![]), ("test/cat/1.png", png(1))])), ["train/cat", "contains no JPEG, PNG or WebP"]),
        case("a class of test alone", "a.tar", folder_with("test/Cats/1.png", png(1)), ["class `Cats` is in test but not in train", "did you mean `cat`?", "rename"]),
    ]
}

#[rustfmt::skip]
fn binaries() -> Vec<Case> {
    let cifar = |name: &str, bytes: Vec<u8>| tar_gz(&with(cifar10(), &format!("cifar-10-batches-bin/{name}"), bytes));
    let fine = |name: &str, bytes: Vec<u8>| tar_gz(&with(cifar100(), &format!("cifar-100-binary/{name}"), bytes));
    let stl = |name: &str, bytes: Vec<u8>| tar_gz(&with(stl10(), &format!("stl10_binary/{name}"), bytes));
    let tiny = |name: &str, bytes: Vec<u8>| zip(&with(tiny_imagenet(), &format!("tiny-imagenet-200/{name}"), bytes));
    vec![
        case("cut batch", "c.tar.gz", cifar("data_batch_2.bin", truncated(cifar_batch(&[&[1], &[2], &[3]], 0), 7000)), ["entry cifar-10-batches-bin/data_batch_2.bin", "has 7000 bytes", "multiple of the 3073", "image 2, from byte 6146", "Fetch or unpack it again"]).of("cifar10"),
        case("label out of range", "c.tar.gz", cifar("test_batch.bin", cifar_batch(&[&[1], &[10]], 0)), ["test_batch.bin", "image 1 has the label 10 at byte 3073", "labels are 0 to 9", "fetch it again"]).of("cifar10"),
        case("empty batch", "c.tar.gz", cifar("data_batch_1.bin", vec![]), ["data_batch_1.bin", "is empty", "again"]).of("cifar10"),
        case("nine names", "c.tar.gz", cifar("batches.meta.txt", names(9)), ["batches.meta.txt", "names 9 different classes", "has 10"]).of("cifar10"),
        case("a name twice", "c.tar.gz", cifar("batches.meta.txt", b"a\nb\nc\nd\ne\nf\ng\nh\ni\ni".to_vec()), ["batches.meta.txt", "names 9 different classes", "has 10"]).of("cifar10"),
        case("names in Latin-1", "c.tar.gz", cifar("batches.meta.txt", b"caf\xe9".to_vec()), ["batches.meta.txt", "not UTF-8", "iconv"]).of("cifar10"),
        case("missing batch", "c.tar.gz", tar_gz(&without(cifar10(), "data_batch_4")), ["no file data_batch_4.bin", "cifar-10-binary.tar.gz"]).of("cifar10"),
        case("missing names", "c.zip", zip(&without(cifar10(), "meta")), ["no file batches.meta.txt", "cifar-10-binary.tar.gz"]).of("cifar10"),
        case("a batch twice", "c.tar", tar(&with(cifar10(), "data_batch_3.bin", cifar_batch(&[&[1]], 0))), ["entry data_batch_3.bin", "exists twice"]).of("cifar10"),
        case("CIFAR-100 for CIFAR-10", "c.tar.gz", tar_gz(&cifar100()), ["no file batches.meta.txt", "CIFAR-10 is read from"]).of("cifar10"),
        case("coarse label out of range", "c.tar.gz", fine("train.bin", cifar_batch(&[&[0, 0], &[20, 0]], 0)), ["train.bin", "image 1 has the label 20 at byte 3074", "0 to 19"]).of("cifar100"),
        case("fine label out of range", "c.tar.gz", fine("test.bin", cifar_batch(&[&[0, 100]], 0)), ["test.bin", "the label 100 at byte 1", "0 to 99"]).of("cifar100"),
        case("cut file of two labels", "c.tar.gz", fine("train.bin", vec![0; 3073]), ["train.bin", "multiple of the 3074", "image 0, from byte 0"]).of("cifar100"),
        case("STL label zero", "s.tar.gz", stl("train_y.bin", vec![1, 0]), ["train_y.bin", "image 1 has the label 0 at byte 1", "1 to 10"]).of("stl10"),
        case("STL labels too many", "s.tar.gz", stl("test_y.bin", vec![1, 2]), ["test_y.bin", "2 labels for 1 images", "same release"]).of("stl10"),
        case("STL images cut", "s.tar.gz", stl("train_X.bin", stl_images(1, 0)[1..].to_vec()), ["train_X.bin", "has 27647 bytes", "multiple of the 27648", "image 0"]).of("stl10"),
        case("STL images missing", "s.tar.gz", tar_gz(&without(stl10(), "test_X")), ["no file test_X.bin", "stl10_binary.tar.gz"]).of("stl10"),
        case("STL unlabelled missing", "s.tar.gz", tar_gz(&without(stl10(), "unlabeled")), ["no file unlabeled_X.bin", "`unlabelled = false`"]).of("stl10"),
        case("STL images empty", "s.tar.gz", stl("unlabeled_X.bin", vec![]), ["unlabeled_X.bin", "is empty"]).of("stl10"),
        case("annotation of an unknown class", "t.zip", tiny("val/val_annotations.txt", b"val_0.JPEG\tn01\nval_1.JPEG\tn77\n".to_vec()), ["val_annotations.txt:2:", "the class `n77`", "wnids.txt", "Correct the line"]).of("tiny_imagenet"),
        case("annotation of no image", "t.zip", tiny("val/val_annotations.txt", b"val_7.JPEG\tn01\n".to_vec()), ["val_annotations.txt:1:", "not in val/images"]).of("tiny_imagenet"),
        case("annotation without tab", "t.zip", tiny("val/val_annotations.txt", b"val_0.JPEG n01\n".to_vec()), ["val_annotations.txt:1:", "separated by a tab"]).of("tiny_imagenet"),
        case("annotation twice", "t.zip", tiny("val/val_annotations.txt", b"val_0.JPEG\tn01\nval_0.JPEG\tn02\n".to_vec()), ["val_annotations.txt:2:", "for the second time"]).of("tiny_imagenet"),
        case("image without annotation", "t.zip", tiny("val/val_annotations.txt", b"val_0.JPEG\tn01\n".to_vec()), ["val/images/val_1.JPEG", "does not list its class"]).of("tiny_imagenet"),
        case("image of a class that is not listed", "t.zip", tiny("train/n55/images/n55_0.JPEG", grey_jpeg(1)), ["train/n55/images/n55_0.JPEG", "class `n55` is not in wnids.txt"]).of("tiny_imagenet"),
        case("no ids", "t.zip", zip(&without(tiny_imagenet(), "wnids")), ["no file wnids.txt", "tiny-imagenet-200.zip"]).of("tiny_imagenet"),
        case("no val images", "t.zip", zip(&with(without(tiny_imagenet(), "val/images"), "tiny-imagenet-200/val/val_annotations.txt", vec![])), ["no file val/images/*.JPEG", "fully unpacked"]).of("tiny_imagenet"),
    ]
}

#[test]
fn broken_archives_are_refused_with_place_and_remedy() {
    archives().iter().for_each(Case::check);
}

#[test]
fn broken_image_folders_are_refused_with_place_and_remedy() {
    image_folders().iter().for_each(Case::check);
}

#[test]
fn broken_binaries_are_refused_with_place_and_remedy() {
    binaries().iter().for_each(Case::check);
}

#[test]
fn there_are_enough_cases_to_call_it_a_table() {
    assert!(archives().len() + image_folders().len() + binaries().len() >= 70);
}

#[test]
fn a_folder_is_refused_like_an_archive_and_names_the_file_itself() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path(), &with(image_folder(), "train/cat/9.jpg", b"words".to_vec()));
    let result = load("mine", &source("archive", "."), dir.path());
    check("folder", &result.map(drop), "9.jpg", &["not an image", "Convert it"]);

    fs::remove_file(dir.path().join("train/cat/9.jpg")).unwrap();
    fs::create_dir(dir.path().join("train/empty")).unwrap();
    let result = load("mine", &source("archive", "."), dir.path());
    check(
        "folder",
        &result.map(drop),
        "train/empty",
        &["contains no JPEG, PNG or WebP", "remove it"],
    );
}

#[test]
fn missing_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for kind in ["archive", "cifar10", "cifar100", "stl10", "tiny_imagenet"] {
        let result = load("mine", &source(kind, "nowhere.zip"), dir.path());
        check(
            kind,
            &result.map(drop),
            "nowhere.zip",
            &["no such file or folder", "Check the path"],
        );
    }
    let folders = ImageSource::Folder {
        train: "a".into(),
        test: "b".into(),
    };
    check(
        "folders",
        &load("mine", &folders, dir.path()).map(drop),
        "a",
        &["no such file or folder"],
    );
}

#[test]
fn names_of_data_sets_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let load = |name| load_named(name, dir.path()).map(drop);
    check(
        "unknown",
        &load("cifar-10"),
        "cifar-10",
        &["unknown data set", "did you mean `cifar10"],
    );
    check(
        "missing",
        &load("cifar10"),
        "cifar-10-binary.tar.gz",
        &["bcl-train data fetch cifar10"],
    );
    check(
        "interactions",
        &load("gowalla"),
        "gowalla",
        &["contains interactions, not images"],
    );
}

#[test]
fn a_global_header_does_not_bypass_the_limits() {
    let large = vec![0; 2 << 20];
    let bytes = tar_of(&[("pax_global_header", EntryType::XGlobalHeader, &large)]);
    case(
        "a large one",
        "a.tar",
        bytes,
        ["pax_global_header", "global header", "1048576"],
    )
    .check();
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_around_it_is_refused_and_one_to_another_folder_is_not() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("pets");
    for (name, bytes) in image_folder() {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let result = || load("mine", &source("archive", "pets"), dir.path());
    let images = result().unwrap().train.len();
    symlink("cat", root.join("train/tiger")).unwrap();
    assert!(result().unwrap().train.len() > images);
    symlink("../..", root.join("train/cat/loop")).unwrap();
    check(
        "a loop",
        &result().map(drop),
        "loop",
        &["a link to a folder that contains it", "Remove the link"],
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_broken_images() {
    use bcl_images::{CacheBytes, LoadOptions, load_with};
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("pets");
    write_folder(&root, &image_folder());
    symlink("gone.png", root.join("train/cat/link.png")).unwrap();
    for stream in [None, Some(CacheBytes(0))] {
        let result = |skip_broken| {
            let options = LoadOptions {
                skip_broken,
                stream,
                ..LoadOptions::default()
            };
            load_with("mine", &source("archive", "pets"), dir.path(), options)
        };
        let words = ["is a link that leads nowhere", "Remove it", "data.skip_broken"];
        check("a dangling link", &result(false).map(drop), "link.png", &words);
        assert_eq!(
            result(true).unwrap().skipped,
            ["train/cat/link.png (a link that leads nowhere)"]
        );
    }
    // Whatever its name says.
    symlink("gone", root.join("train/cat/old")).unwrap();
    symlink("gone", root.join("train/cat/old.heic")).unwrap();
    let options = LoadOptions {
        skip_broken: true,
        ..LoadOptions::default()
    };
    let loaded = load_with("mine", &source("archive", "pets"), dir.path(), options).unwrap();
    assert_eq!(loaded.skipped.len(), 3, "{:?}", loaded.skipped);
    symlink("gone", root.join("train/fox")).unwrap();
    let class = load("mine", &source("archive", "pets"), dir.path());
    check(
        "a dangling class",
        &class.map(drop),
        "train/fox (a link that leads nowhere)",
        &["4 of 9 images cannot be read"],
    );
}
