//! What manifests promise.
