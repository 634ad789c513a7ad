//! Chooses the path of a page so that no earlier page is overwritten.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Number of bytes that contain a page's `<head>`.
const HEAD: u64 = 2048;

/// The line of a page's head that identifies its content. Pages with equal lines show the same runs.
pub(super) fn identity(content: &str) -> String {
    format!("<meta name=\"bcl-page\" content=\"{content}\">")
}

/// Chooses a path for a page: `wanted`, or the first free one of `report.2.html`, `report.3.html`, ….
///
/// A page with the same content (the same results, read again) is replaced; all other files are kept.
pub fn free_path(wanted: &Path, page: &str) -> PathBuf {
    let own = page.lines().find(|line| line.starts_with("<meta name=\"bcl-page\""));
    let mut path = wanted.to_path_buf();
    let mut number = 1;
    while path.symlink_metadata().is_ok() && !head(&path).is_ok_and(|head| own.is_some_and(|own| head.contains(own))) {
        number += 1;
        let stem = wanted.file_stem().unwrap_or_default().to_string_lossy();
        path = wanted.with_file_name(format!("{stem}.{number}.html"));
    }
    path
}

fn head(path: &Path) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn page(content: &str) -> String {
        format!("<!DOCTYPE html>\n<head>\n{}\n</head>\n", identity(content))
    }

    #[test]
    fn a_page_replaces_its_own_former_self_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("report.html");
        let write = |content: &str| {
            let path = free_path(&wanted, &page(content));
            fs::write(&path, page(content)).unwrap();
            path.file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(write("a"), "report.html");
        assert_eq!(write("b"), "report.2.html");
        assert_eq!(write("a"), "report.html");
        assert_eq!(write("b"), "report.2.html");
        fs::create_dir(folder.path().join("report.3.html")).unwrap();
        assert_eq!(write("c"), "report.4.html");
        // A page without that line, as earlier versions wrote it, is never replaced.
        fs::write(&wanted, "<!DOCTYPE html>\n").unwrap();
        assert_eq!(write("a"), "report.5.html");
        assert_eq!(free_path(&wanted, "no head"), folder.path().join("report.6.html"));
    }
}
