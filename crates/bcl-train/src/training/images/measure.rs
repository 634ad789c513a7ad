//! How good an encoder of images is: its frozen features before the judges of [`probe`](crate::probe).

use super::{features::Shown, model::ContrastiveImages};
use crate::{
    evaluation::EvaluationError,
    probe::{Labelled, TopK, alignment, knn, probe_fixed, probe_views, ridge_accuracy, uniformity},
    recipe::{ImageEvaluationConfig, Protocol},
    result::{Metrics, ONLINE_PROBE},
    training::evaluate::Measure,
};
use bcl_data::Seed;
use bcl_images::{Collection, ImageData};
use bcl_models::vision::{ImageEncoder, Mode, ResNet};
use burn::tensor::{Tensor, TensorData};
use std::sync::Arc;

/// Test images whose views show alignment and uniformity: the latter compares all pairs.
const MOST_PAIRED: usize = 2048;

/// Views of test images that are encoded at a time.
const VIEWS_BLOCK: usize = 512;

/// Judges encoders on the labelled images of a data set.
#[derive(Debug)]
pub struct ImageJudge {
    /// How images are shown.
    pub shown: Shown,
    data: Arc<ImageData>,
    train: Labels,
    test: Labels,
    config: ImageEvaluationConfig,
    seed: Seed,
}

/// The labelled images of one part of a data set.
#[derive(Debug)]
struct Labels {
    images: Vec<usize>,
    classes: Vec<u32>,
}

impl Labels {
    fn of(images: &Collection) -> Self {
        let labelled = images.labels().iter().enumerate().filter_map(|(i, &label)| Some((i, label?)));
        let (images, classes) = labelled.unzip();
        Self { images, classes }
    }
}

impl ImageJudge {
    /// A judge for a data set.
    pub fn new(data: Arc<ImageData>, shown: Shown, config: ImageEvaluationConfig, seed: Seed) -> Self {
        Self {
            train: Labels::of(&data.train),
            test: Labels::of(&data.test),
            shown,
            data,
            config,
            seed: seed.named("probe"),
        }
    }

    /// The labelled images of train and test, by their indices.
    pub fn images(&self) -> [(&Collection, &[usize]); 2] {
        let ImageData { train, test, .. } = &*self.data;
        [(train, &self.train.images), (test, &self.test.images)]
    }

    /// Features of the labelled images of train and test under an encoder's running statistics.
    ///
    /// # Errors
    /// When images cannot be shown.
    pub fn features(&self, encoder: &ImageEncoder) -> Result<[Labelled; 2], EvaluationError> {
        self.both(|images, labels| self.shown.encoded(images, Some(&labels.images), &encoder.trunk))
    }

    /// All figures of an encoder.
    ///
    /// # Errors
    /// When images cannot be shown, there is nothing to tell apart, or features are not numbers.
    pub fn encoder(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        self.encoder_with(encoder, &self.features(encoder)?)
    }

    /// As [`encoder`](Self::encoder), with its [`features`](Self::features).
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn encoder_with(&self, encoder: &ImageEncoder, [train, test]: &[Labelled; 2]) -> Result<Metrics, EvaluationError> {
        let trunk = &encoder.trunk;
        let mut figures = self.figures(train, test)?;
        if self.config.protocols.contains(&Protocol::Official) {
            insert(&mut figures, "official", self.official(trunk)?);
        }
        let [first, second] = self.two_views(trunk);
        figures.insert("uniformity".to_owned(), uniformity(first.clone())?);
        figures.insert("alignment".to_owned(), alignment(first, second)?);
        Ok(figures)
    }

    /// The figures of the pixels themselves.
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn raw_pixels(&self) -> Result<Metrics, EvaluationError> {
        let [train, test] = self.both(|images, labels| self.shown.raw_pixels(images, Some(&labels.images)))?;
        self.figures(&train, &test)
    }

