//! Methods against reference values, and as a run trains them.
//!
//! The values are an excerpt in `bcl-golden`. `BCL_FRAMEWORKS=PATH/frameworks_public.json` compares with the whole file.

use bcl_core::{Estimator, EstimatorConfig, Losses, Reduction, Scores, SideInformation, unit_rows};
use bcl_golden::{Array, Deviation, FRAMEWORKS, FrameworkCase, FrameworkFile, Trace};
use bcl_methods::{KeyQueue, MemoryBank, Objective, StoredKeys, nearest};
use bcl_models::vision::{ema_target, ema_update};
use burn::{
    module::{Module, Param},
    tensor::{Device, Distribution, Int, Tensor, TensorData},
};
use serde_json::json;
use std::{env, path::Path, sync::LazyLock};

static GOLDEN: LazyLock<FrameworkFile> = LazyLock::new(|| {
    let file = env::var_os("BCL_FRAMEWORKS").unwrap_or_else(|| FRAMEWORKS.into());
    FrameworkFile::read(Path::new(&file)).unwrap_or_else(|error| panic!("{error}"))
});

fn traces(kind: &str) -> impl Iterator<Item = &'static Trace> {
    GOLDEN.traces.iter().filter(move |trace| trace.kind == kind)
}

fn cases(loss: &str) -> impl Iterator<Item = &'static FrameworkCase> {
    GOLDEN.cases.iter().filter(move |case| case.loss == loss)
}

fn rows(array: &Array, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(array.values.clone(), array.shape.clone()), device)
}

fn input(case: &FrameworkCase, role: &str, device: &Device) -> Tensor<2> {
    rows(GOLDEN.input(case, role).unwrap_or_else(|error| panic!("{error}")), device)
}

fn stored(images: &[usize], classes: &[u32]) -> StoredKeys {
    StoredKeys {
        images: images.to_vec(),
        classes: Some(classes.to_vec()),
    }
}

