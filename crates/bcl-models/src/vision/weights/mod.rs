//! Weights in and out, under the names that PyTorch code gives them.
//!
//! [`to_safetensors`] makes a file of a trunk under torchvision's names; [`load_weights`] reads it again, or one that PyTorch wrote:
//!
//! | written by | file | names |
//! | --- | --- | --- |
//! | [`to_safetensors`], torchvision converted to safetensors | `.safetensors` | `layer1.0.conv1.weight` |
//! | torchvision's `state_dict` | `.pth` | the same, and the classifier `fc.*` |
//! | checkpoints of other codes, `{"model": …}`, `{"state_dict": …}` | either | `model.backbone.layer1.0.conv1.weight` |
//! | the released codes of DCL, HCL and BCL | `.pth` | `module.f.3.0.conv1.weight`, head `module.g.0.weight` |
//!
//! The prefixes `state_dict.`, `model_state_dict.`, `model.`, `module.`, `backbone.` and `encoder.` are taken off, in any order and as often
//! as they come; the [report](WeightsReport) tells which. burn-store reads both formats, pickles without running
//! them, and transposes linear layers; names, the choice of what must be there, and errors that name the remedy are ours.
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

mod error;
mod names;
mod read;
mod values;

pub use error::WeightsError;
pub use names::without_prefixes;

use super::{ImageEncoder, ResNet};
use burn::{module::Module, tensor::DType};
use burn_store::{
    Applier, BurnToPyTorchAdapter, FloatCastAdapter, ModuleAdapter, ModuleSnapshot, PyTorchToBurnAdapter, SafetensorsStore,
    SafetensorsStoreError, burn_pack::Tensor as StoredTensor,
};
use names::Part;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// What became of a file's tensors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightsReport {
    /// The network's names of what was loaded: all of its parameters and running statistics.
    pub loaded: Vec<String>,
    /// The file's names of what was left: a classifier, the head of another network, PyTorch's batch counters.
    pub skipped: Vec<String>,
    /// What was taken off the file's names of what was loaded, such as `model.backbone.`, each once; the empty prefix is not listed.
    pub prefixes: Vec<String>,
}

/// A trunk as the content of a safetensors file, with torchvision's names and layouts.
///
/// `num_batches_tracked`, which PyTorch reads only for a batch normalisation without momentum, is left out; `load_state_dict` fills it
/// in.
///
/// # Errors
/// When the tensors cannot be read from their device.
pub fn to_safetensors(trunk: &ResNet) -> Result<Vec<u8>, WeightsError> {
    let unreadable = |error: SafetensorsStoreError| WeightsError::Write(error.to_string());
    let mut store = SafetensorsStore::from_bytes(None).metadata("format", "pt");
    trunk.save_into(&mut store).map_err(unreadable)?;
    store.get_bytes().map_err(unreadable)
}

/// Reads a trunk's parameters and running statistics from a `.safetensors` or PyTorch file.
///
/// What else the file holds is skipped and reported. Half precision is widened.
///
/// # Errors
/// When the file cannot be read, lacks a tensor of the network, or holds one of another shape or kind, or of a deeper network, or one with
/// numbers that are not finite or, as a running variance, negative or all 0.
pub fn load_weights(trunk: ResNet, path: &Path) -> Result<(ResNet, WeightsReport), WeightsError> {
    load(trunk, path, Part::Trunk)
}

/// Reads the parameters and running statistics of trunk and head, as [`load_weights`] does: for checkpoints of the released codes.
///
/// # Errors
/// As [`load_weights`]; also when the file has no head.
pub fn load_encoder_weights(encoder: ImageEncoder, path: &Path) -> Result<(ImageEncoder, WeightsReport), WeightsError> {
    load(encoder, path, Part::Encoder)
}

fn load<M: Module>(module: M, path: &Path, part: Part) -> Result<(M, WeightsReport), WeightsError> {
    let file = read::read(path)?;
    let names::Sorted { tensors, skipped } = names::sort(file, part, path)?;
    let in_file: BTreeMap<String, String> = tensors
        .iter()
        .map(|(name, named)| (name.clone(), named.in_file.clone()))
        .collect();
    let expected = module.collect(None, Some(Box::new(BurnToPyTorchAdapter)), false);
    check(&expected, &tensors, path)?;

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
    let prefixes: BTreeSet<String> = in_file
        .values()
        .filter_map(|name| name.strip_suffix(without_prefixes(name)))
        .filter(|prefix| !prefix.is_empty())
        .map(str::to_owned)
        .collect();
    let report = WeightsReport {
        loaded,
        skipped,
        prefixes: prefixes.into_iter().collect(),
    };
    Ok((module, report))
}

/// Every tensor of the network must be there with its shape: a network loaded in part would train or be evaluated without a warning.
fn check(expected: &[StoredTensor], tensors: &names::Tensors, path: &Path) -> Result<(), WeightsError> {
    let missing: Vec<_> = expected.iter().filter(|want| !tensors.contains_key(&want.name)).collect();
    if let Some(first) = missing.first() {
        return Err(WeightsError::Missing {
            path: path.to_owned(),
            tensor: first.name.clone(),
            expected: first.shape.to_vec(),
            others: missing.len() - 1,
            remedy: names::remedy(tensors),
        });
    }
    // The first blocks of a deeper network would fit.
    let surplus: Vec<_> = tensors
        .iter()
        .filter(|(name, _)| !expected.iter().any(|want| want.name == **name))
        .collect();
    if let Some((_, first)) = surplus.first() {
        return Err(WeightsError::Surplus {
            path: path.to_owned(),
            tensor: first.in_file.clone(),
            others: surplus.len() - 1,
            remedy: names::remedy(tensors),
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
                remedy: names::remedy(tensors),
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
