//! Batches of two views of each image, and the loader that prepares them.

use crate::training::step::{Plan, PlannedLoader, Step};
use bcl_core::Estimator;
use bcl_data::Seed;
use bcl_images::{ImageData, Views};
use bcl_models::vision::Mode;
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::{Bool, Device, Tensor, TensorData},
};
use rand::seq::SliceRandom;
use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, sync_channel},
    },
    thread,
};

/// Batches that are ready before they are asked for. One more is under way, so that memory is bounded whatever is slower.
const READY: usize = 1;

/// Stands for the epoch of the views that weights are measured on; no epoch has this number.
const PROBE_EPOCH: u64 = u64::MAX;

/// Two views of each image of a batch.
#[derive(Debug, Clone)]
pub struct ImageBatch {
    /// The views, `[batch_size, 3, side, side]` each.
    pub views: [Tensor<4>; 2],
    /// The negatives that share their anchor's class, `[2 · batch_size, 2 · batch_size - 2]`, where that is known and asked for.
    pub same_class: Option<Tensor<2, Bool>>,
    /// Which statistics batch normalisation uses.
    pub mode: Mode,
}

/// Prepares batches of views, in a thread of its own.
///
/// Order and views are counter-based: step s of epoch e is the same whether the run was interrupted before it or not, and however many
/// threads make the views.
#[derive(Debug, Clone)]
pub struct ImageLoader {
    source: Arc<Source>,
    plan: Arc<Mutex<Plan>>,
    device: Device,
}

/// What views are made of.
#[derive(Debug)]
struct Source {
    data: Arc<ImageData>,
    views: Views,
    batch_size: usize,
    seed: Seed,
    /// Whether the classes go along: the estimator or the schedule of α reads them.
    with_truth: bool,
}

/// What a loader is made of, beside the images.
#[derive(Debug)]
pub struct LoaderOptions {
    /// How views are made.
    pub views: Views,
    /// Images a step.
    pub batch_size: usize,
    /// Whether the classes go along with every step; they do with the probe.
    pub with_truth: bool,
    /// The run's seed.
    pub seed: Seed,
    /// Where batches go.
    pub device: Device,
}

impl ImageLoader {
    /// A loader of all training images.
    ///
    /// # Panics
    /// When there are fewer images than a batch has.
    pub fn new(data: Arc<ImageData>, plan: Plan, options: LoaderOptions) -> Self {
        let LoaderOptions {
            views,
            batch_size,
            with_truth,
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
                data,
                views,
                batch_size,
                seed,
                with_truth,
            }),
            plan: Arc::new(Mutex::new(plan)),
            device,
        }
    }

    /// A step for measuring: the same images and views whenever it is asked for, apart from all training steps, in evaluation mode.
    pub fn probe(&self, estimator: Arc<dyn Estimator>, device: &Device) -> Step<ImageBatch> {
        let mut order: Vec<usize> = (0..self.source.data.train.len()).collect();
        let (chosen, _) = order.partial_shuffle(&mut self.source.seed.named("probe").rng(), self.source.batch_size);
        let made = self.source.make(chosen, PROBE_EPOCH, true);
        self.source.step(made, u64::MAX, estimator, Mode::Eval, device)
    }
}

impl Source {
    fn steps_per_epoch(&self) -> usize {
        self.data.train.len() / self.batch_size
    }

    /// The images in the order of an epoch.
    fn order(&self, epoch: usize) -> Vec<usize> {
        epoch_order(self.data.train.len(), self.seed, epoch)
    }

    fn make(&self, images: &[usize], epoch: u64, with_truth: bool) -> Made {
        let mut pixels = Vec::new();
        self.views.batch(&self.data.train, images, epoch, self.seed, &mut pixels);
        let labels: Option<Vec<u32>> = with_truth
            .then(|| images.iter().map(|&image| self.data.train.labels()[image]).collect())
            .flatten();
        Made {
            pixels,
            batch_size: images.len(),
            same_class: labels.map(|labels| same_class(&labels)),
        }
    }

    fn step(&self, made: Made, step: u64, estimator: Arc<dyn Estimator>, mode: Mode, device: &Device) -> Step<ImageBatch> {
        let (batch_size, side) = (made.batch_size, self.views.config().side);
        let pixels = Tensor::<5>::from_data(TensorData::new(made.pixels, [2, batch_size, 3, side, side]), device);
        let view = |which: usize| pixels.clone().narrow(0, which, 1).squeeze_dim::<4>(0);
        let shape = [2 * batch_size, 2 * batch_size - 2];
        let batch = ImageBatch {
            views: [view(0), view(1)],
            same_class: made
                .same_class
                .map(|truth| Tensor::from_data(TensorData::new(truth, shape), device)),
            mode,
        };
        Step::new(batch, estimator, 2 * batch_size, self.seed, step, device)
    }
}

/// The order in which an epoch of a run goes through so many images.
pub fn epoch_order(num_images: usize, seed: Seed, epoch: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..num_images).collect();
    order.shuffle(&mut seed.named("order").index(epoch as u64).rng());
    order
}

