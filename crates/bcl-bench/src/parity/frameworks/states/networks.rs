//! States of networks, and the nearest neighbours of their features.

use super::{
    super::{
        super::{compute::values, precision::Arithmetic},
        problem::Problem,
    },
    State,
    given::{array, arrays, table_like, tensor},
};
use bcl_eval::probe::{KnnConfig, Labelled, knn};
use bcl_golden::{Array, Trace};
use bcl_models::vision::{BatchNorm, Mode, Prototypes, RunningStatistic, ema_target, ema_update};
use burn::{
    module::{Module, Param},
    optim::{GradientsParams, SgdConfig},
    tensor::Tensor,
};

/// A network of a single vector.
#[derive(Module, Debug)]
struct Weights {
    weight: Param<Tensor<1>>,
}

pub(super) fn average(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let momentum = trace.parameters.number("momentum")?;
    if !(0.0..=1.0).contains(&momentum) {
        return Err(Problem::IllFormed(format!(
            "its momentum is {momentum}, but must be in [0, 1]"
        )));
    }
    let initial = array(&trace.given, "initial")?;
    let weights = |array: &Array| -> Result<Weights, Problem> {
        if array.shape != initial.shape {
            return Err(Problem::IllFormed("`online` must have the shape of `initial`".to_owned()));
        }
        let weight = Param::from_tensor(tensor(array, "online", arithmetic)?);
        Ok(Weights { weight })
    };
    let mut target = ema_target(&weights(initial)?);
    let steps = arrays(&trace.given, "online")?
        .into_iter()
        .zip(arrays(&trace.expected, "target")?);
    let mut states = Vec::new();
    for (step, (online, expected)) in steps.enumerate() {
        target = ema_update(target, &weights(online)?, momentum);
        states.push(State::of_step(step, "target", values(target.weight.val()), expected));
    }
    Ok(states)
}

/// One training step of a batch norm with the groups of the trace.
pub(super) fn split_batch_norm(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let given = |name: &str| array(&trace.given, name);
    let input: Tensor<4> = tensor(given("x")?, "x", arithmetic)?;
    let [batch_size, num_channels, ..] = input.dims();
    let num_groups = trace.parameters.count("splits")?;
    if num_groups == 0 || batch_size % num_groups != 0 {
        return Err(Problem::IllFormed(format!(
            "its `splits` are {num_groups} for a batch of {batch_size}"
        )));
    }
    for (name, constant) in [("eps", 1e-5), ("momentum", 0.1)] {
        if trace.parameters.number(name)? != constant {
            return Err(Problem::unsupported(format!("`{name}` is always {constant} here")));
        }
    }
    let per_channel = |name: &str| -> Result<_, Problem> {
        let values: Tensor<1> = tensor(given(name)?, name, arithmetic)?;
        if values.dims() != [num_channels] {
            return Err(Problem::IllFormed(format!("`{name}` must have one value per channel")));
        }
        Ok(Some(Param::from_tensor(values)))
    };
    let statistic = |value: f64| RunningStatistic::new(Tensor::full([num_channels], value, arithmetic.options()));
    let mut norm = BatchNorm::new(num_channels, &arithmetic.device).with_groups(num_groups);
    (norm.weight, norm.bias) = (per_channel("weight")?, per_channel("bias")?);
    (norm.running_mean, norm.running_var) = (statistic(0.0), statistic(1.0));
    let output = norm.forward(input, Mode::Train);
    // The reference's `running_var_biased` is Burn's own choice, which is not ours.
    [
        ("y", values(output)),
        ("running_mean", values(norm.running_mean.value())),
        ("running_var", values(norm.running_var.value())),
    ]
    .into_iter()
    .map(|(name, found)| Ok(State::new(name, found, array(&trace.expected, name)?)))
    .collect()
}

/// Prototypes are normalised before the forward pass. Frozen ones stay there, others take a step of the optimizer.
pub(super) fn prototype_step(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let arithmetic = Arithmetic {
        device: arithmetic.device.clone().autodiff(),
        ..*arithmetic
    };
    let weight: Tensor<2> = tensor(array(&trace.given, "weight")?, "weight", &arithmetic)?;
    let gradient = table_like(trace, "gradient", &weight, &arithmetic)?;
    if gradient.dims() != weight.dims() {
        return Err(Problem::IllFormed("`gradient` must have the shape of `weight`".to_owned()));
    }
    let prototypes = Prototypes {
        weight: Param::from_tensor(weight),
    };
    let prototypes = prototypes.normalised();
    let used = values(prototypes.weight.val());
    // A loss with this gradient.
    let loss = (prototypes.weight.val() * gradient).sum();
    let gradients = GradientsParams::from_grads(loss.backward(), &prototypes);
    let learning_rate = trace.parameters.number("learning_rate")?;
    let moved = SgdConfig::new().init().step(learning_rate, prototypes, gradients);
    let expected = |name: &str| array(&trace.expected, name);
    Ok(vec![
        State::new("used", used.clone(), expected("used")?),
        State::new("after_frozen", used, expected("after_frozen")?),
        State::new("after", values(moved.weight.val()), expected("after")?),
    ])
}

/// The library reports accuracies, so the reference's predictions are the labels: all must be right.
pub(super) fn nearest_neighbours(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let bank: Tensor<2> = tensor(array(&trace.given, "bank")?, "bank", arithmetic)?;
    let queries = table_like(trace, "queries", &bank, arithmetic)?;
    let config = KnnConfig {
        k: trace.parameters.count("k")?,
        temperature: trace.parameters.number("temperature")?,
    };
    let labels = |array: &Array| array.values.iter().map(|&label| label as u32).collect();
    let train = Labelled {
        features: bank,
        labels: labels(array(&trace.given, "labels")?),
    };
    let test = Labelled {
        features: queries,
        labels: labels(array(&trace.expected, "predicted")?),
    };
    let accuracy = knn(&train, &test, trace.parameters.count("num_classes")?, &config).map_err(|error| error.to_string())?;
    Ok(vec![State {
        item: "predicted",
        step: None,
        found: vec![accuracy.top1],
        expected: vec![1.0],
    }])
}
