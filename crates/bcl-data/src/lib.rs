//! Interactions, splits, manifests and seeds: everything about data that needs no tensor.
