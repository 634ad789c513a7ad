//! What holds for every registered method.

use crate::training::{learned::Learned, numbered::numbered};
use bcl_core::InfoNceLossConfig;
use bcl_data::Seed;
use bcl_methods::batches::{BatchViews, ImageBatch};
use bcl_methods::step::Step;
use bcl_methods::*;
use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::{GradientsParams, SgdConfig},
    tensor::{Device, Tensor, TensorData},
    train::TrainStep,
};
use rand::RngExt;
use std::{ops::Range, sync::Arc};

pub(super) const IMAGES: usize = 8;

fn device() -> Device {
    Device::flex().autodiff()
}

/// All methods and their variants, with small memories.
fn methods() -> Vec<MethodConfig> {
    let moco = MoCoConfig {
        queue: 48,
        norm_groups: 2,
        ..MoCoConfig::default()
    };
    let cmc = CmcConfig {
        negatives: 12,
        ..CmcConfig::default()
    };
    let nnclr = NnclrConfig {
        support: 20,
        hidden: 8,
        ..NnclrConfig::default()
    };
    let swav = SwavConfig {
        prototypes: 5,
        ..SwavConfig::default()
    };
    let dino = DinoConfig {
        prototypes: 7,
        ..DinoConfig::default()
    };
    let small = |config: MethodConfig| match config {
        MethodConfig::MoCo(_) => vec![
            MethodConfig::MoCo(moco.clone()),
            MethodConfig::MoCo(MoCoConfig {
                symmetric: false,
                queue: 24,
                ..moco.clone()
            }),
            MethodConfig::MoCo(MoCoConfig {
                synthetic: Some(SyntheticConfig {
                    hardest: 10,
                    mixed: 6,
                    with_query: 3,
                }),
                ..moco.clone()
            }),
        ],
        MethodConfig::Cmc(_) => vec![
            MethodConfig::Cmc(cmc.clone()),
            MethodConfig::Cmc(CmcConfig {
                form: CmcForm::Nce,
                ..cmc.clone()
            }),
        ],
        MethodConfig::SimClr(simclr) => vec![
            MethodConfig::SimClr(simclr),
            MethodConfig::SimClr(SimClrConfig { views: 3, ..simclr }),
            MethodConfig::SimClr(SimClrConfig {
                labels: Labels::Positives,
                ..simclr
            }),
        ],
        MethodConfig::Nnclr(_) => vec![
            MethodConfig::Nnclr(nnclr.clone()),
            MethodConfig::Nnclr(NnclrConfig {
                form: NnclrForm::NtXent,
                ..nnclr.clone()
            }),
        ],
        MethodConfig::Swav(_) => vec![
            MethodConfig::Swav(swav.clone()),
            MethodConfig::Swav(SwavConfig {
                queue: 6,
                queue_from: 1,
                ..swav.clone()
            }),
        ],
        MethodConfig::Dino(_) => vec![
            MethodConfig::Dino(dino.clone()),
            MethodConfig::Dino(DinoConfig {
                momentum_schedule: MomentumSchedule::Cosine,
                teacher_warmup_epochs: 2,
                ..dino.clone()
            }),
        ],
        other => vec![other],
    };
    MethodConfig::all().into_iter().flat_map(small).collect()
}

fn start(config: &MethodConfig) -> MethodStart {
    start_with(config.settings().needs().split_encoder)
}

pub(super) fn start_with(split_encoder: bool) -> MethodStart {
    let trunk = ResNetConfig {
        depth: ResNetDepth::ResNet18,
        stem: Stem::Imagenet,
        width: 2,
    };
    let head = ProjectionHeadConfig {
        hidden: 8,
        out: 6,
        ..ProjectionHeadConfig::default()
    };
    let encoder = ImageEncoderConfig {
        trunk,
        head,
        split_channels: split_encoder.then_some(1),
    };
    MethodStart {
        encoder: encoder.init(3, &device()),
        dim: if split_encoder { 12 } else { 6 },
        num_images: 2 * IMAGES,
        classes: Some(classes(0..2 * IMAGES)),
        steps_per_epoch: 2,
        num_steps: 6,
        precision: Precision::F32,
        norm_processes: None,
        seed: Seed(7),
        device: device(),
    }
}

