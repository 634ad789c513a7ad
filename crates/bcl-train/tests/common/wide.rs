//! Modules in double precision, for tests of `bcl-train` and of its methods.

use burn::{
    module::{ModuleMapper, Param},
    tensor::{FloatDType, Tensor},
};

/// Casts all floats of a module to 64 bits.
pub(crate) struct Wide;

impl ModuleMapper for Wide {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|value| {
            let is_trained = value.is_require_grad();
            value.cast(FloatDType::F64).detach().set_require_grad(is_trained)
        })
    }
}
