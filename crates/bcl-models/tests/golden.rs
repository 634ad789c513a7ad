//! Norms, momentum and prototypes against values of independent implementations, in f64.
//!
//! The values are an excerpt in `bcl-golden`. `BCL_FRAMEWORKS=PATH/frameworks_public.json` compares with the whole file that they are
//! from.

use bcl_golden::{Array, Deviation, FRAMEWORKS, FrameworkFile, Item, Trace};
use bcl_models::vision::{BatchNorm, Mode, Prototypes, RunningStatistic, cosine_momentum, ema_target, ema_update};
use burn::{
    module::Param,
    optim::{GradientsParams, SgdConfig},
    tensor::{DType, Device, Tensor, TensorData},
};
use std::{env, path::Path, sync::LazyLock};

/// The largest relative error.
const TOLERANCE: f64 = 1e-9;

static GOLDEN: LazyLock<FrameworkFile> = LazyLock::new(|| {
    let file = env::var_os("BCL_FRAMEWORKS").unwrap_or_else(|| FRAMEWORKS.into());
    FrameworkFile::read(Path::new(&file)).unwrap_or_else(|error| panic!("{error}"))
});

/// The traces of a kind, of which there must be at least one.
fn traces(kind: &str) -> Vec<&'static Trace> {
    let found: Vec<_> = GOLDEN.traces.iter().filter(|trace| trace.kind == kind).collect();
    assert!(!found.is_empty(), "no trace of kind {kind}");
    found
}

fn parameter(trace: &Trace, key: &str) -> f64 {
    trace.parameters[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{}: {key}", trace.id))
}

fn tensor<const D: usize>(array: &Array, device: &Device) -> Tensor<D> {
    let data = TensorData::new(array.values.clone(), array.shape.clone());
    Tensor::from_data(data, (device, DType::F64))
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn assert_close<const D: usize>(what: &str, found: Tensor<D>, expected: &Item) {
    let deviation = Deviation::of_array(&values(found), &expected.array().values);
    assert!(deviation.within(TOLERANCE), "{what}: {deviation:?}");
}

#[test]
fn split_norms_and_their_running_statistics_are_the_reference() {
    let device = Device::flex();
    for trace in traces("split_batch_norm") {
        let given = |key| trace.given(key).array();
        let input: Tensor<4> = tensor(given("x"), &device);
        let [_, num_channels, ..] = input.dims();
        let mut norm = BatchNorm::new(num_channels, &device).with_groups(parameter(trace, "splits") as usize);
        norm.weight = Some(Param::from_tensor(tensor(given("weight"), &device)));
        norm.bias = Some(Param::from_tensor(tensor(given("bias"), &device)));
        let statistic = |value| RunningStatistic::new(Tensor::full([num_channels], value, (&device, DType::F64)));
        norm.running_mean = statistic(0.0);
        norm.running_var = statistic(1.0);

        let output = norm.forward(input.clone(), Mode::Train);
        assert_close(&trace.id, output.clone(), trace.expected("y"));
        assert_close(&trace.id, norm.running_mean.value(), trace.expected("running_mean"));
        assert_close(&trace.id, norm.running_var.value(), trace.expected("running_var"));

        let without_update = norm.forward(input, Mode::BatchStatistics);
        assert_eq!(values(without_update), values(output));
        assert_close(&trace.id, norm.running_mean.value(), trace.expected("running_mean"));
    }
}

#[test]
fn momentum_follows_the_reference_schedule() {
    let mut seen = 0;
    for trace in traces("schedule") {
        if trace.parameters["form"] != "momentum_byol" {
            continue;
        }
        let (base, steps) = (parameter(trace, "base"), parameter(trace, "steps") as usize);
        let at = &trace.given("at").array().values;
        let found: Vec<f64> = at.iter().map(|&step| cosine_momentum(base, step as usize, steps)).collect();
        let deviation = Deviation::of_numbers(&found, &trace.expected("values").array().values);
        assert!(deviation.within(TOLERANCE), "{}: {deviation:?}", trace.id);
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn a_momentum_copy_has_the_reference_weights_after_each_step() {
    let device = Device::flex();
    for trace in traces("ema") {
        let module = |item: &Item| Param::from_tensor(tensor::<1>(item.array(), &device));
        let mut target = ema_target(&module(trace.given("initial")));
        let steps = trace.given("online").list().iter().zip(trace.expected("target").list());
        for (online, expected) in steps {
            target = ema_update(target, &module(online), parameter(trace, "momentum"));
            assert_close(&trace.id, target.val(), expected);
        }
    }
}

fn prototypes(array: &Array, device: &Device) -> Prototypes {
    Prototypes {
        weight: Param::from_tensor(tensor(array, device)),
    }
}

#[test]
fn prototypes_are_normalised_before_a_step_and_move_off_the_sphere_in_it() {
    let device = Device::flex().autodiff();
    for trace in traces("prototype_step") {
        let prototypes = prototypes(trace.given("weight").array(), &device).normalised();
        assert_close(&trace.id, prototypes.weight.val(), trace.expected("used"));
        assert_close(&trace.id, prototypes.weight.val(), trace.expected("after_frozen"));

        // Scores of the unit vectors are the columns of the weight, so this loss has the given gradient.
        let gradient: Tensor<2> = tensor(trace.given("gradient").array(), &device);
        let unit_vectors = Tensor::<2>::eye(gradient.dims()[1], &device).cast(DType::F64);
        let loss = (prototypes.scores(unit_vectors) * gradient.transpose()).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &prototypes);
        let learning_rate = parameter(trace, "learning_rate");
        let moved = SgdConfig::new().init().step(learning_rate, prototypes, gradients);
        assert_close(&trace.id, moved.weight.val(), trace.expected("after"));
        assert_close(&trace.id, moved.normalised().weight.val().square().sum_dim(1), &ones(trace));
    }
}

/// A column of ones, one per prototype of a trace.
fn ones(trace: &Trace) -> Item {
    let count = trace.given("weight").array().shape[0];
    Item::Array(Array {
        shape: vec![count, 1],
        values: vec![1.0; count],
    })
}

#[test]
fn cosines_with_prototypes_have_the_reference_gradients() {
    let device = Device::flex().autodiff();
    let mut seen = 0;
    for case in GOLDEN.cases.iter().filter(|case| case.loss == "dino_last_layer") {
        let input = |role| GOLDEN.input(case, role).unwrap_or_else(|error| panic!("{error}"));
        let rows = tensor::<2>(input("x"), &device).require_grad();
        let prototypes = prototypes(input("v"), &device);
        let cotangent: Tensor<2> = tensor(input("cotangent"), &device);

        let value = (prototypes.cosines(rows.clone()) * cotangent).sum();
        let deviation = Deviation::of_number(value.clone().into_scalar::<f64>(), case.value);
        assert!(deviation.within(TOLERANCE), "{}: {deviation:?}", case.id);

        let gradients = value.backward();
        for (role, tensor) in [("x", rows), ("v", prototypes.weight.val())] {
            let found = values(tensor.grad(&gradients).expect("a gradient"));
            let deviation = Deviation::of_gradient(&found, &case.gradients[role]);
            assert!(deviation.within(TOLERANCE), "{}, {role}: {deviation:?}", case.id);
        }
        seen += 1;
    }
    assert!(seen > 0);
}
