//! MoCo: queries against a queue of keys from a momentum encoder.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, KeyQueue, MethodSettings, MethodSizes, MethodStart, Needs, Objective,
    Precision, StoredKeys, SyntheticConfig, image::projections, rows_of,
};
use crate::batches::ImageBatch;
use bcl_core::{
    ParameterError,
    parameter::{count_in, in_closed},
};
use bcl_data::Seed;
use bcl_models::vision::{ImageEncoder, Mode, ema_target, ema_update};
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`MoCo`], as in recipes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MoCoConfig {
    /// Size of the queue, which is the number of negatives once it is full.
    pub queue: usize,
    /// Momentum of the key encoder, in [0, 1].
    pub momentum: f64,
    /// Whether both views are queries, each against the other's key; otherwise only the first view is a query.
    pub symmetric: bool,
    /// Number of groups of a batch that batch normalisation treats as batches of their own, in place of the shuffling between GPUs.
    pub norm_groups: usize,
    /// Synthetic hard negatives; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticConfig>,
}

/// The settings of the authors' CIFAR-10 example, in its symmetric variant.
impl Default for MoCoConfig {
    fn default() -> Self {
        Self {
            queue: 4096,
            momentum: 0.99,
            symmetric: true,
            norm_groups: 8,
            synthetic: None,
        }
    }
}

impl MoCoConfig {
    /// Largest queue.
    const MOST: usize = 1 << 24;
    /// Largest number of groups of a batch.
    const MOST_GROUPS: usize = 1024;

    /// Number of synthetic negatives per query.
    fn num_synthetic(&self) -> usize {
        self.synthetic.as_ref().map_or(0, SyntheticConfig::count)
    }
}

impl MethodSettings for MoCoConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("queue", self.queue, 1, Self::MOST)?;
        in_closed("momentum", self.momentum, 0.0, 1.0)?;
        count_in("norm_groups", self.norm_groups, 1, Self::MOST_GROUPS)?;
        self.synthetic.as_ref().map_or(Ok(()), SyntheticConfig::check)
    }

    fn num_negatives(&self, _: usize) -> Option<usize> {
        Some(self.queue + self.num_synthetic())
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        sizes.parameters + self.queue as u64 * sizes.dim
    }

    fn is_recordable(&self) -> bool {
        self.synthetic.is_none()
    }

    fn values_per_anchor(&self, dim: u64) -> u64 {
        // Both keys of each mixture.
        self.synthetic
            .as_ref()
            .map_or(0, |synthetic| 2 * synthetic.mixed as u64 * dim)
    }

    fn needs(&self) -> Needs {
        Needs {
            group: self.norm_groups,
            ..Needs::default()
        }
    }
}

impl ImageMethodConfig for MoCoConfig {
    type Method = MoCo;

    fn init(&self, start: MethodStart) -> MoCo {
        let encoder = start.encoder.with_split_norms(self.norm_groups);
        MoCo {
            momentum_encoder: ema_target(&encoder),
            queue: KeyQueue::new(self.queue, start.dim, &start.device),
            encoder,
            config: self.clone(),
            precision: start.precision,
            seed: start.seed.named("synthetic negatives"),
        }
    }
}

/// The positive of a query is the key of the image's other view; negatives are the keys of earlier batches.
///
/// Keys come from a momentum encoder, which is updated after each step,
///
/// ```text
/// momentum_encoder <- momentum · momentum_encoder + (1 - momentum) · encoder
/// ```
///
/// and then enter the [queue](KeyQueue), so no query has a key of its own batch as a negative, not even in a symmetric step. Earlier
/// keys of the anchor's image, which a queue holds if it is large for the data set, are masked out.
///
/// The authors shuffle the keys of a batch between GPUs, so that the batch statistics of a query and its key cover different images:
/// otherwise the network can recognise the key by them. On one device `norm_groups` has that effect. The trunk normalises query n with
/// the queries of group `n mod norm_groups` alone, and key n with the keys of the same contiguous part of the batch, so the groups of a
/// query and its key share `batch_size / norm_groups²` images. The order of a batch is random, which makes a random shuffle needless.
///
/// With `synthetic`, each query also has [mixtures](SyntheticConfig) of its most similar negatives, and of these with the query, as negatives. They have
/// no class: labels count them as true negatives. The authors mix only after some epochs of training; here mixing starts as soon as there are keys.
///
/// Source: He et al., [Momentum Contrast for Unsupervised Visual Representation Learning](https://arxiv.org/abs/1911.05722); Kalantidis et al.,
/// [Hard Negative Mixing for Contrastive Learning](https://arxiv.org/abs/2010.01028).
#[derive(Module, Debug)]
pub struct MoCo {
    /// The encoder of queries.
    pub encoder: ImageEncoder,
    /// The encoder of keys.
    pub momentum_encoder: ImageEncoder,
    /// Keys of earlier batches.
    pub queue: KeyQueue,
    #[module(skip)]
    config: MoCoConfig,
    #[module(skip)]
    precision: Precision,
    #[module(skip)]
    seed: Seed,
}

