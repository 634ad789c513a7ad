//! A number that is saved with a method.

use burn::{
    module::{Module, Param, ParamId},
    tensor::{Device, Int, Tensor},
};

/// A count, such as the number of steps so far, which checkpoints contain.
#[derive(Module, Debug)]
pub struct Counter {
    /// The count, `[1]`.
    count: Param<Tensor<1, Int>>,
    /// The same on the host, once known: reading it from the device would wait for all queued work.
    #[module(skip)]
    known: Option<usize>,
}

impl Counter {
    /// Starts from 0.
    pub fn new(device: &Device) -> Self {
        Self {
            count: Param::initialized(ParamId::new(), Tensor::from_data([0_i64], device)),
            known: None,
        }
    }

    /// The count.
    pub fn value(&self) -> usize {
        self.known.unwrap_or_else(|| self.count.val().into_scalar::<i64>() as usize)
    }

    /// Adds to the count.
    pub fn plus(self, more: usize) -> Self {
        let value = self.value() + more;
        let device = self.count.val().device();
        Self {
            count: self.count.map(|_| Tensor::from_data([value as i64], &device)),
            known: Some(value),
        }
    }
}
