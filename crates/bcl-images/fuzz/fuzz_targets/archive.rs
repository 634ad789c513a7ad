//! An archive in any format, of any data set.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bcl_images::fuzz::archive(bytes));