/// A batch before it is on the device.
struct Made {
    pixels: Vec<f32>,
    batch_size: usize,
    same_class: Option<Vec<bool>>,
}

/// Which negatives share their anchor's class, in the order of [`Scores::from_views`](bcl_core::Scores::from_views): an anchor's
/// negatives are the first and then the second views of all samples but its own.
fn same_class(labels: &[u32]) -> Vec<bool> {
    let others = |own: usize| {
        let other = move |&(sample, _): &(usize, &u32)| sample != own;
        labels
            .iter()
            .enumerate()
            .filter(other)
            .map(move |(_, label)| *label == labels[own])
    };
    let of_one_view = (0..labels.len()).flat_map(|own| others(own).chain(others(own)));
    of_one_view.clone().chain(of_one_view).collect()
}

impl PlannedLoader<ImageBatch> for ImageLoader {
    fn set_plan(&self, plan: Plan) {
        *self.plan.lock().expect("no thread panics while it holds the plan") = plan;
    }

    fn steps_per_epoch(&self) -> usize {
        self.source.steps_per_epoch()
    }
}

impl DataLoader<Step<ImageBatch>> for ImageLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Step<ImageBatch>> + 'a> {
        let plan = self.plan.lock().expect("no thread panics while it holds the plan").clone();
        let source = self.source.clone();
        let (sender, made) = sync_channel(READY);
        let (epoch, first_step) = (plan.epoch, plan.first_step);
        thread::spawn(move || {
            let order = source.order(epoch);
            for images in order.chunks_exact(source.batch_size).skip(first_step) {
                // Nobody waits for it any more: the run was interrupted.
                if sender.send(source.make(images, epoch as u64, source.with_truth)).is_err() {
                    break;
                }
            }
        });
        Box::new(Epoch {
            step: first_step,
            plan,
            made,
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

    /// The whole: images are not dealt out between devices.
    fn slice(&self, _: usize, _: usize) -> Arc<dyn DataLoader<Step<ImageBatch>>> {
        Arc::new(self.clone())
    }
}

/// One pass over the images.
struct Epoch<'a> {
    loader: &'a ImageLoader,
    plan: Plan,
    made: Receiver<Made>,
    step: usize,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Step<ImageBatch>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let made = self.made.recv().ok()?;
        let source = &self.loader.source;
        let global_step = (self.plan.epoch * source.steps_per_epoch() + self.step) as u64;
        self.step += 1;
        let estimator = self.plan.estimator.clone();
        Some(Ok(source.step(
            made,
            global_step,
            estimator,
            Mode::Train,
            &self.loader.device,
        )))
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
    use bcl_core::{EstimatorConfig, Scores, Similarity};
    use bcl_images::{Collection, Image, ViewsConfig};

    fn loader(batch_size: usize) -> ImageLoader {
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
        let plan = Plan {
            epoch: 0,
            first_step: 0,
            estimator: Arc::from(EstimatorConfig::all()[0].init()),
        };
        let data = ImageData {
            name: "grey".into(),
            test: images.clone(),
            train: images,
        };
        let options = LoaderOptions {
            views: views.init(),
            batch_size,
            with_truth: true,
            seed: Seed(5),
            device: Device::flex(),
        };
        ImageLoader::new(Arc::new(data), plan, options)
    }

    fn epoch(loader: &ImageLoader, epoch: usize, first_step: usize) -> Vec<Vec<f32>> {
        let estimator = Arc::from(EstimatorConfig::all()[0].init());
        loader.set_plan(Plan {
            epoch,
            first_step,
            estimator,
        });
        loader
            .iter()
            .map(|step| step.expect("views need no reading").batch.views[0].to_data().iter().collect())
            .collect()
    }

    #[test]
    fn an_epoch_taken_up_in_the_middle_is_the_end_of_the_whole() {
        let loader = loader(2);
        let whole = epoch(&loader, 3, 0);
        assert_eq!(whole.len(), 3, "what is left of the epoch is dropped");
        assert_eq!(epoch(&loader, 3, 1), whole[1..]);
        assert_ne!(epoch(&loader, 4, 0), whole);
    }

    #[test]
    fn the_truth_lies_where_the_scores_lie() {
        let labels = [0u32, 1, 0, 1, 1];
        // Orthogonal classes: a similarity of 1 is a shared class.
        let rows: Vec<f32> = labels
            .iter()
            .flat_map(|&label| if label == 0 { [1.0, 0.0] } else { [0.0, 1.0] })
            .collect();
        let views = Tensor::<2>::from_data(TensorData::new(rows, [5, 2]), &Device::flex());
        let scores = Scores::from_views(views.clone(), views, Similarity::Cosine);
        let similar: Vec<bool> = scores.negatives.into_data().iter::<f32>().map(|score| score > 0.5).collect();
        assert_eq!(same_class(&labels), similar);
    }

    #[test]
    fn the_probe_is_the_same_whenever_it_is_asked_for() {
        let loader = loader(4);
        let values = || {
            let step = loader.probe(Arc::from(EstimatorConfig::all()[0].init()), &Device::flex());
            step.batch.views[1].to_data().iter::<f32>().collect::<Vec<f32>>()
        };
        assert_eq!(values(), values());
    }
}
