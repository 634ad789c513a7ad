//! Broken or malicious folders, archives, images and weight files.

use super::{
    case::{Case, Content},
    recipes::{IMAGES, TRAIN},
};
use flate2::{Compression, Crc, write::GzEncoder};
use std::io::Write;
use whole_program_tests::pictures::{Files, cats_and_dogs, cifar10, cmyk_jpeg, jpeg, tar_with};

/// An image recipe with this line in its `[data]` table.
fn recipe(data: &str) -> String {
    let planted = IMAGES.lines().filter(|line| !line.contains("planted"));
    let text: Vec<&str> = planted.collect();
    text.join("\n")
        .replace("[data]", &format!("[data]\n{data}"))
        .replace("batch_size = 8", "batch_size = 4")
}

/// Valid images of cats and dogs, below `pictures`.
fn good() -> Files {
    cats_and_dogs(4, 2)
}

fn with_file(mut files: Files, name: &str, bytes: Vec<u8>) -> Files {
    files.push((name.to_owned(), bytes));
    files
}

/// An uncompressed zip, written by hand because the usual writers refuse duplicate names.
fn zip(files: &[(String, Vec<u8>)], announced: Option<u32>) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in files {
        let mut crc = Crc::new();
        crc.update(bytes);
        let size = bytes.len() as u32;
        let mut about = Vec::new();
        about.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        about.extend(crc.sum().to_le_bytes());
        about.extend(size.to_le_bytes());
        about.extend(announced.unwrap_or(size).to_le_bytes());
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        let start = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&about);
        archive.extend(name.bytes().chain(bytes.iter().copied()));
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (start, size, count) = (archive.len() as u32, directory.len() as u32, files.len() as u16);
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    for number in [count, count] {
        archive.extend(number.to_le_bytes());
    }
    archive.extend(size.to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, &bytes[..]).expect("memory");
    }
    builder.into_inner().expect("memory")
}

/// A tar of `good`, after an entry of type `kind` with `size` zeros.
fn tar_behind(kind: tar::EntryType, size: usize) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_mode(0o644);
    header.set_path("pictures/x").expect("a name");
    header.set_cksum();
    builder.append(&header, &vec![0; size][..]).expect("memory");
    let mut archive = builder.into_inner().expect("memory");
    archive.truncate(archive.len() - 1024);
    archive.extend(tar(&good()));
    archive
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// A PNG that consists of a header only.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut header = b"IHDR".to_vec();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut crc = Crc::new();
    // PNG uses the same CRC polynomial as gzip.
    crc.update(&header);
    [&b"\x89PNG\r\n\x1a\n\0\0\0\x0d"[..], &header[..], &crc.sum().to_be_bytes()].concat()
}

pub(crate) fn cases() -> Vec<Case> {
    [archives(), folders(), weights()].concat()
}

fn arguments() -> Vec<&'static str> {
    [&TRAIN[..], &["--data", "."]].concat()
}

