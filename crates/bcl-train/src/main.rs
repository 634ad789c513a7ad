//! The `bcl-train` program.

fn main() {}
