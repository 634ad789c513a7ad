//! Limits that only mistakes and attacks exceed.

use bcl_data::memory;

/// Maximum size of all pixels in bytes, regardless of the free memory.
const MOST_PIXELS: u64 = 32 << 30;

/// Size limits of images and archives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of one image file.
    pub(crate) image_bytes: u64,
    /// Height and width of one image, in pixels.
    pub(crate) side: u32,
    /// Number of files and folders in an archive.
    pub(crate) entries: u64,
    /// Unpacked bytes of an archive.
    pub(crate) unpacked: u64,
    /// Bytes of all pixels, which stay in memory.
    pub(crate) pixels: u64,
}

impl Limits {
    /// For images that stay in their files.
    pub(crate) fn of_streams() -> Self {
        Self {
            entries: 100_000_000,
            unpacked: 1 << 50,
            pixels: u64::MAX,
            ..Self::default()
        }
    }
}

impl Default for Limits {
    /// Enough for the data sets of the field, if they fit into free memory.
    fn default() -> Self {
        Self {
            image_bytes: 64 << 20,
            side: 8192,
            entries: 4_000_000,
            unpacked: 64 << 30,
            pixels: MOST_PIXELS.min(memory::available().unwrap_or(MOST_PIXELS)),
        }
    }
}