fn archives() -> Vec<Case> {
    use tar::EntryType;
    let archive = |name: &str, file: &str, bytes: Vec<u8>, words: &[&str]| {
        let words = [&[file][..], words].concat();
        Case::refused(format!("archive: {name}"), &arguments(), &words)
            .with("tiny.toml", recipe(&format!("images = '{file}'")))
            .with(file, bytes)
    };
    let cut = |bytes: Vec<u8>, share: f64| bytes[..(bytes.len() as f64 * share) as usize].to_vec();
    let twice = with_file(good(), "pictures/train/cat/0.jpg", jpeg(7));
    let mut cases = vec![
        archive("empty", "a.tar", Vec::new(), &["empty"]),
        archive("text", "a.zip", b"hello".to_vec(), &["not an archive"]),
        archive("a web page", "a.tar.gz", b"<html>404</html>".to_vec(), &["web page"]),
        archive("a picture", "a.pictures", jpeg(1), &["single image"]),
        archive("bzip2", "a.tar.bz2", b"BZh91AY&SY".to_vec(), &["bzip2"]),
        archive("xz", "a.tar.xz", b"\xfd7zXZ\0".to_vec(), &["xz"]),
        archive("7z", "a.7z", b"7z\xbc\xaf\x27\x1c".to_vec(), &["7z"]),
        archive("rar", "a.rar", b"Rar!\x1a\x07".to_vec(), &["rar"]),
        archive("zstd", "a.tar.zst", b"\x28\xb5\x2f\xfd".to_vec(), &["zstd"]),
        archive("a tar cut short", "a.tar", cut(tar(&good()), 0.5), &["truncated"]),
        archive(
            "a tar.gz cut short",
            "a.tar.gz",
            cut(gzip(&tar(&good())), 0.5),
            &["truncated"],
        ),
        archive("a zip cut short", "a.zip", cut(zip(&good(), None), 0.5), &["truncated"]),
        archive("a gzip of text", "a.tar.gz", gzip(b"hello there"), &["a.tar.gz"]),
        archive(
            "a gzip of zeros without end",
            "a.tar.gz",
            gzip(&vec![0; 100 << 20]),
            &["a.tar.gz"],
        ),
        archive(
            "a file outside the archive",
            "a.tar",
            tar_with("../../etc/passwd", b"x"),
            &["points outside"],
        ),
        archive("an absolute file", "a.tar", tar_with("/etc/passwd", b"x"), &["absolute"]),
        archive("a backslash", "a.tar", tar_with("a\\..\\b", b"x"), &["backslash"]),
        archive("a name of bytes", "a.tar", tar_with("\u{1b}[31m\u{7f}", b"x"), &["a.tar"]),
        archive("a tar with a file twice", "dup.tar", tar(&twice), &["0.jpg", "twice"]),
        archive("a zip with a file twice", "dup.zip", zip(&twice, None), &["0.jpg", "twice"]),
        archive(
            "a zip with a file outside",
            "a.zip",
            zip(&with_file(good(), "../x.jpg", jpeg(1)), None),
            &["points outside"],
        ),
        archive(
            "a zip that announces too much",
            "a.zip",
            zip(&good(), Some(u32::MAX)),
            &["200 times"],
        ),
        archive("a zip without files", "a.zip", zip(&[], None), &["a.zip"]),
        archive("a tar without files", "a.tar", vec![0; 1024], &["a.tar"]),
        archive(
            "a global header of 2 MiB",
            "a.tar",
            tar_behind(EntryType::XGlobalHeader, 2 << 20),
            &["global header"],
        ),
        archive(
            "a global header of 100 MiB, packed",
            "a.tar.gz",
            gzip(&tar_behind(EntryType::XGlobalHeader, 100 << 20)),
            &["global header"],
        ),
        archive(
            "an extended header of 2 MiB",
            "a.tar",
            tar_behind(EntryType::XHeader, 2 << 20),
            &["1 MiB"],
        ),
        archive(
            "a long name of 2 MiB",
            "a.tar",
            tar_behind(EntryType::GNULongName, 2 << 20),
            &["1 MiB"],
        ),
        archive(
            "a long link of 2 MiB",
            "a.tar",
            tar_behind(EntryType::GNULongLink, 2 << 20),
            &["1 MiB"],
        ),
        archive("a symbolic link", "a.tar", tar_behind(EntryType::Symlink, 0), &["a link"]),
        archive("a hard link", "a.tar", tar_behind(EntryType::Link, 0), &["a link"]),
        archive("a device", "a.tar", tar_behind(EntryType::Char, 0), &["neither"]),
        archive("a pipe in it", "a.tar", tar_behind(EntryType::Fifo, 0), &["neither"]),
        archive("a sparse file", "a.tar", tar_behind(EntryType::GNUSparse, 0), &["a.tar"]),
        archive("an unknown type", "a.tar", tar_behind(EntryType::new(b'V'), 0), &["neither"]),
    ];
    for (name, file, bytes) in [
        ("tar", "a.tar", tar(&good())),
        ("tar.gz", "a.tar.gz", gzip(&tar(&good()))),
        ("zip", "a.zip", zip(&good(), None)),
        ("tar with a global header", "a.tar", tar_behind(EntryType::XGlobalHeader, 512)),
    ] {
        let case = Case::fine(format!("archive: a good {name}"), &arguments());
        cases.push(
            case.with("tiny.toml", recipe(&format!("images = '{file}'")))
                .with(file, bytes),
        );
    }
    for (name, size) in [
        ("half an image", 1500),
        ("nothing", 0),
        ("an image too many, cut short", 3073 + 5),
    ] {
        let files = cifar10().into_iter().map(|(file, bytes)| {
            let bytes = if file.contains("batch_3") { vec![0; size] } else { bytes };
            (file, bytes)
        });
        let case = Case::refused(format!("cifar: {name}"), &arguments(), &["cifar"]);
        let case = case.with("tiny.toml", recipe("dataset = 'cifar10'"));
        cases.push(files.fold(case, |case, (file, bytes)| case.with(&file, bytes)));
    }
    cases
}

