//! The data loader of images, which prepares batches of views.

use super::order::Draws;
use crate::training::plan::{EpochPlan, PlannedLoader};
use bcl_core::Estimator;
use bcl_data::Seed;
use bcl_images::{ImageData, ImageError, Views};
use bcl_methods::batches::{BatchViews, ImageBatch, Prefetch, ViewSource, ViewsOnDemand};
use bcl_methods::step::Step;
use bcl_models::vision::Mode;
use bcl_recipe::Sampling;
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::Device,
};
use rand::seq::SliceRandom;
use std::{
    ops::Range,
    panic::resume_unwind,
    sync::{Arc, Mutex},
};

/// Number of batches that wait for the consumer. One more is in preparation, so memory is bounded.
const READY: usize = 1;

/// Epoch number of the probe's views, which no training epoch has.
const PROBE_EPOCH: u64 = u64::MAX;

/// Prepares batches of views in a thread of its own.
///
/// Order and views are counter-based: step s of epoch e is the same after an interruption, and for any number of threads.
#[derive(Debug, Clone)]
pub struct ImageLoader {
    source: Arc<Source>,
    plan: Arc<Mutex<EpochPlan>>,
    device: Device,
}

/// Images and options from which batches are made.
#[derive(Debug)]
struct Source {
    views: Arc<ViewSource>,
    batch_size: usize,
    sampling: Sampling,
    gradient_cache: Option<usize>,
    /// Whether batches carry classes, because the estimator or the schedule of α needs them.
    with_truth: bool,
    num_anchors: usize,
    /// The images of a batch whose views are made.
    own: Range<usize>,
}

/// Options of a loader.
#[derive(Debug)]
pub struct LoaderOptions {
    /// Makes the views.
    pub views: Views,
    /// Images per step.
    pub batch_size: usize,
    /// How often an epoch draws each image; if class-balanced, all of them have a class.
    pub sampling: Sampling,
    /// Images that are encoded at a time with gradient caching, which makes views on demand.
    pub gradient_cache: Option<usize>,
    /// Whether training batches carry classes. The probe always does.
    pub with_truth: bool,
    /// Number of anchors of a batch: noise is drawn per anchor.
    pub num_anchors: usize,
    /// The images of a batch whose views this process makes: all of them in one process.
    pub own: Range<usize>,
    /// The run's seed.
    pub seed: Seed,
    /// The device of the batches.
    pub device: Device,
}

impl ImageLoader {
    /// Creates a loader of all training images.
    ///
    /// # Panics
    /// Panics if there are fewer images than a batch has.
    pub fn new(data: Arc<ImageData>, plan: EpochPlan, options: LoaderOptions) -> Self {
        let LoaderOptions {
            views,
            batch_size,
            sampling,
            gradient_cache,
            with_truth,
            num_anchors,
            own,
            seed,
            device,
        } = options;
        assert!(
            data.train.len() >= batch_size,
            "a batch has {batch_size} images, but there are {}",
            data.train.len()
        );
        Self {
            source: Arc::new(Source {
                views: Arc::new(ViewSource { data, views, seed }),
                batch_size,
                sampling,
                gradient_cache,
                with_truth,
                num_anchors,
                own,
            }),
            plan: Arc::new(Mutex::new(plan)),
            device,
        }
    }

    /// Returns the batch for diagnostics: always the same images and views, in evaluation mode.
    ///
    /// With gradient caching it is as small as a part, because all its scores are in memory at once.
    pub fn probe(&self, estimator: Option<Arc<dyn Estimator>>, device: &Device) -> Step<ImageBatch> {
        let source = &self.source;
        let mut order: Vec<usize> = (0..source.num_images()).collect();
        let batch_size = match source.own.start {
            0 => source.gradient_cache.unwrap_or(source.batch_size),
            // Only process 0 evaluates, so the views of the others need not fill their devices.
            _ => source.batch_size.min(2),
        };
        let (chosen, _) = order.partial_shuffle(&mut source.views.seed.named("probe").rng(), batch_size);
        let pixels = source
            .views
            .make(chosen, &vec![PROBE_EPOCH; chosen.len()])
            .unwrap_or_else(|error| resume_unwind(Box::new(error)));
        let batch = ImageBatch {
            views: BatchViews::Made(source.views.on_device(pixels, chosen.len(), device)),
            images: (&*chosen).into(),
            classes: source.classes(chosen),
            mode: Mode::Eval,
        };
        // At most as many as a batch has; the rest of the noise is not used.
        let num_anchors = source.num_anchors;
        Step::new(batch, estimator, num_anchors, source.views.seed, u64::MAX, device)
    }
}

