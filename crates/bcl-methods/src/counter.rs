//! A number that is saved with a method.

use bcl_kernels::{Replays, replays};
use burn::{
    module::{Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::{Device, Int, Shape, Tensor},
};

/// The name of the count in records, and the type that has it: as of a module with one field.
const NAME: &str = "count";
const TYPE: &str = "Struct:Counter";

/// A count, such as the number of steps so far, which checkpoints contain.
///
/// It lies on the host, and becomes a tensor only when a record is written: reading it from the device would wait for all queued work.
#[derive(Debug, Clone)]
pub struct Counter {
    id: ParamId,
    /// The device of the tensor in records.
    device: Device,
    count: Count,
}

#[derive(Debug, Clone, Default)]
struct Count {
    before: usize,
    /// What the last step added.
    more: usize,
    /// How often this step has run, if it was recorded; once if not.
    replays: Option<Replays>,
}

impl Counter {
    /// Starts from 0.
    pub fn new(device: &Device) -> Self {
        Self {
            id: ParamId::new(),
            device: device.clone(),
            count: Count::default(),
        }
    }

    /// The count.
    pub fn value(&self) -> usize {
        let Count { before, more, replays } = &self.count;
        before + more * replays.as_ref().map_or(1, Replays::count)
    }

    /// Adds to the count; in a [recorded step](bcl_kernels::StepGraph), as often as it is replayed.
    pub fn plus(self, more: usize) -> Self {
        let count = Count {
            before: self.value(),
            more,
            replays: replays(),
        };
        Self { count, ..self }
    }

    /// The count as a tensor, `[1]`, which is made when it is looked at.
    fn parameter(&self) -> Param<Tensor<1, Int>> {
        let value = self.value() as i64;
        let tensor = move |device: &Device, _| Tensor::from_data([value], device);
        Param::uninitialized(self.id, tensor, self.device.clone(), false, Shape::new([1]))
    }
}

impl Module for Counter {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.enter_module(NAME, TYPE);
        visitor.visit_int(&self.parameter());
        visitor.exit_module(NAME, TYPE);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        mapper.enter_module(NAME, TYPE);
        let mapped = mapper.map_int(self.parameter());
        mapper.exit_module(NAME, TYPE);
        if !mapped.is_initialized() {
            return Self { id: mapped.id, ..self };
        }
        let (id, value, _) = mapped.consume();
        Self {
            id,
            device: value.device(),
            count: Count {
                before: value.into_scalar::<i64>() as usize,
                ..Count::default()
            },
        }
    }

    fn to_device(self, device: &Device) -> Self {
        Self {
            device: device.clone(),
            ..self
        }
    }

    fn fork(self, device: &Device) -> Self {
        self.to_device(device)
    }

    fn collect_devices(&self, mut devices: Vec<Device>) -> Vec<Device> {
        if !devices.contains(&self.device) {
            devices.push(self.device.clone());
        }
        devices
    }

    fn materialize(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        let device = self.device.clone().without_autodiff();
        self.clone().to_device(&device)
    }

    fn train(self) -> Self {
        let device = self.device.clone().autodiff();
        self.to_device(&device)
    }
}

impl ModuleDisplayDefault for Counter {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&format!("Counter {}", self.value())).optional()
    }
}

impl ModuleDisplay for Counter {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the names of tensors of integers.
    #[derive(Default)]
    struct Names {
        path: Vec<String>,
        found: Vec<String>,
    }

    impl ModuleVisitor for Names {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.path.push(name.to_owned());
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.path.pop();
        }

        fn visit_int<const D: usize>(&mut self, _: &Param<Tensor<D, Int>>) {
            self.found.push(self.path.join("."));
        }
    }

    /// A module with a count, as methods have one.
    #[derive(Module, Debug)]
    struct Steps {
        steps: Counter,
    }

    #[test]
    fn the_count_has_the_name_that_checkpoints_know() {
        let mut names = Names::default();
        let steps = Steps {
            steps: Counter::new(&Device::flex()),
        };
        steps.visit(&mut names);
        assert_eq!(names.found, ["steps.count"]);
    }

    #[test]
    fn a_record_has_the_count() {
        let device = Device::flex();
        let counter = Counter::new(&device).plus(3).plus(4);
        assert_eq!(counter.value(), 7);
        let record = counter.clone().into_record();
        // Also into one that has counted something else.
        let other = counter.plus(5);
        assert_eq!(other.value(), 12);
        assert_eq!(other.load_record(record).value(), 7);
    }
}
