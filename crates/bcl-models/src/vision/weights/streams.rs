//! Weights of all trunks of an encoder: two in one file, if channels are split.

use super::{
    WeightsError, WeightsReport, load,
    names::{self, Part, REST},
    new_store, read, to_safetensors, write,
};
use crate::vision::{ChannelEncoder, ImageEncoder};
use std::path::Path;

/// Serialises the trunks of an encoder as a safetensors file. A single trunk is written as [`to_safetensors`] does; with split channels,
/// the names of the second network have `rest.` in front.
///
/// ```
/// use bcl_models::vision::{ImageEncoderConfig, ResNetConfig, ResNetDepth, weights::{load_trunks, trunks_to_safetensors}};
/// use burn::tensor::Device;
///
/// let trunk = ResNetConfig { depth: ResNetDepth::ResNet18, width: 2, ..ResNetConfig::default() };
/// let config = ImageEncoderConfig { trunk, split_channels: Some(1), ..ImageEncoderConfig::default() };
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("trunks.safetensors");
///
/// std::fs::write(&path, trunks_to_safetensors(&config.init(1, &Device::flex())).unwrap()).unwrap();
/// let (encoder, report) = load_trunks(config.init(2, &Device::flex()), &path, None).unwrap();
/// assert_eq!(report.loaded.len(), 200);
/// ```
///
/// # Errors
/// Returns an error if the tensors cannot be read from their device.
pub fn trunks_to_safetensors(encoder: &ImageEncoder) -> Result<Vec<u8>, WeightsError> {
    if encoder.rest.is_none() {
        return to_safetensors(&encoder.trunk);
    }
    let of_trunks = r"^(rest\.)?trunk\.";
    let store = new_store().with_regex(of_trunks).with_key_remapping(of_trunks, "$1");
    write(encoder, store)
}

/// Loads all trunks of an encoder, as [`load_weights`](super::load_weights) does for one. With split channels, the file must be one that
/// [`trunks_to_safetensors`] wrote for such an encoder. With several networks in the file, `prefix` is what the names of the tensors of the one to load
/// begin with.
///
/// # Errors
/// Returns an error in the same cases as [`load_weights`](super::load_weights), and if the encoder has two networks and the file has one.
pub fn load_trunks(
    encoder: ImageEncoder,
    path: &Path,
    prefix: Option<&str>,
) -> Result<(ImageEncoder, WeightsReport), WeightsError> {
    let ImageEncoder { trunk, head, rest } = encoder;
    let Some(rest) = rest else {
        let (trunk, report) = load(trunk, read::read(path)?, path, Part::Trunk, prefix)?;
        return Ok((ImageEncoder { trunk, head, rest: None }, report));
    };
    let file = read::read(path)?;
    if !names::has_rest(&names::networks(&file)) {
        return Err(WeightsError::OneNetwork { path: path.to_owned() });
    }
    let (trunk, of_first) = load(trunk, file.clone(), path, Part::Trunk, prefix)?;
    let (rest_trunk, of_rest) = load(rest.trunk, file, path, Part::RestTrunk, prefix)?;
    let encoder = ImageEncoder {
        trunk,
        head,
        rest: Some(ChannelEncoder {
            trunk: rest_trunk,
            head: rest.head,
        }),
    };
    Ok((encoder, joined(of_first, of_rest)))
}

/// The report of both networks: a tensor is skipped if neither has it.
fn joined(of_first: WeightsReport, of_rest: WeightsReport) -> WeightsReport {
    let mut report = of_first;
    report
        .loaded
        .extend(of_rest.loaded.iter().map(|name| format!("{REST}{name}")));
    report.skipped.retain(|name| of_rest.skipped.contains(name));
    report.unknown.retain(|name| of_rest.skipped.contains(name));
    report.prefixes.extend(of_rest.prefixes);
    report.prefixes.sort();
    report.prefixes.dedup();
    report
}

#[cfg(test)]
mod tests;
