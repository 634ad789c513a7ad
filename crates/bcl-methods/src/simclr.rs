//! SimCLR: the views of an image are positives, the rest of the batch are negatives. With labels, images of a class are positives, too.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodStart, Needs, Objective, Positives, Precision,
    image::projections_of_views,
};
use crate::batches::ImageBatch;
use bcl_core::{Pairs, ParameterError, Similarity, parameter::count_in, same_class_in_views, same_class_of_all};
use bcl_models::vision::ImageEncoder;
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The most views of an image, as in `views.count` of recipes.
const MOST_VIEWS: usize = 16;

/// The parameters of [`SimClr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimClrConfig {
    /// Number of views per image, 2 to 16.
    #[serde(skip_serializing_if = "is_two")]
    pub views: usize,
    /// What the labels of the images are used for.
    #[serde(skip_serializing_if = "Labels::is_none")]
    pub labels: Labels,
}

/// What SimCLR uses the labels of images for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Labels {
    /// Nothing: the positives of a view are the other views of its image.
    #[default]
    None,
    /// All views of all images of the anchor's class are positives, and the views of other classes are negatives.
    Positives,
    /// As `positives`, but all other views are in the denominator, too: with the decoupled loss, the supervised contrastive loss.
    Supcon,
}

impl Labels {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_two(views: &usize) -> bool {
    *views == 2
}

impl Default for SimClrConfig {
    fn default() -> Self {
        Self {
            views: 2,
            labels: Labels::None,
        }
    }
}

impl MethodSettings for SimClrConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("views", self.views, 2, MOST_VIEWS)
    }

    fn num_negatives(&self, batch_size: usize) -> Option<usize> {
        Some(match self.labels {
            Labels::None => self.views * batch_size.saturating_sub(1),
            // All views have a column; a mask leaves out those that are no negatives.
            Labels::Positives | Labels::Supcon => self.views * batch_size,
        })
    }

    fn is_recordable(&self) -> bool {
        self.labels == Labels::None
    }

    fn needs(&self) -> Needs {
        Needs {
            views: self.views,
            positives: match self.labels {
                Labels::None if self.views == 2 => Positives::One,
                Labels::None => Positives::OfImage,
                Labels::Positives | Labels::Supcon => Positives::OfClass,
            },
            only_loss: (self.labels == Labels::Supcon).then_some("decoupled"),
            ..Needs::default()
        }
    }
}

impl ImageMethodConfig for SimClrConfig {
    type Method = SimClr;

    fn init(&self, start: MethodStart) -> SimClr {
        SimClr {
            encoder: start.encoder,
            precision: start.precision,
            views: self.views,
            labels: self.labels,
        }
    }
}

/// The views of an image are each other's positives; the views of all other images of the batch are their negatives.
///
/// Source: Chen et al., [A Simple Framework for Contrastive Learning of Visual Representations](https://arxiv.org/abs/2002.05709). With
/// [`Labels::Supcon`]: Khosla et al., [Supervised Contrastive Learning](https://arxiv.org/abs/2004.11362).
#[derive(Module, Debug)]
pub struct SimClr {
    /// The encoder.
    pub encoder: ImageEncoder,
    /// Precision of the encoder.
    #[module(skip)]
    pub precision: Precision,
    /// Number of views per image.
    #[module(skip)]
    pub views: usize,
    /// What labels are used for.
    #[module(skip)]
    pub labels: Labels,
}

impl SimClr {
    /// SimCLR with two views per image and without labels.
    pub fn new(encoder: ImageEncoder, precision: Precision) -> Self {
        let SimClrConfig { views, labels } = SimClrConfig::default();
        Self {
            encoder,
            precision,
            views,
            labels,
        }
    }

    /// Name of the table of a view's projections, `[batch_size, out]`: "first", "second", "view 3" and so on.
    pub fn table(view: usize) -> String {
        match view {
            0 => "first".to_owned(),
            1 => "second".to_owned(),
            view => format!("view {}", view + 1),
        }
    }

