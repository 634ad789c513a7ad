//! What the environment asks for.

use std::path::PathBuf;

/// Settings of a process.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Number of devices.
    pub(crate) devices: usize,
    /// Memory of each device, in bytes.
    pub(crate) memory: u64,
    /// The launch that loses its device, counted from 1.
    pub(crate) fail_launch: Option<u64>,
    /// The file that gets one line per process.
    pub(crate) log: Option<PathBuf>,
    /// The folder that keeps the PTX of each module.
    pub(crate) ptx: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: 1,
            memory: 16 << 30,
            fail_launch: None,
            log: None,
            ptx: None,
        }
    }
}

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    ///
    /// The variable that is not a number, and its value.
    pub(crate) fn from_environment() -> Result<Self, String> {
        Self::from(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from(value_of: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name: &str| -> Result<Option<u64>, String> {
            let Some(value) = value_of(name) else {
                return Ok(None);
            };
            let parsed = value.trim().parse();
            parsed
                .map(Some)
                .map_err(|error| format!("{name}={value} is not a number: {error}"))
        };
        // A program may change its working directory before it ends.
        let path = |name: &str| value_of(name).map(|path| std::path::absolute(&path).unwrap_or(path.into()));
        let defaults = Self::default();
        Ok(Self {
            devices: number("FAKE_CUDA_DEVICES")?.map_or(defaults.devices, |count| count as usize),
            memory: number("FAKE_CUDA_MEMORY")?.unwrap_or(defaults.memory),
            fail_launch: number("FAKE_CUDA_FAIL_LAUNCH")?,
            log: path("FAKE_CUDA_LOG"),
            ptx: path("FAKE_CUDA_PTX"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_environment_is_one_device_of_16_gib() {
        let settings = Settings::from(|_| None).expect("nothing to parse");
        assert_eq!((settings.devices, settings.memory), (1, 17_179_869_184));
        assert!(settings.fail_launch.is_none() && settings.log.is_none() && settings.ptx.is_none());
    }

    #[test]
    fn a_value_that_is_not_a_number_is_named() {
        let error = Settings::from(|name| (name == "FAKE_CUDA_MEMORY").then(|| "16G".to_owned())).unwrap_err();
        assert!(error.contains("FAKE_CUDA_MEMORY=16G"), "{error}");
    }

    #[test]
    fn paths_do_not_depend_on_a_later_working_directory() {
        let settings = Settings::from(|name| (name == "FAKE_CUDA_LOG").then(|| "log".to_owned())).expect("it parses");
        assert!(settings.log.expect("it was given").is_absolute());
    }
}