/// Classes of images: 0, 1, 2, 0, …
fn classes(images: Range<usize>) -> Arc<[u32]> {
    images.map(|image| image as u32 % 3).collect()
}

/// The first or second half of the images.
fn batch(config: &MethodConfig, half: usize, mode: Mode) -> ImageBatch {
    let needs = config.settings().needs();
    let locals = if needs.local_views { &[16][..] } else { &[] };
    let sides = [32].repeat(needs.views);
    let views = sides.iter().chain(locals).enumerate().map(|(view, &side)| {
        let mut rng = Seed(11).index(half as u64).index(view as u64).rng();
        let pixels: Vec<f32> = (0..IMAGES * 3 * side * side).map(|_| rng.random()).collect();
        Tensor::from_data(TensorData::new(pixels, [IMAGES, 3, side, side]), &device())
    });
    let images = half * IMAGES..(half + 1) * IMAGES;
    ImageBatch {
        views: BatchViews::Made(views.collect()),
        classes: Some(classes(images.clone())),
        images: images.collect(),
        mode,
    }
}

fn step(config: &MethodConfig, half: usize, mode: Mode) -> Step<ImageBatch> {
    let negatives = config.settings().num_negatives(IMAGES);
    let estimator = negatives.map(|_| Arc::new(InfoNceLossConfig::new().init()) as Arc<dyn bcl_core::Estimator>);
    Step::new(batch(config, half, mode), estimator, 0, Seed(0), half as u64, &device())
}

/// A method as a run trains it: each parameter has its own number, also in momentum encoders.
fn learned<M: ImageMethod>(method: M) -> Learned<M> {
    numbered(Learned::new(method, None))
}

/// Trains for a number of steps, from a half of the images on.
fn trained<M: ImageMethod>(config: &MethodConfig, mut learned: Learned<M>, halves: &[usize]) -> Learned<M> {
    let mut optimizer = SgdConfig::new().init();
    for &half in halves {
        let output = learned.step(step(config, half, Mode::Train));
        learned = learned.optimize(&mut optimizer, 0.05.into(), output.grads);
    }
    learned
}

/// All numbers of a module, trained or not.
#[derive(Default)]
struct Numbers(Vec<f64>);

impl ModuleVisitor for Numbers {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.extend(param.val().into_data().iter::<f64>());
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, burn::tensor::Int>>) {
        self.0.extend(param.val().into_data().iter::<f64>());
    }
}

fn numbers<M: Module>(module: &M) -> Vec<f64> {
    let mut numbers = Numbers::default();
    module.visit(&mut numbers);
    numbers.0
}

/// Calls a generic function with each method.
macro_rules! for_each_method {
    ($check:ident) => {{
        struct Check<'a>(&'a MethodConfig);
        impl WithMethod for Check<'_> {
            type Output = ();

            fn call<M: ImageMethod>(self, method: M) {
                $check(self.0, method);
            }
        }
        for config in methods() {
            config.init(start(&config), Check(&config));
        }
    }};
}

mod processes;

#[test]
fn every_method_has_the_objective_and_the_negatives_that_its_settings_tell() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        // Memories are full after four steps.
        let method = trained(config, learned(method), &[0, 1, 0, 1]).method;
        let step = step(config, 0, Mode::Eval);
        let num_anchors = ImageMethod::num_anchors(&method, IMAGES);
        let expected = config.settings().num_negatives(IMAGES);
        match step.objective(&method).into_scores() {
            Ok(scores) => {
                assert_eq!(Some(scores.num_negatives()), expected, "{}", config.name());
                assert_eq!(scores.num_anchors(), num_anchors, "{}", config.name());
            }
            Err(losses) => {
                assert_eq!(None, expected, "{}", config.name());
                assert_eq!(losses.values().dims(), [num_anchors], "{}", config.name());
            }
        }
    }
    for_each_method!(check);
}

