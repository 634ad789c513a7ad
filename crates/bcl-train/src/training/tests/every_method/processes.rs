//! Every method trains on several processes as it does on one.

#[path = "../../../../tests/common/deviations.rs"]
mod deviations;
#[path = "../../../../tests/common/wide.rs"]
mod wide;

use super::*;
use bcl_collective::{Alone, Checked, Collective, Threads};
use bcl_core::{Estimator, EstimatorConfig, Reduction};
use bcl_methods::Detected;
use deviations::{Deviations, larger};
use wide::Wide;

fn start_in(config: &MethodConfig, precision: Precision) -> MethodStart {
    MethodStart {
        precision,
        ..start(config)
    }
}

fn model<M: ImageMethod>(method: M, precision: Precision) -> Learned<M> {
    let temperature = LearnedTemperature::new(0.7, [0.01, 100.0], &device());
    let model = numbered(Learned::new(method, None).with_temperature(Some(temperature)));
    if precision == Precision::F64 {
        model.map(&mut Wide)
    } else {
        model
    }
}

/// The step of a process on the second half of the images: it has the views of its own images alone.
fn step_of(
    processes: &Arc<dyn Collective>,
    config: &MethodConfig,
    estimator: Option<Arc<dyn Estimator>>,
    mode: Mode,
) -> Step<ImageBatch> {
    let mut batch = batch(config, 1, mode);
    let own = processes.share(IMAGES);
    let BatchViews::Made(views) = batch.views else {
        unreachable!("the views are made")
    };
    batch.views = BatchViews::Made(views.into_iter().map(|view| rows_of(view, own.clone())).collect());
    Step::new(batch, estimator, 4 * IMAGES, Seed(4), 1, &device()).on_processes(processes.clone())
}

/// What a step leads to.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    loss: f64,
    num_counted: Option<f64>,
    /// Parameters and memory before and after an optimizer step.
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Outcome {
    /// The difference to the whole batch: of the loss, and of the step relative to its length.
    fn deviation(&self, whole: &Self) -> f64 {
        assert_eq!(self.num_counted.is_some(), whole.num_counted.is_some());
        let [mut difference, mut length] = [0.0; 2];
        for ((found, expected), before) in self.after.iter().zip(&whole.after).zip(&whole.before) {
            difference += (found - expected).powi(2);
            length += (expected - before).powi(2);
        }
        let of_loss = (self.loss - whole.loss).abs() / whole.loss.abs().max(0.1);
        assert!(length > 0.0);
        larger((difference / length).sqrt(), of_loss)
    }
}

/// Losses that several processes compute, because the loss of an anchor does not depend on other anchors.
fn losses_of_single_anchors() -> Vec<EstimatorConfig> {
    let all = EstimatorConfig::all().into_iter();
    all.filter(|config| !config.init().requirements().whole_batch).collect()
}

fn estimators(config: &MethodConfig) -> Vec<Option<Arc<dyn Estimator>>> {
    if config.settings().num_negatives(IMAGES).is_none() {
        return vec![None];
    }
    losses_of_single_anchors()
        .iter()
        .map(|config| Some(Arc::from(config.init())))
        .collect()
}

/// Memories are full after three steps, and equal on all processes.
const BEFORE: &[usize] = &[0, 0, 0];

/// Trains a method on the first half of the images, then takes one step with each estimator on the second half.
struct Steps<'a> {
    config: &'a MethodConfig,
    processes: Arc<dyn Collective>,
    precision: Precision,
    gradient_cache: Option<usize>,
    mode: Mode,
    /// The steps before, on these halves of the images.
    before: &'a [usize],
    detected: Option<Arc<Detected>>,
}

impl WithMethod for Steps<'_> {
    type Output = Vec<Outcome>;

    fn call<M: ImageMethod>(self, method: M) -> Vec<Outcome> {
        let model = trained(self.config, model(method, self.precision), self.before);
        let of_estimator = |estimator| {
            let mut step = step_of(&self.processes, self.config, estimator, self.mode)
                .with_gradient_cache(self.gradient_cache)
                .with_detected(self.detected.clone());
            step.noise = step.noise.map(|noise| noise.cast(self.precision.dtype()));
            let mut copy = model.clone();
            let output = copy.step(step);
            copy = copy.optimize(&mut SgdConfig::new().init(), 1.0.into(), output.grads);
            Outcome {
                loss: output.item.loss.into_scalar::<f64>(),
                num_counted: output.item.num_counted.map(Tensor::into_scalar::<f64>),
                before: numbers(&model),
                after: numbers(&copy),
            }
        };
        estimators(self.config).into_iter().map(of_estimator).collect()
    }
}

