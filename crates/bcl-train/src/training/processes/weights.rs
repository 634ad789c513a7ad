//! All processes must have the same weights.

use crate::error::Error;
use bcl_collective::Collective;
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Bool, Int, Tensor, TensorData},
};
use sha2::{Digest, Sha256};

/// Compares the weights and the memory of a module between processes. Running statistics of batch normalisation, which each process computes from its
/// own samples, may differ.
///
/// # Errors
/// Returns an error on all processes if they differ on one. `when` says when that was noticed, such as `after epoch 3`.
pub fn refuse_different_weights<M: Module>(processes: &dyn Collective, module: &M, when: &str) -> Result<(), Error> {
    if processes.size() == 1 {
        return Ok(());
    }
    let mut hash = Hash::default();
    module.visit(&mut hash);
    let hashes = processes.gather_each(hash.sha256.finalize().to_vec());
    let Some(process) = hashes.iter().position(|hash| *hash != hashes[0]) else {
        return Ok(());
    };
    Err(Error::of_all_processes(
        processes,
        Error::Training(format!(
            "the weights of process {process} differ from process 0's {when}, so the processes have trained different models; use the same kind of \
             processor and the same build for all processes, and resume from a checkpoint before that"
        )),
    ))
}

#[derive(Default)]
struct Hash {
    sha256: Sha256,
    path: Vec<String>,
}

impl Hash {
    fn add(&mut self, data: &TensorData) {
        if !self.path.last().is_some_and(|name| name.starts_with("running_")) {
            self.sha256.update(data.as_bytes());
        }
    }
}

impl ModuleVisitor for Hash {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.add(&param.val().into_data());
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.add(&param.val().into_data());
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.add(&param.val().into_data());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_collective::Threads;
    use bcl_models::vision::{BatchNorm, Mode};
    use burn::tensor::Device;

    #[test]
    fn other_weights_are_refused_and_other_running_statistics_are_not() {
        for [weight, running] in [[0.0, 0.0], [0.0, 1.0], [1e-7, 0.0]] {
            let outcomes = Threads::run(3, |processes| {
                let device = Device::flex();
                let is_odd = if processes.index() == 1 { 1.0 } else { 0.0 };
                let mut norm = BatchNorm::new(2, &device);
                norm.weight = norm.weight.map(|values| values.map(|values| values + weight * is_odd));
                let rows = Tensor::<2>::from_data([[1.0, 2.0], [3.0 + running * is_odd, 4.0]], &device);
                norm.forward(rows, Mode::Train);
                refuse_different_weights(&*processes, &norm, "after epoch 3").map_err(|error| error.to_string())
            });
            let differs = weight > 0.0;
            assert!(outcomes.iter().all(|outcome| outcome.is_err() == differs), "{outcomes:?}");
            if differs {
                let message = outcomes[0].clone().unwrap_err();
                assert!(
                    message.contains("process 1") && message.contains("after epoch 3"),
                    "{message}"
                );
            }
        }
    }
}
