//! Compiles the crate anew when a manifest appears or disappears: `include_dir!` alone notices changed files only.

fn main() {
    println!("cargo::rerun-if-changed=datasets");
}
