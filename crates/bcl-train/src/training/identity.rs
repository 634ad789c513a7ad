//! The identity of a data set: counts and checksums.

use bcl_data::{IdMap, InteractionData, Interactions, graphs::GraphData};
use bcl_files::{hexadecimal, sha256};
use bcl_images::{Collection, ImageData};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Counts and checksums of the parts of a data set. Two data sets with equal identities give equal runs.
///
/// ```
/// use bcl_data::PlantedConfig;
/// use bcl_train::training::DataIdentity;
///
/// let small = PlantedConfig { num_users: 50, ..PlantedConfig::default() };
/// let large = PlantedConfig { num_users: 60, ..PlantedConfig::default() };
/// let [small, large] = [small, large].map(|config| DataIdentity::of_interactions(&config.generate()));
/// assert_eq!(small.difference(&small), None);
/// assert!(small.difference(&large).unwrap().starts_with("50 users then and 60 now"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DataIdentity {
    parts: Vec<PartIdentity>,
}

/// One part of a data set, such as its test interactions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PartIdentity {
    /// A plural noun, such as "users".
    name: String,
    count: usize,
    /// Lower-case hexadecimal digits.
    sha256: String,
}

impl DataIdentity {
    /// Identifies interactions with their ids, their order in time if it decides which are held out and, for planted data, the true communities.
    pub fn of_interactions(data: &InteractionData) -> Self {
        let truth = data.truth.as_ref().map(|truth| {
            let communities = [&truth.user_community, &truth.item_community];
            let sum = communities.into_iter().fold(Sha256::new(), numbers);
            PartIdentity::new("memberships of communities", communities.map(Vec::len).iter().sum(), sum)
        });
        let parts = [
            PartIdentity::of_ids("users", &data.users),
            PartIdentity::of_ids("items", &data.items),
            PartIdentity::of_pairs("training interactions", &data.train),
            PartIdentity::of_pairs("test interactions", &data.test),
        ];
        let ranks = data.hold_out.ranks();
        let ranks = ranks.map(|ranks| {
            PartIdentity::new(
                "places of training interactions in time",
                ranks.len(),
                numbers(Sha256::new(), ranks),
            )
        });
        Self {
            parts: parts.into_iter().chain(ranks).chain(truth).collect(),
        }
    }

    /// Identifies images with their names, sizes, labels and class names.
    pub fn of_images(data: &ImageData) -> Self {
        let classes = data.train.classes();
        Self {
            parts: vec![
                PartIdentity::new("classes", classes.len(), classes.iter().fold(Sha256::new(), text)),
                PartIdentity::of_pixels("training images", &data.train),
                PartIdentity::of_labels("labels of training images", &data.train),
                PartIdentity::of_pixels("test images", &data.test),
                PartIdentity::of_labels("labels of test images", &data.test),
            ],
        }
    }

    /// Identifies graphs with their nodes, edges, node features and classes, and with node labels that are no features: baselines read them.
    pub fn of_graphs(data: &GraphData) -> Self {
        let classes = data.classes();
        let labels = data.node_labels().filter(|_| !data.has_label_features());
        let labels = labels.map(|labels| {
            let sum = labels
                .iter()
                .fold(Sha256::new(), |sum, label| sum.chain_update(label.to_le_bytes()));
            PartIdentity::new("labels of nodes", labels.len(), sum)
        });
        // The lists of neighbours say where graphs begin, unless a graph has no edges.
        let sizes: Vec<u32> = (0..data.num_graphs() as u32)
            .map(|graph| data.nodes_of(graph) as u32)
            .collect();
        let has_edges = |graph| (0..sizes[graph as usize]).any(|node| !data.graph(graph).neighbours(node).is_empty());
        let is_ambiguous = (0..data.num_graphs() as u32).any(|graph| !has_edges(graph));
        let sizes = is_ambiguous.then(|| PartIdentity::new("sizes of graphs", sizes.len(), numbers(Sha256::new(), &sizes)));
        let parts = [
            PartIdentity::new("classes", classes.len(), classes.iter().fold(Sha256::new(), text)),
            PartIdentity::new("graphs", data.num_graphs(), numbers(Sha256::new(), data.labels())),
            PartIdentity::of_structure("nodes and their edges", data),
            PartIdentity::of_features("columns of node features", data),
        ];
        Self {
            parts: parts.into_iter().chain(labels).chain(sizes).collect(),
        }
    }

    /// Returns one checksum of all parts.
    pub fn digest(&self) -> String {
        let parts = serde_json::to_vec(self).expect("an identity is plain data");
        sha256(&parts)
    }

