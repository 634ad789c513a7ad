//! Batch normalisation by the statistics of all processes.

use bcl_collective::Collective;
use bcl_kernels::{BatchNormalised, sum_over_processes};
use burn::tensor::{Tensor, activation::relu};
use std::sync::Arc;

/// Normalises each channel by its mean and variance over the samples of all processes, and applies ReLU if asked to. Also returns the number of values
/// per channel, over all processes.
///
/// ```text
/// mean = Σ_processes Σ x / n,    variance = Σ_processes Σ (x - mean)² / n
/// ```
///
/// The two sums over processes have gradients, which are sums over processes again. The variance takes the mean as a constant: its derivative with respect
/// to the mean is zero.
///
/// # Shapes
/// - input:        `[batch_size, num_channels, ..]`; the batch size may differ between processes
/// - scale, shift: `[num_channels]`
pub(super) fn normalised_over_processes<const D: usize>(
    input: Tensor<D>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    epsilon: f64,
    with_relu: bool,
    processes: &Arc<dyn Collective>,
) -> (usize, BatchNormalised<D>) {
    let shape = input.dims();
    let own_count = shape.iter().product::<usize>() / shape[1];
    let mut count = [own_count as u64];
    processes.all_reduce(&mut count);
    let [count] = count.map(|count| count as usize);
    let share = (count as f64).recip();

    let mean = sum_over_processes(channel_sums(input.clone()), processes) * share;
    let deviations = (input.clone() - per_channel(mean.clone().detach(), shape)).square();
    let variance = sum_over_processes(channel_sums(deviations), processes) * share;
    let factor = (variance.clone() + epsilon).sqrt().recip() * scale;
    let centred = input - per_channel(mean.clone(), shape);
    let output = centred * per_channel(factor, shape) + per_channel(shift, shape);
    let normalised = BatchNormalised {
        output: if with_relu { relu(output) } else { output },
        mean: mean.detach(),
        variance: variance.detach(),
    };
    (count, normalised)
}

/// Sums each channel over samples and positions, `[num_channels]`.
fn channel_sums<const D: usize>(input: Tensor<D>) -> Tensor<1> {
    let shape = input.dims();
    let positions = shape[2..].iter().product::<usize>();
    let of_samples = input.reshape([shape[0], shape[1], positions]).sum_dim(2);
    of_samples.sum_dim(0).reshape([shape[1]])
}

/// Gives each channel its value, to be broadcast over an input of this shape.
fn per_channel<const D: usize>(values: Tensor<1>, input: [usize; D]) -> Tensor<D> {
    let mut shape = [1; D];
    shape[1] = input[1];
    values.reshape(shape)
}

#[cfg(test)]
mod tests {
    use super::super::{BatchNorm, Mode};
    use bcl_collective::{Checked, Collective, Threads, share};
    use burn::{
        module::{Module, ModuleMapper, Param},
        tensor::{Device, FloatDType, Tensor, TensorData},
    };
    use std::sync::Arc;

    /// Casts all floats of a module to 64 bits.
    struct Wide;

    impl ModuleMapper for Wide {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            param.map(|value| {
                let is_trained = value.is_require_grad();
                value.cast(FloatDType::F64).detach().set_require_grad(is_trained)
            })
        }
    }

    fn norm() -> BatchNorm {
        BatchNorm::new(3, &Device::flex().autodiff()).map(&mut Wide)
    }

    /// Rows of a batch of seven samples whose channels have different means and scales.
    fn samples(rows: std::ops::Range<usize>) -> Tensor<4> {
        let device = Device::flex().autodiff();
        let number = |i: usize| {
            let channel = (i / 4) % 3;
            100.0 * channel as f64 + (1.7 * i as f64).sin() * (1.0 + 5.0 * channel as f64) + i as f64 / 50.0
        };
        let numbers: Vec<f64> = (0..7 * 12).map(number).collect();
        let data = TensorData::new(numbers, [7, 3, 2, 2]);
        let whole = Tensor::<4>::from_data(data, (&device, burn::tensor::DType::F64));
        whole.slice_dim(0, rows).require_grad()
    }

    /// Returns the output, the gradients of input, scale and shift, and the running statistics, for a batch or for one process's rows.
    fn pass(norm: &BatchNorm, rows: std::ops::Range<usize>, relu: bool) -> [Vec<f64>; 6] {
        let input = samples(rows.clone());
        let output = if relu {
            norm.forward_relu(input.clone(), Mode::Train)
        } else {
            norm.forward(input.clone(), Mode::Train)
        };
        // The weight of each value in the loss differs by sample, so processes have different gradients.
        let first = rows.start as f64 * 12.0;
        let count = rows.len() * 12;
        let weights: Vec<f64> = (0..count).map(|i| (0.3 * (first + i as f64)).cos()).collect();
        let weights = Tensor::<1>::from_data(
            TensorData::new(weights, [count]),
            (&output.device(), burn::tensor::DType::F64),
        );
        let gradients = (output.clone() * output.clone() * weights.reshape(output.dims()))
            .sum()
            .backward();
        let of = |param: &Option<Param<Tensor<1>>>| {
            let param = param.as_ref().expect("there is one").val();
            param
                .grad(&gradients)
                .expect("it takes part")
                .into_data()
                .iter::<f64>()
                .collect()
        };
        [
            output.into_data().iter::<f64>().collect(),
            input
                .grad(&gradients)
                .expect("it takes part")
                .into_data()
                .iter::<f64>()
                .collect(),
            of(&norm.weight),
            of(&norm.bias),
            norm.running_mean.value().into_data().iter::<f64>().collect(),
            norm.running_var.value().into_data().iter::<f64>().collect(),
        ]
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let difference = (found - expected).abs();
            assert!(difference < 1e-10 * expected.abs().max(1.0), "{found} is not {expected}");
        }
    }

    #[test]
    fn processes_normalise_by_the_statistics_of_the_whole_batch_forward_and_backward() {
        for (size, relu) in [(2, false), (3, true), (3, false)] {
            let whole = pass(&norm(), 0..7, relu);
            let of_processes = Threads::run(size, |processes| {
                let processes: Arc<dyn Collective> = Arc::new(Checked::new(processes));
                let own = share(7, processes.index(), size);
                pass(&norm().over_processes(Some(processes)), own, relu)
            });
            // Stacked in the order of processes, outputs and gradients of the samples equal the batch's.
            for which in [0, 1] {
                let stacked: Vec<f64> = of_processes.iter().flat_map(|of_process| of_process[which].clone()).collect();
                assert_close(&stacked, &whole[which]);
            }
            // Gradients of the parameters add up.
            for which in [2, 3] {
                let sums: Vec<f64> = (0..3)
                    .map(|channel| of_processes.iter().map(|of_process| of_process[which][channel]).sum())
                    .collect();
                assert_close(&sums, &whole[which]);
            }
            for of_process in &of_processes {
                assert_close(&of_process[4], &whole[4]);
                assert_close(&of_process[5], &whole[5]);
            }
        }
    }

    #[test]
    fn statistics_of_one_process_alone_would_be_noticed() {
        let whole = pass(&norm(), 0..7, false);
        let own = pass(&norm(), 0..4, false);
        let difference = own[0].iter().zip(&whole[0]).map(|(own, whole)| (own - whole).abs());
        assert!(difference.fold(0.0, f64::max) > 0.1);
    }
}
