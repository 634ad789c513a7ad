//! How much is read before it must be a mistake or an attack.

use bcl_data::memory;

/// The most bytes of pixels, whatever the memory.
const MOST_PIXELS: u64 = 32 << 30;

/// The most that is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of one image file.
    pub(crate) image_bytes: u64,
    /// Rows, and columns, of one image.
    pub(crate) side: u32,
    /// Files and folders of an archive.
    pub(crate) entries: u64,
    /// Bytes that an archive unpacks to.
    pub(crate) unpacked: u64,
    /// Bytes of all pixels, which stay in memory.
    pub(crate) pixels: u64,
}

impl Default for Limits {
    /// Room for the data sets of the field, if they fit into the memory that is free.
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