    /// Describes how the current data differ from these; `None` if they are equal.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let of = |identity: &Self, name: &str| identity.parts.iter().find(|part| part.name == name).cloned();
        let names = self.parts.iter().chain(&now.parts).map(|part| part.name.as_str());
        let mut differences: Vec<String> = Vec::new();
        for name in names {
            let count = |part: Option<PartIdentity>| part.map_or(0, |part| part.count);
            let difference = match (of(self, name), of(now, name)) {
                (then, now) if then == now => continue,
                (then, now) if count(then.clone()) == count(now.clone()) => {
                    format!("{} {name} then and now, but not the same", count(then))
                }
                (then, now) => format!("{} {name} then and {} now", count(then), count(now)),
            };
            if !differences.contains(&difference) {
                differences.push(difference);
            }
        }
        (!differences.is_empty()).then(|| differences.join("; "))
    }

    /// Whether the ids have the checksums in this identity.
    pub(super) fn has_ids(&self, users: &IdMap, items: &IdMap) -> bool {
        let ids = [PartIdentity::of_ids("users", users), PartIdentity::of_ids("items", items)];
        ids.iter().all(|part| self.parts.contains(part))
    }
}

impl PartIdentity {
    fn new(name: &str, count: usize, sum: Sha256) -> Self {
        Self {
            name: name.to_owned(),
            count,
            sha256: hexadecimal(sum),
        }
    }

    fn of_ids(name: &str, ids: &IdMap) -> Self {
        Self::new(name, ids.len(), ids.iter().fold(Sha256::new(), text))
    }

    fn of_pairs(name: &str, interactions: &Interactions) -> Self {
        let users = 0..interactions.num_users() as u32;
        let sum = users.fold(Sha256::new(), |sum, user| numbers(sum, interactions.items_of(user)));
        Self::new(name, interactions.len(), sum)
    }

    /// Covers the neighbours of each node.
    fn of_structure(name: &str, data: &GraphData) -> Self {
        let sum = each_node(data).fold(Sha256::new(), |sum, (graph, node)| {
            numbers(sum, data.graph(graph).neighbours(node))
        });
        Self::new(name, data.num_nodes(), sum)
    }

    /// Covers the features of each node.
    fn of_features(name: &str, data: &GraphData) -> Self {
        let sum = each_node(data).fold(Sha256::new(), |sum, (graph, node)| {
            let bits: Vec<u32> = data.graph(graph).features(node).into_iter().map(f32::to_bits).collect();
            numbers(sum, bits)
        });
        Self::new(name, data.num_features(), sum)
    }

    /// Covers names, sizes and pixels. Images are hashed one by one, in parallel. Of images that stay in their files, only the size of the
    /// file is covered, because decoding all of them takes as long as an epoch.
    fn of_pixels(name: &str, images: &Collection) -> Self {
        let sums: Vec<_> = (0..images.len())
            .into_par_iter()
            .map(|index| {
                let sum = text(Sha256::new(), images.name(index));
                let sum = numbers(sum, images.size(index).map(|length| length as u32));
                match images.file_length(index) {
                    Some(length) => sum.chain_update(length.to_le_bytes()),
                    None => sum.chain_update(images.get(index).pixels),
                }
                .finalize()
            })
            .collect();
        Self::new(name, images.len(), sums.iter().fold(Sha256::new(), Sha256::chain_update))
    }

    fn of_labels(name: &str, images: &Collection) -> Self {
        let labels = images.labels().iter().map(|label| label.map_or(0, |label| label + 1));
        let labels: Vec<u32> = labels.collect();
        let known = images.labels().iter().flatten().count();
        Self::new(name, known, numbers(Sha256::new(), &labels))
    }
}

/// All graphs with each of their nodes.
fn each_node(data: &GraphData) -> impl Iterator<Item = (u32, u32)> + '_ {
    (0..data.num_graphs() as u32).flat_map(|graph| (0..data.nodes_of(graph) as u32).map(move |node| (graph, node)))
}

/// Hashes a list of numbers with its length, so that two lists in a row differ from one.
fn numbers(sum: Sha256, numbers: impl AsRef<[u32]>) -> Sha256 {
    let numbers = numbers.as_ref();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    sum.chain_update((numbers.len() as u64).to_le_bytes()).chain_update(bytes)
}

