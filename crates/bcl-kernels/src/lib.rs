//! Row ranks, sparse products and sampled similarities as Burn backend extensions.
