//! Compiled GPU kernels, kept on disk from one process to the next.
//!
//! A training compiles some hundred kernels, which takes seconds to minutes. cubecl can keep them in a database, and does not by default.

use std::path::PathBuf;

/// The folder of compiled GPU kernels: `cubecl` in the user's cache folder, unless a file `cubecl.toml` names another; `None` in a build without
/// GPU backends, which compiles none. Deleting the folder costs nothing but compiling again.
pub fn kernel_cache() -> Option<PathBuf> {
    #[cfg(feature = "cube")]
    return Some(cube::folder());
    #[cfg(not(feature = "cube"))]
    None
}

#[cfg(feature = "cube")]
pub(crate) use cube::turn_on;

#[cfg(feature = "cube")]
mod cube {
    use cubecl::{
        config::{CubeClRuntimeConfig, RuntimeConfig, cache::CacheConfig},
        records::RecordLevel,
    };
    use std::path::PathBuf;

    /// Turns the cache on. Other settings stay as `cubecl.toml` and the environment have them.
    pub(crate) fn turn_on() {
        let mut config = CubeClRuntimeConfig::from_current_dir();
        config.compilation.cache = true;
        // Records of how each kernel was compiled.
        config.environment.records.level = RecordLevel::Off;
        // By default the folder would depend on the current one.
        if matches!(config.environment.path, CacheConfig::Target) {
            config.environment.path = CacheConfig::Global;
        }
        CubeClRuntimeConfig::try_set(config.override_from_env());
    }

    pub(super) fn folder() -> PathBuf {
        CubeClRuntimeConfig::get().environment.path.root()
    }
}