    /// What is cheap enough for every few epochs: nearest neighbours, and a linear probe in closed form.
    fn online(&self, trunk: &ResNet) -> Result<Metrics, EvaluationError> {
        let [train, test] = self.both(|images, labels| self.shown.encoded(images, Some(&labels.images), trunk))?;
        let mut figures = Metrics::new();
        insert(&mut figures, "knn", knn(&train, &test, self.num_classes(), &self.config.knn)?);
        figures.insert(ONLINE_PROBE.to_owned(), ridge_accuracy(&train, &test, self.num_classes())?);
        Ok(figures)
    }

    fn figures(&self, train: &Labelled, test: &Labelled) -> Result<Metrics, EvaluationError> {
        let mut figures = Metrics::new();
        insert(&mut figures, "knn", knn(train, test, self.num_classes(), &self.config.knn)?);
        if self.config.protocols.contains(&Protocol::Clean) {
            let found = probe_fixed(train, test, self.num_classes(), &self.config.probe, self.seed)?;
            insert(&mut figures, "probe", found);
        }
        Ok(figures)
    }

    /// The probe of the released codes: a new random view of each training image an epoch, and an encoder that was left in train mode,
    /// so that each batch is normalised by itself and moves the running statistics, under which test images are encoded at last.
    fn official(&self, trunk: &ResNet) -> Result<TopK, EvaluationError> {
        // Statistics of its own: the encoder that is judged keeps its own.
        let trunk = trunk.clone();
        let views = |epoch: usize, places: &[usize]| {
            let images: Vec<usize> = places.iter().map(|&place| self.train.images[place]).collect();
            // What is left of an epoch may be one image, which has no variance.
            let mode = if images.len() > 1 { Mode::Train } else { Mode::Eval };
            trunk.forward(self.random_view(&self.data.train, &images, epoch as u64), mode)
        };
        let test = || {
            Ok::<_, EvaluationError>(Labelled {
                features: self.shown.encoded(&self.data.test, Some(&self.test.images), &trunk)?,
                labels: self.test.classes.clone(),
            })
        };
        let (classes, config) = (&self.train.classes, &self.config.probe);
        probe_views(classes, self.num_classes(), config, self.seed, views, test)
    }

    /// Features of two random views of the same test images.
    fn two_views(&self, trunk: &ResNet) -> [Tensor<2>; 2] {
        let images = &self.test.images[..self.test.images.len().min(MOST_PAIRED)];
        [0, 1].map(|epoch| {
            let blocks = images
                .chunks(VIEWS_BLOCK)
                .map(|block| trunk.forward(self.random_view(&self.data.test, block, epoch), Mode::Eval));
            Tensor::cat(blocks.collect(), 0)
        })
    }

    fn random_view(&self, images: &Collection, chosen: &[usize], epoch: u64) -> Tensor<4> {
        let mut pixels = Vec::new();
        let Shown { views, device, .. } = &self.shown;
        views.single_batch(images, chosen, epoch, self.seed, &mut pixels);
        let side = views.config().side;
        Tensor::from_data(TensorData::new(pixels, [chosen.len(), 3, side, side]), device)
    }

    fn both(
        &self,
        features: impl Fn(&Collection, &Labels) -> Result<Tensor<2>, EvaluationError>,
    ) -> Result<[Labelled; 2], EvaluationError> {
        let labelled = |images, labels: &Labels| {
            Ok::<_, EvaluationError>(Labelled {
                features: features(images, labels)?,
                labels: labels.classes.clone(),
            })
        };
        Ok([
            labelled(&self.data.train, &self.train)?,
            labelled(&self.data.test, &self.test)?,
        ])
    }

    fn num_classes(&self) -> usize {
        self.data.train.classes().len()
    }
}

fn insert(figures: &mut Metrics, judge: &str, found: TopK) {
    figures.insert(format!("{judge}_top1"), found.top1);
    figures.extend(found.top5.map(|top5| (format!("{judge}_top5"), top5)));
}

/// What is measured during training.
#[derive(Debug)]
pub struct Online(pub Arc<ImageJudge>);

impl Measure<ContrastiveImages> for Online {
    fn measure(&self, model: &ContrastiveImages) -> Result<Metrics, EvaluationError> {
        self.0.online(&model.encoder.trunk)
    }
}
