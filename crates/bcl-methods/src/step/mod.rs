//! One training step: a method turns a batch into scores, and an estimator weights them.

mod cached;
mod gathered;
mod processes;
mod rates;
mod sums;

pub use rates::{RunningRates, StepRates};

use crate::{Detected, Embeddings, Method, Objective, rows_of};
use bcl_collective::{Alone, Collective};
use bcl_core::{AugmentedLoss, Estimator, Losses, Pairs, Reduction, Scores, SideInformation, gradient_cache::blocks};
use bcl_data::Seed;
use bcl_kernels::with_tf32;
use burn::{
    optim::GradientsParams,
    tensor::{Bool, Device, Tensor, TensorData},
};
use rand_distr::{Distribution, Gamma};
use std::{ops::Range, sync::Arc};

/// The result of a training step.
#[derive(Debug)]
pub struct TrainedStep {
    /// Gradients of the parameters.
    pub gradients: GradientsParams,
    /// Mean loss of the anchors that have negatives, in nats, `[1]`, still on the device.
    pub loss: Tensor<1>,
    /// Number of anchors of the batch.
    pub num_anchors: usize,
    /// Number of anchors that have negatives, `[1]`; `None` if all have.
    pub num_counted: Option<Tensor<1>>,
    /// The embeddings of the batch, detached from the graph.
    pub embeddings: Embeddings,
}

/// A batch, and all else that a training step needs beside the method.
#[derive(Debug, Clone)]
pub struct Step<B> {
    /// The batch.
    pub batch: B,
    /// Weights the negatives; `None` for methods without scores.
    pub estimator: Option<Arc<dyn Estimator>>,
    /// Draws from the standard Gamma distribution, `[num_anchors]`, if the estimator needs them.
    pub noise: Option<Tensor<1>>,
    /// Maximum number of samples that are encoded, and of anchors that are compared, at a time; all at once if absent.
    pub gradient_cache: Option<usize>,
    /// Detected pairs of one class; `None` if all negatives count.
    pub detected: Option<Arc<Detected>>,
    /// The processes that share the batch.
    pub processes: Arc<dyn Collective>,
}

impl<B> Step<B> {
    /// Creates a step without gradient caching. Its noise depends on the seed and the number of the step only.
    pub fn new(
        batch: B,
        estimator: Option<Arc<dyn Estimator>>,
        num_anchors: usize,
        seed: Seed,
        step: u64,
        device: &Device,
    ) -> Self {
        let shape = estimator.as_ref().and_then(|estimator| estimator.requirements().gamma_shape);
        let noise = shape.map(|shape| {
            let gamma = Gamma::new(shape, 1.0).expect("the shapes of our estimators are positive");
            let mut rng = seed.named("noise").index(step).rng();
            let draws: Vec<f32> = (0..num_anchors).map(|_| gamma.sample(&mut rng) as f32).collect();
            Tensor::from_data(TensorData::new(draws, [num_anchors]), device)
        });
        Self {
            batch,
            estimator,
            noise,
            gradient_cache: None,
            detected: None,
            processes: Arc::new(Alone),
        }
    }

    /// Turns on gradient caching, if a number of samples is given.
    pub fn with_gradient_cache(self, at_most: Option<usize>) -> Self {
        Self {
            gradient_cache: at_most,
            ..self
        }
    }

    /// Leaves out, or attracts, the pairs of one class that were detected, if any were.
    pub fn with_detected(self, detected: Option<Arc<Detected>>) -> Self {
        Self { detected, ..self }
    }

    /// Shares the step with other processes. The batch then has the inputs that belong to this one.
    pub fn on_processes(self, processes: Arc<dyn Collective>) -> Self {
        Self { processes, ..self }
    }

    /// Computes the objective of all anchors.
    pub fn objective<M: Method<Batch = B>>(&self, method: &M) -> Objective {
        let embeddings = method.embed_batch(&self.batch, usize::MAX);
        self.objective_of(method, &embeddings, 0..method.num_anchors(&self.batch))
    }

