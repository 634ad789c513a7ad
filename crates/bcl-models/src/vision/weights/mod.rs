//! Loading and saving weights under the names of PyTorch code.
//!
//! [`to_safetensors`] writes a trunk under torchvision's names. [`load_weights`] reads such a file, or one that PyTorch wrote:
//!
//! | written by | file | names |
//! | --- | --- | --- |
//! | [`to_safetensors`], torchvision converted to safetensors | `.safetensors` | `layer1.0.conv1.weight` |
//! | torchvision's `state_dict` | `.pth` | the same, plus the classifier `fc.*` |
//! | the released code of DCL, HCL and BCL | `.pth` | `module.f.3.0.conv1.weight`, head `module.g.0.weight` |
//! | a Sequential of torchvision's modules, as in lightly | either | `backbone.4.0.conv1.weight` |
//! | `SupContrast` | `.pth` | `model.encoder.module.layer1.0.shortcut.0.weight` |
//! | `MoCo`, DINO, BYOL | `.pth` | `encoder_q.` and `encoder_k.`, `teacher.` and `student.`, `online_network.` and `target_network.` |
//! | [`classifier_to_safetensors`] | `.safetensors` | as the first, and the classifier `fc.*` |
//! | [`trunks_to_safetensors`] of an encoder with split channels | `.safetensors` | as the first, and `rest.layer1.0.conv1.weight` |
//!
//! Before these names, any prefix of modules and dictionaries may come (`state_dict.module.backbone.`, `_orig_mod.`); the [report](WeightsReport) lists
//! it. Of the two networks of `MoCo`, DINO and BYOL, the first of the table is read. burn-store reads both formats without running pickles, and transposes
//! linear layers. This module maps names, checks that every tensor is present, and reports errors with a remedy.
//!
//! ```
//! use bcl_models::vision::{ResNetConfig, ResNetDepth, Stem, weights::{load_weights, to_safetensors}};
//! use burn::tensor::Device;
//!
//! let config = ResNetConfig { depth: ResNetDepth::ResNet18, stem: Stem::Cifar, width: 4 };
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("trunk.safetensors");
//!
//! std::fs::write(&path, to_safetensors(&config.init(1, &Device::flex())).unwrap()).unwrap();
//! let (trunk, report) = load_weights(config.init(2, &Device::flex()), &path).unwrap();
//! assert_eq!(report.loaded.len(), 100);
//! ```

mod classifier;
mod error;
mod names;
mod read;
mod streams;
mod values;

pub use classifier::classifier_to_safetensors;
pub use error::WeightsError;
pub use names::is_counter;
pub use streams::{load_trunks, trunks_to_safetensors};

use super::{ImageEncoder, ResNet};
use burn::{module::Module, tensor::DType};
use burn_store::{
    Applier, BurnToPyTorchAdapter, FloatCastAdapter, ModuleAdapter, ModuleSnapshot, PyTorchToBurnAdapter, SafetensorsStore,
    SafetensorsStoreError, burn_pack::Tensor as StoredTensor,
};
use names::Part;
use std::{collections::BTreeMap, path::Path};

/// Which tensors of a file were loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WeightsReport {
    /// Loaded tensors under the network's names: all of its parameters and running statistics.
    pub loaded: Vec<String>,
    /// Skipped tensors under the file's names: a classifier, the head of another network, PyTorch's batch counters.
    pub skipped: Vec<String>,
    /// Those of the skipped tensors that seem to be a part of the network, so that its features may not be what they were.
    pub unknown: Vec<String>,
    /// Prefixes removed from the names of loaded tensors, such as `model.backbone.`, without repetition. The empty prefix is not listed.
    pub prefixes: Vec<String>,
    /// Prefixes of other networks in the file.
    pub others: Vec<String>,
    /// Whether the file has a projection head that [`load_encoder_weights`] reads.
    pub has_head: bool,
}

/// Serialises a trunk as a safetensors file, with torchvision's names and layouts.
///
/// `num_batches_tracked` is left out. PyTorch needs it only for batch normalisation without momentum, and `load_state_dict` fills it in.
///
/// # Errors
/// Returns an error if the tensors cannot be read from their device.
pub fn to_safetensors(trunk: &ResNet) -> Result<Vec<u8>, WeightsError> {
    write(trunk, new_store())
}

/// A single entry of metadata: burn-store writes several in an order that differs from process to process, so the same weights would not give
/// the same file.
pub(crate) fn new_store() -> SafetensorsStore {
    SafetensorsStore::from_bytes(None).clear_metadata().metadata("format", "pt")
}

pub(crate) fn write(module: &impl Module, mut store: SafetensorsStore) -> Result<Vec<u8>, WeightsError> {
    let unreadable = |error: SafetensorsStoreError| WeightsError::Write(error.to_string());
    module.save_into(&mut store).map_err(unreadable)?;
    store.get_bytes().map_err(unreadable)
}

