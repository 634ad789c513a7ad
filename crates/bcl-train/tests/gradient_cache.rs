//! Gradient caching gives the gradients of the whole batch: for every estimator, both kinds of training and any part size.

mod common;
#[path = "common/gradients.rs"]
mod gradients;

use bcl_core::{Estimator, EstimatorConfig, Pairs, Reduction, Similarity, gradient_cache::blocks};
use bcl_data::{Seed, negatives::NegativeSampler};
use bcl_images::{PlantedImagesConfig, ViewsConfig};
use bcl_methods::batches::{BatchViews, ImageBatch, NamedTensors, ViewSource, ViewsOnDemand};
use bcl_methods::{Embeddings, Method, Objective, Recommendation, SimClr};
use bcl_methods::{LearnedTemperature, step::Step};
use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
use bcl_recipe::Precision;
use bcl_train::{
    kinds::interactions::loader::{InteractionLoader, LoaderOptions},
    training::{learned::Learned, plan::EpochPlan},
};
use burn::{
    data::dataloader::DataLoader,
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::{Device, Tensor},
};
use common::{encoders, graph, interactions, sources};
use gradients::{deviation, gradient, losses_of_single_anchors};
use std::sync::Arc;

/// Compares the gradients and the loss of a cached step with a reference.
fn assert_equal<M: Method>(model: &M, step: &Step<M::Batch>, expected: &(Vec<Vec<f64>>, f64), what: &str) {
    let output = step.train(model);
    let deviation = deviation(&gradient(model, &output.gradients), &expected.0);
    let loss = output.loss.into_scalar::<f64>();
    assert!(deviation < 1e-5, "{what}: gradients deviate by {deviation}");
    assert!(
        (loss - expected.1).abs() < 1e-5 * expected.1.abs(),
        "{what}: {loss} is not {}",
        expected.1
    );
}

fn at_once<M: Method>(model: &M, step: &Step<M::Batch>) -> (Vec<Vec<f64>>, f64) {
    let output = step.clone().with_gradient_cache(None).train(model);
    (gradient(model, &output.gradients), output.loss.into_scalar::<f64>())
}

fn encoder(precision: Precision) -> SimClr {
    let trunk = ResNetConfig {
        depth: ResNetDepth::ResNet18,
        stem: Stem::Imagenet,
        width: 4,
    };
    let head = ProjectionHeadConfig {
        hidden: 8,
        out: 6,
        ..ProjectionHeadConfig::default()
    };
    let encoder = ImageEncoderConfig {
        trunk,
        head,
        split_channels: None,
    };
    SimClr::new(encoder.init(5, &Device::flex().autodiff()), precision)
}

const IMAGES: usize = 10;

fn images(mode: Mode, on_demand: bool) -> ImageBatch {
    let device = Device::flex().autodiff();
    let planted = PlantedImagesConfig {
        train: 30,
        test: 10,
        side: 32,
        ..PlantedImagesConfig::default()
    };
    let data = planted.generate();
    let chosen: Vec<usize> = (0..IMAGES).map(|image| 3 * image).collect();
    let classes = chosen.iter().map(|&image| data.train.labels()[image]).collect();
    let source = ViewSource {
        data: Arc::new(data),
        views: ViewsConfig {
            side: 32,
            ..ViewsConfig::default()
        }
        .init(),
        seed: Seed(2),
    };
    let views = BatchViews::OnDemand(ViewsOnDemand {
        source: Arc::new(source),
        images: chosen.clone().into(),
        epochs: vec![4; chosen.len()].into(),
        device,
    });
    let made = || BatchViews::Made(views.parts(usize::MAX).next().expect("the whole"));
    ImageBatch {
        views: if on_demand { views } else { made() },
        images: chosen.into(),
        classes,
        mode,
    }
}

fn step(batch: ImageBatch, config: &EstimatorConfig) -> Step<ImageBatch> {
    let device = Device::flex().autodiff();
    Step::new(batch, Some(Arc::from(config.init())), 2 * IMAGES, Seed(9), 7, &device)
}

/// A method that learns a temperature, too.
fn with_temperature<M: Method>(method: M) -> Learned<M> {
    let temperature = LearnedTemperature::new(0.4, [0.01, 100.0], &Device::flex().autodiff());
    Learned::new(method, None).with_temperature(Some(temperature))
}

#[test]
fn images_without_coupling_have_the_gradient_of_the_whole_batch() {
    let model = with_temperature(encoder(Precision::F32));
    for config in losses_of_single_anchors() {
        let expected = at_once(&model, &step(images(Mode::Eval, false), &config));
        for (at_most, on_demand) in [(1, false), (3, true), (4, false), (5, true), (10, true)] {
            let what = format!("{}, {at_most} at a time", config.name());
            let step = step(images(Mode::Eval, on_demand), &config).with_gradient_cache(Some(at_most));
            assert_equal(&model, &step, &expected, &what);
        }
    }
}

/// Batch normalisation works on one part at a time, so the reference does too: one graph over all parts.
#[test]
fn batch_normalisation_has_the_gradient_of_the_batch_in_the_same_parts() {
    for config in losses_of_single_anchors() {
        for at_most in [3, 5, 7] {
            let model = encoder(Precision::F32);
            let step = step(images(Mode::Train, true), &config).with_gradient_cache(Some(at_most));
            let embeddings = model.embed_batch(&step.batch, at_most);
            let loss = step.losses(&model, &embeddings, 0..2 * IMAGES).reduce(Reduction::Mean);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            let expected = (gradient(&model, &gradients), loss.into_scalar::<f64>());
            assert_equal(&model, &step, &expected, &format!("{}, {at_most} at a time", config.name()));
        }
    }
}

/// All numbers of a module, including running statistics.
struct Numbers(Vec<f32>);

