//! Error codes of the driver API, and refusals: an error code with the reason.

use std::ffi::{CStr, c_int};

/// What every function of the driver API returns: 0, or the number of a [`Status`].
pub(crate) type CuResult = c_int;

macro_rules! statuses {
    ($($variant:ident = $code:literal $name:literal $text:literal,)*) => {
        /// An error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub(crate) enum Status {
            $($variant = $code,)*
        }

        /// Code, name and description of success and of each error.
        const TEXTS: &[(CuResult, &CStr, &CStr)] = &[(0, c"CUDA_SUCCESS", c"no error"), $(($code, $name, $text),)*];
    };
}

statuses! {
    InvalidValue = 1 c"CUDA_ERROR_INVALID_VALUE" c"invalid argument",
    OutOfMemory = 2 c"CUDA_ERROR_OUT_OF_MEMORY" c"out of memory",
    NotInitialized = 3 c"CUDA_ERROR_NOT_INITIALIZED" c"initialization error",
    NoDevice = 100 c"CUDA_ERROR_NO_DEVICE" c"no CUDA-capable device is detected",
    InvalidDevice = 101 c"CUDA_ERROR_INVALID_DEVICE" c"invalid device ordinal",
    InvalidImage = 200 c"CUDA_ERROR_INVALID_IMAGE" c"device kernel image is invalid",
    InvalidContext = 201 c"CUDA_ERROR_INVALID_CONTEXT" c"invalid device context",
    NoBinaryForGpu = 209 c"CUDA_ERROR_NO_BINARY_FOR_GPU" c"no kernel image is available for execution on the device",
    InvalidPtx = 218 c"CUDA_ERROR_INVALID_PTX" c"a PTX JIT compilation failed",
    UnsupportedPtxVersion = 222 c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION" c"the provided PTX was compiled with an unsupported toolchain.",
    InvalidHandle = 400 c"CUDA_ERROR_INVALID_HANDLE" c"invalid resource handle",
    IllegalState = 401 c"CUDA_ERROR_ILLEGAL_STATE" c"the operation cannot be performed in the present state",
    NotFound = 500 c"CUDA_ERROR_NOT_FOUND" c"named symbol not found",
    IllegalAddress = 700 c"CUDA_ERROR_ILLEGAL_ADDRESS" c"an illegal memory access was encountered",
    NotSupported = 801 c"CUDA_ERROR_NOT_SUPPORTED" c"operation not supported",
    CaptureUnsupported = 900 c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" c"operation not permitted when stream is capturing",
    CaptureInvalidated = 901 c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" c"operation failed due to a previous error during capture",
    CaptureMerge = 902 c"CUDA_ERROR_STREAM_CAPTURE_MERGE" c"operation would result in a merge of separate capture sequences",
    CaptureUnmatched = 903 c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" c"capture was not ended in the same stream as it began",
    CaptureUnjoined = 904 c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED" c"capturing stream has unjoined work",
    CaptureIsolation = 905 c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION" c"dependency created on uncaptured work in another stream",
    CaptureImplicit = 906 c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT" c"operation would make the legacy stream depend on a capturing blocking stream",
    CapturedEvent = 907 c"CUDA_ERROR_CAPTURED_EVENT" c"operation not permitted on an event last recorded in a capturing stream",
    CaptureWrongThread = 908 c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD" c"attempt to terminate a thread-local capture sequence from another thread",
    InvalidClusterSize = 912 c"CUDA_ERROR_INVALID_CLUSTER_SIZE" c"cluster misconfiguration",
    Unknown = 999 c"CUDA_ERROR_UNKNOWN" c"unknown error",
}

impl Status {
    /// Its name in the API.
    pub(crate) fn name(self) -> &'static str {
        let (name, _) = texts(self as CuResult).unwrap_or_default();
        name.to_str().unwrap_or_default()
    }
}

/// Name and description of a result.
pub(crate) fn texts(result: CuResult) -> Option<(&'static CStr, &'static CStr)> {
    let (_, name, text) = TEXTS.iter().find(|(code, ..)| *code == result)?;
    Some((name, text))
}

/// Why a call fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An answer that programs must expect, such as "out of memory".
    Expected(Status),
    /// A mistake of the program. It is reported.
    Refused(Refusal),
}

/// A mistake of the program: what a GPU would not do, and why.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: Status,
    pub(crate) kernel: Option<String>,
    pub(crate) reason: String,
}

/// The outcome of a call.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

impl Refusal {
    pub(crate) fn new(status: Status, reason: impl Into<String>) -> Self {
        Self {
            status,
            kernel: None,
            reason: reason.into(),
        }
    }

    /// Names the kernel that was refused.
    pub(crate) fn of_kernel(self, name: &str) -> Self {
        Self {
            kernel: Some(name.to_owned()),
            ..self
        }
    }
}

/// A refusal as an error.
pub(crate) fn refuse<T>(status: Status, reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(status, reason))
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Expected(status)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_has_a_name_and_a_text() {
        assert_eq!(Status::OutOfMemory.name(), "CUDA_ERROR_OUT_OF_MEMORY");
        assert_eq!(texts(0), Some((c"CUDA_SUCCESS", c"no error")));
        assert_eq!(texts(12_345), None);
    }
}