#[test]
fn a_block_of_anchors_has_the_scores_of_the_whole_and_its_truth() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        let method = trained(config, learned(method), &[0, 1, 0, 1]).method;
        let step = step(config, 0, Mode::Eval);
        let embeddings = method.embed_batch(&step.batch, usize::MAX);
        let num_anchors = ImageMethod::num_anchors(&method, IMAGES);
        let block = num_anchors / 3..num_anchors / 3 + num_anchors.div_ceil(2);
        let of = |anchors: Range<usize>| match step.objective_of(&method, &embeddings, anchors.clone()).into_scores() {
            Ok(scores) => {
                let truth = ImageMethod::same_class(&method, &step.batch, anchors, &device());
                let truth = truth.expect("methods with negatives know their classes").float();
                Tensor::cat(vec![scores.positives, scores.negatives, truth], 1)
            }
            Err(losses) => losses.values().unsqueeze_dim(1),
        };
        if num_anchors > 1 {
            let whole = of(0..num_anchors).slice_dim(0, block.clone());
            let difference = (of(block) - whole).abs().max().into_scalar::<f32>();
            assert!(difference < 1e-6, "{}: {difference}", config.name());
        }
    }
    for_each_method!(check);
}

/// Puts one-hot vectors of the classes in place of all embeddings.
fn of_classes(embeddings: &Embeddings, batch: &ImageBatch) -> Embeddings {
    let rows: Vec<f32> = batch
        .images
        .iter()
        .flat_map(|&image| (0..6).map(move |class| f32::from(image % 3 == class)))
        .collect();
    let rows = Tensor::<2>::from_data(TensorData::new(rows, [IMAGES, 6]), &device());
    let tables: Vec<_> = embeddings.tables().map(|_| rows.clone()).collect();
    embeddings.with_rows(&tables)
}

#[test]
fn negatives_of_the_anchors_class_are_told_apart() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        if config.settings().num_negatives(IMAGES).is_none() {
            return;
        }
        // Every stored embedding is the one-hot vector of its class, too.
        let method = [0, 1, 0, 1, 0, 1].into_iter().fold(method, |method, half| {
            let batch = batch(config, half, Mode::Eval);
            let embeddings = of_classes(&method.embed_batch(&batch, usize::MAX), &batch);
            ImageMethod::remember(method, &batch, &embeddings)
        });
        let batch = batch(config, 0, Mode::Eval);
        let embeddings = of_classes(&method.embed_batch(&batch, usize::MAX), &batch);
        let anchors = 0..ImageMethod::num_anchors(&method, IMAGES);
        let objective = ImageMethod::objective(&method, &batch, &embeddings, anchors.clone());
        let scores = objective.into_scores().expect("it has negatives");
        // Banks keep a rest of their random start.
        let similar: Vec<bool> = scores.negatives.into_data().iter::<f32>().map(|score| score > 0.9).collect();
        let truth = ImageMethod::same_class(&method, &batch, anchors, &device()).expect("classes are known");
        let truth: Vec<bool> = truth.into_data().iter::<bool>().collect();
        // The last columns are synthetic negatives, which have no class.
        let num_columns = truth.len() / ImageMethod::num_anchors(&method, IMAGES);
        let num_stored = match config {
            MethodConfig::MoCo(moco) => num_columns - moco.synthetic.as_ref().map_or(0, SyntheticConfig::count),
            _ => num_columns,
        };
        for (similar, truth) in similar.chunks(num_columns).zip(truth.chunks(num_columns)) {
            assert_eq!(similar[..num_stored], truth[..num_stored], "{}", config.name());
            assert!(!truth[num_stored..].contains(&true));
        }
        assert_eq!(similar.len(), truth.len());
        assert!(truth.contains(&true) && truth.contains(&false));
    }
    for_each_method!(check);
}

#[test]
fn gradient_caching_gives_the_gradients_of_the_whole_batch() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        let learned = trained(config, learned(method), &[0, 1, 0]);
        // Running statistics, because a batch's statistics differ from its parts' statistics.
        let step = step(config, 1, Mode::Eval);
        let moved = |cache: Option<usize>| {
            let mut copy = learned.clone();
            let output = copy.step(step.clone().with_gradient_cache(cache));
            copy = copy.optimize(&mut SgdConfig::new().init(), 1.0.into(), output.grads);
            numbers(&copy)
        };
        let (whole, parts, before) = (moved(None), moved(Some(2)), numbers(&learned));
        let [mut difference, mut change] = [0.0; 2];
        for ((whole, parts), before) in whole.iter().zip(&parts).zip(&before) {
            difference += (whole - parts).powi(2);
            change += (whole - before).powi(2);
        }
        let relative = (difference / change).sqrt();
        assert!(relative < 1e-4, "{}: {relative}", config.name());
    }
    for_each_method!(check);
}