impl ModuleVisitor for Numbers {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.extend(param.val().into_data().iter::<f32>());
    }
}

fn numbers(model: &SimClr) -> Vec<f32> {
    let mut numbers = Numbers(Vec::new());
    model.visit(&mut numbers);
    numbers.0
}

#[test]
fn running_statistics_are_updated_once_per_part() {
    let config = &EstimatorConfig::all()[0];
    let [cached, encoded, fresh] = [(); 3].map(|()| encoder(Precision::F32));
    step(images(Mode::Train, true), config)
        .with_gradient_cache(Some(4))
        .train(&cached);
    encoded.embed_batch(&images(Mode::Train, true), 4);
    assert_eq!(numbers(&cached), numbers(&encoded), "bit for bit");
    assert_ne!(numbers(&cached), numbers(&fresh));
}

#[test]
fn sixteen_bits_are_cached_as_well_as_they_are_computed() {
    let model = encoder(Precision::Bf16);
    for config in losses_of_single_anchors() {
        let expected = at_once(&model, &step(images(Mode::Eval, false), &config));
        let step = step(images(Mode::Eval, true), &config).with_gradient_cache(Some(4));
        let output = step.train(&model);
        // The encoder's own backward pass rounds its sums over a batch to bf16, which has eight bits.
        let deviation = deviation(&gradient(&model, &output.gradients), &expected.0);
        assert!(deviation < 2e-2, "{}: {deviation}", config.name());
    }
}

#[test]
fn recommenders_have_the_gradient_of_the_whole_batch_with_every_source_of_negatives() {
    let data = interactions();
    let graph = graph(&data);
    let device = Device::flex().autodiff();
    for negatives in sources() {
        let sampler = Arc::new(NegativeSampler::new(&negatives, &data.train, Seed(1)).expect("there is something to draw"));
        for config in losses_of_single_anchors() {
            let plan = EpochPlan {
                epoch: 0,
                first_step: 0,
                estimator: Some(Arc::from(config.init())),
                detected: None,
            };
            let options = LoaderOptions {
                batch_size: 16,
                gradient_cache: Some(5),
                seed: Seed(1),
                device: device.clone(),
            };
            let truth = data.truth.clone().map(Arc::new);
            let loader = InteractionLoader::new(&data.train, sampler.clone(), truth, plan, options);
            let step = loader.iter().next().expect("a step").expect("that needs no reading");
            assert_eq!(step.gradient_cache, Some(5));
            for encoder in &encoders() {
                let model = with_temperature(Recommendation {
                    encoder: encoder.init(&graph, 1, &device),
                    l2: 0.1,
                });
                let expected = at_once(&model, &step);
                for at_most in [1, 5, 7, 16] {
                    let step = step.clone().with_gradient_cache(Some(at_most));
                    let (loss, source, encoder) = (config.name(), negatives.name(), encoder.name());
                    let what = format!("{loss} on {source} with {encoder}, {at_most} at a time");
                    assert_equal(&model, &step, &expected, &what);
                }
            }
        }
    }
}

/// An encoder that records how many samples it encodes at a time, and whether with a graph.
#[test]
fn parts_have_at_most_the_configured_size_and_only_the_second_pass_has_a_graph() {
    use std::{ops::Range, sync::Mutex};

    /// Samples per encoding and whether with a graph, and anchors per comparison.
    type Counts = (Vec<(usize, bool)>, Vec<usize>);

    #[derive(Debug, Clone, Default)]
    struct Seen(Arc<Mutex<Counts>>);

    #[derive(Module, Debug)]
    struct Counting {
        weight: Param<Tensor<2>>,
        #[module(skip)]
        seen: Seen,
    }

    impl Method for Counting {
        type Encoder = Self;
        type Batch = Tensor<2>;
        type Part = Tensor<2>;

        fn encoder(&self) -> &Self {
            self
        }

        fn parts(batch: &Tensor<2>, at_most: usize) -> impl Iterator<Item = Tensor<2>> {
            blocks(batch.dims()[0], at_most).map(|part| batch.clone().slice([part]))
        }

        fn embed(&self, part: &Tensor<2>) -> Embeddings {
            let embeddings = part.clone().matmul(self.weight.val());
            let seen = (part.dims()[0], embeddings.is_tracked());
            self.seen.0.lock().expect("one thread").0.push(seen);
            Embeddings::new().with("first", embeddings.clone()).with("second", embeddings)
        }

        fn num_anchors(&self, batch: &Tensor<2>) -> usize {
            2 * batch.dims()[0]
        }

        fn objective(&self, _: &Tensor<2>, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
            self.seen.0.lock().expect("one thread").1.push(anchors.len());
            let [first, second] = ["first", "second"].map(|name| embeddings.rows(name));
            Objective::Pairs(
                Pairs::from_views_of(first, second, Similarity::Cosine, anchors)
                    .into_scores()
                    .into(),
            )
        }

        fn tensors(_: &Tensor<2>) -> NamedTensors {
            NamedTensors::default()
        }
    }

    let device = Device::flex().autodiff();
    let model = Counting {
        weight: Param::from_tensor(Tensor::ones([3, 2], &device)),
        seen: Seen::default(),
    };
    let estimator: Arc<dyn Estimator> = Arc::from(EstimatorConfig::all()[0].init());
    let step = Step::new(Tensor::ones([7, 3], &device), Some(estimator), 14, Seed(0), 0, &device);
    step.with_gradient_cache(Some(3)).train(&model);
    let (encoded, compared) = model.seen.0.lock().expect("one thread").clone();
    let once = |with_graph| [3, 2, 2].map(|samples| (samples, with_graph));
    assert_eq!(encoded, [once(false), once(true)].concat());
    assert_eq!(compared, [3, 3, 3, 3, 2]);
}