/// Loads a trunk's parameters and running statistics from a `.safetensors` or PyTorch file.
///
/// Other tensors of the file are skipped and reported. Half precision is widened.
///
/// # Errors
/// Returns an error if the file cannot be read, lacks a tensor of the network, or is of a deeper network; if a tensor has another shape
/// or is not of a floating point type; or if a value is not finite, or a running variance is negative or all 0.
pub fn load_weights(trunk: ResNet, path: &Path) -> Result<(ResNet, WeightsReport), WeightsError> {
    load(trunk, read::read(path)?, path, Part::Trunk, None)
}

/// Loads trunk and head, as [`load_weights`] does for a trunk alone. For checkpoints of the released code. With several networks in the file, `prefix`
/// is what the names of its tensors begin with.
///
/// # Errors
/// Returns an error in the same cases as [`load_weights`], if the file has no head, and if the encoder has split channels, because no
/// such checkpoint has two networks.
pub fn load_encoder_weights(
    encoder: ImageEncoder,
    path: &Path,
    prefix: Option<&str>,
) -> Result<(ImageEncoder, WeightsReport), WeightsError> {
    if encoder.rest.is_some() {
        return Err(WeightsError::OneNetwork { path: path.to_owned() });
    }
    load(encoder, read::read(path)?, path, Part::Encoder, prefix)
}

fn load<M: Module>(
    module: M,
    file: Vec<StoredTensor>,
    path: &Path,
    part: Part,
    prefix: Option<&str>,
) -> Result<(M, WeightsReport), WeightsError> {
    let names::Sorted {
        tensors,
        skipped,
        unknown,
        prefix,
        others,
        has_head,
    } = names::sort(file, part, prefix, path)?;
    let in_file: BTreeMap<String, String> = tensors
        .iter()
        .map(|(name, named)| (name.clone(), named.in_file.clone()))
        .collect();
    let expected = module.collect(None, Some(Box::new(BurnToPyTorchAdapter)), false);
    check(&expected, &tensors, part, path)?;

    let dtype = expected.first().map_or(DType::F32, |tensor| tensor.dtype);
    let adapter = PyTorchToBurnAdapter.chain(FloatCastAdapter::to(dtype));
    let tensors = tensors.into_values().map(|named| named.tensor).collect();
    let mut applier = Applier::new(tensors, None, Some(Box::new(adapter)), false);
    let module = module.map(&mut applier);
    let result = applier.into_result();
    if let Some(error) = result.errors.first() {
        return Err(WeightsError::Read {
            path: path.to_owned(),
            reason: error.to_string(),
        });
    }
    values::check(&module, &in_file, path)?;
    let mut loaded = result.applied;
    loaded.sort();
    let report = WeightsReport {
        loaded,
        skipped,
        unknown,
        prefixes: Some(prefix).filter(|prefix| !prefix.is_empty()).into_iter().collect(),
        others,
        has_head,
    };
    Ok((module, report))
}

/// Checks that every tensor of the network is in the file with its shape: a partly loaded network would silently run anyway.
fn check(expected: &[StoredTensor], tensors: &names::Tensors, part: Part, path: &Path) -> Result<(), WeightsError> {
    let missing: Vec<_> = expected.iter().filter(|want| !tensors.contains_key(&want.name)).collect();
    if let Some(first) = missing.first() {
        return Err(WeightsError::Missing {
            path: path.to_owned(),
            tensor: first.name.clone(),
            expected: first.shape.to_vec(),
            others: missing.len() - 1,
            remedy: names::remedy(tensors, part),
        });
    }
    // The first blocks of a deeper network would fit, too.
    let surplus: Vec<_> = tensors
        .iter()
        .filter(|(name, _)| !expected.iter().any(|want| want.name == **name))
        .collect();
    if let Some((_, first)) = surplus.first() {
        return Err(WeightsError::Surplus {
            path: path.to_owned(),
            tensor: first.in_file.clone(),
            others: surplus.len() - 1,
            remedy: names::remedy(tensors, part),
        });
    }
    for want in expected {
        let found = &tensors[&want.name];
        if found.tensor.shape != want.shape {
            return Err(WeightsError::Shape {
                path: path.to_owned(),
                tensor: found.in_file.clone(),
                found: found.tensor.shape.to_vec(),
                expected: want.shape.to_vec(),
                remedy: names::remedy(tensors, part),
            });
        }
        if !found.tensor.dtype.is_float() {
            return Err(WeightsError::Kind {
                path: path.to_owned(),
                tensor: found.in_file.clone(),
                found: format!("{:?}", found.tensor.dtype),
            });
        }
    }
    Ok(())
}
