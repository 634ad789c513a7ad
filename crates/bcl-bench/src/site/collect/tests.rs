//! Tests of the module above.

use super::*;

#[test]
fn a_picture_that_a_text_shows_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("figures")).unwrap();
    write("notes.md", "# Notes\n\n![error](figures/shown.svg)\n");
    write("figures/shown.svg", "<svg>1</svg>");
    write("figures/other.svg", "<svg>2</svg>");
    let found = Collection::read(folder.path()).unwrap();
    assert_eq!((found.texts.len(), found.pictures.len()), (1, 1));
    assert!(found.pictures[0].0.ends_with("other.svg"));
}

#[test]
fn missing_results_and_a_broken_table_have_different_errors() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Collection::read(folder.path()).is_err_and(|error| error.contains("no results")));
    fs::write(folder.path().join("table.json"), "{\"title\": 1").unwrap();
    let error = Collection::read(folder.path()).unwrap_err();
    assert!(error.contains("table.json") && error.contains("line 1"), "{error}");
}

#[test]
fn a_folder_given_twice_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("notes.md"), "# Notes\n").unwrap();
    for folders in [[&*inner, &*inner], [folder.path(), &*inner], [&*inner, folder.path()]] {
        let found = Collection::read_all(&folders).unwrap();
        assert_eq!((found.texts.len(), found.skipped.len()), (1, 1), "{folders:?}");
        assert!(found.skipped[0].to_string().ends_with("its content is shown already"));
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_once_and_skipped_files_are_listed() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a/b", "c/table.json", "d", "unfinished/tuning/x"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    fs::write(path("a/notes.md"), "# Notes\n\n![gone](gone.svg)\n").unwrap();
    fs::write(path("a/bad.md"), b"\xff\xfe").unwrap();
    fs::write(path("unfinished/plan.json"), "{}").unwrap();
    fs::write(path("unfinished/tuning/x/map.svg"), "<svg/>").unwrap();
    symlink(folder.path(), path("a/b/up")).unwrap();
    symlink(path("a"), path("again")).unwrap();
    symlink("nowhere", path("d/sensitivity.json")).unwrap();
    symlink("/dev/zero", path("d/zero.svg")).unwrap();

    let found = Collection::read(folder.path()).unwrap();
    assert_eq!((found.texts.len(), found.pictures.len()), (1, 0));
    let mut skipped: Vec<String> = found
        .skipped
        .iter()
        .map(|skipped| skipped.to_string().replace(&format!("{}/", folder.path().display()), ""))
        .collect();
    skipped.sort();
    let expected = [
        "skipping a/b/up: its content is shown already",
        "skipping a/bad.md: it cannot be read: stream did not contain valid UTF-8",
        "skipping a/gone.svg: a/notes.md shows it, but it cannot be read",
        "skipping again: its content is shown already",
        "skipping c/table.json: it is not a file",
        "skipping d/sensitivity.json: it cannot be read: No such file or directory (os error 2)",
        "skipping d/zero.svg: it is not a file",
        "skipping unfinished: the table is not finished; run the command that started it again to continue",
    ];
    assert_eq!(skipped, expected);
}
