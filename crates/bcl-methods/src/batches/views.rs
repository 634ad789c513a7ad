//! The views of a batch, made in advance or in parts while the encoder runs.

use super::Prefetch;
use bcl_core::gradient_cache::blocks;
use bcl_data::Seed;
use bcl_images::{ImageData, ImageError, Views};
use burn::tensor::{Device, Tensor, TensorData};
use std::{iter, ops::Range, panic::resume_unwind, sync::Arc};

/// Makes views. They are counter-based: the same image and epoch always give the same views, on any number of threads.
#[derive(Debug)]
pub struct ViewSource {
    /// The data set, of which the training images are used.
    pub data: Arc<ImageData>,
    /// The augmentations.
    pub views: Views,
    /// The run's seed.
    pub seed: Seed,
}

impl ViewSource {
    /// Makes the views of each image in its epoch, view after view, `[images.len(), 3, side, side]` each.
    ///
    /// # Errors
    /// Returns an error if an image cannot be read from its file.
    pub fn make(&self, images: &[usize], epochs: &[u64]) -> Result<Vec<f32>, ImageError> {
        let mut pixels = Vec::new();
        self.views
            .batch_of_epochs(&self.data.train, images, epochs, self.seed, &mut pixels)?;
        Ok(pixels)
    }

    /// Moves views of a number of images to a device, one tensor per view.
    pub fn on_device(&self, pixels: Vec<f32>, batch_size: usize, device: &Device) -> Vec<Tensor<4>> {
        let count = pixels.len();
        let pixels = Tensor::<1>::from_data(TensorData::new(pixels, [count]), device);
        let mut start = 0;
        let views = self.views.layout().into_iter().map(|side| {
            let end = start + batch_size * 3 * side * side;
            let view = pixels.clone().slice_dim(0, start..end).reshape([batch_size, 3, side, side]);
            start = end;
            view
        });
        views.collect()
    }
}

/// The views of a batch.
#[derive(Debug, Clone)]
pub enum BatchViews {
    /// On the device, `[batch_size, 3, side, side]` each: the global views, then the local ones.
    Made(Vec<Tensor<4>>),
    /// Made when they are needed, so that the views of a whole batch need not fit into memory.
    OnDemand(ViewsOnDemand),
}

/// Views that are made in parts.
#[derive(Debug, Clone)]
pub struct ViewsOnDemand {
    /// Makes the views.
    pub source: Arc<ViewSource>,
    /// Indices of the images.
    pub images: Arc<[usize]>,
    /// The epoch of each image's views.
    pub epochs: Arc<[u64]>,
    /// The device of the views.
    pub device: Device,
}

impl BatchViews {
    /// Number of images.
    pub fn batch_size(&self) -> usize {
        match self {
            Self::Made(views) => views[0].dims()[0],
            Self::OnDemand(views) => views.images.len(),
        }
    }

    /// Number of views per image.
    pub fn num_views(&self) -> usize {
        match self {
            Self::Made(views) => views.len(),
            Self::OnDemand(views) => views.source.views.layout().len(),
        }
    }

    /// The views in parts of at most `at_most` images, as [`blocks`] divides them.
    pub fn parts(&self, at_most: usize) -> Box<dyn Iterator<Item = Vec<Tensor<4>>>> {
        let parts = blocks(self.batch_size(), at_most);
        match self.clone() {
            Self::Made(views) if parts.len() == 1 => Box::new(iter::once(views)),
            Self::Made(views) => {
                let of_part = move |part: Range<usize>| views.iter().map(|view| view.clone().slice([part.clone()])).collect();
                Box::new(parts.map(of_part))
            }
            Self::OnDemand(views) => Box::new(views.parts(at_most)),
        }
    }
}

impl ViewsOnDemand {
    /// A thread prefetches the views of one part.
    fn parts(self, at_most: usize) -> impl Iterator<Item = Vec<Tensor<4>>> {
        let parts = blocks(self.images.len(), at_most);
        let views = self.clone();
        let make = move |part: Range<usize>| {
            (
                part.len(),
                views.source.make(&views.images[part.clone()], &views.epochs[part]),
            )
        };
        let made = Prefetch::new(0, parts.map(make));
        made.map(move |made| {
            // An encoder's forward pass has no way to return an error; the run turns a panic into one, and unwinds as a panic without a
            // message for an image that cannot be read.
            let (batch_size, pixels) = made.unwrap_or_else(|panicked| panic!("{panicked}"));
            let pixels = pixels.unwrap_or_else(|error| resume_unwind(Box::new(error)));
            self.source.on_device(pixels, batch_size, &self.device)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_images::{PlantedImagesConfig, ViewsConfig};

    fn on_demand() -> ViewsOnDemand {
        let planted = PlantedImagesConfig {
            train: 20,
            test: 10,
            side: 16,
            ..PlantedImagesConfig::default()
        };
        let views = ViewsConfig {
            side: 8,
            ..ViewsConfig::default()
        };
        ViewsOnDemand {
            source: Arc::new(ViewSource {
                data: Arc::new(planted.generate()),
                views: views.init(),
                seed: Seed(3),
            }),
            images: [7, 2, 19, 0, 4, 11, 5].into(),
            epochs: [6; 7].into(),
            device: Device::flex(),
        }
    }

    fn values(parts: impl Iterator<Item = Vec<Tensor<4>>>) -> Vec<Vec<Vec<f32>>> {
        let values = |view: Tensor<4>| view.into_data().iter().collect();
        parts.map(|part| part.into_iter().map(values).collect()).collect()
    }

    #[test]
    fn views_made_on_demand_always_equal_views_made_in_advance() {
        let views = on_demand();
        let pixels = views.source.make(&views.images, &views.epochs).unwrap();
        let made = BatchViews::Made(views.source.on_device(pixels, views.images.len(), &views.device));
        let on_demand = BatchViews::OnDemand(views);
        assert_eq!((made.batch_size(), on_demand.batch_size()), (7, 7));
        for at_most in [2, 3, 7, 100] {
            let expected = values(made.parts(at_most));
            assert_eq!(expected.len(), 7_usize.div_ceil(at_most));
            for _ in 0..2 {
                assert_eq!(values(on_demand.parts(at_most)), expected);
            }
        }
    }

    #[test]
    fn the_prefetching_thread_ends_when_the_parts_are_dropped() {
        let views = on_demand();
        let source = Arc::downgrade(&views.source);
        let mut parts = BatchViews::OnDemand(views).parts(2);
        parts.next().expect("there are four");
        drop(parts);
        while source.strong_count() > 0 {
            std::thread::yield_now();
        }
    }
}
