//! Single image files, named one by one.

use super::batch::{Decoder, Reading};
use super::content::Shelf;
use super::limits::Limits;
use super::store::Entry;
use crate::Collection;
use crate::decoding::Decoding;
use crate::error::ImageError;
use bcl_files::archive::FileLocation;
use bcl_files::input;
use std::path::Path;

/// Reads JPEG, PNG and WebP files as 8-bit RGB, in the order given and without labels. Their names are their paths.
///
/// # Errors
/// Returns an error that names the files that cannot be read.
///
/// ```
/// use bcl_images::{Decoding, read_files};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("cat.png");
/// image::GrayImage::from_pixel(4, 2, image::Luma([10])).save(&path)?;
/// let images = read_files(&[&path], Decoding::default())?;
/// assert_eq!((images.len(), images.get(0).width), (1, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_files(paths: &[impl AsRef<Path>], decoding: Decoding) -> Result<Collection, ImageError> {
    let mut decoder = Decoder::new(Limits::default(), decoding);
    for (index, path) in paths.iter().enumerate() {
        let path = path.as_ref();
        let at = FileLocation::file(path);
        let io = |source| ImageError::io(at.clone(), source);
        let mut file = input::open(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        let mut entry = Entry {
            name: path.to_string_lossy().into_owned(),
            at: at.clone(),
            is_folder: false,
            size,
            start: Some(0),
            peeked: Vec::new(),
            content: &mut file,
        };
        // The decoder sorts by name.
        decoder.push(format!("{index:020}"), &mut entry)?;
    }
    let decoded = decoder.finish(Path::new(""), Reading::STRICT.broken)?;
    let mut images = Collection::default();
    let mut shelf = Shelf::default();
    for (path, (_, content)) in paths.iter().zip(decoded.images) {
        shelf.put(&mut images, &path.as_ref().to_string_lossy(), content, None);
    }
    Ok(images)
}
