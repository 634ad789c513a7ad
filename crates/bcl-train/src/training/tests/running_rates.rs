//! Tests of running rates, alone and in training.

use super::every_method::{IMAGES, start_with};
use crate::training::{learned::Learned, numbered::numbered};
use bcl_collective::{Alone, Collective, Threads};
use bcl_core::{AugmentedLoss, AugmentedLossConfig, AugmentedRate, Estimator};
use bcl_data::Seed;
use bcl_methods::batches::{BatchViews, ImageBatch};
use bcl_methods::step::{RunningRates, Step, StepRates};
use bcl_methods::{ImageMethod, Method, MethodConfig, MethodStart, MoCoConfig, SimClrConfig, WithMethod};
use bcl_models::vision::Mode;
use burn::{
    module::Module,
    optim::SgdConfig,
    tensor::{Device, Tensor, TensorData},
    train::TrainStep,
};
use rand::RngExt;
use std::sync::Arc;

fn values(tensor: Tensor<1>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn assert_close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let difference = (f64::from(*found) - expected).abs();
        assert!(difference <= 1e-5 * (1.0 + expected.abs()), "{found} is not {expected}");
    }
}

fn step_rates(log_means: &[f32], share: f64) -> StepRates {
    StepRates {
        log_means: Tensor::from_data(TensorData::from(log_means), &Device::flex()),
        share,
    }
}

const NONE: f32 = AugmentedLoss::NO_LOG_MEAN;

#[test]
fn rates_move_by_their_share_towards_the_mean_over_views() {
    let share = 0.3;
    let first = RunningRates::new(4, &Device::flex()).updated(&[2, 0, 2, 0], &step_rates(&[0.5, 1.0, 1.5, -1.0], share));
    let of = |left: f64, right: f64| f64::midpoint(left.exp(), right.exp());
    let [of_two, of_none] = [of(0.5, 1.5), of(1.0, -1.0)];
    let found = values(first.log_rates());
    assert_close(&[found[0], found[2]], &[of_none.ln(), of_two.ln()]);
    assert_eq!([found[1], found[3]], [NONE; 2], "images that were in no step");

    let second = first.updated(&[2, 1], &step_rates(&[3.0, 0.0], share));
    let found = values(second.log_rates());
    let moved = (1.0 - share) * of_two + share * 3f64.exp();
    assert_close(&found[..3], &[of_none.ln(), 0.0, moved.ln()]);
}

#[test]
fn a_sample_that_is_drawn_twice_moves_its_rate_once() {
    // Two views of a batch with image 1 twice, as class-balanced sampling draws it.
    let step = step_rates(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.5);
    let rates = RunningRates::new(3, &Device::flex()).updated(&[1, 1, 2, 1, 1, 2], &step);
    let of = |left: f64, right: f64| f64::midpoint(left.exp(), right.exp()).ln();
    let found = values(rates.log_rates());
    assert_eq!(found[0], NONE);
    assert_close(&found[1..], &[of(1.0, 2.0), of(3.0, 6.0)]);
}

#[test]
fn rates_of_a_share_of_one_are_those_of_the_last_step_however_large() {
    let rates = RunningRates::new(2, &Device::flex()).updated(&[0, 1], &step_rates(&[500.0, -500.0], 0.5));
    let found = values(rates.clone().updated(&[0, 1], &step_rates(&[-500.0, 500.0], 1.0)).log_rates());
    assert_eq!(found, [-500.0, 500.0]);
    let half = 0.5f64.ln();
    let found = values(rates.updated(&[0, 1], &step_rates(&[-500.0, 500.0], 0.5)).log_rates());
    assert_close(&found, &[500.0 + half, 500.0 + half]);
}

#[test]
fn a_sample_whose_anchor_has_no_negatives_keeps_its_rate() {
    let rates = RunningRates::new(2, &Device::flex()).updated(&[0, 1], &step_rates(&[0.4, NONE], 0.5));
    assert_eq!(values(rates.log_rates()), [0.4, NONE]);
    let rates = rates.updated(&[0, 1, 0, 1], &step_rates(&[NONE, NONE, 7.0, NONE], 0.5));
    assert_eq!(values(rates.log_rates()), [0.4, NONE]);
}

#[test]
fn an_anchor_without_a_running_rate_has_that_of_the_batch() {
    let rates = RunningRates::new(3, &Device::flex()).updated(&[0], &step_rates(&[0.4], 0.5));
    let own = step_rates(&[9.0, 8.0, NONE, NONE], 0.5).log_means;
    assert_eq!(values(rates.of_anchors(&[0, 1, 0, 2], own)), [0.4, 8.0, 0.4, 0.0]);
}

fn device() -> Device {
    Device::flex().autodiff()
}

