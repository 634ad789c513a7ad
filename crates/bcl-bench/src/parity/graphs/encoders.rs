//! Encoders on a batch: outputs, gradients of a weighted sum of them, and running statistics.

use super::{
    super::{
        compute::values,
        precision::Arithmetic,
        result::{Kind, ParityResult, Quantity, VALUE},
    },
    Tolerances, gradient,
    gradients::Named,
    modules, output,
};
use bcl_golden::{
    Deviation, GraphFile,
    graphs::{GinCase, GinPass},
};
use bcl_models::graphs::Mode;
use burn::tensor::{Tensor, TensorData};

pub(super) fn compare(
    file: &GraphFile,
    case: &GinCase,
    arithmetic: &Arithmetic,
    result: &mut ParityResult,
) -> Result<(), String> {
    for (name, mode, expected) in [("eval", Mode::Eval, &case.eval), ("train", Mode::Train, &case.train)] {
        let quantities = quantities(file, case, mode, expected, arithmetic)?;
        let kind = format!("gin {}, {name}", case.encoder.order);
        let place = format!("case {}, {name}", case.id);
        result.record((Kind::Loss, arithmetic.precision, &kind), &place, &quantities, false);
    }
    Ok(())
}

fn quantities(
    file: &GraphFile,
    case: &GinCase,
    mode: Mode,
    expected: &GinPass,
    arithmetic: &Arithmetic,
) -> Result<Vec<Quantity>, String> {
    let tolerances = Tolerances::of(arithmetic.precision);
    let encoder = modules::encoder(&case.encoder, arithmetic)?;
    let input = modules::input(file.batch_of_encoder(case), arithmetic);
    let found = encoder.forward(&input, mode);

    let of_graphs = weighted(&found.graphs, |k| (0.37 * k).cos(), arithmetic);
    let objective = of_graphs + weighted(&found.nodes, |k| (0.11 * k + 0.5).sin(), arithmetic);
    let value = Deviation::of_number(values(objective.clone())[0], expected.objective);
    let mut quantities = vec![
        // A sum over both outputs.
        Quantity::new("objective", VALUE, value, 2.0 * tolerances.forward),
        output("nodes", &values(found.nodes), &expected.nodes.values, tolerances.forward),
        output("graphs", &values(found.graphs), &expected.graphs.values, tolerances.forward),
    ];
    let gradients = objective.backward();
    let mut named = Named::new(&gradients);
    named.add_encoder(&encoder);
    named.add("features", &input.features);
    for (name, expected) in &expected.gradients {
        quantities.push(gradient(name, named.get(name), expected, tolerances.gradient, &tolerances));
    }
    let norms = encoder
        .layers
        .iter()
        .flat_map(|layer| layer.inner.iter().chain([&layer.norm]));
    for (index, (norm, expected)) in norms.zip(&expected.norms).enumerate() {
        for (name, statistic, expected) in [
            ("mean", &norm.running_mean, &expected.mean),
            ("variance", &norm.running_var, &expected.variance),
        ] {
            let name = format!("running {name} of norm {index}");
            quantities.push(output(name, &values(statistic.value()), expected, tolerances.forward));
        }
    }
    Ok(quantities)
}

/// `Σ tensor[k] wave(k + 1)` over the flattened tensor.
fn weighted(tensor: &Tensor<2>, wave: fn(f64) -> f64, arithmetic: &Arithmetic) -> Tensor<1> {
    let weights: Vec<f64> = (1..=tensor.shape().num_elements()).map(|k| wave(k as f64)).collect();
    let weights = TensorData::new(weights, tensor.dims());
    (tensor.clone() * Tensor::from_data(weights, arithmetic.options())).sum()
}
