//! Evaluates image encoders: applies the measures of [`probe`](crate::probe) to their frozen features.

use super::{
    FeatureExtractor, ImageEvaluationConfig, Protocol,
    features::rows,
    on_processes::{gathered, on_first},
};
use crate::{
    EvaluationError,
    probe::{Labelled, TopK, alignment, knn, macro_auc, probe_fixed, probe_views, ridge_accuracy, spread, uniformity},
};
use bcl_collective::{Alone, Collective};
use bcl_data::Seed;
use bcl_images::{Collection, ImageData, ViewsError};
use bcl_models::vision::{ImageEncoder, Mode};
use bcl_report::few_labels_probe;
use bcl_report::metric_names::{KNN, OFFICIAL_PROBE, PROBE};
use bcl_report::result::{ALIGNMENT, EFFECTIVE_RANK, FEATURE_STD, MACRO_AUC, Metrics, ONLINE_PROBE, UNIFORMITY};
use burn::tensor::{Tensor, TensorData};
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Maximum number of images for alignment and uniformity, which compares all pairs.
const MOST_PAIRED: usize = 2048;

/// Maximum number of images for the spread of features, whose eigenvalues take cubic time.
const MOST_SPREAD: usize = 1000;

/// Maximum number of anchors of the macro AUC of test images.
const MOST_AUC_ANCHORS: usize = 1024;

/// Maximum number of images per part if there are no labels.
const MOST_SHOWN: usize = 2048;

/// Number of views that are encoded at a time.
const VIEWS_BLOCK: usize = 512;

/// Whether a data set has labelled test images, which probes and nearest neighbours need.
pub fn has_labelled_test(data: &ImageData) -> bool {
    data.test.labels().iter().any(Option::is_some)
}

/// A sentence that says why probes and nearest neighbours are off, and how to turn them on; `None` if they are on.
pub fn why_probes_are_off(data: &ImageData) -> Option<String> {
    let missing = match (data.train.labels().iter().any(Option::is_some), data.test.is_empty()) {
        _ if has_labelled_test(data) => return None,
        (true, _) => "no labelled test images; put some into test/CLASS/",
        (false, true) => "neither labels nor test images; put images into train/CLASS/ and test/CLASS/",
        (false, false) => "no labels; put images into train/CLASS/ and test/CLASS/",
    };
    Some(format!(
        "probes and nearest neighbours are off, because {} has {missing} to turn them on",
        data.name
    ))
}

/// The images whose [macro AUC](crate::probe::macro_auc) is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredAuc {
    /// Test images against each other, with up to 1,024 of them as anchors.
    Test,
    /// So many training images against all training images.
    Train {
        /// Number of anchors.
        anchors: usize,
    },
}

/// Evaluates encoders on the labelled images of a data set.
///
/// Without labelled test images, probes and nearest neighbours are [off](Self::has_probes). Alignment, uniformity and spread remain, measured on test
/// images or, if there are fewer than two, on training images.
#[derive(Debug)]
pub struct ImageEvaluator {
    /// Computes the features.
    pub extractor: FeatureExtractor,
    data: Arc<ImageData>,
    pub(super) train: Sample,
    test: Sample,
    has_probes: bool,
    uses_train_as_test: bool,
    measured_auc: Option<MeasuredAuc>,
    pub(super) config: ImageEvaluationConfig,
    pub(super) seed: Seed,
}

/// The images of one part of a data set that are evaluated.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    images: Vec<usize>,
    /// The class of each image; empty if not all are known.
    pub(super) classes: Vec<u32>,
}

/// What an encoder makes of the evaluated images.
#[derive(Debug, Clone)]
pub struct ImageFeatures {
    /// Of the training images, with their labels if all are known.
    pub train: Labelled,
    /// Of the test images, with their labels if all are known.
    pub test: Labelled,
    /// Of two random views of test images.
    pub(super) views: [Tensor<2>; 2],
}

impl Sample {
    /// All images with a class.
    fn labelled(images: &Collection) -> Self {
        let labelled = images.labels().iter().enumerate().filter_map(|(i, &label)| Some((i, label?)));
        let (images, classes) = labelled.unzip();
        Self { images, classes }
    }