impl Source {
    fn num_images(&self) -> usize {
        self.views.data.train.len()
    }

    fn steps_per_epoch(&self) -> usize {
        self.num_images() / self.batch_size
    }

    /// The images of an epoch in order.
    fn draws(&self, epoch: usize) -> Draws {
        Draws::new(self.sampling, &self.views.data.train, self.views.seed, epoch)
    }

    /// The classes of images, if all of them have one.
    fn classes(&self, images: &[usize]) -> Option<Arc<[u32]>> {
        images.iter().map(|&image| self.views.data.train.labels()[image]).collect()
    }

    fn prepare(&self, images: &[usize], epochs: &[u64]) -> Result<Prepared, ImageError> {
        let own = self.own.clone();
        let pixels = self
            .gradient_cache
            .is_none()
            .then(|| self.views.make(&images[own.clone()], &epochs[own]));
        Ok(Prepared {
            pixels: pixels.transpose()?,
            images: images.into(),
            epochs: epochs.into(),
        })
    }

    fn step(&self, prepared: Prepared, step: u64, estimator: Option<Arc<dyn Estimator>>, device: &Device) -> Step<ImageBatch> {
        let Prepared { images, epochs, pixels } = prepared;
        let batch = ImageBatch {
            classes: self.with_truth.then(|| self.classes(&images)).flatten(),
            views: match pixels {
                Some(pixels) => BatchViews::Made(self.views.on_device(pixels, self.own.len(), device)),
                None => BatchViews::OnDemand(ViewsOnDemand {
                    source: self.views.clone(),
                    images: images[self.own.clone()].into(),
                    epochs: epochs[self.own.clone()].into(),
                    device: device.clone(),
                }),
            },
            images,
            mode: Mode::Train,
        };
        Step::new(batch, estimator, self.num_anchors, self.views.seed, step, device).with_gradient_cache(self.gradient_cache)
    }
}

/// A batch before it is on the device.
struct Prepared {
    images: Arc<[usize]>,
    epochs: Arc<[u64]>,
    /// The views, unless they are made on demand.
    pixels: Option<Vec<f32>>,
}

impl PlannedLoader<ImageBatch> for ImageLoader {
    fn set_plan(&self, plan: EpochPlan) {
        *self.plan.lock().expect("no thread panics while it holds the plan") = plan;
    }

    fn steps_per_epoch(&self) -> usize {
        self.source.steps_per_epoch()
    }

    fn num_samples(&self) -> usize {
        self.source.num_images()
    }
}

impl DataLoader<Step<ImageBatch>> for ImageLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Step<ImageBatch>> + 'a> {
        let plan = self.plan.lock().expect("no thread panics while it holds the plan").clone();
        let source = self.source.clone();
        let (epoch, first_step) = (plan.epoch, plan.first_step);
        let draws = source.draws(epoch);
        let steps = first_step..source.steps_per_epoch();
        let prepared = Prefetch::new(
            READY,
            steps.map(move |step| {
                let batch = step * source.batch_size..(step + 1) * source.batch_size;
                source.prepare(&draws.images[batch.clone()], &draws.epochs[batch])
            }),
        );
        Box::new(Epoch {
            step: first_step,
            plan,
            prepared,
            loader: self,
        })
    }

    fn num_items(&self) -> usize {
        self.steps_per_epoch() * self.source.batch_size
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Step<ImageBatch>>> {
        Arc::new(Self {
            device: device.clone(),
            ..self.clone()
        })
    }

    /// Returns the whole loader: images are not split between devices.
    fn slice(&self, _: usize, _: usize) -> Arc<dyn DataLoader<Step<ImageBatch>>> {
        Arc::new(self.clone())
    }
}

/// One pass over the images.
struct Epoch<'a> {
    loader: &'a ImageLoader,
    plan: EpochPlan,
    prepared: Prefetch<Result<Prepared, ImageError>>,
    step: usize,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Step<ImageBatch>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let prepared = match self.prepared.next()? {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(unreadable)) => return Some(Err(DatasetError::new(unreadable))),
            Err(panicked) => return Some(Err(DatasetError::new(panicked))),
        };
        let source = &self.loader.source;
        let global_step = (self.plan.epoch * source.steps_per_epoch() + self.step) as u64;
        self.step += 1;
        let estimator = self.plan.estimator.clone();
        let step = source.step(prepared, global_step, estimator, &self.loader.device);
        Some(Ok(step.with_detected(self.plan.detected.clone())))
    }
}

