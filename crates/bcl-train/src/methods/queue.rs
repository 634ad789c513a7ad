//! A queue of keys: negatives from earlier batches.

use bcl_core::{Scores, Similarity};
use burn::{
    module::{Module, Param, ParamId},
    tensor::{Bool, Device, Int, Tensor, TensorData},
};

/// The class of a key whose image has no label.
const UNKNOWN: i64 = -1;

/// The latest keys of a momentum encoder, with the classes of their images, as a ring buffer.
///
/// Each new key replaces the oldest. Empty positions are masked, so there are fewer negatives until the queue is full.
#[derive(Module, Debug)]
pub struct KeyQueue {
    /// Unit rows, `[size, dim]`.
    keys: Param<Tensor<2>>,
    /// Class of each key, `[size]`; -1 if the image has no label.
    classes: Param<Tensor<1, Int>>,
    /// Number of keys that have entered so far, `[1]`.
    entered: Param<Tensor<1, Int>>,
    /// `entered` on the host, once known: reading it from the device would wait for all queued work.
    #[module(skip)]
    known: Option<usize>,
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
            entered: integers(vec![0], device),
            known: None,
        }
    }

    /// Maximum number of keys.
    pub fn size(&self) -> usize {
        self.keys.dims()[0]
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entered().min(self.size())
    }

    /// Whether no key has entered yet.
    pub fn is_empty(&self) -> bool {
        self.entered() == 0
    }

    /// The position of the next key.
    pub fn position(&self) -> usize {
        self.entered() % self.size()
    }

    /// All positions, `[size, dim]`; empty ones are zero.
    pub fn rows(&self) -> Tensor<2> {
        self.keys.val()
    }

    fn entered(&self) -> usize {
        self.known.unwrap_or_else(|| self.entered.val().into_scalar::<i64>() as usize)
    }

    /// Adds keys in order; each replaces the oldest.
    ///
    /// # Shapes
    /// - keys:    `[num_keys, dim]`, unit rows
    /// - classes: one per key, if all are known
    pub fn with_keys(self, keys: Tensor<2>, classes: Option<&[u32]>) -> Self {
        let (size, entered) = (self.size(), self.entered());
        let [num_keys, _] = keys.dims();
        let device = keys.device();
        let classes: Vec<i64> = match classes {
            Some(classes) => classes.iter().map(|&class| class.into()).collect(),
            None => vec![UNKNOWN; num_keys],
        };
        let classes = Tensor::<1, Int>::from_data(TensorData::new(classes, [num_keys]), &device);
        let keys = keys.detach();
        let (mut rows, mut row_classes) = (self.keys.val(), self.classes.val());
        // If there are more keys than fit, the last ones remain.
        let mut taken = num_keys.saturating_sub(size);
        while taken < num_keys {
            let position = (entered + taken) % size;
            let count = (num_keys - taken).min(size - position);
            let (to, from) = (position..position + count, taken..taken + count);
            rows = rows.slice_assign([to.clone()], keys.clone().slice([from.clone()]));
            row_classes = row_classes.slice_assign([to], classes.clone().slice([from]));
            taken += count;
        }
        let entered = entered + num_keys;
        Self {
            keys: self.keys.map(|_| rows.detach().set_require_grad(false)),
            classes: self.classes.map(|_| row_classes),
            entered: self.entered.map(|_| Tensor::from_data([entered as i64], &device)),
            known: Some(entered),
        }
    }

    /// Computes the scores of queries with their keys as positives and the queue as negatives. Gradients flow to the queries only.
    ///
    /// # Shapes
    /// - queries, keys: `[num_anchors, dim]`, unit rows
    pub fn scores(&self, queries: Tensor<2>, keys: Tensor<2>) -> Scores {
        let positives = (queries.clone() * keys.detach()).sum_dim(1);
        // Scores need a negative: an empty queue gives one masked column, so its anchors are left out of the mean.
        let count = self.len().max(1);
        let negatives = queries.matmul(self.keys.val().slice_dim(0, 0..count).detach().transpose());
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
        let of_anchors: Vec<i64> = classes.iter().map(|&class| class.into()).collect();
        let of_anchors = Tensor::<2, Int>::from_data(TensorData::new(of_anchors, [num_anchors, 1]), device);
        let of_keys = self.classes.val().slice_dim(0, 0..count).unsqueeze_dim::<2>(0);
        of_anchors.repeat_dim(1, count).equal(of_keys.repeat_dim(0, num_anchors))
    }
}

fn integers(values: Vec<i64>, device: &Device) -> Param<Tensor<1, Int>> {
    let count = values.len();
    Param::initialized(ParamId::new(), Tensor::from_data(TensorData::new(values, [count]), device))
}