fn folders() -> Vec<Case> {
    let folder = |case: Case| {
        let case = case.with("tiny.toml", recipe("images = 'pictures'"));
        good().into_iter().fold(case, |case, (name, bytes)| case.with(&name, bytes))
    };
    let refused = |name: &str, words: &[&str]| folder(Case::refused(format!("folder: {name}"), &arguments(), words));
    let extra = "pictures/train/cat/9.jpg";
    let picture = |name: &str, bytes: Vec<u8>, words: &[&str]| {
        refused(&format!("a picture: {name}"), &[&["9.jpg"][..], words].concat()).with(extra, bytes)
    };
    let whole = jpeg(9);
    let mut cases = vec![
        folder(Case::fine("folder: good", &arguments())),
        folder(Case::fine("folder: with a file of another kind", &arguments())).with("pictures/train/cat/notes.txt", "hello"),
        folder(Case::fine("folder: with a link to a picture", &arguments())).with(extra, Content::Link("0.jpg".into())),
        folder(Case::fine("folder: with a pipe that is no picture", &arguments())).with("pictures/train/cat/pipe", Content::Pipe),
        refused("a link to itself", &["loop"]).with("pictures/train/loop", Content::Link("loop".into())),
        refused("a link to the folder around it", &["loop", "link"]).with("pictures/train/cat/loop", Content::Link("..".into())),
        refused("a link to the root of all", &["loop", "link"]).with("pictures/loop", Content::Link("../pictures".into())),
        refused("a link to nothing", &["9.jpg"]).with(extra, Content::Link("nowhere.jpg".into())),
        refused("/dev/zero for a picture", &["9.jpg", "a device"]).with(extra, Content::Link("/dev/zero".into())),
        refused("a pipe for a picture", &["9.jpg", "a pipe"]).with(extra, Content::Pipe),
        picture("empty", Vec::new(), &["an empty file"]),
        picture("text", b"hello".to_vec(), &["not an image"]),
        picture("GIF", b"GIF89a".to_vec(), &["a GIF"]),
        picture("cut short", whole[..whole.len() / 2].to_vec(), &[]),
        picture("four colours", cmyk_jpeg(), &["CMYK"]),
        picture("far too wide", png(u32::MAX, 1), &["8192"]),
        picture("far too large", png(8193, 8193), &["8192"]),
        picture("without rows", png(8, 0), &["0 rows"]),
        picture("only a header", png(8000, 8000), &[]),
        picture("of 65 MiB", vec![0xff; 65 << 20], &["67108864"]),
    ];
    for (name, content) in [
        ("an empty folder", Content::Folder),
        ("a pipe", Content::Pipe),
        ("/dev/zero", Content::Link("/dev/zero".into())),
        ("a link to nothing", Content::Link("nowhere".into())),
        ("a link to itself", Content::Link("pictures".into())),
    ] {
        let case = Case::refused(format!("images: {name}"), &arguments(), &["pictures"]);
        cases.push(
            case.with("tiny.toml", recipe("images = 'pictures'"))
                .with("pictures", content),
        );
    }
    cases
}

fn weights() -> Vec<Case> {
    let safetensors = |header: &str| [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    let mut cases = Vec::new();
    for (name, file, content) in [
        ("empty", "w.safetensors", Content::Bytes(Vec::new())),
        ("text", "w.safetensors", "hello".into()),
        (
            "a header without end",
            "w.safetensors",
            u64::MAX.to_le_bytes().to_vec().into(),
        ),
        ("a header that is not JSON", "w.safetensors", safetensors("hello").into()),
        ("a header of nothing", "w.safetensors", safetensors("{}").into()),
        (
            "a tensor beyond the end",
            "w.safetensors",
            safetensors(r#"{"conv1.weight":{"dtype":"F32","shape":[2,3,7,7],"data_offsets":[0,1176]}}"#).into(),
        ),
        (
            "a tensor of wrapping size",
            "w.safetensors",
            safetensors(r#"{"conv1.weight":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,0]}}"#).into(),
        ),
        ("a .pth of text", "w.pth", "hello".into()),
        ("an empty .pth", "w.pth", Content::Bytes(Vec::new())),
        ("a .pth of zeros", "w.pth", vec![0_u8; 1000].into()),
        ("a pickle of nothing", "w.pth", b"\x80\x02}q\x00.".to_vec().into()),
        (
            "a zip that is no .pth",
            "w.pth",
            zip(&[("a.txt".to_owned(), b"x".to_vec())], None).into(),
        ),
        ("a pickle without end", "w.pth", b"\x80\x02((((((((".to_vec().into()),
        ("another kind of file", "w.onnx", "hello".into()),
        ("a folder", "w.safetensors", Content::Folder),
        ("a pipe", "w.safetensors", Content::Pipe),
        ("/dev/zero", "w.safetensors", Content::Link("/dev/zero".into())),
        ("/dev/zero as .pth", "w.pth", Content::Link("/dev/zero".into())),
        ("a link to nothing", "w.safetensors", Content::Link("nowhere".into())),
    ] {
        let flag = format!("encoder.weights={file}");
        let arguments = [&arguments()[..], &["--set", flag.as_str()]].concat();
        let case = Case::refused(format!("weights: {name}"), &arguments, &[file]);
        cases.push(case.with("tiny.toml", IMAGES).with(file, content));
    }
    cases
}
