//! Extraction of good and bad archives.

use super::*;
use std::io::{self, Cursor};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A zip archive of these files.
fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A folder `outer/inner` that contains the archive.
struct ArchiveFolder(TempDir);

impl ArchiveFolder {
    fn with(archive: &[u8]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        fs::create_dir(folder.inner()).unwrap();
        fs::write(folder.inner().join("archive"), archive).unwrap();
        folder
    }

    fn inner(&self) -> PathBuf {
        self.0.path().join("inner")
    }

    fn extract(&self, limits: Limits) -> Result<Unpacked, FetchError> {
        extract(&self.inner().join("archive"), &self.inner(), limits)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.inner().join(path)).unwrap()
    }

    /// All files and folders below the outer folder.
    fn everything(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(self.0.path()).unwrap().display().to_string());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// Asserts that extraction is refused with `reason` in the message, and leaves nothing behind.
    fn assert_refused(&self, limits: Limits, reason: &str) {
        let error = self.extract(limits).unwrap_err();
        assert!(
            matches!(error, FetchError::Archive { .. }) && error.to_string().contains(reason),
            "{error}"
        );
        assert_eq!(self.everything(), ["inner", "inner/archive"]);
    }
}

const ROOMY: Limits = Limits {
    bytes: 1 << 20,
    entries: 100,
};

#[test]
fn an_archive_gives_its_files_back() {
    let folder = ArchiveFolder::with(&zip_of(&[
        ("ml/README", b"read me"),
        ("ml/sub/u.data", b"1 2 3"),
        ("top", b""),
    ]));
    assert_eq!(folder.extract(ROOMY).unwrap(), Unpacked::Now { files: 3 });
    assert_eq!(folder.read("ml/sub/u.data"), "1 2 3");
    let names = ["", "/archive", "/ml", "/ml/README", "/ml/sub", "/ml/sub/u.data", "/top"];
    assert_eq!(folder.everything(), names.map(|name| format!("inner{name}")));
    assert_eq!(folder.extract(ROOMY).unwrap(), Unpacked::Before);
}

#[test]
fn a_folder_without_files_is_made_too() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_directory("empty/", SimpleFileOptions::default()).unwrap();
    let folder = ArchiveFolder::with(&zip.finish().unwrap().into_inner());
    assert_eq!(folder.extract(ROOMY).unwrap(), Unpacked::Now { files: 0 });
    assert!(folder.inner().join("empty").is_dir());
}

#[test]
fn names_that_lead_out_of_the_folder_are_refused() {
    for name in ["../evil", "a/../../evil", "/evil", "..\\evil", "a/..", ".."] {
        let folder = ArchiveFolder::with(&zip_of(&[("good", b"x"), (name, b"evil")]));
        folder.assert_refused(ROOMY, "points outside the folder");
    }
}

#[test]
fn links_are_refused() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("link", "../..", SimpleFileOptions::default()).unwrap();
    let folder = ArchiveFolder::with(&zip.finish().unwrap().into_inner());
    folder.assert_refused(ROOMY, "\"link\" is a link");
}

#[test]
fn a_bomb_is_refused_before_anything_is_written() {
    let zeros = vec![0; 1_000_000];
    let files: &[(&str, &[u8])] = &[("a", &zeros), ("b", &zeros)];
    let limits = Limits {
        bytes: 1_999_999,
        entries: 2,
    };
    let folder = ArchiveFolder::with(&zip_of(files));
    folder.assert_refused(limits, "more than 1999999 bytes");
    assert!(
        folder
            .extract(Limits {
                bytes: 2_000_000,
                entries: 2
            })
            .is_ok()
    );
}

#[test]
fn a_bomb_that_announces_less_is_refused() {
    let honest = zip_of(&[("bomb", &vec![0; 123_456])]);
    let mut lying = honest.clone();
    let announced = 123_456_u32.to_le_bytes();
    let offsets: Vec<_> = (0..honest.len() - 3).filter(|&at| honest[at..at + 4] == announced).collect();
    assert!(!offsets.is_empty());
    for at in offsets {
        lying[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
    }
    let folder = ArchiveFolder::with(&lying);
    folder.assert_refused(Limits { bytes: 100, entries: 1 }, "bomb declares 10 bytes, but contains more");
}

#[test]
fn no_more_is_read_than_shows_that_an_announcement_was_wrong() {
    let folder = ArchiveFolder::with(&zip_of(&[]));
    let path = folder.inner().join("archive");
    let archive = Archive::open(&path).unwrap();
    let entry = Entry {
        path: PathBuf::from("bomb"),
        size: Some(10),
    };
    let mut content = io::repeat(0).take(1 << 20);
    unpack(&archive, &entry, &mut content, &folder.inner()).unwrap_err();
    assert_eq!(content.limit(), (1 << 20) - 11);
}

#[test]
fn too_many_entries_are_refused() {
    let folder = ArchiveFolder::with(&zip_of(&[("a", b""), ("b", b""), ("c", b"")]));
    folder.assert_refused(Limits { bytes: 100, entries: 2 }, "more than 2 entries");
}

#[test]
fn a_name_that_comes_twice_is_refused() {
    let folder = ArchiveFolder::with(&zip_of(&[]));
    let path = folder.inner().join("archive");
    let archive = Archive::open(&path).unwrap();
    let entry = Entry {
        path: PathBuf::from("a"),
        size: Some(1),
    };
    let unpack = |content: &[u8]| unpack(&archive, &entry, &mut &*content, &folder.inner());
    unpack(b"1").unwrap();
    let error = unpack(b"2").unwrap_err();
    assert!(error.to_string().contains("it contains a twice"), "{error}");
}

#[test]
fn a_damaged_archive_leaves_nothing_behind() {
    let mut zip = zip_of(&[("a", &vec![7; 50_000])]);
    zip[40] ^= 0xff; // in the packed content
    let folder = ArchiveFolder::with(&zip);
    assert!(matches!(folder.extract(ROOMY), Err(FetchError::Archive { .. })));
    assert_eq!(folder.everything(), ["inner", "inner/archive"]);
}

#[test]
fn a_file_that_differs_is_kept() {
    let folder = ArchiveFolder::with(&zip_of(&[("new", b"new"), ("ml/u.data", b"theirs")]));
    fs::create_dir(folder.inner().join("ml")).unwrap();
    fs::write(folder.inner().join("ml/u.data"), "mine").unwrap();
    let error = folder.extract(ROOMY).unwrap_err();
    assert!(
        matches!(&error, FetchError::InTheWay { path, .. } if path.ends_with("inner/ml")),
        "{error}"
    );
    assert_eq!(folder.read("ml/u.data"), "mine");
    assert!(!folder.inner().join("new").exists());
}

#[test]
fn an_interrupted_extraction_is_completed() {
    let folder = ArchiveFolder::with(&zip_of(&[("a/x", b"x"), ("b/y", b"y")]));
    // The state after a process was killed between the two renames.
    fs::create_dir_all(folder.inner().join("a")).unwrap();
    fs::write(folder.inner().join("a/x"), "x").unwrap();
    fs::create_dir_all(folder.inner().join(".unpacking/b")).unwrap();
    fs::write(folder.inner().join(".unpacking/b/y"), "half").unwrap();
    assert_eq!(folder.extract(ROOMY).unwrap(), Unpacked::Now { files: 2 });
    assert_eq!(folder.read("b/y"), "y");
    assert!(!folder.inner().join(".unpacking").exists());
}