    /// Computes the objective of some anchors from the embeddings of the batch, with the log-Q correction, if requested.
    pub fn objective_of<M: Method<Batch = B>>(&self, method: &M, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let objective = method.objective(&self.batch, embeddings, anchors.clone());
        let objective = match method.log_q(&self.batch, anchors.clone()) {
            Some(log_q) => objective.corrected(log_q, self.estimator().temperature()),
            None => objective,
        };
        match self.shared_clusters(method, embeddings, anchors) {
            Some((detected, shared)) => detected.applied(objective, shared),
            None => objective,
        }
    }

    /// The detection, with the negatives of some anchors that share their anchor's cluster in each labeling.
    fn shared_clusters<M: Method<Batch = B>>(
        &self,
        method: &M,
        embeddings: &Embeddings,
        anchors: Range<usize>,
    ) -> Option<(&Detected, [Tensor<2, Bool>; 2])> {
        let detected = self.detected.as_deref()?;
        let device = embeddings.tables().next()?.into_rows().device();
        Some((detected, self.sharing(method, detected, anchors, &device)?))
    }

    /// The negatives of some anchors that share their anchor's cluster in each labeling.
    fn sharing<M: Method<Batch = B>>(
        &self,
        method: &M,
        detected: &Detected,
        anchors: Range<usize>,
        device: &Device,
    ) -> Option<[Tensor<2, Bool>; 2]> {
        let shared = |labels: &[u32]| method.same_class(&method.relabelled(&self.batch, labels)?, anchors.clone(), device);
        let [first, second] = &detected.labels;
        Some([shared(first)?, shared(second)?])
    }

    /// The probability that each negative of the batch is of its anchor's class by a detection, `[num_anchors, num_negatives]`, for scores of this
    /// type; `None` if the method does not say which samples its negatives are.
    pub fn detected_probabilities<M: Method<Batch = B>>(
        &self,
        method: &M,
        detected: &Detected,
        scores: &Scores,
    ) -> Option<Tensor<2>> {
        let shared = self.sharing(method, detected, 0..scores.num_anchors(), &scores.negatives.device())?;
        Some(detected.probabilities(shared, scores.negatives.dtype()))
    }

    /// Side information of some anchors: their noise and, if the batch has classes, which negatives are false.
    pub fn side_information<M: Method<Batch = B>>(&self, method: &M, anchors: Range<usize>, device: &Device) -> SideInformation {
        let mut side = self.noise_of(anchors.clone());
        side.same_class = method.same_class(&self.batch, anchors, device);
        side
    }

    /// Side information with the noise only. Comparing all classes takes time, so only estimators that need them ask for that.
    fn noise_of(&self, anchors: Range<usize>) -> SideInformation {
        let mut side = SideInformation::none();
        side.noise = self.noise.clone().map(|noise| rows_of(noise, anchors));
        side
    }

    /// Computes the losses of some anchors from the embeddings of the batch.
    pub fn losses<M: Method<Batch = B>>(&self, method: &M, embeddings: &Embeddings, anchors: Range<usize>) -> Losses {
        match self.objective_of(method, embeddings, anchors.clone()) {
            Objective::Pairs(pairs) => self.losses_of_pairs(method, pairs, anchors),
            Objective::Losses(losses) => losses,
        }
    }

    /// Computes the losses of some anchors with the estimator.
    fn losses_of_pairs<M: Method<Batch = B>>(&self, method: &M, pairs: Pairs, anchors: Range<usize>) -> Losses {
        let estimator = self.estimator();
        let mut side = if estimator.requirements().truth {
            self.side_information(method, anchors.clone(), &pairs.device())
        } else {
            self.noise_of(anchors.clone())
        };
        let Some(augmented) = AugmentedLoss::with_running_rates(estimator) else {
            return estimator.losses(pairs, &side);
        };
        let scores = pairs.into_scores();
        let log_means = method.log_means(&self.batch, anchors, augmented.log_means(&scores));
        side.log_rates = Some(augmented.log_rates(&scores, log_means));
        estimator.losses(scores.into(), &side)
    }

