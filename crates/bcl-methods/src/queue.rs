//! A queue of keys: negatives from earlier batches.

use super::{Counter, Objective};
use crate::batches::ImageBatch;
use bcl_core::{Excluded, Pairs, Scores, Similarity, matmul};
use burn::{
    module::{Module, Param, ParamId},
    tensor::{Bool, Device, Int, Tensor, TensorData},
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// The class of a key whose image has no label, and the image of a position without a key.
const UNKNOWN: i64 = -1;

/// What is stored with each new key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredKeys {
    /// The image of each key; empty if unknown.
    pub images: Vec<usize>,
    /// The class of each key, if all are known.
    pub classes: Option<Vec<u32>>,
}

impl StoredKeys {
    /// Images and classes of a batch whose keys are stacked `views` times.
    pub fn of_batch(batch: &ImageBatch, views: usize) -> Self {
        Self {
            images: batch.images.repeat(views),
            classes: batch.classes.as_deref().map(|classes| classes.repeat(views)),
        }
    }
}

/// The latest keys, with their images and classes, as a ring buffer: MoCo's queue, or the support set of NNCLR.
///
/// Each new key replaces the oldest. Empty positions are masked, so there are fewer negatives until the queue is full.
#[derive(Module, Debug)]
pub struct KeyQueue {
    /// Unit rows, `[size, dim]`.
    keys: Param<Tensor<2>>,
    /// Class of each key, `[size]`; -1 if the image has no label.
    classes: Param<Tensor<1, Int>>,
    /// Image of each key, `[size]`; -1 if unknown.
    images: Param<Tensor<1, Int>>,
    /// Number of keys that have entered so far.
    entered: Counter,
    /// `images` on the host, once known: reading them from the device would wait for all queued work.
    #[module(skip)]
    known_images: Option<Vec<i64>>,
}

impl KeyQueue {
    /// Creates an empty queue.
    ///
    /// # Panics
    /// Panics if `size` or `dim` is 0.
    pub fn new(size: usize, dim: usize, device: &Device) -> Self {
        assert!(size > 0 && dim > 0, "a queue of {size} keys of {dim} numbers holds nothing");
        Self {
            keys: Param::from_tensor(Tensor::zeros([size, dim], device)).set_require_grad(false),
            classes: integers(vec![UNKNOWN; size], device),
            images: integers(vec![UNKNOWN; size], device),
            entered: Counter::new(device),
            known_images: None,
        }
    }

    /// Maximum number of keys.
    pub fn size(&self) -> usize {
        self.keys.dims()[0]
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entered.value().min(self.size())
    }