impl DataLoaderIterator<Step<ImageBatch>> for Epoch<'_> {
    fn progress(&self) -> Progress {
        let done = self.step * self.loader.source.batch_size;
        Progress::new(done, self.loader.num_items(), Some("images".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::EstimatorConfig;
    use bcl_images::{Collection, Image, ViewsConfig};

    fn loader(batch_size: usize) -> ImageLoader {
        caching_loader(batch_size, None)
    }

    fn caching_loader(batch_size: usize, gradient_cache: Option<usize>) -> ImageLoader {
        loader_of(batch_size, gradient_cache, 0..batch_size)
    }

    fn loader_of(batch_size: usize, gradient_cache: Option<usize>, own: Range<usize>) -> ImageLoader {
        let mut images = Collection::new(vec!["dark".into(), "light".into()]);
        for i in 0..7u8 {
            let pixels = vec![i * 30; 4 * 4 * 3];
            let image = Image {
                width: 4,
                height: 4,
                pixels: &pixels,
            };
            images.push(image, Some(u32::from(i > 3)));
        }
        let views = ViewsConfig {
            side: 4,
            ..ViewsConfig::default()
        };
        let plan = EpochPlan {
            epoch: 0,
            first_step: 0,
            estimator: Some(Arc::from(EstimatorConfig::all()[0].init())),
            detected: None,
        };
        let data = ImageData {
            name: "grey".into(),
            test: images.clone(),
            train: images,
            skipped: Vec::new(),
            notes: Vec::new(),
        };
        let options = LoaderOptions {
            views: views.init(),
            batch_size,
            sampling: Sampling::Uniform,
            gradient_cache,
            with_truth: true,
            num_anchors: 2 * batch_size,
            own,
            seed: Seed(5),
            device: Device::flex(),
        };
        ImageLoader::new(Arc::new(data), plan, options)
    }

    fn epoch(loader: &ImageLoader, epoch: usize, first_step: usize) -> Vec<Vec<f32>> {
        let estimator = Some(Arc::from(EstimatorConfig::all()[0].init()));
        loader.set_plan(EpochPlan {
            epoch,
            first_step,
            estimator,
            detected: None,
        });
        loader
            .iter()
            .map(|step| first_view(&step.expect("views need no reading")))
            .collect()
    }

    fn first_view(step: &Step<ImageBatch>) -> Vec<f32> {
        let views = step.batch.views.parts(usize::MAX).next().expect("the whole is a part");
        views[0].clone().into_data().iter().collect()
    }

    #[test]
    fn an_epoch_continued_at_a_step_equals_the_rest_of_the_whole_epoch() {
        let loader = loader(2);
        let whole = epoch(&loader, 3, 0);
        assert_eq!(whole.len(), 3, "an incomplete last batch is dropped");
        assert_eq!(epoch(&loader, 3, 1), whole[1..]);
        assert_ne!(epoch(&loader, 4, 0), whole);
    }

    #[test]
    fn the_own_views_of_all_processes_are_those_of_the_batch() {
        let whole = epoch(&loader(6), 3, 0);
        for gradient_cache in [None, Some(2)] {
            let of_processes = [0..2, 2..6].map(|own| epoch(&loader_of(6, gradient_cache, own), 3, 0));
            let [first, second] = of_processes.map(|mut batches| batches.swap_remove(0));
            let first_part = if gradient_cache.is_some() {
                second.len() / 2
            } else {
                second.len()
            };
            assert_eq!(first, whole[0][..first.len()]);
            assert_eq!(second[..first_part], whole[0][first.len()..][..first_part]);
        }
    }

    #[test]
    fn the_probe_is_always_the_same() {
        let loader = loader(4);
        let values = || first_view(&loader.probe(Some(Arc::from(EstimatorConfig::all()[0].init())), &Device::flex()));
        assert_eq!(values(), values());
    }

    #[test]
    fn gradient_caching_changes_no_step_and_shrinks_the_probe_to_a_part() {
        let caching = caching_loader(6, Some(2));
        assert_eq!(epoch(&caching, 3, 0), epoch(&loader(6), 3, 0));
        let step = caching.iter().next().expect("a step").expect("views need no reading");
        assert_eq!(step.gradient_cache, Some(2));
        assert!(matches!(step.batch.views, BatchViews::OnDemand(_)));
        let probe = caching.probe(Some(Arc::from(EstimatorConfig::all()[0].init())), &Device::flex());
        assert_eq!((probe.batch.views.batch_size(), probe.gradient_cache), (2, None));
    }
}
