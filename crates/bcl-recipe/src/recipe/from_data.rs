//! The recipe that trains on given data.

use bcl_files::{
    archive::{ArchiveError, EntryKind, FileLocation, Store},
    content::{Content, HEAD},
    input,
};
use bcl_images::is_image;
use std::{
    io::Read,
    path::{Path, PathBuf},
};
use toml::Value;

/// Number of files of a folder or archive that are looked at.
const MOST_FILES: usize = 1000;

/// Endings of tables of interactions, before `.gz`.
const TABLES: [&str; 9] = ["csv", "tsv", "inter", "jsonl", "ndjson", "parquet", "dat", "data", "txt"];

/// What a recipe says of its data.
#[derive(Debug, PartialEq, Eq)]
enum Data {
    Images(PathBuf),
    Graphs(PathBuf),
    Table(PathBuf),
    /// Two tables.
    Parts {
        train: PathBuf,
        test: PathBuf,
    },
}

/// The text of a recipe that trains on the data in a file, folder or archive; `None` if they are of no known kind.
pub(super) fn recipe_for(path: &Path) -> Option<String> {
    let (data, encoder) = match of(path)? {
        Data::Images(path) => (line("images", &path), "resnet"),
        Data::Graphs(path) => (line("graphs", &path), "gin"),
        Data::Table(path) => (line("file", &path), "mf"),
        Data::Parts { train, test } => (line("train", &train) + &line("test", &test), "mf"),
    };
    Some(format!("{data}encoder.kind = \"{encoder}\"\nloss.kind = \"info_nce\""))
}

fn line(key: &str, path: &Path) -> String {
    format!("data.{key} = {}\n", Value::String(path.display().to_string()))
}

fn of(path: &Path) -> Option<Data> {
    if let Ok(store) = Store::open(path) {
        let found = inside(&store);
        let is_archive = [".tar.gz", ".tgz"]
            .iter()
            .any(|ending| path.to_string_lossy().ends_with(ending));
        // Any file packed with gzip may be an archive.
        if found.is_some() || store.is_folder() || is_archive {
            return found;
        }
    }
    let mut head = Vec::new();
    input::open(path).ok()?.take(HEAD as u64).read_to_end(&mut head).ok()?;
    if is_image(&head) {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        return Some(Data::Images(folder.unwrap_or(Path::new(".")).to_owned()));
    }
    // An error that names the kind of the file is of more help.
    Content::of(&head).is_none().then(|| Data::Table(path.to_owned()))
}

/// Why a look into a folder or archive ends.
enum Stop {
    Found(Data),
    Enough,
    Unreadable,
}

impl From<ArchiveError> for Stop {
    fn from(_: ArchiveError) -> Self {
        Self::Unreadable
    }
}

/// The data of a folder or archive: graphs or images if there is one, else a table.
fn inside(store: &Store<'_>) -> Option<Data> {
    let path = store.path();
    let (mut tables, mut files) = (Vec::new(), 0);
    let looked = store.for_each(&mut |entry| {
        let name = entry.name()?;
        if !matches!(entry.kind, EntryKind::File) || bcl_files::archive::is_hidden(&name) {
            return Ok(());
        }
        files += 1;
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        if plain.ends_with("_A.txt") {
            return Err(Stop::Found(Data::Graphs(path.to_owned())));
        }
        let mut head = Vec::new();
        let (at, content) = entry.into_parts();
        let read = content.take(HEAD as u64).read_to_end(&mut head);
        read.map_err(|source| ArchiveError::reading(at, source))?;
        if is_image(&head) {
            return Err(Stop::Found(Data::Images(path.to_owned())));
        }
        // A table within an archive cannot be named.
        if store.is_folder()
            && Path::new(plain)
                .extension()
                .is_some_and(|ending| TABLES.iter().any(|table| ending == *table))
        {
            tables.push(name);
        }
        if files == MOST_FILES { Err(Stop::Enough) } else { Ok(()) }
    });
    match looked {
        Err(Stop::Found(data)) => Some(data),
        Err(Stop::Unreadable) => None,
        Ok(()) | Err(Stop::Enough) => table(path, &tables),
    }
}

/// The table with the interactions, among the tables of a folder.
fn table(folder: &Path, names: &[String]) -> Option<Data> {
    let named = |words: &[&str]| {
        let name = names.iter().find(|name| {
            let name = FileLocation::file(Path::new(name)).file_name().to_lowercase();
            words.iter().any(|word| name.contains(word))
        });
        name.map(|name| folder.join(name))
    };
    if let (Some(train), Some(test)) = (named(&["train"]), named(&["test"])) {
        return Some(Data::Parts { train, test });
    }
    let likely = named(&["rating", ".inter", "interaction", "u.data"]);
    let first = || names.first().map(|name| folder.join(name));
    likely.or_else(first).map(Data::Table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

    #[test]
    fn data_are_told_by_their_files() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("photos/train/cat/one", PNG),
            ("photos/labels.csv", b"image,class\n"),
            ("molecules/M_A.txt", b"1, 2\n"),
            ("films/movies.dat", b"1::Heat\n"),
            ("films/ratings.dat", b"1::1::5::978300760\n"),
            ("parts/test.txt", b"0 1\n"),
            ("parts/train.txt", b"0 2\n"),
            ("sales.csv.gz", b"\x1f\x8b\x08\0"),
            ("sales.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
            ("code/main.rs", b"fn main() {}\n"),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        for (name, expected) in [
            ("photos", Some(Data::Images(path("photos")))),
            ("photos/train/cat/one", Some(Data::Images(path("photos/train/cat")))),
            ("molecules", Some(Data::Graphs(path("molecules")))),
            ("films", Some(Data::Table(path("films/ratings.dat")))),
            (
                "parts",
                Some(Data::Parts {
                    train: path("parts/train.txt"),
                    test: path("parts/test.txt"),
                }),
            ),
            ("sales.csv.gz", Some(Data::Table(path("sales.csv.gz")))),
            ("sales.xls", None),
            ("code", None),
        ] {
            assert_eq!(of(&path(name)), expected, "{name}");
        }
    }

    #[test]
    fn the_recipe_is_three_lines_that_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it's \"mine\".csv");
        fs::write(&file, "user,item\n").unwrap();
        let text = recipe_for(&file).unwrap();
        assert_eq!(text.lines().count(), 3);
        let read: crate::Recipe = crate::Recipe::from_toml(&text, "r", &[]).unwrap();
        assert!(read.to_toml().contains("mine"), "{text}");
    }
}
