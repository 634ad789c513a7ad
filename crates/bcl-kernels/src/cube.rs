//! GPUs.

use burn::backend::Cube;

use crate::{ConvolutionOps, NormOps, RankOps, SampledOps, SparseOps, UnitOps};

impl ConvolutionOps for Cube {}
impl NormOps for Cube {}
impl RankOps for Cube {}
impl SampledOps for Cube {}
impl SparseOps for Cube {}
impl UnitOps for Cube {}
