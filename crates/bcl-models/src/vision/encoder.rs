//! ResNets with their projection heads.

use super::{ImageEncoderConfig, Mode, Pass, ProjectionHead, ResNet, config::CHANNELS, precision::precision};
use crate::{check::panic_if_bad, draws::Draws};
use bcl_collective::Collective;
use bcl_kernels::{large_batches_are_faster, together, unit_rows};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use std::sync::Arc;

/// A residual network with a projection head; or, if channels are split, two such networks without shared weights, each for a part of
/// the channels.
#[derive(Module, Debug)]
pub struct ImageEncoder {
    /// Maps images to features.
    pub trunk: ResNet,
    /// Maps features to projections.
    pub head: ProjectionHead,
    /// The network for the channels that `trunk` does not read, if channels are split.
    pub rest: Option<ChannelEncoder>,
}

/// The second network of an [`ImageEncoder`] with split channels.
#[derive(Module, Debug)]
pub struct ChannelEncoder {
    /// Maps the last channels of images to features.
    pub trunk: ResNet,
    /// Maps these features to projections.
    pub head: ProjectionHead,
}

/// L2-normalised outputs of an image encoder; the dot product of two rows is their cosine similarity.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImageEmbeddings {
    /// Rows for evaluation, `[batch_size, num_features]`.
    pub features: Tensor<2>,
    /// Rows for the contrastive loss, `[batch_size, dim]`.
    pub projections: Tensor<2>,
}

/// A trunk, its head, and the channels that it reads.
type Stream<'a> = (&'a ResNet, &'a ProjectionHead, Tensor<4>);

impl ImageEncoderConfig {
    /// Builds the encoder with initial values determined by the seed. The trunk's values do not depend on the head. With split channels,
    /// the two networks have different values.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; use [`check`](Self::check) to test.
    pub fn init(&self, seed: u64, device: &Device) -> ImageEncoder {
        panic_if_bad(self.check());
        let network = |prefix: &str, channels| ChannelEncoder {
            trunk: ResNet::new(
                &self.trunk,
                channels,
                &mut Draws::new(seed, &format!("{prefix}trunk")),
                device,
            ),
            head: ProjectionHead::new(
                &self.head,
                self.trunk.num_features(),
                &mut Draws::new(seed, &format!("{prefix}head")),
                device,
            ),
        };
        let ChannelEncoder { trunk, head } = network("", self.split_channels.unwrap_or(CHANNELS));
        ImageEncoder {
            trunk,
            head,
            rest: self.split_channels.map(|first| network("rest.", CHANNELS - first)),
        }
    }
}

