//! The `bcl-bench` program.

fn main() {}
