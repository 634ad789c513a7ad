//! Numbers the parameters of a module, so that equal runs write equal bytes.

use burn::{
    module::{Module, ModuleMapper, Param, ParamId},
    tensor::{Bool, Int, Tensor},
};

/// Numbers the parameters of a module from 0, in the order of its fields.
///
/// Burn draws parameter ids at random, independently of the seed, and writes them into records.
pub fn numbered<M: Module>(module: M) -> M {
    module.map(&mut Numbers(0))
}

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> ParamId {
        self.0 += 1;
        ParamId::from(self.0 - 1)
    }
}

impl ModuleMapper for Numbers {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (_, value, mapper) = param.consume();
        Param::from_mapped_value(self.next(), value, mapper)
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        let (_, value, mapper) = param.consume();
        Param::from_mapped_value(self.next(), value, mapper)
    }

    fn map_bool<const D: usize>(&mut self, param: Param<Tensor<D, Bool>>) -> Param<Tensor<D, Bool>> {
        let (_, value, mapper) = param.consume();
        Param::from_mapped_value(self.next(), value, mapper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_models::vision::{ImageEncoder, ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
    use burn::tensor::Device;

    fn encoder() -> ImageEncoder {
        let trunk = ResNetConfig {
            depth: ResNetDepth::ResNet18,
            stem: Stem::Imagenet,
            width: 1,
        };
        let head = ProjectionHeadConfig {
            hidden: 2,
            out: 2,
            ..ProjectionHeadConfig::default()
        };
        ImageEncoderConfig {
            trunk,
            head,
            split_channels: None,
        }
        .init(3, &Device::flex().autodiff())
    }

    fn bytes(encoder: ImageEncoder) -> Vec<u8> {
        encoder.into_record().into_bytes().unwrap().to_vec()
    }

    #[test]
    fn equal_modules_become_equal_bytes() {
        assert_ne!(
            bytes(encoder()),
            bytes(encoder()),
            "Burn draws ids at random, or `numbered` is not needed"
        );
        assert_eq!(bytes(numbered(encoder())), bytes(numbered(encoder())));
    }

    #[test]
    fn numbered_parameters_are_trained_as_before() {
        let numbered = numbered(encoder());
        assert!(numbered.trunk.conv1.weight.val().is_require_grad());
        assert!(!numbered.trunk.bn1.running_mean.value().is_require_grad());
    }
}