#[test]
fn an_optimizer_step_moves_slow_networks_once_however_many_batches_it_has() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        // BYOL remembers nothing of a batch.
        if config.name() != "byol" {
            return;
        }
        let learned = learned(method);
        let after = |num_batches: usize| {
            let outputs: Vec<_> = (0..num_batches).map(|_| learned.step(step(config, 0, Mode::Eval))).collect();
            let first = outputs.into_iter().next().expect("a batch");
            numbers(
                &learned
                    .clone()
                    .optimize(&mut SgdConfig::new().init(), 1.0.into(), first.grads),
            )
        };
        assert!(after(1) != numbers(&learned) && after(1) == after(3));
    }
    for_each_method!(check);
}

#[test]
fn a_method_read_back_from_its_record_continues_with_the_same_bits() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        let fresh = learned(method.clone());
        let learned = trained(config, learned(method), &[0, 1, 0]);
        let restored = fresh.load_record(learned.clone().into_record());
        let [straight, resumed] = [learned, restored].map(|learned| numbers(&trained(config, learned, &[1, 0])));
        assert_eq!(straight, resumed, "{}", config.name());
    }
    for_each_method!(check);
}

#[test]
fn gradients_reach_what_is_trained_and_nothing_else() {
    struct Missing<'a>(&'a GradientsParams, usize);
    impl ModuleVisitor for Missing<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let has_gradient = self.0.get::<D>(param.id).is_some();
            self.1 += usize::from(has_gradient != param.val().is_require_grad());
        }
    }
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        let learned = trained(config, learned(method), &[0, 1]);
        let output = learned.step(step(config, 0, Mode::Train));
        let mut missing = Missing(&output.grads, 0);
        learned.visit(&mut missing);
        assert_eq!(missing.1, 0, "{}", config.name());
    }
    for_each_method!(check);
}

#[test]
fn every_method_trains_an_encoder_of_two_networks() {
    struct Trained<'a>(&'a MethodConfig);
    impl WithMethod for Trained<'_> {
        type Output = ();

        fn call<M: ImageMethod>(self, method: M) {
            let before = numbers(ImageMethod::encoder(&method));
            let learned = trained(self.0, learned(method), &[0, 1]);
            let after = numbers(ImageMethod::encoder(&learned.method));
            assert_ne!(before, after, "{}", self.0.name());
            assert!(after.iter().all(|number| number.is_finite()), "{}", self.0.name());
        }
    }
    for config in methods() {
        config.init(start_with(true), Trained(&config));
    }
}

#[test]
fn every_method_trains_in_bf16() {
    fn check<M: ImageMethod>(config: &MethodConfig, method: M) {
        /// The loss of a step in bf16.
        struct Narrow<'a>(&'a MethodConfig);
        impl WithMethod for Narrow<'_> {
            type Output = f64;

            fn call<M: ImageMethod>(self, method: M) -> f64 {
                loss(self.0, method)
            }
        }
        let narrow = MethodStart {
            precision: Precision::Bf16,
            ..start(config)
        };
        let [wide, narrow] = [loss(config, method), config.init(narrow, Narrow(config))];
        // A step lies between the weights and this loss, so the two may be far apart.
        assert!(narrow.is_finite(), "{}: {narrow}", config.name());
        assert_ne!(wide, narrow, "{}: nothing was narrow", config.name());
    }
    fn loss<M: ImageMethod>(config: &MethodConfig, method: M) -> f64 {
        let learned = trained(config, learned(method), &[0]);
        let output = learned.step(step(config, 1, Mode::Train));
        output.item.loss.into_scalar::<f64>()
    }
    for_each_method!(check);
}
