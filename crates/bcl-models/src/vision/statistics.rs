//! A running statistic: a buffer that forward passes update.

use bcl_kernels::moving_average;
use burn::{
    module::{Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::{Device, Tensor},
};
use std::sync::{Mutex, PoisonError};

/// A running statistic: saved and loaded with the parameters, never trained, and updated by forward passes through `&self`.
///
/// Each clone of a module gets its own copy, as it does of the parameters. (Burn's `RunningState` is shared between clones: a momentum
/// encoder cloned from the online encoder would keep sharing its statistics, and loading weights into a clone would change the
/// original.)
#[derive(Debug)]
pub struct RunningStatistic {
    id: ParamId,
    value: Mutex<Tensor<1>>,
}

impl RunningStatistic {
    /// Creates a statistic with an initial value.
    pub fn new(value: Tensor<1>) -> Self {
        Self::with_id(ParamId::new(), value)
    }

    /// The current value.
    pub fn value(&self) -> Tensor<1> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves the value towards a new one: `value <- (1 - momentum) value + momentum new`; or towards several, one after the other.
    ///
    /// # Shapes
    /// - new: same as the value, or a multiple of its length
    pub fn update(&self, new: Tensor<1>, momentum: f64) {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let [old, new] = [value.clone(), new.detach()].map(Tensor::without_autodiff);
        let moved = moving_average(old, new, [1.0 - momentum, momentum]);
        *value = if value.is_autodiff() { moved.autodiff() } else { moved };
    }

    fn with_id(id: ParamId, value: Tensor<1>) -> Self {
        Self {
            id,
            value: Mutex::new(value),
        }
    }
}

impl Clone for RunningStatistic {
    fn clone(&self) -> Self {
        Self::with_id(self.id, self.value())
    }
}

impl Module for RunningStatistic {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_float(&Param::initialized(self.id, self.value()));
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let (id, value, _) = mapper.map_float(Param::initialized(self.id, self.value())).consume();
        Self::with_id(id, value.set_require_grad(false))
    }

    fn to_device(self, device: &Device) -> Self {
        Self::with_id(self.id, self.value().to_device(device))
    }

    fn fork(self, device: &Device) -> Self {
        self.to_device(device)
    }

    fn collect_devices(&self, mut devices: Vec<Device>) -> Vec<Device> {
        let device = self.value().device();
        if !devices.contains(&device) {
            devices.push(device);
        }
        devices
    }

    fn materialize(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        Self::with_id(self.id, self.value().without_autodiff())
    }

    fn train(self) -> Self {
        Self::with_id(self.id, self.value().autodiff())
    }
}

impl ModuleDisplayDefault for RunningStatistic {
    fn content(&self, content: Content) -> Option<Content> {
        content
            .add_formatted(&format!("RunningStatistic {:?}", self.value().dims()))
            .optional()
    }
}

impl ModuleDisplay for RunningStatistic {}