impl MoCo {
    /// Names of the tables of either view: queries of the encoder and keys of the momentum encoder.
    pub const TABLES: [[&'static str; 2]; 2] = [["first_queries", "first_keys"], ["second_queries", "second_keys"]];

    /// The views that are queries. The key is the other view.
    fn query_views(&self) -> Range<usize> {
        0..if self.config.symmetric { 2 } else { 1 }
    }

    /// The keys of a view. Their groups of batch normalisation cut across the groups of the queries.
    fn keys(&self, part: &ImagePart, view: usize) -> Tensor<2> {
        let groups = self.config.norm_groups;
        if groups == 1 || part.mode == Mode::Eval {
            return projections(&self.momentum_encoder, part, view, self.precision);
        }
        let views = part.views.clone().into_iter().map(|views| dealt(views, groups)).collect();
        let dealt_part = ImagePart { views, ..*part };
        let keys = projections(&self.momentum_encoder, &dealt_part, view, self.precision);
        let [num_keys, _] = keys.dims();
        // Dealing into the other number of groups restores the order.
        dealt(keys, num_keys / groups)
    }

    /// Stacks the tables of the views.
    fn stacked(embeddings: &Embeddings, names: impl Iterator<Item = &'static str>) -> Tensor<2> {
        let mut tables: Vec<_> = names.map(|name| embeddings.rows(name)).collect();
        match tables.len() {
            1 => tables.remove(0),
            _ => Tensor::cat(tables, 0),
        }
    }
}

impl ImageMethod for MoCo {
    const REMEMBERS: bool = true;

    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        self.query_views().fold(Embeddings::new(), |embeddings, view| {
            let queries = projections(&self.encoder, part, view, self.precision);
            let keys = self.keys(part, 1 - view);
            embeddings
                .with(Self::TABLES[view][0], queries)
                .with_constant(Self::TABLES[1 - view][1], keys)
        })
    }

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let queries = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[view][0]));
        let keys = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[1 - view][1]));
        let images: Vec<usize> = anchors.clone().map(|anchor| batch.image_of(anchor)).collect();
        let [queries, keys] = [queries, keys].map(|rows| rows_of(rows, anchors.clone()));
        let objective = self.queue.objective(queries.clone(), keys, &images);
        let (Some(synthetic), false) = (&self.config.synthetic, self.queue.is_empty()) else {
            return objective;
        };
        let Ok(scores) = objective.into_scores() else {
            unreachable!("a queue gives pairs")
        };
        // The number of keys that have entered is another one in every step, and checkpoints contain it.
        let seed = self.seed.index(self.queue.num_entered() as u64);
        let available = self.queue.num_available(&images);
        let scores = synthetic.extend(scores, [queries, self.queue.stored()], &available, (seed, anchors));
        Objective::Pairs(scores.into())
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = batch.classes.as_deref()?;
        let of_anchors: Vec<u32> = anchors.map(|anchor| classes[anchor % classes.len()]).collect();
        let of_keys = self.queue.same_class(&of_anchors, device);
        let num_synthetic = self.config.num_synthetic();
        if num_synthetic == 0 || self.queue.is_empty() {
            return Some(of_keys);
        }
        let of_synthetic = Tensor::full([of_anchors.len(), num_synthetic], false, device);
        Some(Tensor::cat(vec![of_keys, of_synthetic], 1))
    }

    fn compares_within_batch(&self) -> bool {
        false
    }

    fn remember(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        let keys = Self::stacked(embeddings, self.query_views().map(|view| Self::TABLES[1 - view][1]));
        let stored = StoredKeys::of_batch(batch, self.query_views().len());
        Self {
            queue: self.queue.with_keys(keys, &stored),
            ..self
        }
    }

    /// A queue that fills has another number of negatives in every step, and lists of an image's own keys differ, too.
    fn is_recordable(&self, batch: &ImageBatch) -> bool {
        self.config.synthetic.is_none() && self.queue.is_full() && !self.queue.has_any_of(&batch.images)
    }

    fn after_update(self) -> Self {
        Self {
            momentum_encoder: ema_update(self.momentum_encoder, &self.encoder, self.config.momentum),
            ..self
        }
    }

    fn num_anchors(&self, batch_size: usize) -> usize {
        self.query_views().len() * batch_size
    }

    fn remembers_classes(&self) -> bool {
        true
    }
}