    /// Whether each place has a key.
    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.size()
    }

    /// Whether any of some images has a key.
    pub(crate) fn has_any_of(&self, images: &[usize]) -> bool {
        let images: HashSet<i64> = images.iter().map(|&image| image as i64).collect();
        self.images_on_host()[..self.len()].iter().any(|image| images.contains(image))
    }

    /// Whether no key has entered yet.
    pub fn is_empty(&self) -> bool {
        self.entered.value() == 0
    }

    /// The position of the next key.
    pub fn position(&self) -> usize {
        self.entered.value() % self.size()
    }

    /// Number of keys that have entered so far, those that were replaced included.
    pub(crate) fn num_entered(&self) -> usize {
        self.entered.value()
    }

    /// How many keys are not of each anchor's image.
    pub(crate) fn num_available(&self, images: &[usize]) -> Vec<usize> {
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for &image in &self.images_on_host()[..self.len()] {
            *counts.entry(image).or_default() += 1;
        }
        let own = |image: &usize| counts.get(&(*image as i64)).copied().unwrap_or_default();
        images.iter().map(|image| self.len() - own(image)).collect()
    }

    /// All positions, `[size, dim]`; empty ones are zero.
    pub fn rows(&self) -> Tensor<2> {
        self.keys.val()
    }

    /// Adds keys in order; each replaces the oldest.
    ///
    /// # Shapes
    /// - keys: `[num_keys, dim]`, unit rows
    pub fn with_keys(self, keys: Tensor<2>, stored: &StoredKeys) -> Self {
        let (size, entered) = (self.size(), self.entered.value());
        let [num_keys, _] = keys.dims();
        let device = keys.device();
        let or_unknown = |values: Vec<i64>| if values.is_empty() { vec![UNKNOWN; num_keys] } else { values };
        let classes = stored.classes.iter().flatten().map(|&class| class.into()).collect();
        let classes = integer_tensor(or_unknown(classes), &device);
        let new_images = or_unknown(stored.images.iter().map(|&image| image as i64).collect());
        let images = integer_tensor(new_images.clone(), &device);
        let mut known_images = self.images_on_host().into_owned();
        let keys = keys.detach();
        let (mut rows, mut row_classes, mut row_images) = (self.keys.val(), self.classes.val(), self.images.val());
        // If there are more keys than fit, the last ones remain.
        let mut taken = num_keys.saturating_sub(size);
        while taken < num_keys {
            let position = (entered + taken) % size;
            let count = (num_keys - taken).min(size - position);
            let (to, from) = (position..position + count, taken..taken + count);
            rows = rows.slice_assign([to.clone()], keys.clone().slice([from.clone()]));
            row_classes = row_classes.slice_assign([to.clone()], classes.clone().slice([from.clone()]));
            row_images = row_images.slice_assign([to.clone()], images.clone().slice([from.clone()]));
            known_images[to].copy_from_slice(&new_images[from]);
            taken += count;
        }
        Self {
            keys: self.keys.map(|_| rows.detach().set_require_grad(false)),
            classes: self.classes.map(|_| row_classes),
            images: self.images.map(|_| row_images),
            entered: self.entered.plus(num_keys),
            known_images: Some(known_images),
        }
    }

    fn images_on_host(&self) -> Cow<'_, [i64]> {
        match &self.known_images {
            Some(images) => images.into(),
            None => self.images.val().into_data().iter::<i64>().collect(),
        }
    }

    /// Compares queries with their keys as positives and the queue's keys as negatives, except keys of the anchor's image. Gradients flow only to the
    /// queries.
    ///
    /// # Shapes
    /// - queries, keys: `[num_anchors, dim]`, unit rows
    /// - images:        the image of each anchor
    pub fn objective(&self, queries: Tensor<2>, keys: Tensor<2>, images: &[usize]) -> Objective {
        if self.is_empty() {
            return Objective::Pairs(self.scores(queries, keys).into());
        }
        let pairs = Pairs::with_negatives(queries, keys.detach(), self.stored(), Similarity::Dot, self.own_keys(images));
        Objective::Pairs(pairs.with_least_similarity(Similarity::Cosine.least()))
    }

    /// The keys of each anchor's own image.
    fn own_keys(&self, images: &[usize]) -> Excluded {
        let mut keys: HashMap<i64, Vec<u32>> = images.iter().map(|&image| (image as i64, Vec::new())).collect();
        for (key, image) in (0..).zip(&self.images_on_host()[..self.len()]) {
            if let Some(keys) = keys.get_mut(image) {
                keys.push(key);
            }
        }
        Excluded::listed(images.iter().map(|&image| keys[&(image as i64)].clone()))
    }

    /// Computes the scores of queries with their keys as positives and the queue as negatives. Gradients flow to the queries only.
    ///
    /// # Shapes
    /// - queries, keys: `[num_anchors, dim]`, unit rows
    pub fn scores(&self, queries: Tensor<2>, keys: Tensor<2>) -> Scores {
        let positives = (queries.clone() * keys.detach()).sum_dim(1);
        // Scores need a negative: an empty queue gives one masked column, so its anchors are left out of the mean.
        let count = self.len().max(1);
        let negatives = matmul(queries, self.keys.val().slice_dim(0, 0..count).detach().transpose());
        let [num_anchors, _] = negatives.dims();
        let mask = self
            .is_empty()
            .then(|| Tensor::<2, Bool>::full([num_anchors, count], false, &negatives.device()));
        Scores::multi_positive(positives, negatives)
            .with_mask(mask)
            .with_least_similarity(Similarity::Cosine.least())
    }

    /// Which keys have the class of an anchor.
    ///
    /// # Shapes
    /// - output: `[classes.len(), num_negatives]`, as in [`scores`](Self::scores)
    pub fn same_class(&self, classes: &[u32], device: &Device) -> Tensor<2, Bool> {
        let (num_anchors, count) = (classes.len(), self.len().max(1));
        let classes = classes.iter().map(|&class| class.into()).collect();
        let of_anchors = integer_tensor(classes, device).unsqueeze_dim::<2>(1);
        let of_keys = self.classes.val().slice_dim(0, 0..count).unsqueeze_dim::<2>(0);
        of_anchors.repeat_dim(1, count).equal(of_keys.repeat_dim(0, num_anchors))
    }

    /// The stored keys, `[len, dim]`.
    pub fn stored(&self) -> Tensor<2> {
        self.keys.val().slice_dim(0, 0..self.len()).detach()
    }
}

fn integers(values: Vec<i64>, device: &Device) -> Param<Tensor<1, Int>> {
    Param::initialized(ParamId::new(), integer_tensor(values, device))
}

fn integer_tensor(values: Vec<i64>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}
