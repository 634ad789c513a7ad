//! Walks through a folder, in alphabetical order.

use super::names;
use super::store::{Entry, Visit};
use crate::error::{FileLocation, ImageError};
use bcl_files::input;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum depth, more than any layout needs.
const DEEPEST: usize = 8;

/// Calls `visit` with each folder and file below `root`. Links are followed, because they are the user's own. A link to a folder that
/// contains it is refused, since it would yield every image again and again.
pub(super) fn for_each(root: &Path, visit: &mut Visit) -> Result<(), ImageError> {
    descend(root, "", &mut Vec::new(), visit)
}

/// `around` contains the enclosing folders, with links resolved.
fn descend(folder: &Path, name: &str, around: &mut Vec<PathBuf>, visit: &mut Visit) -> Result<(), ImageError> {
    let failed = |source| ImageError::Io {
        at: FileLocation::file(folder),
        source,
    };
    let itself = fs::canonicalize(folder).map_err(failed)?;
    if around.contains(&itself) {
        return Err(ImageError::LinkLoop {
            at: FileLocation::file(folder),
        });
    }
    around.push(itself);
    let mut children = Vec::new();
    for child in fs::read_dir(folder).map_err(failed)? {
        children.push(child.map_err(failed)?.file_name());
    }
    children.sort();

    for child in children {
        let path = folder.join(&child);
        let at = FileLocation::file(&path);
        let Some(child) = child.to_str() else {
            return Err(ImageError::BadName {
                at,
                problem: "is not UTF-8",
            });
        };
        if names::is_hidden(child) {
            continue;
        }
        let name = if name.is_empty() {
            child.to_string()
        } else {
            format!("{name}/{child}")
        };
        let about = fs::metadata(&path).map_err(|source| ImageError::Io { at: at.clone(), source })?;
        let is_folder = about.is_dir();
        let size = if is_folder { 0 } else { about.len() };
        let mut content = Lazy {
            path: path.clone(),
            file: None,
        };
        visit(&mut Entry {
            name: name.clone(),
            at,
            is_folder,
            size,
            start: Some(0),
            content: &mut content,
        })?;
        if is_folder && around.len() <= DEEPEST {
            descend(&path, &name, around, visit)?;
        }
    }
    around.pop();
    Ok(())
}

/// A file that is opened on its first read: in some folders most files are never read.
struct Lazy {
    path: PathBuf,
    file: Option<File>,
}

impl Read for Lazy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(input::open(&self.path)?),
        };
        file.read(buffer)
    }
}