impl ImageEncoder {
    /// Computes features and projections, both L2-normalised. The head reads the features before normalisation.
    ///
    /// Everything but batch normalisation and L2 normalisation is computed in the precision of the images, here and below. Images in bf16
    /// give mixed precision: outputs and gradients keep the parameters' 32 bits.
    ///
    /// If channels are split, features and projections of both networks are concatenated before normalisation.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    pub fn forward(&self, images: Tensor<4>, mode: Mode) -> ImageEmbeddings {
        let both = |(trunk, head, images): Stream| {
            let features = trunk.forward(images, mode);
            let projections = head.forward(features.clone(), mode);
            (features, projections)
        };
        let (features, projections) = together(|| self.streams(images).map(both).unzip());
        ImageEmbeddings {
            features: self.unit_rows(side_by_side(features)),
            projections: self.unit_rows(side_by_side(projections)),
        }
    }

    /// Computes L2-normalised features for evaluation, without running the head.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, num_features]`
    pub fn features(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        self.unit_rows(self.raw_features(images, mode))
    }

    /// Computes features without L2 normalisation, as a linear probe reads them.
    ///
    /// # Shapes
    /// As for [`features`](Self::features).
    pub fn raw_features(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        let features = |(trunk, _, images): Stream| trunk.forward(images, mode);
        side_by_side(together(|| self.streams(images).map(features).collect()))
    }

    /// Computes L2-normalised projections for the contrastive loss.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, dim]`
    pub fn projections(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        self.unit_rows(self.raw_projections(images, mode))
    }

    /// Computes projections without L2 normalisation, in the precision of the images: for predictors, and for losses that normalise
    /// columns.
    ///
    /// # Shapes
    /// As for [`projections`](Self::projections).
    pub fn raw_projections(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        side_by_side(self.projections_by_stream(images, mode.into()))
    }

    /// Computes the [projections](Self::projections) of several views of the same images, each as a batch of its own. On GPUs, views of the same size go through
    /// the encoder together, which takes half the launches for two views and gives the same values within rounding.
    ///
    /// # Shapes
    /// - views:   `[batch_size, 3, height, width]` each
    /// - outputs: `[batch_size, dim]` each
    pub fn projections_of_views(&self, views: Vec<Tensor<4>>, mode: Mode) -> Vec<Tensor<2>> {
        self.of_views(views, mode, |rows| self.unit_rows(rows))
    }

    /// Computes the [raw projections](Self::raw_projections) of several views of the same images, like
    /// [`projections_of_views`](Self::projections_of_views).
    ///
    /// # Shapes
    /// As for [`projections_of_views`](Self::projections_of_views).
    pub fn raw_projections_of_views(&self, views: Vec<Tensor<4>>, mode: Mode) -> Vec<Tensor<2>> {
        self.of_views(views, mode, |rows| rows)
    }

    fn of_views(&self, views: Vec<Tensor<4>>, mode: Mode, finish: impl Fn(Tensor<2>) -> Tensor<2>) -> Vec<Tensor<2>> {
        let projections = |images, pass| finish(side_by_side(self.projections_by_stream(images, pass)));
        let of_size = |alike: &[Tensor<4>]| {
            if alike.len() == 1 || !large_batches_are_faster(&alike[0].device()) {
                return alike.iter().map(|view| projections(view.clone(), mode.into())).collect();
            }
            let views = alike.len();
            projections(Tensor::cat(alike.to_vec(), 0), Pass { mode, views }).chunk(views, 0)
        };
        views
            .chunk_by(|one, next| one.dims() == next.dims())
            .flat_map(of_size)
            .collect()
    }

    /// Computes the L2-normalised projections of each of the two networks, for a loss that compares them.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, out]` for the first channels, and for the rest
    ///
    /// # Panics
    /// Panics if channels are not split.
    pub fn stream_projections(&self, images: Tensor<4>, mode: Mode) -> [Tensor<2>; 2] {
        let projections = self.projections_by_stream(images, mode.into()).into_iter();
        projections
            .map(|rows| self.unit_rows(rows))
            .collect::<Vec<_>>()
            .try_into()
            .unwrap_or_else(|_| panic!("the encoder has one network for all channels, but needs split_channels for two"))
    }

    /// Splits each batch normalisation of the trunks into groups, as [`BatchNorm::with_groups`](super::BatchNorm::with_groups). Heads
    /// keep their norms.
    ///
    /// The number of groups is not part of records: set it again after building an encoder to load one into.
    ///
    /// ```
    /// use bcl_models::vision::{ImageEncoderConfig, Mode, ResNetConfig, ResNetDepth};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let trunk = ResNetConfig { depth: ResNetDepth::ResNet18, width: 2, ..ResNetConfig::default() };
    /// let config = ImageEncoderConfig { trunk, ..ImageEncoderConfig::default() };
    /// let encoder = config.init(0, &device).with_split_norms(2);
    ///
    /// // Samples 0 and 2 are normalised together, and so are 1 and 3.
    /// let images = Tensor::ones([4, 3, 8, 8], &device);
    /// assert_eq!(encoder.projections(images, Mode::Train).dims(), [4, 128]);
    /// ```
    ///
    /// # Panics
    /// Panics if `groups` is 0. Later, a forward pass by the statistics of the batch panics if the batch size is not a multiple of
    /// `groups`.
    pub fn with_split_norms(mut self, groups: usize) -> Self {
        let of_rest = self.rest.iter_mut().flat_map(|rest| rest.trunk.norms_mut());
        for norm in self.trunk.norms_mut().chain(of_rest) {
            norm.set_groups(groups);
        }
        self
    }

    /// Normalises by the statistics of all processes in each batch normalisation of trunks and heads, or of only this process if `None`; see
    /// [`BatchNorm::over_processes`](super::BatchNorm::over_processes).
    #[must_use]
    pub fn with_norms_over_processes(mut self, processes: Option<&Arc<dyn Collective>>) -> Self {
        let rest = self.rest.iter_mut();
        let of_rest = rest.flat_map(|rest| rest.trunk.norms_mut().chain(rest.head.norms_mut()));
        for norm in self.trunk.norms_mut().chain(self.head.norms_mut()).chain(of_rest) {
            norm.set_processes(processes.cloned());
        }
        self
    }

    /// The networks with their part of the images.
    fn streams(&self, images: Tensor<4>) -> impl Iterator<Item = Stream<'_>> {
        let streams = match &self.rest {
            None => vec![(&self.trunk, &self.head, images)],
            Some(rest) => {
                let first = self.trunk.channels_in();
                vec![
                    (&self.trunk, &self.head, images.clone().slice_dim(1, ..first)),
                    (&rest.trunk, &rest.head, images.slice_dim(1, first..)),
                ]
            }
        };
        streams.into_iter()
    }

    /// Running statistics of all batch normalisations are updated together, because nothing else in a forward pass by the batch reads them.
    fn projections_by_stream(&self, images: Tensor<4>, pass: Pass) -> Vec<Tensor<2>> {
        let projections = |(trunk, head, images): Stream| head.forward(trunk.forward(images, pass), pass);
        together(|| self.streams(images).map(projections).collect())
    }

    /// L2-normalises rows in the precision of the parameters, because comparing them needs all digits.
    fn unit_rows(&self, rows: Tensor<2>) -> Tensor<2> {
        unit_rows(rows.cast(precision(&self.head.out.weight.val())))
    }
}

/// Concatenates the columns of each stream.
fn side_by_side(mut streams: Vec<Tensor<2>>) -> Tensor<2> {
    match streams.len() {
        1 => streams.remove(0),
        _ => Tensor::cat(streams, 1),
    }
}

#[cfg(test)]
mod tests;
