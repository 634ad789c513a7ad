//! What the end of the process in the middle of a write leaves. Alone in its program, because it removes the temporary files of all threads.

use bcl_files::{WholeFile, remove_temporary_files};
use std::{fs, io::Write};

#[test]
fn an_interrupted_write_leaves_the_old_content_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let [old, new] = ["old.csv", "new.csv"].map(|name| folder.path().join(name));
    fs::write(&old, "old").expect("writable");
    let mut finished = WholeFile::create(&new).expect("writable");
    finished.write_all(b"new").expect("writable");
    finished.finish().expect("writable");
    let mut unfinished = WholeFile::create(&old).expect("writable");
    unfinished.write_all(&vec![b'x'; 100_000]).expect("writable");
    let files = || fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(files(), 3);

    remove_temporary_files();
    assert_eq!(files(), 2);
    assert_eq!(fs::read(&old).expect("readable"), b"old");
    assert_eq!(fs::read(&new).expect("readable"), b"new");
    unfinished.finish().expect_err("its content is gone");
    assert_eq!(fs::read(&old).expect("readable"), b"old");
}
