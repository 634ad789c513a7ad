//! Readers: each takes a folder or an archive and returns images in memory.
//!
//! A [`Store`](store::Store) iterates over files, packed or not, and a reader picks those it needs. Nothing is unpacked to disk, and
//! besides the images themselves only a few dozen MiB are in memory at a time.

mod batch;
mod checks;
pub(crate) mod cifar;
mod content;
mod decode;
mod exif;
mod files;
#[doc(hidden)]
pub mod fuzz;
pub(crate) mod image_folder;
mod jpeg;
mod kind;
mod layout;
mod left_out;
mod limits;
mod origin;
mod part;
mod picture;
mod samples;
pub(crate) mod stl;
pub(crate) mod store;
mod streamed;
mod text;
pub(crate) mod tiny_imagenet;
mod webp;

pub(crate) use batch::{Broken, Reading};
pub(crate) use checks::check_not_empty;
pub use files::read_files;
pub use kind::is_image;
pub(crate) use limits::Limits;
pub use streamed::CacheBytes;