/// Deals out rows like cards: the rows of the first contiguous part go to positions 0, `parts`, 2 `parts`, …, the rows of the second to 1,
/// `parts` + 1, … and so on.
///
/// # Panics
/// Panics if there are not as many rows for each part.
fn dealt<const D: usize>(rows: Tensor<D>, parts: usize) -> Tensor<D> {
    let shape = rows.dims();
    let per_part = shape[0] / parts;
    assert_eq!(
        parts * per_part,
        shape[0],
        "{} rows cannot be dealt into {parts} equal parts",
        shape[0]
    );
    let numbers = shape[1..].iter().product::<usize>();
    rows.reshape([parts, per_part, numbers]).swap_dims(0, 1).reshape(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batches::BatchViews;
    use bcl_core::Scores;
    use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
    use burn::tensor::TensorData;
    use rand::RngExt;

    #[test]
    fn dealt_rows_are_in_order_again_after_dealing_them_into_the_other_number_of_parts() {
        let rows = Tensor::<1, burn::tensor::Int>::arange(0..12, &Device::flex())
            .float()
            .reshape([12, 1]);
        let first: Vec<f32> = dealt(rows.clone(), 3).into_data().iter().collect();
        assert_eq!(first[..4], [0.0, 4.0, 8.0, 1.0]);
        let back: Vec<f32> = dealt(dealt(rows.clone(), 3), 4).into_data().iter().collect();
        assert_eq!(back, rows.into_data().iter().collect::<Vec<f32>>());
    }

    const IMAGES: usize = 16;

    fn moco(norm_groups: usize) -> MoCo {
        moco_with(norm_groups, None)
    }

    fn moco_with(norm_groups: usize, synthetic: Option<SyntheticConfig>) -> MoCo {
        let config = ImageEncoderConfig {
            trunk: ResNetConfig {
                depth: ResNetDepth::ResNet18,
                stem: Stem::Imagenet,
                width: 2,
            },
            // Without batch normalisation, which would mix all images again.
            head: ProjectionHeadConfig {
                layers: 1,
                out: 4,
                norm: bcl_models::vision::HeadNorm::None,
                ..ProjectionHeadConfig::default()
            },
            split_channels: None,
        };
        let device = Device::flex();
        let start = MethodStart::new(config.init(1, &device), config.dim(), &device);
        let config = MoCoConfig {
            queue: 4,
            norm_groups,
            symmetric: false,
            synthetic,
            ..MoCoConfig::default()
        };
        config.init(start)
    }

    /// Scores of all images after the queue has taken keys of others and of the first image.
    fn scores(synthetic: Option<SyntheticConfig>, steps: usize) -> Scores {
        let mut moco = moco_with(1, synthetic);
        let embeddings = moco.embed(&part(None));
        let keys = MoCo::stacked(&embeddings, [MoCo::TABLES[1][1]].into_iter());
        for step in 0..steps {
            let stored = StoredKeys {
                images: vec![0, 100 + step, 101 + step],
                classes: None,
            };
            moco.queue = moco.queue.with_keys(keys.clone().slice_dim(0, step..step + 3), &stored);
        }
        let batch = ImageBatch {
            views: BatchViews::Made(Vec::new()),
            images: (0..IMAGES).collect(),
            classes: None,
            mode: Mode::Eval,
        };
        let objective = moco.objective(&batch, &embeddings, 0..IMAGES);
        objective.into_scores().expect("it has negatives")
    }

    fn numbers(scores: &Scores) -> Vec<f32> {
        scores.negatives.to_data().iter().collect()
    }

    #[test]
    fn synthetic_negatives_are_columns_behind_those_of_the_queue_and_none_change_no_bit() {
        let config = SyntheticConfig {
            hardest: 2,
            mixed: 3,
            with_query: 2,
        };
        for steps in [1, 2] {
            let (without, with) = (scores(None, steps), scores(Some(config.clone()), steps));
            let num_keys = without.num_negatives();
            assert_eq!(with.num_negatives(), num_keys + 5);
            let keys = with.negatives.clone().slice([0..IMAGES, 0..num_keys]);
            assert_eq!(keys.into_data().iter::<f32>().collect::<Vec<_>>(), numbers(&without));
            let of_queue = |scores: &Scores| {
                scores
                    .mask
                    .clone()
                    .expect("the first image is there")
                    .slice([0..IMAGES, 0..num_keys])
            };
            assert!(of_queue(&with).equal(of_queue(&without)).all().into_scalar::<bool>());
        }
        let none = SyntheticConfig {
            mixed: 0,
            with_query: 0,
            ..config.clone()
        };
        assert_eq!(numbers(&scores(Some(none), 2)), numbers(&scores(None, 2)));
        assert_eq!(
            numbers(&scores(Some(config.clone()), 2)),
            numbers(&scores(Some(config.clone()), 2))
        );
        // An empty queue has nothing to mix.
        assert_eq!(scores(Some(config), 0).num_negatives(), 1);
    }

    /// Two views of each image, of which one image is changed.
    fn part(changed: Option<usize>) -> ImagePart {
        let view = |view: u64| {
            let mut rng = Seed(5).index(view).rng();
            let numbers = 3 * 32 * 32;
            let mut pixels: Vec<f32> = (0..IMAGES * numbers).map(|_| rng.random()).collect();
            if let Some(image) = changed {
                pixels[image * numbers..][..numbers].fill(0.5);
            }
            Tensor::from_data(TensorData::new(pixels, [IMAGES, 3, 32, 32]), &Device::flex())
        };
        ImagePart {
            views: vec![view(0), view(1)],
            mode: Mode::BatchStatistics,
        }
    }

    /// Number of other images on which both a query and its key depend, on average.
    fn shared_influences(norm_groups: usize) -> f64 {
        let moco = moco(norm_groups);
        let rows = |changed| {
            let embeddings = moco.embed(&part(changed));
            [MoCo::TABLES[0][0], MoCo::TABLES[1][1]].map(|name| embeddings.rows(name))
        };
        let before = rows(None);
        let count = (0..IMAGES).map(|changed| {
            let [of_query, of_key] = [0, 1].map(|table| -> Vec<bool> {
                let difference = (rows(Some(changed))[table].clone() - before[table].clone()).abs().max_dim(1);
                difference
                    .into_data()
                    .iter::<f32>()
                    .map(|difference| difference > 0.0)
                    .collect()
            });
            let both = |&image: &usize| image != changed && of_query[image] && of_key[image];
            (0..IMAGES).filter(both).count()
        });
        count.sum::<usize>() as f64 / IMAGES as f64
    }

    /// The leak that shuffling prevents: with the statistics of the whole batch, a query and its key share all other images, so the
    /// network can recognise the positive by them. With groups, a query and its key share their own image alone.
    #[test]
    fn a_query_and_its_key_are_normalised_with_the_same_images_unless_there_are_groups() {
        assert_eq!(shared_influences(1), (IMAGES - 1) as f64);
        assert_eq!(shared_influences(4), 0.0);
        // Two groups of eight share four images, one of them the pair's own.
        assert_eq!(shared_influences(2), 3.0);
    }
}
