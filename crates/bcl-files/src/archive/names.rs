//! Checks and cleans the names of archive entries.

/// Cleans the name of an entry to a plain relative path, or says what is wrong with it.
///
/// Nothing is written to disk, so a name that points outside the archive is harmless here; but it shows that the archive was made to do
/// harm.
pub(super) fn plain(name: &[u8]) -> Result<String, &'static str> {
    let name = utf8(name)?;
    if name.contains(['\\', '\0']) {
        return Err("contains a backslash or a NUL character");
    }
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.starts_with('/') || drive {
        return Err("is absolute");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err("points outside the archive (`..`)");
    }
    Ok(parts.join("/"))
}

/// The name as text.
pub(super) fn utf8(name: &[u8]) -> Result<&str, &'static str> {
    std::str::from_utf8(name).map_err(|_| NOT_UTF8)
}

/// What is wrong with a name in an unknown encoding.
pub(super) const NOT_UTF8: &str = "is not UTF-8";

/// Files and folders that systems add beside the user's own: macOS to archives, Windows, and network storage by Synology and QNAP.
const OF_SYSTEMS: [&str; 12] = [
    "__MACOSX",
    "Icon\r",
    "Thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "$RECYCLE.BIN",
    "System Volume Information",
    "@eaDir",
    "#recycle",
    "@Recycle",
    "@Recently-Snapshot",
    "lost+found",
];

/// Whether a file belongs to the system: hidden files, and those that systems add.
pub fn is_hidden(name: &str) -> bool {
    let is_of_system = |part: &str| OF_SYSTEMS.iter().any(|known| part.eq_ignore_ascii_case(known));
    name.split('/').any(|part| part.starts_with('.') || is_of_system(part))
}

/// The file name, if the file is in at most one folder: archives contain their files directly or in one folder.
pub fn shallow(name: &str) -> Option<&str> {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    (!folder.contains('/')).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundant_parts_of_paths_are_removed() {
        assert_eq!(plain(b"./train//cat/1.jpg"), Ok("train/cat/1.jpg".to_string()));
        assert_eq!(plain(b"train/cat/"), Ok("train/cat".to_string()));
        assert_eq!(plain(b"a..b/..c"), Ok("a..b/..c".to_string()));
        assert_eq!(plain(b"./"), Ok(String::new()));
    }

    #[test]
    fn names_that_could_mean_harm_are_refused() {
        for name in [
            &b"../a"[..],
            b"a/../b",
            b"a/..",
            b"/etc/passwd",
            b"C:/a",
            b"a\\..\\b",
            b"a\0b",
            b"\xff",
        ] {
            assert!(plain(name).is_err(), "{}", name.escape_ascii());
        }
    }

    #[test]
    fn hidden_files_are_the_systems() {
        assert!(is_hidden("__MACOSX/train/cat/._1.jpg") && is_hidden("train/.DS_Store"));
        assert!(is_hidden("train/@eaDir/1.jpg/SYNOPHOTO_THUMB_M.jpg") && is_hidden("cat/thumbs.db"));
        assert!(!is_hidden("train/cat.1/a.jpg") && !is_hidden("train/eaDir/thumbs.png"));
    }

    #[test]
    fn one_folder_is_shallow_and_two_are_not() {
        assert_eq!(shallow("a.bin"), Some("a.bin"));
        assert_eq!(shallow("cifar/a.bin"), Some("a.bin"));
        assert_eq!(shallow("x/cifar/a.bin"), None);
    }
}
