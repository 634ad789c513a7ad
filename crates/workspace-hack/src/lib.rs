//! Dependencies and nothing else: `Cargo.toml` says why.
