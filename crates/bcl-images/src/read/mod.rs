//! Readers: each takes a folder or an archive as it is, and returns images in memory.
//!
//! A [`Store`](store::Store) hands over its files one after the other, whatever packs them; a reader picks those it knows. Nothing is
//! unpacked to the disk, and beyond the images themselves only a few dozen MiB are held at a time.

mod batch;
pub(crate) mod cifar;
mod decode;
#[doc(hidden)]
pub mod fuzz;
pub(crate) mod image_folder;
mod jpeg;
mod layout;
mod limits;
mod names;
pub(crate) mod stl;
pub(crate) mod store;
mod tarred;
mod text;
pub(crate) mod tiny_imagenet;
mod walk;
mod zipped;

pub(crate) use batch::Broken;
pub(crate) use limits::Limits;
