//! Files of labels and images of STL-10.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bcl_images::fuzz::stl(bytes));
