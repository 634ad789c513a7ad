//! Gives all processes a module of process 0.

use bcl_collective::Collective;
use burn::{
    module::{Module, ModuleDisplay},
    store::ModuleRecord,
    tensor::Bytes,
};

/// Replaces all that a module stores by what process 0 stores, so that processes compute with the same module. They may differ in the running statistics
/// of batch normalisation, which each process computes from its own samples.
///
/// # Errors
/// Returns an error on all processes if process 0 cannot send its module, and on each process that cannot load it.
pub fn of_first<M: Module + ModuleDisplay>(module: M, processes: &dyn Collective) -> Result<M, String> {
    if processes.size() == 1 {
        return Ok(module);
    }
    let own = module.clone();
    let bytes = processes.on_first_bytes(|| {
        let bytes = own.into_record().into_bytes();
        bytes
            .map(|bytes| bytes.to_vec())
            .map_err(|error| format!("the encoder of process 0 cannot be sent: {error}"))
    })?;
    if processes.is_first() {
        return Ok(module);
    }
    let broken = |error: &dyn std::fmt::Display| format!("the encoder of process 0 cannot be loaded: {error}");
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes)).map_err(|error| broken(&error))?;
    module.try_load_record(record).map_err(|error| broken(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_collective::Threads;
    use bcl_models::vision::{BatchNorm, Mode};
    use burn::tensor::{Device, Tensor};

    #[test]
    fn all_processes_normalise_by_the_running_statistics_of_process_0() {
        let outcomes = Threads::run(3, |processes| {
            let device = Device::flex();
            let process = processes.index() as f32;
            let norm = BatchNorm::new(2, &device);
            norm.forward(
                Tensor::<2>::from_data([[process, 2.0], [3.0, process * process]], &device),
                Mode::Train,
            );
            let rows = Tensor::<2>::from_data([[1.0, 5.0], [4.0, -1.0]], &device);
            let normalised = |norm: &BatchNorm| {
                let output = norm.forward(rows.clone(), Mode::Eval);
                output.into_data().iter::<f32>().collect::<Vec<f32>>()
            };
            let before = normalised(&norm);
            (before, normalised(&of_first(norm, &*processes).expect("the same module")))
        });
        assert_ne!(outcomes[1].0, outcomes[0].0);
        assert!(outcomes.iter().all(|(_, after)| *after == outcomes[0].0), "{outcomes:?}");
    }
}
