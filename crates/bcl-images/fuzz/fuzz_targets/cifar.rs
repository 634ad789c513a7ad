//! A file of CIFAR-10 or CIFAR-100.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bcl_images::fuzz::cifar(bytes));