/// Adds a text, and its length.
fn text(sum: Sha256, text: impl AsRef<str>) -> Sha256 {
    let text = text.as_ref();
    sum.chain_update((text.len() as u64).to_le_bytes()).chain_update(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::{HoldOut, LoadReport};
    use bcl_images::{Image, PlantedImagesConfig};

    fn interactions(train: &[(u32, u32)], test: &[(u32, u32)], users: &[&str]) -> DataIdentity {
        DataIdentity::of_interactions(&InteractionData {
            name: "mine".into(),
            train: Interactions::from_pairs(users.len(), 4, train.iter().copied()),
            test: Interactions::from_pairs(users.len(), 4, test.iter().copied()),
            users: users.iter().collect(),
            items: IdMap::numbered(4),
            truth: None,
            report: LoadReport::default(),
            hold_out: HoldOut::default(),
        })
    }

    #[test]
    fn differences_are_described_with_their_counts() {
        let then = interactions(&[(0, 0), (0, 1), (1, 2)], &[(0, 2)], &["ann", "bob"]);
        let difference = |now: DataIdentity| then.difference(&now).expect("they differ");
        assert_eq!(
            difference(interactions(&[(0, 0), (0, 1), (1, 2), (1, 3)], &[(0, 2)], &["ann", "bob"])),
            "3 training interactions then and 4 now"
        );
        // The same number of interactions for each user and item as before, by others.
        assert_eq!(
            difference(interactions(&[(0, 0), (1, 1), (0, 2)], &[(0, 2)], &["ann", "bob"])),
            "3 training interactions then and now, but not the same"
        );
        assert_eq!(
            difference(interactions(&[(0, 0), (0, 1), (1, 2)], &[(0, 2)], &["bob", "ann"])),
            "2 users then and now, but not the same"
        );
        assert_eq!(
            difference(interactions(&[(0, 0), (0, 1)], &[(0, 2), (1, 2)], &["ann", "bob"])),
            "3 training interactions then and 2 now; 1 test interactions then and 2 now"
        );
    }

    #[test]
    fn rows_that_move_from_one_user_to_the_next_make_a_difference() {
        let [first, second] = [[(0, 0), (0, 1), (1, 2)], [(0, 0), (1, 1), (1, 2)]];
        let users = ["ann", "bob"];
        assert_ne!(interactions(&first, &[], &users), interactions(&second, &[], &users));
    }

    /// In the place of a class: the fifth image has another name.
    const RENAMED: &str = "";

    /// What happens to the image of an index: to its width, its height, its pixels and its label.
    type Change = dyn Fn(usize, &mut usize, &mut usize, &mut Vec<u8>, &mut Option<u32>);

    #[test]
    fn every_pixel_size_label_and_class_counts() {
        let config = PlantedImagesConfig {
            train: 12,
            test: 10,
            side: 16,
            ..PlantedImagesConfig::default()
        };
        let data = config.generate();
        let changed = |class: Option<&str>, change: &Change| {
            let mut classes = data.train.classes().to_vec();
            let rename = class == Some(RENAMED);
            if let Some(class) = class.filter(|_| !rename) {
                classes[0] = class.to_owned();
            }
            let mut train = Collection::new(classes);
            for index in 0..data.train.len() {
                let image = data.train.get(index);
                let (mut width, mut height, mut pixels) = (image.width, image.height, image.pixels.to_vec());
                let mut label = data.train.labels()[index];
                change(index, &mut width, &mut height, &mut pixels, &mut label);
                let pixels = &pixels;
                let name = if rename && index == 4 {
                    "renamed"
                } else {
                    data.train.name(index)
                };
                train.push_named(name, Image { width, height, pixels }, label);
            }
            let changed = ImageData { train, ..data.clone() };
            DataIdentity::of_images(&data).difference(&DataIdentity::of_images(&changed))
        };
        assert_eq!(changed(None, &|_, _, _, _, _| ()), None);
        let pixel = changed(None, &|index, _, _, pixels, _| pixels[7] ^= u8::from(index == 5));
        assert_eq!(pixel.as_deref(), Some("12 training images then and now, but not the same"));
        let size = changed(None, &|_, width, height, _, _| (*width, *height) = (8, 32));
        assert_eq!(size.as_deref(), Some("12 training images then and now, but not the same"));
        let label = changed(None, &|index, _, _, _, label| {
            if index == 3 {
                *label = None;
            }
        });
        assert_eq!(label.as_deref(), Some("12 labels of training images then and 11 now"));
        let name = changed(Some(RENAMED), &|_, _, _, _, _| ());
        assert_eq!(name.as_deref(), Some("12 training images then and now, but not the same"));
        let class = changed(Some("another"), &|_, _, _, _, _| ());
        assert!(class.unwrap().ends_with("classes then and now, but not the same"));
    }
}
