//! Where and with what a result was computed.

use bcl_backend::Backend;
use bcl_report::result::Environment;

/// The environment that is recorded with a result: this program, the device, the number of processes, and the threads of each.
pub fn environment(backend: &Backend, processes: usize) -> Environment {
    let device = backend.info();
    Environment {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: option_env!("BCL_GIT_REVISION").map(str::to_owned),
        backend: device.backend.to_owned(),
        device: device.name.clone(),
        driver: device.driver.clone(),
        processes,
        threads: rayon::current_num_threads(),
    }
}