fn alone(config: &MethodConfig, precision: Precision, mode: Mode) -> Vec<Outcome> {
    let steps = Steps {
        config,
        processes: Arc::new(Alone),
        precision,
        gradient_cache: None,
        mode,
        before: BEFORE,
        detected: None,
    };
    config.init(start_in(config, precision), steps)
}

/// Runs the steps on several processes, which must all end with the same bits.
fn on_processes(
    config: &MethodConfig,
    size: usize,
    precision: Precision,
    gradient_cache: Option<usize>,
    mode: Mode,
) -> Vec<Outcome> {
    let mut of_processes = Threads::run(size, |processes| {
        // Each process builds a model of its own.
        let steps = Steps {
            config,
            processes: Arc::new(Checked::new(processes)),
            precision,
            gradient_cache,
            mode,
            before: BEFORE,
            detected: None,
        };
        config.init(start_in(config, precision), steps)
    });
    if mode == Mode::Eval {
        assert!(
            of_processes.iter().all(|of_process| *of_process == of_processes[0]),
            "{}",
            config.name()
        );
    }
    of_processes.swap_remove(0)
}

#[track_caller]
fn assert_equal(found: &[Outcome], whole: &[Outcome], within: f64, what: &str) {
    assert_eq!(found.len(), whole.len());
    for (number, (found, whole)) in found.iter().zip(whole).enumerate() {
        let deviation = found.deviation(whole);
        assert!(deviation < within, "{what}, estimator {number}: {deviation:e}");
    }
}

/// Compares steps with the steps of one process, and notes the deviations by method and by estimator.
#[track_caller]
fn compare(
    found: &[Outcome],
    whole: &[Outcome],
    within: f64,
    [by_method, by_estimator]: &mut [Deviations; 2],
    [name, column]: [&str; 2],
) {
    assert_equal(found, whole, within, &format!("{name} on {column}"));
    let estimators = losses_of_single_anchors();
    for (number, (found, one)) in found.iter().zip(whole).enumerate() {
        let deviation = found.deviation(one);
        by_method.add(name, column, deviation);
        // A method without negatives has a single loss of its own.
        let estimator = if whole.len() == estimators.len() {
            estimators[number].name()
        } else {
            "without negatives"
        };
        by_estimator.add(estimator, column, deviation);
    }
}

#[test]
fn every_method_and_estimator_has_the_step_of_the_whole_batch_on_any_number_of_processes() {
    let mut deviations = <[Deviations; 2]>::default();
    for config in methods() {
        for (precision, within) in [(Precision::F64, 1e-12), (Precision::F32, 1e-4)] {
            let whole = alone(&config, precision, Mode::Eval);
            for (size, gradient_cache) in [(2, None), (3, None), (3, Some(2)), (4, None)] {
                let found = on_processes(&config, size, precision, gradient_cache, Mode::Eval);
                let column = format!(
                    "{size} processes, {}",
                    if precision == Precision::F64 { "f64" } else { "f32" }
                );
                compare(&found, &whole, within, &mut deviations, [config.name(), &column]);
            }
        }
    }
    let [by_method, by_estimator] = &deviations;
    by_method.print("images, by method");
    by_estimator.print("images, by loss");
}

#[test]
fn a_step_with_detected_classes_is_that_of_the_whole_batch_on_any_number_of_processes() {
    let config = MethodConfig::default();
    let labels = [3, 2].map(|clusters| (0..2 * IMAGES as u32).map(|image| image % clusters).collect());
    for attract in [0.0, 0.4] {
        let detected = Arc::new(Detected {
            labels: labels.clone(),
            strength: 0.7,
            attract,
        });
        let steps = |processes: Arc<dyn Collective>, gradient_cache, detected: Option<&Arc<Detected>>| {
            let steps = Steps {
                config: &config,
                processes,
                precision: Precision::F64,
                gradient_cache,
                mode: Mode::Eval,
                before: &[],
                detected: detected.cloned(),
            };
            config.init(start_in(&config, Precision::F64), steps)
        };
        let whole = steps(Arc::new(Alone), None, Some(&detected));
        let without = steps(Arc::new(Alone), None, None);
        assert!((whole[0].loss - without[0].loss).abs() > 0.01, "the detection counts");
        for (size, gradient_cache) in [(1, Some(2)), (2, None), (3, Some(2)), (4, None)] {
            let found = Threads::run(size, |processes| {
                steps(Arc::new(Checked::new(processes)), gradient_cache, Some(&detected))
            });
            assert_equal(&found[0], &whole, 1e-12, &format!("attract {attract} on {size} processes"));
            assert!(found.iter().all(|of_process| *of_process == found[0]));
        }
    }
}

