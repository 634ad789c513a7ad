//! Parity with reference values and benchmarks.