    /// At most [`MOST_SHOWN`] images, evenly spaced, with or without a class.
    fn spread(images: &Collection) -> Self {
        let chosen = evenly_spaced(images.len(), MOST_SHOWN);
        let classes: Option<Vec<u32>> = chosen.iter().map(|&image| images.labels()[image]).collect();
        Self {
            images: chosen,
            classes: classes.unwrap_or_default(),
        }
    }
}

/// At most `most` of `len` indices, evenly spaced.
pub(super) fn evenly_spaced(len: usize, most: usize) -> Vec<usize> {
    let count = len.min(most);
    (0..count).map(|i| i * len / count).collect()
}

impl ImageEvaluator {
    /// Creates an evaluator for a data set.
    pub fn new(data: Arc<ImageData>, extractor: FeatureExtractor, config: ImageEvaluationConfig, seed: Seed) -> Self {
        let has_probes = has_labelled_test(&data);
        // Uniformity needs at least two images.
        let uses_train_as_test = !has_probes && data.test.len() < 2;
        let [train, test] = match (has_probes, uses_train_as_test) {
            (true, _) => [&data.train, &data.test].map(Sample::labelled),
            (false, false) => [&data.train, &data.test].map(Sample::spread),
            (false, true) => [&data.train, &data.train].map(Sample::spread),
        };
        Self {
            train,
            test,
            has_probes,
            uses_train_as_test,
            measured_auc: None,
            extractor,
            data,
            config,
            seed: seed.named("probe"),
        }
    }

    /// Adds the [macro AUC](MACRO_AUC) of some images to the metrics of [`online`](Self::online), if there are labels.
    pub fn measuring_auc(mut self, of: Option<MeasuredAuc>) -> Self {
        self.measured_auc = of;
        self
    }

    /// Whether probes and nearest neighbours are on, because there are labels.
    pub fn has_probes(&self) -> bool {
        self.has_probes
    }

    /// Whether training images replace test images, because there are fewer than two and no labels.
    pub fn uses_train_as_test(&self) -> bool {
        self.uses_train_as_test
    }

    /// The images of train and test that are evaluated, with their indices.
    pub fn images(&self) -> [(&Collection, &[usize]); 2] {
        [
            (&self.data.train, &self.train.images),
            (self.test_images(), &self.test.images),
        ]
    }

    /// The collection of the images that count as test.
    fn test_images(&self) -> &Collection {
        if self.uses_train_as_test() {
            &self.data.train
        } else {
            &self.data.test
        }
    }

    /// Computes the features of [the evaluated images](Self::images), with their labels if all are known.
    ///
    /// # Errors
    /// Returns an error if an image cannot be prepared for the encoder, or the evaluation is interrupted.
    pub fn features(&self, encoder: &ImageEncoder) -> Result<[Labelled; 2], EvaluationError> {
        let both = self.both_on_processes(encoder, &Alone)?;
        Ok(both.expect("a single process is the first"))
    }

    /// Computes all features that an evaluation needs, with the images dealt to processes that have the same encoder. Process 0 gets the features, with the
    /// bits of a single process; all others get `None`.
    ///
    /// # Errors
    /// As [`features`](Self::features), on all processes if on one.
    pub fn features_on_processes(
        &self,
        encoder: &ImageEncoder,
        processes: &dyn Collective,
    ) -> Result<Option<ImageFeatures>, EvaluationError> {
        let both = self.both_on_processes(encoder, processes)?;
        let views = self.two_views(encoder, processes)?;
        Ok(both
            .zip(views)
            .map(|([train, test], views)| ImageFeatures { train, test, views }))
    }

    /// Computes all metrics of an encoder.
    ///
    /// # Errors
    /// Returns an error if an image cannot be prepared for the encoder, there are fewer than two classes, features are not finite, or the evaluation is
    /// interrupted.
    pub fn encoder(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        let features = self.features_on_processes(encoder, &Alone)?;
        self.encoder_with(encoder, &features.expect("a single process is the first"))
    }

