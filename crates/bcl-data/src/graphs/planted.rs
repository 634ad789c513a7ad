//! Synthetic graphs with planted classes, for which the false negatives are known.

use super::{GraphData, LabelledGraph};
use crate::error::shown;
use crate::planted::{holds, in_range};
use crate::{DataError, Seed, Xoshiro256PlusPlus};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Number of nodes of a ring.
const RING: usize = 6;
/// Number of node labels.
const NUM_LABELS: i64 = 3;
/// Maximum number of nodes of all graphs.
const MOST_NODES: usize = 50_000_000;

/// The labels around a ring, one arrangement per class. Each has every label twice, and none is another one turned or mirrored.
const ARRANGEMENTS: [[i64; RING]; 8] = [
    [0, 0, 1, 1, 2, 2],
    [0, 1, 2, 0, 1, 2],
    [0, 1, 0, 2, 1, 2],
    [0, 0, 1, 2, 2, 1],
    [0, 0, 1, 2, 1, 2],
    [1, 1, 0, 2, 0, 2],
    [2, 2, 0, 1, 0, 1],
    [1, 1, 0, 2, 2, 0],
];

/// Configuration of planted graphs: rings of six nodes hang on a random tree, and the arrangement of the labels around its rings
/// is the class of a graph.
///
/// Every ring has each of three labels twice, in any class. All else is random and carries no information about the class: the
/// number of rings and of other nodes, which vary between half and one and a half times their means; the tree and a few further
/// edges; the labels outside rings; where rings are attached; the numbering of the nodes. Hence sizes, degrees and counts of
/// labels say nothing about the class, nor does the structure without labels or the labels without structure. Message passing,
/// however, sees which labels are neighbours, so graph encoders can find the classes.
///
/// With probability `noise`, a ring has the arrangement of another class. The labels of the graphs are the truth: two graphs of
/// the same class are false negatives of each other.
///
/// Graph `i` has the class `i % classes`. Its structure depends only on the seed and `i`.
///
/// ```
/// use bcl_data::graphs::PlantedGraphsConfig;
///
/// let graphs = PlantedGraphsConfig { graphs: 30, seed: 7, ..PlantedGraphsConfig::default() }.generate();
/// assert_eq!((graphs.num_graphs(), graphs.num_classes(), graphs.num_features()), (30, 3, 3));
/// assert_eq!(graphs.labels()[..4], [0, 1, 2, 0]);
/// assert_eq!(graphs.classes()[0], "AABBCC"); // the labels around its rings
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlantedGraphsConfig {
    /// Number of classes, in [2, 8].
    pub classes: usize,
    /// Number of graphs, at least two per class. All together may have 50,000,000 nodes.
    pub graphs: usize,
    /// Mean number of rings per graph, in [1, 1000].
    pub rings: usize,
    /// Mean number of nodes outside rings per graph, in [1, 10,000].
    pub background: usize,
    /// Probability that a ring has the arrangement of another class, in [0, 1).
    pub noise: f64,
    /// Seed of the graphs.
    pub seed: u64,
}

impl Default for PlantedGraphsConfig {
    fn default() -> Self {
        Self {
            classes: 3,
            graphs: 300,
            rings: 4,
            background: 12,
            noise: 0.1,
            seed: 0,
        }
    }
}

impl PlantedGraphsConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range.
    pub fn check(&self) -> Result<(), DataError> {
        in_range("classes", self.classes, 2, ARRANGEMENTS.len())?;
        in_range("rings", self.rings, 1, 1000)?;
        in_range("background", self.background, 1, 10_000)?;
        let most_nodes = 3 * (self.rings * RING + self.background) / 2;
        in_range("graphs", self.graphs, 2 * self.classes, MOST_NODES / most_nodes)?;
        holds("noise", shown(self.noise), (0.0..1.0).contains(&self.noise), "[0, 1)")
    }

    /// Generates the graphs. The result is the same on every machine and for any number of threads.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn generate(&self) -> GraphData {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        let seed = Seed(self.seed).named("planted graphs");
        let graphs: Vec<LabelledGraph> = (0..self.graphs)
            .into_par_iter()
            .map(|index| self.draw(index % self.classes, seed.index(index as u64)))
            .collect();
        let names = ARRANGEMENTS[..self.classes].iter().map(name);
        GraphData::from_graphs("planted-graphs", names, graphs)
    }

    /// Draws a graph. All but the arrangements is drawn without the class: with the same seed, another class has the same
    /// structure.
    fn draw(&self, class: usize, seed: Seed) -> LabelledGraph {
        let mut rng = seed.rng();
        let background = about(self.background, &mut rng);
        let rings = about(self.rings, &mut rng);

        let mut edges = Vec::new();
        let mut labels: Vec<i64> = (0..background).map(|_| rng.random_range(0..NUM_LABELS)).collect();
        for node in 1..background {
            edges.push((rng.random_range(0..node) as u32, node as u32));
        }
        // Repeated edges and self-loops are dropped later.
        for _ in 0..background / 4 {
            edges.push((rng.random_range(0..background) as u32, rng.random_range(0..background) as u32));
        }
        let mut noise = seed.named("noise").rng();
        for _ in 0..rings {
            let first = labels.len();
            let arrangement = ARRANGEMENTS[self.class_of_ring(class, &mut noise)];
            // Every ring is attached at its first node. A random rotation gives that node any label.
            let rotation = rng.random_range(0..RING);
            labels.extend((0..RING).map(|node| arrangement[(node + rotation) % RING]));
            edges.extend((0..RING).map(|node| ((first + node) as u32, (first + (node + 1) % RING) as u32)));
            edges.push((rng.random_range(0..background) as u32, first as u32));
        }
        renumbered(edges, &labels, class, &mut rng)
    }

    /// The class itself or, with probability `noise`, another one.
    fn class_of_ring(&self, class: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
        let is_other = rng.random::<f64>() < self.noise;
        let step = rng.random_range(1..self.classes);
        if is_other { (class + step) % self.classes } else { class }
    }
}

/// A number between half and one and a half times `mean`, uniformly.
fn about(mean: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    let half = mean / 2;
    rng.random_range(mean - half..=mean + half)
}

/// The graph with its nodes in random order.
fn renumbered(edges: Vec<(u32, u32)>, labels: &[i64], class: usize, rng: &mut Xoshiro256PlusPlus) -> LabelledGraph {
    let mut number: Vec<u32> = (0..labels.len() as u32).collect();
    number.shuffle(rng);
    let mut node_labels = vec![0; labels.len()];
    for (&number, &label) in number.iter().zip(labels) {
        node_labels[number as usize] = label;
    }
    LabelledGraph {
        num_nodes: labels.len() as u32,
        edges: edges
            .into_iter()
            .map(|(a, b)| (number[a as usize], number[b as usize]))
            .collect(),
        node_labels,
        class: class as u32,
    }
}

/// The labels around a ring as letters.
fn name(arrangement: &[i64; RING]) -> String {
    arrangement.iter().map(|&label| char::from(b'A' + label as u8)).collect()
}

#[cfg(test)]
mod tests;
