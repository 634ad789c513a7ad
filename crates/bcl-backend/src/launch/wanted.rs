//! What a build adds to the default one.

use super::mpi::MpiLibrary;
use crate::{BackendChoice, built};

/// What a program must contain that the running one lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) backend: BackendChoice,
    pub(super) mpi: Option<MpiLibrary>,
}

impl Wanted {
    /// The cargo features, separated by commas.
    pub(super) fn features(&self) -> String {
        let backends = match self.backend {
            // The best backend of the running program must not get lost.
            BackendChoice::Auto => built(),
            choice => vec![choice],
        };
        let backends = backends.into_iter().filter(|backend| *backend != BackendChoice::Flex);
        let features = backends.map(BackendChoice::name).chain(self.mpi.as_ref().map(|_| "mpi"));
        features.collect::<Vec<_>>().join(",")
    }

    /// The name of its folder. Cargo does not notice another MPI library, so each has a folder of its own.
    pub(super) fn folder(&self) -> String {
        let features = self.features().replace(',', "-");
        match &self.mpi {
            Some(library) => format!("{features}-{}", library.id()),
            None => features,
        }
    }

    /// What messages call it.
    pub(super) fn described(&self) -> String {
        match (self.backend, &self.mpi) {
            (BackendChoice::Flex | BackendChoice::Auto, _) => "MPI".to_owned(),
            (choice, None) => format!("--backend {}", choice.name()),
            (choice, Some(_)) => format!("--backend {} with MPI", choice.name()),
        }
    }
}

impl From<BackendChoice> for Wanted {
    fn from(backend: BackendChoice) -> Self {
        Self { backend, mpi: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_and_folder_name_all_that_is_added() {
        let wanted = |backend, mpi: Option<&str>| {
            let mpi = mpi.map(MpiLibrary::of);
            let wanted = Wanted { backend, mpi };
            (wanted.features(), wanted.folder(), wanted.described())
        };
        let texts = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(
            wanted(BackendChoice::Vulkan, None),
            texts("vulkan", "vulkan", "--backend vulkan")
        );
        let id = MpiLibrary::of("gcc -lmpi").id().to_owned();
        let folder = format!("mpi-{id}");
        assert_eq!(wanted(BackendChoice::Flex, Some("gcc -lmpi")), texts("mpi", &folder, "MPI"));
        assert_eq!(
            wanted(BackendChoice::Cuda, Some("gcc -lmpi")),
            texts("cuda,mpi", &format!("cuda-{folder}"), "--backend cuda with MPI")
        );
        assert_ne!(wanted(BackendChoice::Flex, Some("gcc -lmpich")).1, folder);
    }
}
