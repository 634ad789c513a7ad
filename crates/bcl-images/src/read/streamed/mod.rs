//! Images that stay in their files and are decoded when they are needed.

mod cache;

use super::limits::Limits;
use super::origin::Origin;
use crate::collection::PixelSource;
use crate::error::ImageError;
use cache::Cache;
use std::borrow::Cow;

/// The most bytes of decoded pixels that stay in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheBytes(pub u64);

/// Image files with a bounded cache of decoded images.
#[derive(Debug)]
pub(crate) struct Files {
    origins: Vec<Origin>,
    cache: Cache,
    limits: Limits,
}

impl Files {
    /// Creates a store of these files that keeps at most `cache_bytes` bytes of pixels.
    pub(crate) fn new(origins: Vec<Origin>, limits: Limits, CacheBytes(cache_bytes): CacheBytes) -> Self {
        Self {
            cache: Cache::new(origins.len(), cache_bytes),
            origins,
            limits,
        }
    }
}

impl PixelSource for Files {
    fn length(&self, number: usize) -> u64 {
        self.origins[number].length()
    }

    fn pixels(&self, number: usize) -> Result<Cow<'_, [u8]>, ImageError> {
        self.cache
            .get_or_make(number, || Ok(self.origins[number].decode(self.limits)?.pixels))
    }

    fn bytes(&self, number: usize) -> Result<Vec<u8>, ImageError> {
        self.origins[number].bytes()
    }
}