    /// Computes the update of the running rates from the embeddings of the batch, in blocks of anchors if gradients are cached; `None` if
    /// the estimator has no running rates.
    pub fn rates<M: Method<Batch = B>>(&self, method: &M, embeddings: &Embeddings) -> Option<StepRates> {
        let augmented = AugmentedLoss::with_running_rates(&**self.estimator.as_ref()?)?;
        let share = augmented.running()?;
        let at_most = self.gradient_cache.unwrap_or(usize::MAX);
        let own = self.processes.share(method.num_anchors(&self.batch));
        let blocks = blocks(own.len(), at_most).map(|block| own.start + block.start..own.start + block.end);
        let log_means = blocks.map(|anchors| self.log_means_of(method, augmented, embeddings, anchors));
        let log_means = log_means.collect::<Option<Vec<_>>>()?;
        let device = embeddings.tables().next()?.into_rows().device();
        Some(StepRates {
            log_means: self.of_all_anchors(log_means, &device),
            share,
        })
    }

    /// Stacks numbers of this process's anchors, and gathers the numbers of the other processes' anchors.
    fn of_all_anchors(&self, own: Vec<Tensor<1>>, device: &Device) -> Tensor<1> {
        if self.processes.size() == 1 {
            return Tensor::cat(own, 0);
        }
        let own: Vec<f32> = own
            .into_iter()
            .flat_map(|numbers| numbers.into_data().iter::<f32>().collect::<Vec<_>>())
            .collect();
        let all = self.processes.all_gather_values(&own);
        let num_anchors = all.len();
        Tensor::from_data(TensorData::new(all, [num_anchors]), device)
    }

    fn log_means_of<M>(
        &self,
        method: &M,
        augmented: &AugmentedLoss,
        embeddings: &Embeddings,
        anchors: Range<usize>,
    ) -> Option<Tensor<1>>
    where
        M: Method<Batch = B>,
    {
        let scores = self.objective_of(method, embeddings, anchors).into_scores().ok()?;
        Some(augmented.log_means(&scores))
    }

    /// The estimator.
    ///
    /// # Panics
    /// Panics if there is none. Recipes of score-based methods are checked to have one.
    pub fn estimator(&self) -> &(dyn Estimator + 'static) {
        &**self.estimator.as_ref().expect("a score-based method has an estimator")
    }

    /// The share of this process in the [penalty](Method::penalty) of the batch, so that the shares of all processes add up to it. It is the whole penalty
    /// if gradients of the parameters are not summed over processes.
    fn penalty<M: Method<Batch = B>>(&self, method: &M) -> Option<Tensor<1>> {
        let penalty = method.penalty(&self.batch)?;
        let num_processes = self.processes.size();
        Some(if num_processes == 1 || M::EMBEDS_WHOLE_BATCH {
            penalty
        } else {
            penalty * (num_processes as f64).recip()
        })
    }

    /// Runs the forward and the backward pass.
    ///
    /// # Panics
    /// Panics if the method is score-based and there is no estimator.
    pub fn train<M: Method<Batch = B>>(&self, method: &M) -> TrainedStep {
        with_tf32(method.allows_tf32(), || self.train_in_order(method))
    }

    fn train_in_order<M: Method<Batch = B>>(&self, method: &M) -> TrainedStep {
        if self.processes.size() > 1 {
            return self.train_on_processes(method);
        }
        if let Some(at_most) = self.gradient_cache {
            return self.train_in_parts(method, at_most);
        }
        let embeddings = method.embed_batch(&self.batch, usize::MAX);
        let num_anchors = method.num_anchors(&self.batch);
        let losses = self.losses(method, &embeddings, 0..num_anchors);
        let num_counted = losses.num_counted().map(Tensor::detach);
        let loss = losses.reduce(Reduction::Mean);
        let objective = match method.penalty(&self.batch) {
            Some(penalty) => loss.clone() + penalty,
            None => loss.clone(),
        };
        TrainedStep {
            gradients: gradients(method, objective),
            loss: loss.detach(),
            num_anchors,
            num_counted,
            embeddings: embeddings.detached(),
        }
    }
}

/// Computes the gradients of an objective with respect to the parameters of a method, with the method's loss scaling.
pub fn gradients<M: Method>(method: &M, objective: Tensor<1>) -> GradientsParams {
    let scale = method.gradient_scale();
    if scale == 1.0 {
        return GradientsParams::from_grads(objective.backward(), method);
    }
    let scaled = GradientsParams::from_grads((objective * scale).backward(), method);
    bcl_optim::scaled(method, scaled, scale.recip())
}
