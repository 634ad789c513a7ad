//! Maps the names of PyTorch code to this crate's names.
//!
//! Code wraps networks in modules and dictionaries with names of its own, so prefixes are not known beforehand: a network is found by the names within
//! it, and what is before them is its prefix.

use super::WeightsError;
use crate::vision::{ResNetConfig, ResNetDepth, Stem};
use burn_store::burn_pack::Tensor as StoredTensor;
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
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
    /// Those of the skipped ones that seem to be a part of the network.
    pub(super) unknown: Vec<String>,
    /// The prefix of the network; with split channels, of both.
    pub(super) prefix: String,
    /// The prefixes of other networks in the file.
    pub(super) others: Vec<String>,
    /// Whether the file has a projection head of the released code.
    pub(super) has_head: bool,
}

/// Renames tensors as in the network, and separates those that are not in it. `wanted` is the prefix of the network, if it is not the one that
/// [`choose`] finds.
pub(super) fn sort(file: Vec<StoredTensor>, part: Part, wanted: Option<&str>, path: &Path) -> Result<Sorted, WeightsError> {
    let networks = networks(&file);
    let chosen = choose(&networks, part, wanted).map_err(|problem| problem.of(&file, &networks, path))?;
    let others = networks
        .keys()
        .filter(|prefix| **prefix != chosen.prefix && !is_rest_of(prefix, chosen.prefix));
    let others: Vec<String> = others.cloned().collect();
    let (mut tensors, mut skipped, mut unknown) = (Tensors::new(), Vec::new(), Vec::new());
    let mut has_head = false;
    for mut tensor in file {
        let in_file = tensor.name.clone();
        let of_head = chosen.name_in_head(&in_file);
        has_head |= of_head.is_some();
        let name = match part {
            Part::Encoder => chosen.name_in_trunk(&in_file).map(|name| format!("trunk.{name}")).or(of_head),
            Part::Trunk | Part::RestTrunk => chosen.name_in_trunk(&in_file),
        };
        let Some(name) = name else {
            let is_of_other = others
                .iter()
                .any(|other| other.len() > chosen.prefix.len() && in_file.starts_with(other));
            if chosen.seems_to_contain(&in_file) && !is_of_other {
                unknown.push(in_file.clone());
            }
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
    Ok(Sorted {
        tensors,
        skipped,
        unknown,
        prefix: match part {
            Part::RestTrunk => chosen.prefix.strip_suffix(REST).unwrap_or_default().to_owned(),
            Part::Trunk | Part::Encoder => chosen.prefix.to_owned(),
        },
        others,
        has_head,
    })
}

/// What the names of the second network's tensors begin with, in an encoder with split channels.
pub(super) const REST: &str = "rest.";

/// How code names the modules of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// As torchvision does: `layer1.0.conv1.weight`. Some code has `shortcut` for `downsample`.
    Words,
    /// By their places in a Sequential of torchvision's modules, of which `layer1` is at this place: 4, or 3 without max-pooling, as in the released code.
    Places(usize),
}

/// Torchvision's modules, and their places in a Sequential before and from `layer1` on.
const STEM: [&str; 2] = ["conv1", "bn1"];
const LAYERS: [&str; 4] = ["layer1", "layer2", "layer3", "layer4"];
/// The place of `layer1` in a Sequential with and without max-pooling.
const FIRST_LAYER: [usize; 2] = [4, 3];

/// Words in a prefix of a network that follows another one, which is the one to use: the momentum encoder of MoCo (`encoder_k`), the student of DINO, the
/// target network of BYOL.
const FOLLOWERS: [&str; 5] = ["k", "key", "momentum", "student", "target"];

/// Modules of a network that have no influence on its features.
const HEADS: [&str; 10] = [
    "fc",
    "g",
    "head",
    "heads",
    "projector",
    "projection",
    "projection_head",
    "predictor",
    "classifier",
    "linear",
];
/// What checkpoints hold beside networks.
const STATE: [&str; 7] = [
    "optimizer",
    "optimizers",
    "optimizer_state_dict",
    "optimizer_states",
    "scheduler",
    "lr_scheduler",
    "scaler",
];
/// PyTorch's counter of batches, and those that thop's profiler leaves in the checkpoints of the released code.
const COUNTERS: [&str; 3] = ["num_batches_tracked", "total_ops", "total_params"];

/// The networks of a file by their prefixes.
pub(super) type Networks = BTreeMap<String, Naming>;

/// Finds the networks of a file: each has a block of a first layer.
pub(super) fn networks(file: &[StoredTensor]) -> Networks {
    const BLOCK: &str = ".0.conv1.weight";
    let mut networks = Networks::new();
    let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for tensor in file {
        let Some(layer) = tensor.name.strip_suffix(BLOCK) else {
            continue;
        };
        let module = layer.rfind('.').map_or(0, |dot| dot + 1);
        let (prefix, module) = layer.split_at(module);
        if module == LAYERS[0] {
            networks.insert(prefix.to_owned(), Naming::Words);
        } else if let Ok(place) = module.parse() {
            places.entry(prefix).or_default().insert(place);
        }
    }
    for (prefix, places) in places {
        let first = FIRST_LAYER
            .into_iter()
            .find(|first| (0..LAYERS.len()).all(|layer| places.contains(&(first + layer))));
        if let Some(first) = first {
            networks.insert(prefix.to_owned(), Naming::Places(first));
        }
    }
    networks
}

/// Whether the second is the prefix of a network of which the first is the second one with split channels.
fn is_rest_of(rest: &str, prefix: &str) -> bool {
    rest.strip_suffix(REST) == Some(prefix)
}

/// Whether there is a network with the prefix of the second network with split channels.
pub(super) fn has_rest(networks: &Networks) -> bool {
    networks
        .keys()
        .any(|rest| networks.keys().any(|prefix| is_rest_of(rest, prefix)))
}

/// A network of a file.
#[derive(Debug, Clone, Copy)]
struct Network<'a> {
    prefix: &'a str,
    naming: Naming,
}

