//! States of networks, and the nearest neighbours of their features.

use super::{State, reader::Reader};
use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, ill_formed, unsupported},
};
use bcl_eval::probe::{KnnConfig, Labelled, knn};
use bcl_golden::Array;
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

pub(super) fn average(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let momentum = trace.parameters().number("momentum")?;
    if !(0.0..=1.0).contains(&momentum) {
        return ill_formed(format!("its momentum is {momentum}, but must be in [0, 1]"));
    }
    let initial = trace.array("initial")?;
    let weights = |array: &Array| -> Result<Weights, Problem> {
        if array.shape != initial.shape {
            return ill_formed("`online` must have the shape of `initial`");
        }
        let weight = Param::from_tensor(trace.to_tensor(array, "online")?);
        Ok(Weights { weight })
    };
    let mut target = ema_target(&weights(initial)?);
    let mut states = Vec::new();
    for (online, (step, expected)) in trace.arrays("online")?.into_iter().zip(trace.expected_by_step("target")?) {
        target = ema_update(target, &weights(online)?, momentum);
        states.push(State::of_step(step, "target", values(target.weight.val()), &expected.values));
    }
    Ok(states)
}

/// One training step of a batch norm with the groups of the trace.
pub(super) fn split_batch_norm(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let input: Tensor<4> = trace.tensor("x")?;
    let [batch_size, num_channels, ..] = input.dims();
    let num_groups = trace.parameters().count("splits")?;
    if num_groups == 0 || batch_size % num_groups != 0 {
        return ill_formed(format!("its `splits` are {num_groups} for a batch of {batch_size}"));
    }
    for (name, constant) in [("eps", 1e-5), ("momentum", 0.1)] {
        if trace.parameters().number(name)? != constant {
            return unsupported(format!("`{name}` is always {constant} here"));
        }
    }
    let per_channel = |name: &str| -> Result<_, Problem> {
        let values: Tensor<1> = trace.tensor(name)?;
        if values.dims() != [num_channels] {
            return ill_formed(format!("`{name}` must have one value per channel"));
        }
        Ok(Some(Param::from_tensor(values)))
    };
    let options = trace.arithmetic.options();
    let statistic = |value: f64| RunningStatistic::new(Tensor::full([num_channels], value, options));
    let mut norm = BatchNorm::new(num_channels, options.0).with_groups(num_groups);
    (norm.weight, norm.bias) = (per_channel("weight")?, per_channel("bias")?);
    (norm.running_mean, norm.running_var) = (statistic(0.0), statistic(1.0));
    let output = norm.forward(input, Mode::Train);
    // The reference's `running_var_biased` is Burn's own choice, which is not ours.
    trace.states([
        ("y", values(output)),
        ("running_mean", values(norm.running_mean.value())),
        ("running_var", values(norm.running_var.value())),
    ])
}

/// Prototypes are normalised before the forward pass. Frozen ones stay there, others take a step of the optimizer.
pub(super) fn prototype_step(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let arithmetic = &trace.arithmetic.with_gradients();
    let trace = Reader { arithmetic, ..*trace };
    let weight: Tensor<2> = trace.tensor("weight")?;
    let gradient = trace.table_like("gradient", &weight)?;
    if gradient.dims() != weight.dims() {
        return ill_formed("`gradient` must have the shape of `weight`");
    }
    let weight = Param::from_tensor(weight);
    let prototypes = Prototypes { weight }.normalised();
    let used = values(prototypes.weight.val());
    // A loss with this gradient.
    let loss = (prototypes.weight.val() * gradient).sum();
    let gradients = GradientsParams::from_grads(loss.backward(), &prototypes);
    let learning_rate = trace.parameters().number("learning_rate")?;
    let moved = SgdConfig::new().init().step(learning_rate, prototypes, gradients);
    trace.states([
        ("used", used.clone()),
        ("after_frozen", used),
        ("after", values(moved.weight.val())),
    ])
}

/// The library reports accuracies, so the reference's predictions are the labels: all must be right.
pub(super) fn nearest_neighbours(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let bank: Tensor<2> = trace.tensor("bank")?;
    let queries = trace.table_like("queries", &bank)?;
    let config = KnnConfig {
        k: trace.parameters().count("k")?,
        temperature: trace.parameters().number("temperature")?,
    };
    let labelled = |features, labels: &Array| Labelled {
        features,
        labels: labels.values.iter().map(|&label| label as u32).collect(),
    };
    let train = labelled(bank, trace.array("labels")?);
    let test = labelled(queries, trace.expected("predicted")?);
    let num_classes = trace.parameters().count("num_classes")?;
    let accuracy = knn(&train, &test, num_classes, &config).map_err(|error| error.to_string())?;
    Ok(vec![State::new("predicted", vec![accuracy.top1], vec![1.0])])
}
