//! Encoders: matrix factorisation and LightGCN.
