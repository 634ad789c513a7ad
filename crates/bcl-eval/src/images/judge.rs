//! How good an encoder of images is: its frozen features before the judges of [`probe`](crate::probe).

use super::{ImageEvaluationConfig, Protocol, Shown};
use crate::{
    EvaluationError,
    probe::{Labelled, TopK, alignment, knn, probe_fixed, probe_views, ridge_accuracy, uniformity},
};
use bcl_data::Seed;
use bcl_images::{Collection, ImageData};
use bcl_models::vision::{ImageEncoder, Mode, ResNet};
use bcl_report::result::{ALIGNMENT, Metrics, ONLINE_PROBE, UNIFORMITY};
use burn::tensor::{Tensor, TensorData};
use std::sync::Arc;

/// Images whose views show alignment and uniformity: the latter compares all pairs.
const MOST_PAIRED: usize = 2048;

/// Images of a part that are looked at where no judge needs all of them.
const MOST_SHOWN: usize = 2048;

/// Views of test images that are encoded at a time.
const VIEWS_BLOCK: usize = 512;

/// Whether encoders can be judged on a data set: test has images with a class. What train must have for it, a run's check says.
pub fn has_judges(data: &ImageData) -> bool {
    data.test.labels().iter().any(Option::is_some)
}

/// What is switched off on a data set, in a sentence, and what would switch it on; `None` where encoders can be judged.
pub fn judges_off(data: &ImageData) -> Option<String> {
    let missing = match (data.train.labels().iter().any(Option::is_some), data.test.is_empty()) {
        _ if has_judges(data) => return None,
        (true, _) => "no test images; give some in test/CLASS/",
        (false, true) => "no labels and no test; give images in train/CLASS/ and test/CLASS/",
        (false, false) => "no labels; give images in train/CLASS/ and test/CLASS/",
    };
    Some(format!(
        "probes and nearest neighbours are off, because {} has {missing} to switch them on",
        data.name
    ))
}

/// Judges encoders on the labelled images of a data set.
///
/// Without labelled test images [no judge](Self::is_on) can say how good features are; what is left is how they lie: alignment and
/// uniformity, of test images or, where there are none, of training images.
#[derive(Debug)]
pub struct ImageJudge {
    /// How images are shown.
    pub shown: Shown,
    data: Arc<ImageData>,
    train: Sample,
    test: Sample,
    is_on: bool,
    looks_at_train: bool,
    config: ImageEvaluationConfig,
    seed: Seed,
}

/// The images of one part of a data set that are looked at.
#[derive(Debug, Clone)]
struct Sample {
    images: Vec<usize>,
    /// The class of each; empty where not all are known.
    classes: Vec<u32>,
}

impl Sample {
    /// All images that have a class.
    fn labelled(images: &Collection) -> Self {
        let labelled = images.labels().iter().enumerate().filter_map(|(i, &label)| Some((i, label?)));
        let (images, classes) = labelled.unzip();
        Self { images, classes }
    }

    /// Images at equal distances, whether or not they have a class.
    fn spread(images: &Collection) -> Self {
        let count = images.len().min(MOST_SHOWN);
        let chosen: Vec<usize> = (0..count).map(|i| i * images.len() / count).collect();
        let classes: Option<Vec<u32>> = chosen.iter().map(|&image| images.labels()[image]).collect();
        Self {
            images: chosen,
            classes: classes.unwrap_or_default(),
        }
    }
}

impl ImageJudge {
    /// A judge for a data set.
    pub fn new(data: Arc<ImageData>, shown: Shown, config: ImageEvaluationConfig, seed: Seed) -> Self {
        let is_on = has_judges(&data);
        // Uniformity compares pairs, which a single image has not.
        let looks_at_train = !is_on && data.test.len() < 2;
        let [train, test] = match (is_on, looks_at_train) {
            (true, _) => [&data.train, &data.test].map(Sample::labelled),
            (false, false) => [&data.train, &data.test].map(Sample::spread),
            (false, true) => [&data.train, &data.train].map(Sample::spread),
        };
        Self {
            train,
            test,
            is_on,
            looks_at_train,
            shown,
            data,
            config,
            seed: seed.named("probe"),
        }
    }