    /// As [`encoder`](Self::encoder), given its [features](Self::features_on_processes).
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn encoder_with(&self, encoder: &ImageEncoder, features: &ImageFeatures) -> Result<Metrics, EvaluationError> {
        let ImageFeatures { train, test, views } = features;
        let mut metrics = Metrics::new();
        if self.has_probes {
            metrics = self.accuracies(train, test)?;
            if self.config.protocols.contains(&Protocol::Official) {
                insert(&mut metrics, OFFICIAL_PROBE, self.official(encoder)?);
            }
        }
        metrics.extend(of_two_views(views)?);
        metrics.extend(self.of_spread(&test.features)?);
        Ok(metrics)
    }

    /// The rows of test images whose spread is measured: all, or a sample that the seed determines.
    fn spread_rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.test.images.len()).collect();
        rows.shuffle(&mut self.seed.named("spread").rng());
        rows.truncate(MOST_SPREAD);
        rows.sort_unstable();
        rows
    }

    /// The spread of features of test images, which needs no labels.
    fn of_spread(&self, test: &Tensor<2>) -> Result<Metrics, EvaluationError> {
        spread_metrics(rows(test, &self.spread_rows()))
    }

    /// Computes the metrics of pixel values as features; empty without labels.
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn raw_pixels(&self) -> Result<Metrics, EvaluationError> {
        if !self.has_probes {
            return Ok(Metrics::new());
        }
        let labelled = |images, sample: &Sample| {
            Ok::<_, EvaluationError>(Labelled {
                features: self.extractor.raw_pixels(images, Some(&sample.images))?,
                labels: sample.classes.clone(),
            })
        };
        // With probes, there are test images.
        self.accuracies(
            &labelled(&self.data.train, &self.train)?,
            &labelled(&self.data.test, &self.test)?,
        )
    }

    /// The metric to show during training on a data set.
    pub fn shown_metric(data: &ImageData) -> &'static str {
        if has_labelled_test(data) { ONLINE_PROBE } else { UNIFORMITY }
    }

    /// Computes the metrics that are cheap enough for use during training: nearest neighbours, a linear probe in closed form, and the spread
    /// of features.
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn online(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        self.online_on_processes(encoder, &Alone)
    }

    /// As [`online`](Self::online), with the images dealt to processes that have the same encoder. All of them get the metrics of a single process.
    ///
    /// # Errors
    /// As [`online`](Self::online), on all processes if on one.
    pub fn online_on_processes(&self, encoder: &ImageEncoder, processes: &dyn Collective) -> Result<Metrics, EvaluationError> {
        if self.has_probes {
            let both = self.both_on_processes(encoder, processes)?;
            return on_first(processes, both, |[train, test]| self.online_with(&train, &test));
        }
        let views = self.two_views(encoder, processes)?;
        let labelled = self.labelled_for_auc(encoder, processes)?;
        let images: Vec<usize> = self.spread_rows().into_iter().map(|row| self.test.images[row]).collect();
        let features = self.encoded_on_processes(self.test_images(), &images, encoder, processes)?;
        on_first(processes, views.zip(features), |(views, features)| {
            let mut metrics = of_two_views(&views)?;
            metrics.extend(spread_metrics(features)?);
            if let Some(train) = &labelled {
                metrics.extend(self.auc(train, train)?.map(|auc| (MACRO_AUC.to_owned(), auc)));
            }
            Ok(metrics)
        })
    }

    /// All training images with a class, on process 0, if their AUC is measured. Other metrics without probes need fewer.
    fn labelled_for_auc(&self, encoder: &ImageEncoder, processes: &dyn Collective) -> Result<Option<Labelled>, EvaluationError> {
        let Some(MeasuredAuc::Train { .. }) = self.measured_auc else {
            return Ok(None);
        };
        let Sample { images, classes } = Sample::labelled(&self.data.train);
        let features = self.encoded_on_processes(&self.data.train, &images, encoder, processes)?;
        Ok(features.map(|features| Labelled {
            features,
            labels: classes,
        }))
    }

    fn online_with(&self, train: &Labelled, test: &Labelled) -> Result<Metrics, EvaluationError> {
        let mut metrics = Metrics::new();
        insert(&mut metrics, KNN, knn(train, test, self.num_classes(), &self.config.knn)?);
        let online = ridge_accuracy(train, test, self.num_classes())?;
        metrics.extend(online.map(|accuracy| (ONLINE_PROBE.to_owned(), accuracy)));
        metrics.extend(self.of_spread(&test.features)?);
        metrics.extend(self.auc(train, test)?.map(|auc| (MACRO_AUC.to_owned(), auc)));
        Ok(metrics)
    }

    /// The macro AUC of the images that it is measured on; the seed determines the anchors.
    fn auc(&self, train: &Labelled, test: &Labelled) -> Result<Option<f64>, EvaluationError> {
        let (images, num_anchors) = match self.measured_auc {
            None => return Ok(None),
            Some(MeasuredAuc::Test) => (test, MOST_AUC_ANCHORS),
            Some(MeasuredAuc::Train { anchors }) => (train, anchors),
        };
        let mut anchors: Vec<usize> = (0..images.labels.len()).collect();
        anchors.shuffle(&mut self.seed.named("macro AUC").rng());
        anchors.truncate(num_anchors);
        Ok(macro_auc(images, &anchors)?)
    }

    fn accuracies(&self, train: &Labelled, test: &Labelled) -> Result<Metrics, EvaluationError> {
        let mut metrics = Metrics::new();
        insert(&mut metrics, KNN, knn(train, test, self.num_classes(), &self.config.knn)?);
        if self.config.protocols.contains(&Protocol::Clean) {
            let found = probe_fixed(train, test, self.num_classes(), &self.config.probe, self.seed)?;
            insert(&mut metrics, PROBE, found);
        }
        for &fraction in &self.config.label_fractions {
            let found = self.few_labels_probe(train, test, fraction)?;
            insert(&mut metrics, &few_labels_probe(fraction), found);
        }
        Ok(metrics)
    }

    /// The probe of the authors' code: a new random view of each training image per epoch, and an encoder in training mode, so that each
    /// batch is normalised by its own statistics and updates the running ones, with which test images are encoded.
    fn official(&self, encoder: &ImageEncoder) -> Result<TopK, EvaluationError> {
        // A copy, so that the running statistics of the evaluated encoder do not change. Batches of any size are normalised as a whole.
        let encoder = encoder.clone().with_split_norms(1);
        let views = |epoch: usize, rows: &[usize]| {
            let images: Vec<usize> = rows.iter().map(|&row| self.train.images[row]).collect();
            // The last batch of an epoch may be a single image, which has no variance.
            let mode = if images.len() > 1 { Mode::Train } else { Mode::Eval };
            let views = self.random_view(&self.data.train, &images, epoch as u64)?;
            Ok(encoder.raw_features(views, mode))
        };
        let test = || {
            Ok::<_, EvaluationError>(Labelled {
                features: self.extractor.encoded(&self.data.test, Some(&self.test.images), &encoder)?,
                labels: self.test.classes.clone(),
            })
        };
        let (classes, config) = (&self.train.classes, &self.config.probe);
        probe_views(classes, self.num_classes(), config, self.seed, views, test)
    }

    /// Features of two random views of the same images.
    fn two_views(&self, encoder: &ImageEncoder, processes: &dyn Collective) -> Result<Option<[Tensor<2>; 2]>, EvaluationError> {
        // Images of a folder are sorted by class.
        let rows = evenly_spaced(self.test.images.len(), MOST_PAIRED);
        let images: Vec<usize> = rows.into_iter().map(|row| self.test.images[row]).collect();
        let features = |epoch| {
            gathered(images.len(), VIEWS_BLOCK, processes, &self.extractor.device, |own| {
                let blocks = images[own].chunks(VIEWS_BLOCK).map(|block| {
                    let views = self.random_view(self.test_images(), block, epoch)?;
                    Ok(encoder.raw_features(views, Mode::Eval))
                });
                Ok::<_, EvaluationError>(Tensor::cat(blocks.collect::<Result<_, EvaluationError>>()?, 0))
            })
        };
        let (first, second) = (features(0)?, features(1)?);
        Ok(first.zip(second).map(|(first, second)| [first, second]))
    }

    /// Features of whole images, on process 0.
    fn encoded_on_processes(
        &self,
        images: &Collection,
        chosen: &[usize],
        encoder: &ImageEncoder,
        processes: &dyn Collective,
    ) -> Result<Option<Tensor<2>>, EvaluationError> {
        let extractor = &self.extractor;
        gathered(chosen.len(), FeatureExtractor::BLOCK, processes, &extractor.device, |own| {
            extractor.encoded(images, Some(&chosen[own]), encoder)
        })
    }

    /// All training images, with or without labels.
    pub fn training_images(&self) -> &Collection {
        &self.data.train
    }

    /// Computes the features of all training images without augmentation, with the images dealt to processes that have the same encoder:
    /// `[num_images, num_features]` on process 0, `None` on all others.
    ///
    /// # Errors
    /// As [`features`](Self::features), on all processes if on one.
    pub fn training_features_on_processes(
        &self,
        encoder: &ImageEncoder,
        processes: &dyn Collective,
    ) -> Result<Option<Tensor<2>>, EvaluationError> {
        let all: Vec<usize> = (0..self.data.train.len()).collect();
        self.encoded_on_processes(&self.data.train, &all, encoder, processes)
    }

    /// Features of the training and of the test images, on process 0.
    fn both_on_processes(
        &self,
        encoder: &ImageEncoder,
        processes: &dyn Collective,
    ) -> Result<Option<[Labelled; 2]>, EvaluationError> {
        let labelled = |images, sample: &Sample| {
            let features = self.encoded_on_processes(images, &sample.images, encoder, processes)?;
            Ok::<_, EvaluationError>(features.map(|features| Labelled {
                features,
                labels: sample.classes.clone(),
            }))
        };
        let train = labelled(&self.data.train, &self.train)?;
        let test = if self.uses_train_as_test() {
            train.clone()
        } else {
            labelled(&self.data.test, &self.test)?
        };
        Ok(train.zip(test).map(|(train, test)| [train, test]))
    }

    fn random_view(&self, images: &Collection, chosen: &[usize], epoch: u64) -> Result<Tensor<4>, EvaluationError> {
        let mut pixels = Vec::new();
        let FeatureExtractor { views, device, .. } = &self.extractor;
        views
            .single_batch(images, chosen, epoch, self.seed, &mut pixels)
            .map_err(ViewsError::from)?;
        let side = views.config().side;
        let pixels = TensorData::new(pixels, [chosen.len(), 3, side, side]);
        Ok(Tensor::from_data(pixels, device))
    }

    pub(super) fn num_classes(&self) -> usize {
        self.data.train.classes().len()
    }
}

/// Alignment and uniformity, which need no labels.
fn of_two_views([first, second]: &[Tensor<2>; 2]) -> Result<Metrics, EvaluationError> {
    let metrics = [
        (UNIFORMITY, uniformity(first.clone())?),
        (ALIGNMENT, alignment(first.clone(), second.clone())?),
    ];
    Ok(metrics.map(|(name, value)| (name.to_owned(), value)).into())
}

/// The [`spread()`] of features; empty if it cannot be computed.
fn spread_metrics(features: Tensor<2>) -> Result<Metrics, EvaluationError> {
    let metrics = spread(features)?.map(|spread| [(FEATURE_STD, spread.std), (EFFECTIVE_RANK, spread.effective_rank)]);
    Ok(metrics
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.to_owned(), value))
        .collect())
}

fn insert(metrics: &mut Metrics, name: &str, accuracy: TopK) {
    metrics.insert(format!("{name}_top1"), accuracy.top1);
    metrics.extend(accuracy.top5.map(|top5| (format!("{name}_top5"), top5)));
}
