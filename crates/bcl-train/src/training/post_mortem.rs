//! The files that a diverged run leaves: batch, scores and weights of the step whose loss is not finite.

use super::learned::Learned;
use crate::error::Error;
use bcl_core::{Reduction, Scores, gradient_cache::blocks};
use bcl_methods::Method;
use bcl_methods::batches::NamedTensors;
use bcl_methods::step::Step;
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Int, Tensor, TensorData},
};
use std::{iter, ops::Range, path::Path};

/// Collects all parameters of a module under the paths of their fields.
#[derive(Default)]
struct Weights {
    path: Vec<String>,
    found: NamedTensors,
}

impl Weights {
    fn add(&mut self, data: TensorData) {
        self.found.push(self.path.join("."), data);
    }
}

impl ModuleVisitor for Weights {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.add(param.val().into_data());
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.add(param.val().into_data());
    }
}

/// Returns the path of the first parameter or running statistic of a module that is not finite.
pub fn first_weight_not_finite<M: Module>(model: &M) -> Option<String> {
    let mut search = NotFinite::default();
    Module::visit(model, &mut search);
    search.found
}

#[derive(Default)]
struct NotFinite {
    path: Vec<String>,
    found: Option<String>,
}

impl ModuleVisitor for NotFinite {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.found.is_none() && !param.val().is_finite().all().into_scalar::<bool>() {
            self.found = Some(self.path.join("."));
        }
    }
}

/// The tensors of a step that diverged.
#[derive(Debug)]
pub struct PostMortem {
    batch: NamedTensors,
    scores: NamedTensors,
    weights: NamedTensors,
}

impl PostMortem {
    /// Repeats a step with the weights from before it. All processes that share the step have to do so.
    pub fn of<M: Method>(step: &Step<M::Batch>, model: &Learned<M>) -> Self {
        let mut weights = Weights::default();
        Module::visit(&model.method, &mut weights);
        Module::visit(&model.temperature, &mut weights);
        Module::visit(&model.rates, &mut weights);
        Self {
            batch: M::tensors(&step.batch),
            weights: weights.found,
            scores: first_block_not_finite(step, model),
        }
    }

    /// Says which tensor is not finite: of the batch, else of the weights, else of the scores.
    pub fn finding(&self) -> String {
        if let Some(name) = self.batch.first_not_finite() {
            format!("{name} of the batch is not finite")
        } else if let Some(name) = self.weights.first_not_finite() {
            format!("the step before left weights that are not finite, such as {name}")
        } else if let Some(name) = self.scores.first_not_finite() {
            format!("batch and weights are finite, but the scores of the {name} are not")
        } else {
            "batch, weights and scores are finite, but their loss is not".to_owned()
        }
    }

    /// Writes `batch.safetensors`, `scores.safetensors` and `weights.safetensors` into a folder.
    ///
    /// # Errors
    /// Names the file that could not be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        bcl_files::create_folder(folder)?;
        for (name, tensors) in [("batch", &self.batch), ("scores", &self.scores), ("weights", &self.weights)] {
            bcl_files::write_whole(&folder.join(name).with_extension("safetensors"), &tensors.to_safetensors())?;
        }
        Ok(())
    }
}

/// Returns the scores (or losses, for a method without scores) of the first block of anchors whose loss is not finite, or of the first
/// block if all losses are finite. Without gradient caching there is one block.
fn first_block_not_finite<M: Method>(step: &Step<M::Batch>, method: &M) -> NamedTensors {
    let method = method.clone().no_grad();
    let at_most = step.gradient_cache.unwrap_or(usize::MAX);
    let embeddings = step.embeddings(&method, at_most);
    let is_finite = |anchors: &Range<usize>| {
        let losses = step.losses(&method, &embeddings, anchors.clone());
        losses.reduce(Reduction::Sum).into_scalar::<f32>().is_finite()
    };
    let mut blocks = blocks(method.num_anchors(&step.batch), at_most);
    let first = blocks.next().expect("a batch has at least one anchor");
    let not_finite = iter::once(first.clone()).chain(blocks).find(|anchors| !is_finite(anchors));
    let anchors = not_finite.unwrap_or(first);
    match step.objective_of(&method, &embeddings, anchors.clone()).into_scores() {
        Ok(scores) => {
            let side = step.side_information(&method, anchors, &scores.negatives.device());
            NamedTensors::default()
                .with("positives", positives_of(&scores))
                .with("negatives", scores.negatives.into_data())
                .with_some("positives_mask", scores.positives_mask.map(Tensor::into_data))
                .with_some("positive_weights", scores.positive_weights.map(Tensor::into_data))
                .with_some("mask", scores.mask.map(Tensor::into_data))
                .with_some("log_weights", scores.log_weights.map(Tensor::into_data))
                .with_some("same_class", side.same_class.map(Tensor::into_data))
                .with_some("noise", side.noise.map(Tensor::into_data))
                .with_some(
                    "least_similarity",
                    scores.least_similarity.map(|least| TensorData::from([least])),
                )
        }
        Err(losses) => NamedTensors::default().with("losses", losses.values().into_data()),
    }
}

