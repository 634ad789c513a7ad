//! Walks through a folder, in alphabetical order.

use super::entry::{Entry, EntryKind, Visit};
use super::{ArchiveError, FileLocation, names};
use crate::input;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum depth, more than any layout needs.
pub(super) const DEEPEST: usize = 8;

/// Calls `visit` with each folder and file below `root`, in folders of at most `depth` folders. Links are followed, because they are the
/// user's own. A link to a folder that contains it is refused, since it would yield every file again and again.
pub(super) fn for_each<E: From<ArchiveError>>(root: &Path, depth: usize, visit: &mut Visit<E>) -> Result<(), E> {
    descend(root, b"", &mut Vec::new(), depth, visit)
}

/// `around` contains the enclosing folders, with links resolved.
fn descend<E: From<ArchiveError>>(
    folder: &Path,
    name: &[u8],
    around: &mut Vec<PathBuf>,
    depth: usize,
    visit: &mut Visit<E>,
) -> Result<(), E> {
    let at = FileLocation::file(folder);
    let failed = |source| ArchiveError::Io { at: at.clone(), source };
    let itself = fs::canonicalize(folder).map_err(failed)?;
    if around.contains(&itself) {
        let what = "is a link to a folder that contains it, so its files would be read again and again";
        return Err(ArchiveError::unusable(at, what, "Remove the link").into());
    }
    around.push(itself);
    let mut children = Vec::new();
    for child in fs::read_dir(folder).map_err(failed)? {
        children.push(child.map_err(failed)?.file_name());
    }
    children.sort();

    for child in children {
        let path = folder.join(&child);
        let child = child.as_encoded_bytes();
        if names::is_hidden(&String::from_utf8_lossy(child)) {
            continue;
        }
        let name = match name {
            b"" => child.to_vec(),
            name => [name, b"/", child].concat(),
        };
        let about = fs::metadata(&path);
        let is_folder = about.as_ref().is_ok_and(fs::Metadata::is_dir);
        let size = about.as_ref().map_or(0, fs::Metadata::len);
        visit(Entry {
            at: FileLocation::file(&path),
            kind: match about {
                Ok(_) if is_folder => EntryKind::Folder,
                Ok(_) => EntryKind::File,
                Err(error) => EntryKind::Unknown(error),
            },
            size: if is_folder { 0 } else { size },
            start: Some(0),
            raw_name: name.clone(),
            content: &mut Lazy {
                path: path.clone(),
                file: None,
            },
        })?;
        if is_folder && around.len() <= depth {
            descend(&path, &name, around, depth, visit)?;
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
