//! From the names of PyTorch code to ours.

use super::WeightsError;
use crate::vision::{ResNetConfig, ResNetDepth, Stem};
use burn_store::burn_pack::Tensor as StoredTensor;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::Path,
};

/// Which module is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A `ResNet`, whose names are torchvision's.
    Trunk,
    /// An `ImageEncoder`, whose names have `trunk.` and `head.` before them.
    Encoder,
}

/// A tensor under the network's name, with the one it had in the file.
pub(super) struct Named {
    pub(super) in_file: String,
    pub(super) tensor: StoredTensor,
}

/// A file's tensors by the network's names.
pub(super) type Tensors = BTreeMap<String, Named>;

/// A file's tensors, those of the network apart from the others.
pub(super) struct Sorted {
    pub(super) tensors: Tensors,
    pub(super) skipped: Vec<String>,
}

/// Gives the tensors the network's names and sets aside those that are not of the network.
pub(super) fn sort(file: Vec<StoredTensor>, part: Part, path: &Path) -> Result<Sorted, WeightsError> {
    let (mut tensors, mut skipped) = (Tensors::new(), Vec::new());
    for mut tensor in file {
        let in_file = tensor.name.clone();
        let Some(name) = translate(&in_file, part) else {
            skipped.push(in_file);
            continue;
        };
        tensor.name.clone_from(&name);
        match tensors.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(Named { in_file, tensor });
            }
            Entry::Occupied(entry) => {
                return Err(WeightsError::Twice {
                    path: path.to_owned(),
                    tensor: entry.key().clone(),
                    first: entry.get().in_file.clone(),
                    second: in_file,
                });
            }
        }
    }
    Ok(Sorted { tensors, skipped })
}

/// Dictionaries and modules that codes put around a network.
const PREFIXES: [&str; 6] = [
    "state_dict.",
    "model_state_dict.",
    "model.",
    "module.",
    "backbone.",
    "encoder.",
];

/// A file's name of a tensor without the names of dictionaries and modules around the network.
///
/// ```
/// use bcl_models::vision::weights::without_prefixes;
///
/// assert_eq!(without_prefixes("state_dict.module.encoder.conv1.weight"), "conv1.weight");
/// assert_eq!(without_prefixes("encoder_q.conv1.weight"), "encoder_q.conv1.weight");
/// ```
pub fn without_prefixes(mut name: &str) -> &str {
    while let Some(inner) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = inner;
    }
    name
}

/// The network's name of a tensor, none if it is not of the network.
fn translate(name: &str, part: Part) -> Option<String> {
    let (module, rest) = without_prefixes(name).split_once('.')?;
    // Counters: PyTorch's of batches, and those that thop's profiler leaves in the checkpoints of the released codes.
    if ["num_batches_tracked", "total_ops", "total_params"]
        .iter()
        .any(|counter| rest.ends_with(counter))
    {
        return None;
    }
    let trunk = |module: &str, rest: &str| match part {
        Part::Trunk => format!("{module}.{rest}"),
        Part::Encoder => format!("trunk.{module}.{rest}"),
    };
    match module {
        "conv1" | "bn1" | "layer1" | "layer2" | "layer3" | "layer4" => Some(trunk(module, rest)),
        // The released codes put the children of torchvision's ResNet into a Sequential, all but the classifier and max-pooling.
        "f" => {
            let (index, rest) = rest.split_once('.')?;
            let module = match index {
                "0" => "conv1",
                "1" => "bn1",
                "3" => "layer1",
                "4" => "layer2",
                "5" => "layer3",
                "6" => "layer4",
                _ => return None,
            };
            Some(trunk(module, rest))
        }
        "g" if part == Part::Encoder => {
            let (index, rest) = rest.split_once('.')?;
            let module = match index {
                "0" => "hidden",
                "1" => "norm",
                "3" => "out",
                _ => return None,
            };
            Some(format!("head.{module}.{rest}"))
        }
        _ => None,
    }
}

/// What to do when network and file do not fit.
pub(super) fn remedy(tensors: &Tensors) -> String {
    match guess(tensors) {
        Some(ResNetConfig { depth, stem, width }) => {
            let stem = match stem {
                Stem::Imagenet => "imagenet",
                Stem::Cifar => "cifar",
            };
            let depth = u64::from(depth);
            format!(
                "the file looks like a network of depth = {depth}, stem = \"{stem}\", width = {width}: set encoder.trunk to that"
            )
        }
        None => {
            "the file does not look like a ResNet: give one with torchvision's names or those of the released codes".to_owned()
        }
    }
}

/// The network a file was made from, as far as its names and its first kernel tell.
fn guess(tensors: &Tensors) -> Option<ResNetConfig> {
    let get = |name: &str| tensors.get(name).or_else(|| tensors.get(&format!("trunk.{name}")));
    let [width, 3, kernel_size, _] = get("conv1.weight")?.tensor.shape.to_vec()[..] else {
        return None;
    };
    let depth = match (get("layer1.0.conv3.weight"), get("layer1.2.conv1.weight")) {
        (Some(_), _) => ResNetDepth::ResNet50,
        (None, Some(_)) => ResNetDepth::ResNet34,
        (None, None) => ResNetDepth::ResNet18,
    };
    let stem = if kernel_size == 7 { Stem::Imagenet } else { Stem::Cifar };
    Some(ResNetConfig { depth, stem, width })
}