#[test]
fn synchronised_batch_normalisation_has_the_step_of_the_whole_batch() {
    for config in methods() {
        // Groups keep images apart that it would normalise together.
        if config.settings().needs().group > 1 {
            continue;
        }
        let steps = |processes: Arc<dyn Collective>, gradient_cache| {
            let norm_processes = (processes.size() > 1).then(|| processes.clone());
            let start = start_in(&config, Precision::F64);
            let start = MethodStart {
                encoder: start.encoder.with_norms_over_processes(norm_processes.as_ref()),
                norm_processes,
                ..start
            };
            let steps = Steps {
                config: &config,
                processes,
                precision: Precision::F64,
                gradient_cache,
                mode: Mode::Train,
                before: &[],
                detected: None,
            };
            config.init(start, steps)
        };
        let whole = steps(Arc::new(Alone), None);
        for size in [2, 3] {
            let found = Threads::run(size, |processes| steps(Arc::new(Checked::new(processes)), None));
            assert_equal(&found[0], &whole, 1e-9, &format!("{} on {size} processes", config.name()));
            assert!(found.iter().all(|of_process| *of_process == found[0]), "{}", config.name());
        }
        // Two parts on each of two processes cover the images of both, twice four.
        let cached = Threads::run(2, |processes| steps(Arc::new(Checked::new(processes)), Some(2)));
        assert!(cached.iter().all(|of_process| *of_process == cached[0]), "{}", config.name());
    }
}

/// The usual mistake: gathered embeddings are constants, and gradients are averaged over processes. It deviates by far more than the tests above
/// accept.
#[test]
fn gathered_embeddings_without_gradients_would_be_noticed() {
    struct Mistake;
    impl WithMethod for Mistake {
        type Output = f64;

        fn call<M: ImageMethod>(self, method: M) -> f64 {
            let model = model(method, Precision::F64);
            let config = MethodConfig::default();
            let step = step_of(
                &(Arc::new(Alone) as Arc<dyn Collective>),
                &config,
                estimators(&config).swap_remove(0),
                Mode::Eval,
            );
            let size = 2;
            let mut embedded = Vec::new();
            for process in 0..size {
                let own = bcl_collective::share(IMAGES, process, size);
                let embeddings = model.embed_batch(&step.batch, usize::MAX);
                let rows = embeddings.tables().map(|table| {
                    let rows = table.into_rows();
                    if rows.dims()[0] != IMAGES {
                        // The temperature.
                        return rows;
                    }
                    let constant =
                        |rows: Range<usize>, of: &Tensor<2>| (!rows.is_empty()).then(|| of.clone().slice_dim(0, rows).detach());
                    let parts = [
                        constant(0..own.start, &rows),
                        Some(rows.clone().slice_dim(0, own.clone())),
                        constant(own.end..IMAGES, &rows),
                    ];
                    Tensor::cat(parts.into_iter().flatten().collect(), 0)
                });
                let embeddings = embeddings.with_rows(&rows.collect::<Vec<_>>());
                let of_views = [own.clone(), own.start + IMAGES..own.end + IMAGES];
                embedded.extend(of_views.map(|anchors| step.losses(&model, &embeddings, anchors).reduce(Reduction::Mean)));
            }
            let count = embedded.len() as f64;
            let wrong = embedded.into_iter().reduce(|sum, loss| sum + loss).expect("there are four") * count.recip();
            let moved = |gradients: GradientsParams| {
                numbers(&model.clone().optimize(&mut SgdConfig::new().init(), 1.0.into(), gradients))
            };
            let right = step.train(&model);
            let wrong = Outcome {
                loss: wrong.clone().into_scalar::<f64>(),
                num_counted: None,
                before: Vec::new(),
                after: moved(GradientsParams::from_grads(wrong.backward(), &model)),
            };
            wrong.deviation(&Outcome {
                loss: right.loss.into_scalar::<f64>(),
                num_counted: None,
                before: numbers(&model),
                after: moved(right.gradients),
            })
        }
    }
    let config = MethodConfig::default();
    let deviation = config.init(start_in(&config, Precision::F64), Mistake);
    assert!(deviation > 0.1, "{deviation}");
}
