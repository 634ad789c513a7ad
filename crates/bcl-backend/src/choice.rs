//! The backends that `--backend` can name.

/// A backend, as `--backend` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
pub enum BackendChoice {
    /// CPU, in pure Rust: part of every build, bitwise reproducible.
    #[default]
    #[cfg_attr(feature = "program", value(alias = "cpu"))]
    Flex,
    /// Fastest backend of this build that finds a device.
    Auto,
    /// Any GPU, through WebGPU.
    Wgpu,
    /// GPUs with a Vulkan driver.
    Vulkan,
    /// Apple GPUs.
    Metal,
    /// NVIDIA GPUs.
    Cuda,
}

impl BackendChoice {
    /// All backends, from the fastest to the one that always works.
    pub const PREFERENCE: [BackendChoice; 5] = [
        BackendChoice::Cuda,
        BackendChoice::Metal,
        BackendChoice::Vulkan,
        BackendChoice::Wgpu,
        BackendChoice::Flex,
    ];

    /// The name that `--backend` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flex => "flex",
            Self::Auto => "auto",
            Self::Wgpu => "wgpu",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Cuda => "cuda",
        }
    }

    /// Whether this operating system can have such devices at all.
    pub fn exists_here(self) -> bool {
        match self {
            Self::Metal => cfg!(target_os = "macos"),
            Self::Cuda => !cfg!(target_os = "macos"),
            _ => true,
        }
    }

    /// The backends to try, best first, out of those in this build.
    ///
    /// ```
    /// use bcl_backend::BackendChoice;
    ///
    /// let built = [BackendChoice::Flex, BackendChoice::Wgpu];
    /// assert_eq!(BackendChoice::Auto.candidates(&built), Ok(vec![BackendChoice::Wgpu, BackendChoice::Flex]));
    /// assert!(BackendChoice::Cuda.candidates(&built).unwrap_err().to_string().starts_with("--backend cuda is not in this build"));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the backend is not in the build.
    pub fn candidates(self, built: &[BackendChoice]) -> Result<Vec<BackendChoice>, MissingBackend> {
        let in_build: Vec<BackendChoice> = Self::PREFERENCE
            .into_iter()
            .filter(|backend| built.contains(backend))
            .collect();
        match self {
            Self::Auto => Ok(in_build),
            wanted if in_build.contains(&wanted) => Ok(vec![wanted]),
            wanted => Err(MissingBackend { wanted, in_build }),
        }
    }

    fn described(self) -> String {
        match self {
            Self::Flex => "flex (CPU)".to_owned(),
            gpu => gpu.name().to_owned(),
        }
    }
}

/// A requested backend that is not in this build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "--backend {} is not in this build, which has {}",
    wanted.name(),
    in_build.iter().map(|backend| backend.described()).collect::<Vec<_>>().join(", ")
)]
pub struct MissingBackend {
    /// The requested backend.
    pub wanted: BackendChoice,
    /// The backends of this build, best first.
    pub in_build: Vec<BackendChoice>,
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "program")]
    use clap::ValueEnum;

    #[test]
    fn the_error_for_a_missing_backend_lists_the_available_ones() {
        let text = BackendChoice::Cuda
            .candidates(&[BackendChoice::Flex])
            .unwrap_err()
            .to_string();
        assert_eq!(text, "--backend cuda is not in this build, which has flex (CPU)");
    }

    #[test]
    fn auto_takes_an_available_backend() {
        assert_eq!(
            BackendChoice::Auto.candidates(&[BackendChoice::Flex]),
            Ok(vec![BackendChoice::Flex])
        );
        let all = [
            BackendChoice::Flex,
            BackendChoice::Wgpu,
            BackendChoice::Vulkan,
            BackendChoice::Metal,
            BackendChoice::Cuda,
        ];
        assert_eq!(BackendChoice::Auto.candidates(&all).unwrap()[0], BackendChoice::Cuda);
        assert_eq!(BackendChoice::Wgpu.candidates(&all), Ok(vec![BackendChoice::Wgpu]));
    }

    #[cfg(feature = "program")]
    #[test]
    fn names_are_those_that_the_flag_takes() {
        for backend in BackendChoice::value_variants() {
            assert_eq!(backend.to_possible_value().unwrap().get_name(), backend.name());
        }
        assert_eq!(BackendChoice::from_str("cpu", false), Ok(BackendChoice::Flex));
    }
}
