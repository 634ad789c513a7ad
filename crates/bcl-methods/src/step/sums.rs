//! Sums of tensors over processes, which have the same bits on all of them.

use bcl_collective::{Collective, Element};
use burn::{
    module::{Module, ModuleVisitor, Param, ParamId},
    optim::GradientsParams,
    tensor::{DType, IndexingUpdateOp, Int, Tensor, TensorData},
};
use std::collections::HashMap;

/// A number that both tensors and messages between processes have.
pub(super) trait Number: Element + burn::tensor::Element {}

impl Number for f32 {}

impl Number for f64 {}

/// Whether any of the tensors has 64 bits. Numbers of all others travel as 32 bits.
pub(super) fn is_wide<const D: usize>(tensors: &[Tensor<D>]) -> bool {
    tensors.iter().any(|tensor| tensor.dtype() == DType::F64)
}

/// The numbers of a tensor on the host.
pub(super) fn numbers<T: Number, const D: usize>(tensor: Tensor<D>) -> Vec<T> {
    let data = tensor.into_data().convert::<T>();
    data.try_into_vec().expect("the numbers were converted to this type")
}

/// Numbers as a tensor of the precision and on the device of another one.
pub(super) fn tensor<T: Number, const D: usize, const E: usize>(
    numbers: Vec<T>,
    shape: [usize; D],
    like: &Tensor<E>,
) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), (&like.device(), like.dtype()))
}

/// Sums tensors over processes.
///
/// # Panics
/// Panics if the processes pass different numbers of values.
fn all_reduced(processes: &dyn Collective, tensors: Vec<Tensor<1>>) -> Vec<Tensor<1>> {
    if is_wide(&tensors) {
        all_reduced_as::<f64>(processes, tensors)
    } else {
        all_reduced_as::<f32>(processes, tensors)
    }
}

fn all_reduced_as<T: Number>(processes: &dyn Collective, tensors: Vec<Tensor<1>>) -> Vec<Tensor<1>> {
    let mut sums: Vec<T> = tensors.iter().flat_map(|tensor| numbers(tensor.clone())).collect();
    processes.all_reduce(&mut sums);
    let mut rest = sums.as_slice();
    let of_tensor = |like: Tensor<1>| {
        let [count] = like.dims();
        let (first, others) = rest.split_at(count);
        rest = others;
        tensor(first.to_vec(), [count], &like)
    };
    tensors.into_iter().map(of_tensor).collect()
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let count = tensor.shape().num_elements();
    tensor.reshape([count])
}

/// Sums the gradients of all parameters of a module over processes.
///
/// # Panics
/// Panics if the processes have gradients of different parameters.
pub(super) fn of_parameters<M: Module>(processes: &dyn Collective, module: &M, gradients: GradientsParams) -> GradientsParams {
    let mut taken = Taken {
        gradients,
        ids: Vec::new(),
        flat: Vec::new(),
    };
    module.visit(&mut taken);
    let sums = all_reduced(processes, taken.flat);
    let mut summed = Summed {
        sums: taken.ids.into_iter().zip(sums).collect(),
        gradients: GradientsParams::new(),
    };
    module.visit(&mut summed);
    summed.gradients
}

/// Takes the gradients in the order of the parameters.
struct Taken {
    gradients: GradientsParams,
    ids: Vec<ParamId>,
    flat: Vec<Tensor<1>>,
}

impl ModuleVisitor for Taken {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            self.ids.push(param.id);
            self.flat.push(flat(gradient));
        }
    }
}

/// Gives the sums the shapes of their parameters.
struct Summed {
    sums: HashMap<ParamId, Tensor<1>>,
    gradients: GradientsParams,
}

impl ModuleVisitor for Summed {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(sum) = self.sums.remove(&param.id) {
            self.gradients.register(param.id, sum.reshape(param.val().dims()));
        }
    }
}

/// Sums the gradients of tables that all processes have. Only rows in use travel, of which `rows` has the indices, each once: all other gradients
/// are zero.
///
/// # Shapes
/// - gradients, output: `[num_rows, dim]` each
pub(super) fn of_tables(
    processes: &dyn Collective,
    gradients: Vec<Option<Tensor<2>>>,
    rows: Vec<Option<Tensor<1, Int>>>,
) -> Vec<Option<Tensor<2>>> {
    let in_use = |(gradient, rows): (&Option<Tensor<2>>, &Option<Tensor<1, Int>>)| {
        let gradient = gradient.clone()?;
        Some(match rows {
            Some(rows) => gradient.select(0, rows.clone()),
            None => gradient,
        })
    };
    let parts: Vec<Option<Tensor<2>>> = gradients.iter().zip(&rows).map(in_use).collect();
    let mut sums = all_reduced(processes, parts.iter().flatten().cloned().map(flat).collect()).into_iter();
    let mut whole = |gradient: Tensor<2>, part: Tensor<2>, rows: Option<Tensor<1, Int>>| {
        let sum = sums.next().expect("there is a sum of each part").reshape(part.dims());
        match rows {
            Some(rows) => gradient.zeros_like().select_assign(0, rows, sum, IndexingUpdateOp::Add),
            None => sum,
        }
    };
    let tables = gradients.into_iter().zip(parts).zip(rows);
    tables
        .map(|((gradient, part), rows)| Some(whole(gradient?, part?, rows)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_collective::Threads;
    use burn::tensor::Device;

    #[test]
    fn only_rows_in_use_are_summed() {
        let sums = Threads::run(2, |processes| {
            let device = Device::flex();
            let own = 1.0 + processes.index() as f32;
            let gradient = Tensor::<2>::from_data([[0.0, 0.0], [own, own], [0.0, 0.0], [10.0 * own, 0.0]], &device);
            let rows = Tensor::<1, Int>::from_data([3, 1], &device);
            let whole = Tensor::<2>::full([2, 1], own, &device);
            of_tables(
                &*processes,
                vec![Some(gradient), None, Some(whole)],
                vec![Some(rows), None, None],
            )
            .into_iter()
            .map(|sum| sum.map(|sum| sum.into_data().iter::<f32>().collect::<Vec<_>>()))
            .collect::<Vec<_>>()
        });
        let expected = vec![
            Some(vec![0.0, 0.0, 3.0, 3.0, 0.0, 0.0, 30.0, 0.0]),
            None,
            Some(vec![3.0, 3.0]),
        ];
        assert_eq!(sums, vec![expected; 2]);
    }
}