/// Why no network was chosen.
enum Unchosen {
    None,
    Several,
    NotThere(String),
}

/// Chooses the network to load: the wanted one, or the only one that follows no other.
fn choose<'a>(networks: &'a Networks, part: Part, wanted: Option<&str>) -> Result<Network<'a>, Unchosen> {
    let is_rest = |rest: &str| networks.keys().any(|prefix| is_rest_of(rest, prefix));
    let of_encoders: Vec<Network> = networks
        .iter()
        .map(|(prefix, &naming)| Network { prefix, naming })
        .filter(|network| !is_rest(network.prefix))
        .collect();
    let follows = |network: &&Network| {
        let mut words = network.prefix.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.any(|word| FOLLOWERS.contains(&word))
    };
    let leaders: Vec<&Network> = of_encoders.iter().filter(|network| !follows(network)).collect();
    let chosen = match (wanted, &of_encoders[..], &leaders[..]) {
        (Some(wanted), all, _) => {
            let is_wanted = |network: &&Network| network.prefix.trim_end_matches('.') == wanted.trim_end_matches('.');
            let found = all.iter().find(is_wanted);
            *found.ok_or_else(|| Unchosen::NotThere(wanted.to_owned()))?
        }
        (None, [one], _) => *one,
        (None, _, [one]) => **one,
        (None, [], _) => return Err(Unchosen::None),
        (None, ..) => return Err(Unchosen::Several),
    };
    match part {
        Part::Trunk | Part::Encoder => Ok(chosen),
        Part::RestTrunk => {
            let rest = networks.iter().find(|(rest, _)| is_rest_of(rest, chosen.prefix));
            let (prefix, &naming) = rest.ok_or(Unchosen::None)?;
            Ok(Network { prefix, naming })
        }
    }
}

impl Unchosen {
    fn of(self, file: &[StoredTensor], networks: &Networks, path: &Path) -> WeightsError {
        /// A few names show what code wrote the file.
        const SHOWN: usize = 4;
        let path = path.to_owned();
        let listed = |names: &mut dyn Iterator<Item = &str>| names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let prefixes = listed(&mut networks.keys().map(String::as_str));
        match self {
            Self::Several => WeightsError::Several { path, prefixes },
            Self::NotThere(wanted) if !networks.is_empty() => WeightsError::NotThere { path, wanted, prefixes },
            Self::None | Self::NotThere(_) => WeightsError::NoNetwork {
                path,
                found: file.len(),
                first: listed(&mut file.iter().map(|tensor| tensor.name.as_str()).take(SHOWN)),
            },
        }
    }
}

impl Network<'_> {
    /// The network's name of a tensor, or `None` if it is not in the network.
    fn name_in_trunk(&self, name: &str) -> Option<String> {
        let (module, rest) = name.strip_prefix(self.prefix)?.split_once('.')?;
        if is_counter(rest) {
            return None;
        }
        let module = match self.naming {
            Naming::Words => [&STEM[..], &LAYERS].concat().into_iter().find(|known| *known == module)?,
            Naming::Places(first) => {
                let place: usize = module.parse().ok()?;
                STEM.get(place).or_else(|| LAYERS.get(place.checked_sub(first)?))?
            }
        };
        Some(format!("{module}.{}", rest.replace("shortcut.", "downsample.")))
    }

    /// The name of a tensor in the projection head, which the released code calls `g` beside the network `f`.
    fn name_in_head(&self, name: &str) -> Option<String> {
        let around = self.prefix.strip_suffix("f.")?;
        let (place, rest) = name.strip_prefix(around)?.strip_prefix("g.")?.split_once('.')?;
        if is_counter(rest) {
            return None;
        }
        let module = match place {
            "0" => "hidden",
            "1" => "norm",
            "3" => "out",
            _ => return None,
        };
        Some(format!("head.{module}.{rest}"))
    }

    /// Whether a tensor that is not loaded seems to be a part of the network: it has the prefix, and is neither a head, nor a counter, nor the state of an
    /// optimizer.
    fn seems_to_contain(&self, name: &str) -> bool {
        name.strip_prefix(self.prefix).is_some_and(|inner| {
            let module = inner.split_once('.').map_or(inner, |(module, _)| module);
            !HEADS.contains(&module) && !STATE.contains(&module) && !is_counter(inner)
        })
    }
}

/// Whether a tensor is a counter, which almost all files have.
pub fn is_counter(name: &str) -> bool {
    COUNTERS.iter().any(|counter| name.ends_with(counter))
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
