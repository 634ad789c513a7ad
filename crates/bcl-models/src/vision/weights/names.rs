//! Maps the names of PyTorch code to this crate's names.

use super::WeightsError;
use crate::vision::{ResNetConfig, ResNetDepth, Stem};
use burn_store::burn_pack::Tensor as StoredTensor;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::Path,
};

/// The module to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A `ResNet`, with torchvision's names.
    Trunk,
    /// The second `ResNet` of an encoder with split channels: [`REST`], then torchvision's names.
    RestTrunk,
    /// An `ImageEncoder`, with `trunk.` and `head.` before each name.
    Encoder,
}

/// A tensor and its name in the file.
pub(super) struct Named {
    pub(super) in_file: String,
    pub(super) tensor: StoredTensor,
}

/// Tensors by their name in the network.
pub(super) type Tensors = BTreeMap<String, Named>;

/// The tensors of a file that belong to the network, and the names of the others.
pub(super) struct Sorted {
    pub(super) tensors: Tensors,
    pub(super) skipped: Vec<String>,
}

/// Renames tensors as in the network, and separates those that are not in it.
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

/// What the names of the second network's tensors begin with, in an encoder with split channels.
pub(super) const REST: &str = "rest.";

/// Prefixes of dictionaries and modules that code wraps around a network.
const PREFIXES: [&str; 6] = [
    "state_dict.",
    "model_state_dict.",
    "model.",
    "module.",
    "backbone.",
    "encoder.",
];

/// Removes the prefixes of dictionaries and modules around the network from the name of a tensor.
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

/// The network's name of a tensor, or `None` if it is not in the network.
fn translate(name: &str, part: Part) -> Option<String> {
    let mut name = without_prefixes(name);
    if part == Part::RestTrunk {
        name = name.strip_prefix(REST)?;
    }
    let (module, rest) = name.split_once('.')?;
    // Counters: PyTorch's batch counter, and those that thop's profiler leaves in the checkpoints of the released code.
    if ["num_batches_tracked", "total_ops", "total_params"]
        .iter()
        .any(|counter| rest.ends_with(counter))
    {
        return None;
    }
    let trunk = |module: &str, rest: &str| match part {
        Part::Trunk | Part::RestTrunk => format!("{module}.{rest}"),
        Part::Encoder => format!("trunk.{module}.{rest}"),
    };
    match module {
        "conv1" | "bn1" | "layer1" | "layer2" | "layer3" | "layer4" => Some(trunk(module, rest)),
        // The released code wraps all children of torchvision's ResNet but the classifier and max-pooling in a Sequential.
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

/// What to do if network and file do not match.
pub(super) fn remedy(tensors: &Tensors, part: Part) -> String {
    let Some((ResNetConfig { depth, stem, width }, channels)) = guess(tensors) else {
        return "the file does not look like a ResNet: use one with the names of torchvision or the released code".to_owned();
    };
    let stem = match stem {
        Stem::Imagenet => "imagenet",
        Stem::Cifar => "cifar",
    };
    let depth = u64::from(depth);
    let split = match (channels, part) {
        (3, _) => String::new(),
        (_, Part::RestTrunk) => format!(" and encoder.split_channels to {}", 3 - channels),
        _ => format!(" and encoder.split_channels to {channels}"),
    };
    format!(
        "the file looks like a network of depth = {depth}, stem = \"{stem}\", width = {width}: set encoder.trunk to that{split}"
    )
}

/// Guesses the network a file was saved from, by its names and the shape of its first kernel, and the number of channels that it reads.
fn guess(tensors: &Tensors) -> Option<(ResNetConfig, usize)> {
    let get = |name: &str| tensors.get(name).or_else(|| tensors.get(&format!("trunk.{name}")));
    let [width, channels @ 1..=3, kernel_size, _] = get("conv1.weight")?.tensor.shape.to_vec()[..] else {
        return None;
    };
    let depth = match (get("layer1.0.conv3.weight"), get("layer1.2.conv1.weight")) {
        (Some(_), _) => ResNetDepth::ResNet50,
        (None, Some(_)) => ResNetDepth::ResNet34,
        (None, None) => ResNetDepth::ResNet18,
    };
    let stem = if kernel_size == 7 { Stem::Imagenet } else { Stem::Cifar };
    Some((ResNetConfig { depth, stem, width }, channels))
}