/// SimCLR and MoCo.
fn methods() -> [MethodConfig; 2] {
    let moco = MoCoConfig {
        queue: 24,
        norm_groups: 2,
        ..MoCoConfig::default()
    };
    [MethodConfig::SimClr(SimClrConfig::default()), MethodConfig::MoCo(moco)]
}

fn start() -> MethodStart {
    MethodStart {
        classes: None,
        ..start_with(false)
    }
}

/// A step on the first or second half of the images.
fn step(config: &AugmentedLossConfig, half: usize, mode: Mode) -> Step<ImageBatch> {
    let views = [0, 1].map(|view| {
        let mut rng = Seed(11).index(half as u64).index(view).rng();
        let pixels: Vec<f32> = (0..IMAGES * 3 * 32 * 32).map(|_| rng.random()).collect();
        Tensor::from_data(TensorData::new(pixels, [IMAGES, 3, 32, 32]), &device())
    });
    let batch = ImageBatch {
        views: BatchViews::Made(views.into()),
        classes: None,
        images: (half * IMAGES..(half + 1) * IMAGES).collect(),
        mode,
    };
    let estimator: Arc<dyn Estimator> = Arc::new(config.init());
    Step::new(batch, Some(estimator), 2 * IMAGES, Seed(0), half as u64, &device())
}

fn running(share: f64) -> AugmentedLossConfig {
    AugmentedLossConfig::new()
        .with_temperature(0.2)
        .with_rate(AugmentedRate::Negatives)
        .with_running(Some(share))
}

fn learned<M: ImageMethod>(method: M) -> Learned<M> {
    let rates = RunningRates::new(2 * IMAGES, &device());
    numbered(Learned::new(method, None).with_rates(Some(rates)))
}

fn moved<M: ImageMethod>(learned: Learned<M>, step: Step<ImageBatch>) -> Learned<M> {
    let output = TrainStep::step(&learned, step);
    learned.optimize(&mut SgdConfig::new().init(), 0.05.into(), output.grads)
}

fn trained<M: ImageMethod>(learned: Learned<M>, halves: &[usize]) -> Learned<M> {
    halves.iter().fold(learned, |learned, &half| {
        moved(learned, step(&running(0.3), half, Mode::Train))
    })
}

fn log_rates<M: ImageMethod>(learned: &Learned<M>) -> Vec<f32> {
    values(learned.rates.as_ref().expect("they run").log_rates())
}

/// The weights of the last layer.
fn weights<M: ImageMethod>(learned: &Learned<M>) -> Vec<f32> {
    values(Method::encoder(learned).head.out.weight.val().flatten(0, 1))
}

/// Calls a generic function with SimCLR and MoCo.
macro_rules! for_each_method {
    ($check:ident) => {{
        struct Check;
        impl WithMethod for Check {
            type Output = ();

            fn call<M: ImageMethod>(self, method: M) {
                $check(method);
            }
        }
        for config in methods() {
            config.init(start(), Check);
        }
    }};
}

#[test]
fn a_training_step_moves_the_rates_of_its_images_alone() {
    fn check<M: ImageMethod>(method: M) {
        // MoCo has no negatives in the first step.
        let learned = trained(learned(method), &[0, 1, 0]);
        let before = log_rates(&learned);
        let step = step(&running(0.3), 1, Mode::Train);
        let embeddings = learned.method.clone().embed_batch(&step.batch, usize::MAX);
        let expected = step.rates(&learned, &embeddings).expect("rates run");
        let of_views = values(expected.log_means)
            .into_iter()
            .map(|mean| f64::from(mean).exp())
            .collect::<Vec<_>>();
        let means = (0..IMAGES).map(|image| f64::midpoint(of_views[image], of_views[IMAGES + image]));
        let after = log_rates(&moved(learned, step));
        assert_eq!(after[..IMAGES], before[..IMAGES], "images of other steps");
        assert!(before.iter().all(|&rate| rate > NONE));
        let moved: Vec<f64> = before[IMAGES..]
            .iter()
            .zip(means)
            .map(|(&before, mean)| (0.7 * f64::from(before).exp() + 0.3 * mean).ln())
            .collect();
        assert_close(&after[IMAGES..], &moved);
        assert_ne!(after[IMAGES..], before[IMAGES..]);
    }
    for_each_method!(check);
}