    fn compared(&self, batch: &ImageBatch, views: Vec<Tensor<2>>, anchors: Range<usize>) -> Pairs {
        // Projections are already unit rows, so the dot product is the cosine.
        let similarity = Similarity::Dot;
        let with_labels = |pairs: fn(Tensor<2>, _, Similarity, Range<usize>) -> Pairs| {
            let device = views[0].device();
            let labels = batch.labels(&device).expect("the recipe is refused without labels");
            let labels = Tensor::cat(vec![labels; views.len()], 0);
            pairs(Tensor::cat(views.clone(), 0), labels, similarity, anchors.clone())
        };
        match self.labels {
            Labels::Positives => with_labels(Pairs::from_labels_of),
            Labels::Supcon => with_labels(Pairs::from_labels_against_all),
            Labels::None => match <[Tensor<2>; 2]>::try_from(views.clone()) {
                Ok([first, second]) => Pairs::from_views_of(first, second, similarity, anchors),
                Err(views) => Pairs::from_many_views_of(views, similarity, anchors),
            },
        }
    }
}

impl ImageMethod for SimClr {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn num_anchors(&self, batch_size: usize) -> usize {
        self.views * batch_size
    }

    fn remembers_classes(&self) -> bool {
        self.labels != Labels::None
    }

    fn is_recordable(&self, _: &ImageBatch) -> bool {
        self.labels == Labels::None
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let projections = projections_of_views(&self.encoder, part, 0..self.views, self.precision);
        let views = (0..self.views).map(Self::table).zip(projections);
        views.fold(Embeddings::new(), |embeddings, (name, rows)| embeddings.with(name, rows))
    }

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let views = (0..self.views).map(|view| embeddings.rows(&Self::table(view)));
        let pairs = self.compared(batch, views.collect(), anchors);
        Objective::Pairs(pairs.with_least_similarity(Similarity::Cosine.least()))
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let labels = batch.labels(device)?;
        match self.labels {
            Labels::None => Some(same_class_in_views(&labels, self.views, anchors)),
            Labels::Positives | Labels::Supcon => {
                let labels = Tensor::cat(vec![labels; self.views], 0);
                Some(same_class_of_all(&labels, anchors))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batches::BatchViews;
    use bcl_core::{DecoupledLossConfig, EstimatorConfig, InfoNceLossConfig, SideInformation};
    use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
    use burn::tensor::{DType, TensorData};

    const IMAGES: usize = 4;
    const CLASSES: [u32; IMAGES] = [0, 1, 0, 2];
    const DIM: usize = 3;

    fn method(views: usize, labels: Labels, device: &Device) -> SimClr {
        let encoder = ImageEncoderConfig {
            trunk: ResNetConfig {
                depth: ResNetDepth::ResNet18,
                stem: Stem::Cifar,
                width: 1,
            },
            head: ProjectionHeadConfig {
                hidden: 2,
                out: DIM,
                ..ProjectionHeadConfig::default()
            },
            split_channels: None,
        };
        let start = MethodStart::new(encoder.init(0, device), DIM, device);
        SimClrConfig { views, labels }.init(start)
    }

    fn batch() -> ImageBatch {
        ImageBatch {
            views: BatchViews::Made(Vec::new()),
            images: (0..IMAGES).collect(),
            classes: Some(CLASSES.into()),
            mode: Mode::Train,
        }
    }

    /// Unit rows of all views, view after view.
    fn rows(views: usize) -> Vec<[f64; DIM]> {
        let row = |index: usize| {
            let row = [0, 1, 2].map(|place| (1.7 * (DIM * index + place) as f64 + 0.3).sin());
            let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            row.map(|value| value / length)
        };
        (0..views * IMAGES).map(row).collect()
    }

    fn embeddings(views: usize, device: &Device) -> Embeddings {
        let rows = rows(views);
        rows.chunks(IMAGES)
            .enumerate()
            .fold(Embeddings::new(), |embeddings, (view, rows)| {
                let data = TensorData::new(rows.concat(), [IMAGES, DIM]);
                embeddings.with(SimClr::table(view), Tensor::from_data(data, (device, DType::F64)))
            })
    }

    fn losses(method: &SimClr, loss: &EstimatorConfig, anchors: Range<usize>, device: &Device) -> Vec<f64> {
        let objective = method.objective(&batch(), &embeddings(method.views, device), anchors.clone());
        let scores = objective.into_scores().expect("pairs");
        let mut side = SideInformation::none().with_noise(Tensor::ones([anchors.len()], (device, DType::F64)));
        if let Some(same_class) = ImageMethod::same_class(method, &batch(), anchors, device) {
            side = side.with_same_class(same_class);
        }
        let losses = loss.init().losses(scores.into(), &side).values();
        losses.try_into_vec_as().expect("the CPU can be read")
    }

    /// The loss of each anchor by loops: with the positive and the negatives, or with all others in the denominator.
    fn slowly(views: usize, labels: Labels) -> Vec<f64> {
        let rows = rows(views);
        let x = |a: usize, b: usize| (rows[a].iter().zip(rows[b]).map(|(a, b)| a * b).sum::<f64>() / 0.5).exp();
        let is_positive = |a: usize, b: usize| match labels {
            Labels::None => a % IMAGES == b % IMAGES,
            Labels::Positives | Labels::Supcon => CLASSES[a % IMAGES] == CLASSES[b % IMAGES],
        };
        let of_anchor = |anchor: usize| {
            let others = || (0..rows.len()).filter(move |&other| other != anchor);
            let positives: Vec<usize> = others().filter(|&other| is_positive(anchor, other)).collect();
            let negatives: f64 = others()
                .filter(|&other| !is_positive(anchor, other))
                .map(|other| x(anchor, other))
                .sum();
            let all: f64 = others().map(|other| x(anchor, other)).sum();
            let of_positive = |&positive: &usize| match labels {
                Labels::Supcon => (all / x(anchor, positive)).ln(),
                Labels::None | Labels::Positives => (negatives / x(anchor, positive)).ln_1p(),
            };
            positives.iter().map(of_positive).sum::<f64>() / positives.len() as f64
        };
        (0..rows.len()).map(of_anchor).collect()
    }

    #[test]
    fn losses_are_those_of_loops_over_views_and_labels() {
        let device = Device::flex();
        let info_nce = EstimatorConfig::InfoNce(InfoNceLossConfig::new());
        let decoupled = EstimatorConfig::Decoupled(DecoupledLossConfig::new());
        for (views, labels, loss) in [
            (2, Labels::None, &info_nce),
            (3, Labels::None, &info_nce),
            (2, Labels::Positives, &info_nce),
            (3, Labels::Positives, &info_nce),
            (2, Labels::Supcon, &decoupled),
            (3, Labels::Supcon, &decoupled),
        ] {
            let method = method(views, labels, &device);
            let expected = slowly(views, labels);
            for anchors in [0..views * IMAGES, 1..6] {
                let found = losses(&method, loss, anchors.clone(), &device);
                for (found, expected) in found.iter().zip(&expected[anchors]) {
                    assert!(
                        (found - expected).abs() < 1e-10,
                        "{views}, {labels:?}: {found} and {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_loss_takes_several_views_and_labels() {
        let device = Device::flex();
        for (views, labels) in [(3, Labels::None), (2, Labels::Positives)] {
            let method = method(views, labels, &device);
            for config in EstimatorConfig::all() {
                let all = losses(&method, &config, 0..views * IMAGES, &device);
                assert!(all.iter().all(|loss| loss.is_finite()), "{}: {all:?}", config.name());
                if config.init().requirements().whole_batch {
                    continue;
                }
                let some = losses(&method, &config, 2..5, &device);
                assert!(
                    all[2..5].iter().zip(&some).all(|(all, some)| (all - some).abs() < 1e-9),
                    "{}",
                    config.name()
                );
            }
        }
    }
}
