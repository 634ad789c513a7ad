//! Project chores: `cargo xtask ci`, `cargo xtask datasets fetch NAME`, `cargo xtask tidy`.

fn main() {}