/// `[num_anchors]` if each anchor has one positive, otherwise `[num_anchors, num_positives]`.
fn positives_of(scores: &Scores) -> TensorData {
    let positives = scores.positives.clone();
    match scores.num_positives() {
        1 => positives.squeeze_dim::<1>(1).into_data(),
        _ => positives.into_data(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_methods::{Embeddings, Objective};
    use burn::tensor::Device;
    use safetensors::Dtype;
    use std::sync::Arc;

    /// A method whose scores are its weight times the batch.
    #[derive(Module, Debug)]
    struct Scale {
        weight: Param<Tensor<1>>,
    }

    impl Method for Scale {
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
            let scores = part.clone() * self.weight.val().unsqueeze();
            Embeddings::new()
                .with("positives", scores.clone().mean_dim(1))
                .with("negatives", scores)
        }

        fn num_anchors(&self, batch: &Tensor<2>) -> usize {
            batch.dims()[0]
        }

        fn objective(&self, _: &Tensor<2>, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
            let [positives, negatives] = ["positives", "negatives"].map(|name| embeddings.rows(name).slice([anchors.clone()]));
            Objective::Pairs(Scores::new(positives.squeeze_dim(1), negatives).into())
        }

        fn tensors(batch: &Tensor<2>) -> NamedTensors {
            NamedTensors::default()
                .with("pixels", batch.to_data())
                .with("counts", TensorData::from([1i64, 2]))
                .with("flags", TensorData::from([true]))
        }
    }

    fn post_mortem(pixel: f32, weight: f32) -> PostMortem {
        in_blocks(pixel, weight, None)
    }

    fn in_blocks(pixel: f32, weight: f32, gradient_cache: Option<usize>) -> PostMortem {
        let device = Device::flex();
        let batch = Tensor::from_data([[pixel, 1.0], [2.0, 3.0]], &device);
        let estimator = Some(Arc::from(bcl_core::EstimatorConfig::all()[0].init()));
        let step = Step {
            batch,
            estimator,
            noise: None,
            gradient_cache,
            detected: None,
            processes: Arc::new(bcl_collective::Alone),
        };
        let weight = Param::from_tensor(Tensor::from_data([weight], &device));
        PostMortem::of(&step, &Learned::new(Scale { weight }, None))
    }

    #[test]
    fn the_first_tensor_that_is_not_finite_is_named() {
        for (pixel, weight, expected) in [
            (f32::NAN, 1.0, "pixels of the batch"),
            (1.0, f32::INFINITY, "weights that are not finite, such as weight"),
            (3e38, 3e38, "scores of the positives"),
            (1.0, 1.0, "but their loss is not"),
        ] {
            let finding = post_mortem(pixel, weight).finding();
            assert!(finding.contains(expected), "{finding}");
        }
    }

    #[test]
    fn a_weight_that_is_not_finite_is_found_by_name() {
        let of = |weights: [f32; 2]| {
            let weight = Param::from_tensor(Tensor::from_data(weights, &Device::flex()));
            first_weight_not_finite(&Scale { weight })
        };
        assert_eq!(of([1.0, -f32::MAX]), None);
        assert_eq!(of([1.0, f32::NAN]).as_deref(), Some("weight"));
        assert_eq!(of([f32::NEG_INFINITY, 1.0]).as_deref(), Some("weight"));
    }

    #[test]
    fn the_first_block_of_anchors_without_a_finite_loss_is_kept() {
        // Only the second of two anchors overflows.
        let kept = in_blocks(1e-30, 1.5e38, Some(1)).scores;
        assert_eq!(kept.get("negatives").shape().to_vec(), [1, 2]);
        assert_eq!(kept.first_not_finite(), Some("positives"));
        let unharmed = in_blocks(1.0, 1.0, Some(1)).scores;
        assert_eq!(unharmed.get("negatives").iter::<f32>().collect::<Vec<_>>(), [1.0, 1.0]);
    }

    #[test]
    fn everything_is_kept_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        post_mortem(f32::NAN, 0.5).write(&folder.path().join("diverged")).unwrap();
        let read = |name: &str| std::fs::read(folder.path().join("diverged").join(name)).unwrap();
        let [batch, scores, weights] = ["batch.safetensors", "scores.safetensors", "weights.safetensors"].map(read);

        let batch = safetensors::SafeTensors::deserialize(&batch).unwrap();
        let pixels = batch.tensor("pixels").unwrap();
        assert_eq!((pixels.dtype(), pixels.shape()), (Dtype::F32, &[2, 2][..]));
        assert!(f32::from_le_bytes(pixels.data()[..4].try_into().unwrap()).is_nan());
        assert_eq!(batch.tensor("counts").unwrap().data()[8], 2);
        let flags = batch.tensor("flags").unwrap();
        assert_eq!((flags.dtype(), flags.data()), (Dtype::BOOL, &[1][..]));

        let scores = safetensors::SafeTensors::deserialize(&scores).unwrap();
        assert_eq!(scores.tensor("negatives").unwrap().data()[12..], 1.5f32.to_le_bytes());
        assert_eq!(scores.tensor("positives").unwrap().shape(), [2]);
        let weights = safetensors::SafeTensors::deserialize(&weights).unwrap();
        assert_eq!(weights.tensor("weight").unwrap().data(), 0.5f32.to_le_bytes());
    }
}
