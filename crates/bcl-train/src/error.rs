//! Errors of commands, and the exit codes they end with.

use bcl_collective::Collective;
use bcl_eval::{
    EvaluationError,
    baselines::{EaseError, ItemKnnError},
    ranking::RankingError,
};
use bcl_files::FileError;
use burn::data::dataset::DatasetError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data cannot be read or contradicts itself.
    #[error(transparent)]
    Data(#[from] bcl_data::DataError),
    /// A data set cannot be downloaded, or differs from its manifest.
    #[error(transparent)]
    Fetch(Box<bcl_data::download::FetchError>),
    /// The images cannot be read or contradict themselves.
    #[error(transparent)]
    Images(Box<bcl_images::ImageError>),
    /// The backend or its device is not available.
    #[error(transparent)]
    Backend(Box<bcl_backend::BackendError>),
    /// The recipe cannot be read or contradicts itself.
    #[error(transparent)]
    Recipe(#[from] bcl_recipe::RecipeError),
    /// No negatives can be drawn from this data.
    #[error(transparent)]
    Negatives(#[from] bcl_data::negatives::NegativesError),
    /// A parameter is out of range for this data.
    #[error(transparent)]
    Parameter(#[from] bcl_core::ParameterError),
    /// A baseline could not be computed.
    #[error(transparent)]
    Baseline(#[from] EaseError),
    /// The item-kNN baseline could not be computed.
    #[error(transparent)]
    ItemKnn(#[from] ItemKnnError),
    /// The model's scores could not be ranked.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// A run could not be read back.
    #[error(transparent)]
    Report(#[from] bcl_report::ReportError),
    /// A file or folder cannot be read, written or trusted.
    #[error(transparent)]
    File(#[from] FileError),
    /// A logger failed.
    #[error("logging failed: {0}; all progress up to the last checkpoint is kept, so the run can continue with --resume")]
    Logger(#[from] crate::logging::LoggerError),
    /// The run does not fit into memory.
    #[error(transparent)]
    Memory(#[from] crate::memory::TooLittleMemory),
    /// The GPU failed.
    #[error(transparent)]
    Device(#[from] bcl_backend::DeviceFailure),
    /// The GPU failed during training.
    #[error("{failure}; all progress up to the last checkpoint is kept, so the run can continue with: bcl-train --resume {}", bcl_files::shell_quoted(.folder.display()))]
    DeviceInRun {
        /// What failed.
        failure: bcl_backend::DeviceFailure,
        /// The folder of the run.
        folder: PathBuf,
    },
    /// Probes were asked for on data without labelled test images.
    #[error("probes on fractions of the labels need labelled test images, but {data} has none")]
    Unlabelled {
        /// Name of the data set.
        data: String,
    },
    /// There is no ONNX model of the encoder.
    #[error(transparent)]
    Onnx(#[from] bcl_models::vision::onnx::OnnxError),
    /// Invalid input on the command line or in a run's folder.
    #[error("{0}")]
    Input(String),
    /// The loss, the weights or the scores are no longer finite.
    #[error(
        "{symptom}: {finding}; {kept}; lower optimizer.learning_rate, raise \
         loss.temperature, or, for images, set optimizer.clip_norm, or training.precision to \"bf16\" or \"f32\" if it is \"f16\", and start a new run (the last checkpoint before it is kept, too)"
    )]
    Diverged {
        /// The symptom and when it appeared, such as `the loss became NaN in epoch 3, step 7`.
        symptom: String,
        /// What else is not finite.
        finding: String,
        /// Where the batch, the scores and the weights were saved, or why they were not.
        kept: String,
    },
    /// The training framework failed.
    #[error("training failed: {0}")]
    Training(String),
    /// Some of several runs failed; the others are finished.
    #[error("{failed} of {runs} runs failed, {name} first: {first}")]
    SomeFailed {
        /// Number of failed runs.
        failed: usize,
        /// Number of runs.
        runs: usize,
        /// Name of the first run that failed.
        name: String,
        /// Why it failed.
        first: Box<Error>,
    },
    /// Process 0 stopped the run, and its message says why.
    #[error("process 0 has stopped the run; its message says why")]
    OfFirstProcess {
        /// The exit code of process 0.
        code: u8,
    },
    /// The user interrupted the run; its checkpoint is written.
    #[error("interrupted; all progress is saved, continue with: bcl-train --resume {}", bcl_files::shell_quoted(.0.display()))]
    Interrupted(PathBuf),
}

impl Error {
    /// An error that all processes meet: it stays itself on process 0, which reports it.
    pub(crate) fn of_all_processes(processes: &dyn Collective, error: Self) -> Self {
        if processes.is_first() {
            error
        } else {
            Self::OfFirstProcess { code: error.exit_code() }
        }
    }

    /// The error of a batch that could not be prepared.
    pub(crate) fn of_batch(error: DatasetError) -> Self {
        match std::error::Error::source(&error).and_then(|source| source.downcast_ref::<bcl_images::ImageError>()) {
            Some(unreadable) => Self::Input(unreadable.to_string()),
            None => Self::Training(error.to_string()),
        }
    }
}

impl From<bcl_images::ImageError> for Error {
    fn from(error: bcl_images::ImageError) -> Self {
        Self::Images(Box::new(error))
    }
}

impl From<bcl_data::download::FetchError> for Error {
    fn from(error: bcl_data::download::FetchError) -> Self {
        Self::Fetch(Box::new(error))
    }
}

impl From<Box<bcl_data::FileNotFound>> for Error {
    fn from(error: Box<bcl_data::FileNotFound>) -> Self {
        Self::Data(error.into())
    }
}

impl From<RankingError> for Error {
    fn from(error: RankingError) -> Self {
        Self::Evaluation(error.into())
    }
}

impl From<bcl_recipe::Refusal> for Error {
    fn from(refusal: bcl_recipe::Refusal) -> Self {
        Self::Input(refusal.to_string())
    }
}

impl From<bcl_backend::BackendError> for Error {
    fn from(error: bcl_backend::BackendError) -> Self {
        Self::Backend(Box::new(error))
    }
}

impl Error {
    /// Wraps an I/O error with its file, for `map_err`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let of_file = FileError::io(action, path);
        move |source| of_file(source).into()
    }

    /// The exit code: 2 for bad input, 130 for an interruption, 1 for an internal failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted(_) | Self::Evaluation(EvaluationError::Interrupted) => 130,
            Self::Fetch(error) => error.exit_code(),
            Self::Diverged { .. } | Self::Training(_) | Self::Evaluation(_) => 1,
            Self::Device(failure) | Self::DeviceInRun { failure, .. } => failure.exit_code(),
            Self::SomeFailed { first, .. } => first.exit_code(),
            Self::OfFirstProcess { code } => *code,
            _ => 2,
        }
    }
}