fn host(tensor: Tensor<2>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Compares a loss and its gradients with a case. An input without a gradient in the case must have none.
fn assert_case(case: &FrameworkCase, losses: Losses, inputs: &[(&str, &Tensor<2>)]) {
    let id = &case.id;
    let loss = losses.reduce(Reduction::Mean);
    let value = loss.clone().into_scalar::<f64>();
    let expected = case.value;
    assert!(
        (value - expected).abs() < 1e-5 * expected.abs().max(0.1),
        "{id}: {value} is not {expected}"
    );
    let gradients = loss.backward();
    for (role, tensor) in inputs {
        let found = tensor.grad(&gradients).map(host);
        match case.gradients.get(*role) {
            Some(expected) => {
                let deviation = Deviation::of_gradient(&found.unwrap_or_default(), expected);
                assert!(deviation.within(1e-4), "{id}, {role}: {deviation:?}");
            }
            None => assert!(found.is_none(), "{id}: {role} must have no gradient"),
        }
    }
}

fn estimator(table: serde_json::Value) -> Box<dyn Estimator> {
    let config: EstimatorConfig = serde_json::from_value(table).expect("a known estimator");
    config.init()
}

/// The estimator of a case, and the noise that it is given.
fn estimator_of(case: &FrameworkCase, device: &Device) -> (Box<dyn Estimator>, SideInformation) {
    let golden = GOLDEN.estimator(case).unwrap_or_else(|error| panic!("{error}"));
    let mut side = SideInformation::none();
    if let Some(draws) = golden.beside.get("g") {
        let draws: Vec<f32> = serde_json::from_value(draws.clone()).expect("numbers");
        side = side.with_noise(Tensor::from_data(&*draws, device));
    }
    (
        estimator(golden.table().unwrap_or_else(|problem| panic!("{}: {problem}", case.id))),
        side,
    )
}

#[test]
fn every_estimator_on_a_queue_has_the_reference_loss_and_gradients() {
    let device = Device::flex().autodiff();
    let mut seen = 0;
    for case in cases("queue") {
        let [queries, keys] = ["q", "k"].map(|role| input(case, role, &device).require_grad());
        let stored = input(case, "queue", &device).require_grad();
        let [size, dim] = stored.dims();
        let valid = case
            .parameters
            .get("valid")
            .and_then(serde_json::Value::as_u64)
            .map_or(size, |valid| valid as usize);
        let queue = KeyQueue::new(size, dim, &device).with_keys(stored.clone().slice_dim(0, 0..valid), &StoredKeys::default());
        let (estimator, side) = estimator_of(case, &device);
        let scores = queue.scores(unit_rows(queries.clone()), unit_rows(keys.clone()));
        assert_eq!(scores.num_negatives(), valid);
        let losses = estimator.losses(scores.into(), &side);
        assert_case(case, losses, &[("q", &queries), ("k", &keys), ("queue", &stored)]);
        seen += 1;
    }
    assert!(seen >= 19, "{seen}");
}

#[test]
fn every_estimator_on_a_memory_bank_has_the_reference_loss_and_gradients() {
    let device = Device::flex().autodiff();
    let indices = |case, role, device: &Device| Tensor::<2, Int>::from_data(input(case, role, device).into_data(), device);
    let mut seen = 0;
    for case in cases("bank").filter(|case| case.parameters["form"] == "softmax") {
        let queries = ["l", "ab"].map(|role| input(case, role, &device).require_grad());
        let banks = ["bank_l", "bank_ab"].map(|role| MemoryBank::of_rows(input(case, role, &device)));
        let drawn = indices(case, "negatives", &device);
        let images = GOLDEN.input(case, "indices").unwrap_or_else(|error| panic!("{error}"));
        let images: Vec<i64> = images.values.iter().map(|&image| image as i64).collect();
        let images = Tensor::<1, Int>::from_data(&*images, &device);
        let (estimator, side) = estimator_of(case, &device);
        let [num_images, num_negatives] = drawn.dims();
        let own = images.clone().reshape([num_images, 1]).repeat_dim(1, num_negatives);
        let mask = (case.parameters["mask_collisions"] == true).then(|| drawn.clone().not_equal(own));
        let scores = [0, 1].map(|direction| {
            let queries = unit_rows(queries[direction].clone());
            let bank = &banks[1 - direction];
            Scores::new(
                bank.positives(queries.clone(), images.clone()),
                bank.negatives(queries, drawn.clone()),
            )
            .with_mask(mask.clone())
            .with_least_similarity(-1.0)
        });
        // The reference adds the two directions.
        let losses = estimator.losses(Scores::stack(scores).into(), &side);
        let losses = Losses::new(losses.values() * 2.0, None);
        assert_case(case, losses, &[("l", &queries[0]), ("ab", &queries[1])]);
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}

#[test]
fn a_bank_moves_towards_the_latest_embeddings() {
    let device = Device::flex();
    let trace = traces("bank").next().expect("a trace");
    let momentum = trace.parameters["momentum"].as_f64().expect("a number");
    let mut bank = MemoryBank::of_rows(rows(trace.given("initial").array(), &device));
    let steps = trace.given("indices").list().iter().zip(trace.given("features").list());
    let mut seen = 0;
    for ((indices, features), expected) in steps.zip(trace.expected("contents").list()) {
        let indices: Vec<i64> = indices.array().values.iter().map(|&index| index as i64).collect();
        let images = Tensor::<1, Int>::from_data(&*indices, &device);
        bank = bank.updated(images, rows(features.array(), &device), momentum);
        assert!(Deviation::of_array(&host(bank.rows()), &expected.array().values).within(1e-6));
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn projections_find_their_nearest_neighbours_in_the_support_set_of_earlier_steps() {
    let device = Device::flex();
    let trace = traces("support_set").next().expect("a trace");
    let initial = unit_rows(rows(trace.given("initial").array(), &device));
    let [size, dim] = initial.dims();
    let mut support = KeyQueue::new(size, dim, &device).with_keys(initial, &StoredKeys::default());
    let steps = trace.given("z").list().iter().zip(trace.expected("nearest").list());
    let mut seen = 0;
    for (projections, expected) in steps {
        let projections: Vec<_> = projections
            .list()
            .iter()
            .map(|z| unit_rows(rows(z.array(), &device)))
            .collect();
        for (projections, expected) in projections.iter().zip(expected.list()) {
            let found = host(nearest(&support, projections.clone()));
            let stored = host(support.rows());
            let expected = expected.array().values.iter().map(|&index| index as usize);
            let expected: Vec<f64> = expected.flat_map(|index| stored[index * dim..][..dim].to_vec()).collect();
            assert_eq!(found, expected);
            seen += 1;
        }
        support = support.with_keys(projections[1].clone(), &StoredKeys::default());
    }
    assert_eq!(seen, 6);
}

#[test]
fn keys_of_the_anchors_own_image_are_masked_out() {
    let device = Device::flex();
    let keys = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], &device);
    let queue = KeyQueue::new(5, 2, &device).with_keys(keys, &stored(&[4, 9, 4], &[0, 0, 0]));
    let queries = || Tensor::<2>::from_data([[1.0, 0.0], [0.6, 0.8]], &device);
    let mask_of = |images: &[usize]| {
        let Objective::Pairs(pairs) = queue.objective(queries(), queries(), images) else {
            panic!("the queue has keys")
        };
        pairs.into_scores().mask
    };
    let mask: Vec<bool> = mask_of(&[4, 7])
        .expect("a key is masked")
        .into_data()
        .iter::<bool>()
        .collect();
    assert_eq!(mask, [false, true, false, true, true, true]);
    assert!(mask_of(&[5, 7]).is_none(), "a mask costs time");
}

#[test]
fn losses_against_a_queue_need_no_scores() {
    let device = Device::flex().autodiff();
    let random = |rows: usize| unit_rows(Tensor::<2>::random([rows, 6], Distribution::Default, &device));
    device.seed(5);
    let queue = KeyQueue::new(20, 6, &device).with_keys(random(9), &stored(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &[0; 9]));
    let (queries, keys) = (random(4).require_grad(), random(4));
    // None of the images of the second batch is in the queue. Weights by rank need as many negatives for each anchor.
    for (images, kinds) in [
        ([9, 3, 10, 11], &["info_nce", "debiased", "hard"][..]),
        ([9, 10, 11, 12], &["info_nce", "debiased", "hard", "bayesian"]),
    ] {
        let Objective::Pairs(pairs) = queue.objective(queries.clone(), keys.clone(), &images) else {
            panic!("the queue has keys")
        };
        for kind in kinds {
            let estimator = estimator(json!({ "kind": kind, "temperature": 0.2 }));
            assert!(!pairs.needs_scores(estimator.as_ref()), "{kind}");
            let measured = |losses: Losses| {
                let loss = losses.reduce(Reduction::Mean);
                let gradients = loss.backward();
                [
                    host(loss.unsqueeze()),
                    host(queries.grad(&gradients).expect("queries have a gradient")),
                ]
            };
            let fused = measured(estimator.losses(pairs.clone(), &SideInformation::none()));
            let scores = queue.scores(queries.clone(), keys.clone());
            let scores = scores.with_mask(pairs.clone().into_scores().mask);
            let composed = measured(estimator.losses(scores.into(), &SideInformation::none()));
            for (fused, composed) in fused.iter().zip(&composed) {
                assert!(Deviation::of_array(fused, composed).within(1e-5), "{kind}");
            }
        }
    }
}

#[test]
fn keys_replace_the_oldest_and_wrap_around() {
    let device = Device::flex();
    let mut seen = 0;
    for trace in traces("queue").filter(|trace| trace.parameters["rule"] == "wrap") {
        let initial = rows(trace.given("initial").array(), &device);
        let [size, dim] = initial.dims();
        // The trace starts from a full queue whose next position is 0.
        let mut queue = KeyQueue::new(size, dim, &device).with_keys(initial, &StoredKeys::default());
        let steps = trace.given("batches").list().iter();
        let expected = trace
            .expected("contents")
            .list()
            .iter()
            .zip(&trace.expected("pointers").array().values);
        for (batch, (contents, pointer)) in steps.zip(expected) {
            queue = queue.with_keys(rows(batch.array(), &device), &StoredKeys::default());
            assert_eq!(host(queue.rows()), host(rows(contents.array(), &device)), "{}", trace.id);
            assert_eq!(queue.position() as f64, *pointer, "{}", trace.id);
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn in_a_symmetric_step_both_views_meet_the_old_queue() {
    let device = Device::flex();
    let trace = traces("symmetric_step").next().expect("a trace");
    let given = |name: &str| unit_rows(rows(trace.given(name).array(), &device));
    let [q0, q1, k0, k1] = ["q0", "q1", "k0", "k1"].map(given);
    let stored = rows(trace.given("queue").array(), &device);
    let [size, dim] = stored.dims();
    let queue = KeyQueue::new(size, dim, &device).with_keys(stored, &StoredKeys::default());
    let scores = queue.scores(Tensor::cat(vec![q0, q1], 0), Tensor::cat(vec![k1.clone(), k0.clone()], 0));
    let info_nce = estimator(json!({ "kind": "info_nce", "temperature": trace.parameters["temperature"] }));
    let loss = info_nce.forward(scores, Reduction::Mean).into_scalar::<f64>();
    let expected = trace.expected("loss_after").number();
    assert!((loss - expected).abs() < 1e-5, "{loss} is not {expected}");
    let queue = queue.with_keys(Tensor::cat(vec![k0, k1], 0), &StoredKeys::default());
    let expected = &trace.expected("queue_after").array().values;
    assert!(Deviation::of_array(&host(queue.rows()), expected).within(1e-6));
}

#[test]
fn the_momentum_encoder_follows_as_in_the_reference() {
    #[derive(Module, Debug)]
    struct Weights {
        weight: Param<Tensor<2>>,
    }
    let device = Device::flex().autodiff();
    let trace = traces("ema").next().expect("a trace");
    let of = |array: &Array| Weights {
        weight: Param::from_tensor(Tensor::<1>::from_data(array.values.as_slice(), &device).unsqueeze()),
    };
    let mut target = ema_target(&of(trace.given("initial").array()));
    assert!(!target.weight.is_require_grad());
    let momentum = trace.parameters["momentum"].as_f64().expect("a number");
    for (online, expected) in trace.given("online").list().iter().zip(trace.expected("target").list()) {
        target = ema_update(target, &of(online.array()), momentum);
        assert!(Deviation::of_array(&host(target.weight.val()), &expected.array().values).within(1e-6));
        assert!(!target.weight.is_require_grad());
    }
}

#[test]
fn an_empty_queue_has_no_negatives_and_its_anchors_no_loss() {
    let device = Device::flex();
    let queue = KeyQueue::new(4, 2, &device);
    assert!(queue.is_empty());
    let rows = || Tensor::<2>::from_data([[1.0, 0.0], [0.0, 1.0]], &device);
    let info_nce = estimator(json!({ "kind": "info_nce" }));
    let losses = info_nce.losses(queue.scores(rows(), rows()).into(), &SideInformation::none());
    assert_eq!(losses.num_counted().expect("some are left out").into_scalar::<f64>(), 0.0);
}

#[test]
fn a_queue_knows_which_keys_share_a_class() {
    let device = Device::flex();
    let keys = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], &device);
    let queue = KeyQueue::new(5, 2, &device).with_keys(keys, &stored(&[], &[7, 8, 7]));
    assert_eq!(queue.len(), 3);
    let same: Vec<bool> = queue.same_class(&[7, 9], &device).into_data().iter::<bool>().collect();
    assert_eq!(same, [true, false, true, false, false, false]);
}