    /// Whether there are labels to judge features by.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether training images stand for test images, because there are none, or a single one without a class.
    pub fn looks_at_train(&self) -> bool {
        self.looks_at_train
    }

    /// The images of train and test that are looked at, by their indices.
    pub fn images(&self) -> [(&Collection, &[usize]); 2] {
        [
            (&self.data.train, &self.train.images),
            (self.test_images(), &self.test.images),
        ]
    }

    /// The images in the place of test.
    fn test_images(&self) -> &Collection {
        if self.looks_at_train() {
            &self.data.train
        } else {
            &self.data.test
        }
    }

    /// Features of [the images that are looked at](Self::images) under an encoder's running statistics; without labels where some of
    /// them have none.
    ///
    /// # Errors
    /// When images cannot be shown.
    pub fn features(&self, encoder: &ImageEncoder) -> Result<[Labelled; 2], EvaluationError> {
        self.both(|images, sample| self.shown.encoded(images, Some(&sample.images), &encoder.trunk))
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
        let mut figures = Metrics::new();
        if self.is_on {
            figures = self.figures(train, test)?;
            if self.config.protocols.contains(&Protocol::Official) {
                insert(&mut figures, "official", self.official(trunk)?);
            }
        }
        figures.extend(self.of_two_views(trunk)?);
        Ok(figures)
    }

    /// How the features of two views of an image lie: what can be told without labels.
    fn of_two_views(&self, trunk: &ResNet) -> Result<Metrics, EvaluationError> {
        let [first, second] = self.two_views(trunk);
        let figures = [
            (UNIFORMITY, uniformity(first.clone())?),
            (ALIGNMENT, alignment(first, second)?),
        ];
        Ok(figures.map(|(name, figure)| (name.to_owned(), figure)).into())
    }

    /// The figures of the pixels themselves; none where there are no labels.
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn raw_pixels(&self) -> Result<Metrics, EvaluationError> {
        if !self.is_on {
            return Ok(Metrics::new());
        }
        let [train, test] = self.both(|images, labels| self.shown.raw_pixels(images, Some(&labels.images)))?;
        self.figures(&train, &test)
    }

    /// The figure that is shown during training.
    pub fn shown_figure(&self) -> &'static str {
        if self.is_on { ONLINE_PROBE } else { UNIFORMITY }
    }

    /// What is cheap enough for every few epochs: nearest neighbours, and a linear probe in closed form.
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder).
    pub fn online(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        let trunk = &encoder.trunk;
        if !self.is_on {
            return self.of_two_views(trunk);
        }
        let [train, test] = self.both(|images, labels| self.shown.encoded(images, Some(&labels.images), trunk))?;
        let mut figures = Metrics::new();
        insert(&mut figures, "knn", knn(&train, &test, self.num_classes(), &self.config.knn)?);
        let online = ridge_accuracy(&train, &test, self.num_classes())?;
        figures.extend(online.map(|accuracy| (ONLINE_PROBE.to_owned(), accuracy)));
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

    /// Features of two random views of the same images.
    fn two_views(&self, trunk: &ResNet) -> [Tensor<2>; 2] {
        let images = &self.test.images[..self.test.images.len().min(MOST_PAIRED)];
        [0, 1].map(|epoch| {
            let blocks = images
                .chunks(VIEWS_BLOCK)
                .map(|block| trunk.forward(self.random_view(self.test_images(), block, epoch), Mode::Eval));
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
        features: impl Fn(&Collection, &Sample) -> Result<Tensor<2>, EvaluationError>,
    ) -> Result<[Labelled; 2], EvaluationError> {
        let labelled = |images, sample: &Sample| {
            Ok::<_, EvaluationError>(Labelled {
                features: features(images, sample)?,
                labels: sample.classes.clone(),
            })
        };
        let train = labelled(&self.data.train, &self.train)?;
        let test = if self.looks_at_train() {
            train.clone()
        } else {
            labelled(&self.data.test, &self.test)?
        };
        Ok([train, test])
    }

    fn num_classes(&self) -> usize {
        self.data.train.classes().len()
    }
}

fn insert(figures: &mut Metrics, judge: &str, found: TopK) {
    figures.insert(format!("{judge}_top1"), found.top1);
    figures.extend(found.top5.map(|top5| (format!("{judge}_top5"), top5)));
}
