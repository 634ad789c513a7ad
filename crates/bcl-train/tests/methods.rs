//! Methods against reference values, and as a run trains them.
//!
//! The values are in `golden/methods.json`, which says where they come from. `BCL_FRAMEWORKS` may name the whole file that they are
//! an excerpt of; its cases of other sizes are then left out.

use bcl_core::{Estimator, EstimatorConfig, Losses, Reduction, SideInformation, unit_rows};
use bcl_models::vision::{ema_target, ema_update};
use bcl_train::methods::{KeyQueue, SimSiam};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData},
};
use serde_json::{Value, json};
use std::sync::LazyLock;

static GOLDEN: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("golden/methods.json")).expect("JSON"));

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn traces(kind: &str) -> impl Iterator<Item = &'static Value> {
    items(&GOLDEN["traces"]).iter().filter(move |trace| trace["kind"] == kind)
}

fn cases(loss: &str) -> impl Iterator<Item = &'static Value> {
    items(&GOLDEN["cases"]).iter().filter(move |case| case["loss"] == loss)
}

fn rows(array: &Value, device: &Device) -> Tensor<2> {
    let shape: Vec<usize> = items(&array["shape"]).iter().map(|length| number(length) as usize).collect();
    let values: Vec<f32> = items(&array["values"]).iter().map(|value| number(value) as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn input(case: &Value, role: &str, device: &Device) -> Tensor<2> {
    let key = case["inputs"][role].as_str().expect("a key");
    rows(&GOLDEN["inputs"][key], device)
}

fn host(tensor: Tensor<2>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Largest difference relative to the largest expected entry.
fn deviation(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-12, |largest: f64, value| largest.max(value.abs()));
    let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
    differences.fold(0.0, f64::max) / largest
}

/// Compares a loss and its gradients with a case: those of `roles` must be the case's, all others absent.
fn assert_case(case: &Value, losses: Losses, inputs: &[(&str, &Tensor<2>)]) {
    let id = &case["id"];
    let loss = losses.reduce(Reduction::Mean);
    let value = loss.clone().into_scalar::<f64>();
    let expected = number(&case["value"]);
    assert!(
        (value - expected).abs() < 1e-5 * expected.abs().max(0.1),
        "{id}: {value} is not {expected}"
    );
    let gradients = loss.backward();
    for (role, tensor) in inputs {
        let found = tensor.grad(&gradients).map(host);
        match case["gradients"].get(role) {
            Some(expected) => {
                let expected: Vec<f64> = items(expected).iter().map(number).collect();
                let deviation = deviation(&found.unwrap_or_default(), &expected);
                assert!(deviation < 1e-4, "{id}, {role}: {deviation}");
            }
            None => assert!(found.is_none(), "{id}: {role} must have no gradient"),
        }
    }
}

/// The estimator of a case, and the noise that it is given.
fn estimator(parameters: &Value, device: &Device) -> (Box<dyn Estimator>, SideInformation) {
    let name = parameters["est"].as_str().expect("a name");
    let keys: &[(&str, &str)] = match name {
        "dcl" => &[("tau_plus", "tau")],
        "hcl" => &[("tau_plus", "tau"), ("beta", "beta")],
        "pucl" => &[("class_prior", "alpha"), ("label_frequency", "c")],
        "bcl_exact" => &[("tau_plus", "tau"), ("alpha", "alpha"), ("beta", "beta")],
        "ring" => &[("lower", "lower"), ("upper", "upper")],
        "aug" => &[("lambda", "lambda")],
        _ => &[],
    };
    let kind = match name {
        "simclr" => "info_nce",
        "dcl" => "debiased",
        "hcl" => "hard",
        "pucl" => "positive_unlabelled",
        "bcl_exact" => "bayesian",
        "aug" => "augmented",
        same => same,
    };
    let mut table = json!({ "kind": kind, "temperature": parameters["t"] });
    for (ours, theirs) in keys {
        table[ours] = parameters[theirs].clone();
    }
    let config: EstimatorConfig = serde_json::from_value(table).expect("a known estimator");
    let mut side = SideInformation::none();
    if let Some(draws) = parameters["g"].as_array() {
        let draws: Vec<f32> = draws.iter().map(|draw| number(draw) as f32).collect();
        side = side.with_noise(Tensor::from_data(&*draws, device));
    }
    (config.init(), side)
}

#[test]
fn every_estimator_on_a_queue_has_the_reference_loss_and_gradients() {
    let device = Device::flex().autodiff();
    let mut seen = 0;
    for case in cases("queue") {
        let [queries, keys] = ["q", "k"].map(|role| input(case, role, &device).require_grad());
        let stored = input(case, "queue", &device).require_grad();
        let [size, dim] = stored.dims();
        let valid = case["parameters"]["valid"].as_u64().map_or(size, |valid| valid as usize);
        let queue = KeyQueue::new(size, dim, &device).with_keys(stored.clone().slice_dim(0, 0..valid), None);
        let (estimator, side) = estimator(&case["parameters"]["estimator"], &device);
        let scores = queue.scores(unit_rows(queries.clone()), unit_rows(keys.clone()));
        assert_eq!(scores.num_negatives(), valid);
        let losses = estimator.losses(scores, &side);
        assert_case(case, losses, &[("q", &queries), ("k", &keys), ("queue", &stored)]);
        seen += 1;
    }
    assert_eq!(seen, 19);
}

#[test]
fn the_loss_of_simsiam_and_its_gradients_are_the_reference() {
    let device = Device::flex().autodiff();
    let mut seen = 0;
    for case in cases("negative_cosine").filter(|case| case["parameters"]["form"] == "mean") {
        let roles = ["p0", "p1", "z0", "z1"].map(|role| (role, input(case, role, &device).require_grad()));
        let [p0, p1, z0, z1] = [0, 1, 2, 3].map(|index| unit_rows(roles[index].1.clone()));
        let losses = SimSiam::losses(Tensor::cat(vec![p0, p1], 0), Tensor::cat(vec![z1, z0], 0));
        assert_case(case, losses, &roles.each_ref().map(|(role, tensor)| (*role, tensor)));
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn keys_replace_the_oldest_and_wrap_around() {
    let device = Device::flex();
    let mut seen = 0;
    for trace in traces("queue") {
        let initial = rows(&trace["given"]["initial"], &device);
        let [size, dim] = initial.dims();
        // The trace starts from a full queue whose next position is 0.
        let mut queue = KeyQueue::new(size, dim, &device).with_keys(initial, None);
        let steps = items(&trace["given"]["batches"]).iter();
        let expected = items(&trace["expected"]["contents"])
            .iter()
            .zip(items(&trace["expected"]["pointers"]["integers"]));
        for (batch, (contents, pointer)) in steps.zip(expected) {
            queue = queue.with_keys(rows(batch, &device), None);
            assert_eq!(host(queue.rows()), host(rows(contents, &device)), "{}", trace["id"]);
            assert_eq!(queue.position() as f64, number(pointer), "{}", trace["id"]);
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn in_a_symmetric_step_both_views_meet_the_old_queue() {
    let device = Device::flex();
    let trace = traces("symmetric_step").next().expect("a trace");
    let given = |name: &str| unit_rows(rows(&trace["given"][name], &device));
    let [q0, q1, k0, k1] = ["q0", "q1", "k0", "k1"].map(given);
    let stored = rows(&trace["given"]["queue"], &device);
    let [size, dim] = stored.dims();
    let queue = KeyQueue::new(size, dim, &device).with_keys(stored, None);
    let scores = queue.scores(Tensor::cat(vec![q0, q1], 0), Tensor::cat(vec![k1.clone(), k0.clone()], 0));
    let parameters = json!({ "est": "simclr", "t": trace["parameters"]["temperature"] });
    let (estimator, side) = estimator(&parameters, &device);
    let loss = estimator.forward_with(scores, &side, Reduction::Mean).into_scalar::<f64>();
    let expected = number(&trace["expected"]["loss_after"]);
    assert!((loss - expected).abs() < 1e-5, "{loss} is not {expected}");
    let queue = queue.with_keys(Tensor::cat(vec![k0, k1], 0), None);
    let expected = host(rows(&trace["expected"]["queue_after"], &device));
    assert!(deviation(&host(queue.rows()), &expected) < 1e-6);
}

#[test]
fn the_momentum_encoder_follows_as_in_the_reference() {
    #[derive(Module, Debug)]
    struct Weights {
        weight: Param<Tensor<2>>,
    }
    let device = Device::flex().autodiff();
    let trace = traces("ema").next().expect("a trace");
    let of = |array: &Value| {
        let values: Vec<f32> = items(&array["values"]).iter().map(|value| number(value) as f32).collect();
        let count = values.len();
        Weights {
            weight: Param::from_tensor(Tensor::from_data(TensorData::new(values, [1, count]), &device)),
        }
    };
    let mut target = ema_target(&of(&trace["given"]["initial"]));
    assert!(!target.weight.is_require_grad());
    let momentum = number(&trace["parameters"]["momentum"]);
    for (online, expected) in items(&trace["given"]["online"])
        .iter()
        .zip(items(&trace["expected"]["target"]))
    {
        target = ema_update(target, &of(online), momentum);
        let expected: Vec<f64> = items(&expected["values"]).iter().map(number).collect();
        assert!(deviation(&host(target.weight.val()), &expected) < 1e-6);
        assert!(!target.weight.is_require_grad());
    }
}

#[test]
fn an_empty_queue_has_no_negatives_and_its_anchors_no_loss() {
    let device = Device::flex();
    let queue = KeyQueue::new(4, 2, &device);
    assert!(queue.is_empty());
    let rows = || Tensor::<2>::from_data([[1.0, 0.0], [0.0, 1.0]], &device);
    let (estimator, side) = estimator(&json!({ "est": "simclr", "t": 0.5 }), &device);
    let losses = estimator.losses(queue.scores(rows(), rows()), &side);
    assert_eq!(losses.num_counted().expect("some are left out").into_scalar::<f64>(), 0.0);
}

#[test]
fn a_queue_knows_which_keys_share_a_class() {
    let device = Device::flex();
    let keys = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], &device);
    let queue = KeyQueue::new(5, 2, &device).with_keys(keys, Some(&[7, 8, 7]));
    assert_eq!(queue.len(), 3);
    let same: Vec<bool> = queue.same_class(&[7, 9], &device).into_data().iter::<bool>().collect();
    assert_eq!(same, [true, false, true, false, false, false]);
}
