//! Weights of an encoder with a classifier.

use super::{WeightsError, new_store, write};
use crate::vision::ImageClassifier;
use burn_store::BurnToPyTorchAdapter;

/// Serialises an encoder with its classifier as a safetensors file, under torchvision's names: the tensors of
/// [`trunks_to_safetensors`](super::trunks_to_safetensors), `fc.weight`, `[num_classes, num_features]`, and `fc.bias`. It leaves out the
/// projection head.
///
/// [`load_trunks`](super::load_trunks) reads the encoder again and skips `fc`.
///
/// # Errors
/// Returns an error if the tensors cannot be read from their device.
pub fn classifier_to_safetensors(classifier: &ImageClassifier) -> Result<Vec<u8>, WeightsError> {
    let of_network = r"^(encoder\.(rest\.)?trunk\.|fc\.)";
    let store = new_store()
        .with_regex(of_network)
        .with_key_remapping(r"^encoder\.(rest\.)?trunk\.", "$1")
        .with_to_adapter(BurnToPyTorchAdapter);
    write(classifier, store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::{ImageEncoderConfig, ResNetConfig, ResNetDepth, weights::load_trunks};
    use burn::tensor::Device;

    #[test]
    fn a_classifier_has_torchvisions_names_and_its_encoder_reads_back() {
        let trunk = ResNetConfig {
            depth: ResNetDepth::ResNet18,
            width: 2,
            ..ResNetConfig::default()
        };
        for split_channels in [None, Some(1)] {
            let config = ImageEncoderConfig {
                trunk: trunk.clone(),
                split_channels,
                ..ImageEncoderConfig::default()
            };
            let device = Device::flex();
            let classifier = ImageClassifier::new(config.init(1, &device), config.num_features(), 5, &device);
            let bytes = classifier_to_safetensors(&classifier).unwrap();
            let header = String::from_utf8_lossy(&bytes[8..]).into_owned();
            let features = config.num_features();
            for tensor in [
                "\"conv1.weight\":".to_owned(),
                "\"layer4.1.bn2.running_var\":".to_owned(),
                format!("\"fc.weight\":{{\"dtype\":\"F32\",\"shape\":[5,{features}]"),
                "\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[5]".to_owned(),
            ] {
                assert!(
                    header.contains(&tensor),
                    "{tensor} is missing: {}",
                    &header[..header.len().min(3000)]
                );
            }
            assert!(
                header.starts_with("{\"__metadata__\":{\"format\":\"pt\"},"),
                "the same weights give the same file"
            );
            assert!(!header.contains("head."), "the projection head is left out");
            assert_eq!(header.contains("\"rest.conv1.weight\":"), split_channels.is_some());

            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.safetensors");
            std::fs::write(&path, &bytes).unwrap();
            let (encoder, report) = load_trunks(config.init(2, &device), &path, None).unwrap();
            let mut skipped = report.skipped.clone();
            skipped.sort_unstable();
            assert_eq!(skipped, ["fc.bias", "fc.weight"]);
            let weights = |encoder: &crate::vision::ImageEncoder| encoder.trunk.conv1.weight.val().into_data();
            assert_eq!(weights(&encoder), weights(&classifier.encoder));
        }
    }
}