#[test]
fn several_processes_have_the_rates_and_the_weights_of_one() {
    struct Moved(Arc<dyn Collective>);
    impl WithMethod for Moved {
        type Output = [Vec<f32>; 2];

        fn call<M: ImageMethod>(self, method: M) -> [Vec<f32>; 2] {
            let Self(processes) = self;
            let learned = trained(learned(method), &[0, 1, 0]);
            let mut step = step(&running(0.3), 1, Mode::Eval);
            let own = processes.share(IMAGES);
            let views = step.batch.views.parts(usize::MAX).next().expect("the whole is a part");
            step.batch.views = BatchViews::Made(views.into_iter().map(|view| view.slice_dim(0, own.clone())).collect());
            let learned = moved(learned, step.on_processes(processes));
            [log_rates(&learned), weights(&learned)]
        }
    }
    for config in methods() {
        let expected = config.init(start(), Moved(Arc::new(Alone)));
        let found = Threads::run(3, |processes| config.init(start(), Moved(processes)));
        assert!(found.iter().all(|of_process| *of_process == found[0]));
        for (found, expected) in found[0].iter().zip(&expected) {
            assert_close(found, &expected.iter().map(|&number| f64::from(number)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_loss_draws_at_the_running_rates() {
    fn check<M: ImageMethod>(method: M) {
        let learned = trained(learned(method), &[0, 1, 0]);
        let step = step(&running(0.3), 1, Mode::Eval);
        let anchors = 0..2 * IMAGES;
        let embeddings = learned.embed_batch(&step.batch, usize::MAX);
        let losses = values(step.losses(&learned, &embeddings, anchors.clone()).values());
        let scores = step.objective_of(&learned, &embeddings, anchors.clone());
        let scores = scores.into_scores().expect("it has negatives");
        let config = running(0.3).init();
        let [own, positives] = [config.log_means(&scores), scores.positives.clone().squeeze_dim(1)].map(values);
        let rates = log_rates(&learned);
        let noise = values(step.noise.clone().expect("one draw per anchor"));
        let expected: Vec<f64> = anchors
            .map(|anchor| {
                let ratio = f64::from(own[anchor] - rates[IMAGES + anchor % IMAGES]).exp();
                f64::from(noise[anchor]) * ratio - f64::from(positives[anchor]) / 0.2
            })
            .collect();
        assert_close(&losses, &expected);
    }
    for_each_method!(check);
}

#[test]
fn a_step_in_which_no_image_has_a_rate_has_the_gradients_of_the_rate_of_the_batch() {
    fn check<M: ImageMethod>(method: M) {
        // Full queues, but no rates.
        let learned = trained(learned(method), &[0, 1, 0]);
        let fresh = learned.clone().with_rates(Some(RunningRates::new(2 * IMAGES, &device())));
        let batch = moved(
            learned.with_rates(None),
            step(&running(0.3).with_running(None), 1, Mode::Train),
        );
        let own = moved(fresh, step(&running(0.3), 1, Mode::Train));
        let expected: Vec<f64> = weights(&batch).into_iter().map(f64::from).collect();
        assert_close(&weights(&own), &expected);
    }
    for_each_method!(check);
}

#[test]
fn gradient_caching_changes_neither_gradients_nor_rates() {
    fn check<M: ImageMethod>(method: M) {
        let learned = trained(learned(method), &[0, 1, 0]);
        // Running statistics, because a batch's statistics differ from its parts' statistics.
        let step = step(&running(0.3), 1, Mode::Eval);
        let [whole, parts] = [None, Some(2)].map(|cache| moved(learned.clone(), step.clone().with_gradient_cache(cache)));
        let numbers = |learned: &Learned<M>| [weights(learned), log_rates(learned)].concat();
        let expected: Vec<f64> = numbers(&whole).into_iter().map(f64::from).collect();
        assert_close(&numbers(&parts), &expected);
    }
    for_each_method!(check);
}

#[test]
fn a_restored_record_continues_with_the_same_bits() {
    fn check<M: ImageMethod>(method: M) {
        let fresh = learned(method.clone());
        let learned = trained(learned(method), &[0, 1, 0]);
        let restored = fresh.load_record(learned.clone().into_record());
        assert_eq!(log_rates(&restored), log_rates(&learned));
        let bytes = |learned| {
            numbered(trained(learned, &[1, 0]))
                .into_record()
                .into_bytes()
                .expect("bytes")
                .to_vec()
        };
        assert_eq!(bytes(learned), bytes(restored));
    }
    for_each_method!(check);
}

#[test]
fn a_step_without_negatives_has_finite_gradients_and_leaves_no_rates() {
    struct First;
    impl WithMethod for First {
        type Output = ();

        fn call<M: ImageMethod>(self, method: M) {
            // The queue of MoCo is still empty.
            let learned = trained(learned(method), &[0]);
            assert_eq!(log_rates(&learned), [NONE; 2 * IMAGES]);
            assert!(weights(&learned).iter().all(|weight| weight.is_finite()));
        }
    }
    let [_, moco] = methods();
    moco.init(start(), First);
}
