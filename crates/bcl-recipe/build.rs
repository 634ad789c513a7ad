//! Compiles the built-in recipes anew when one is added or removed: `include_dir!` notices only files that change.

fn main() {
    println!("cargo::rerun-if-changed=../../recipes");
}
