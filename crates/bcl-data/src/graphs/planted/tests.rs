//! Planted graphs are the same everywhere, and their class is in the arrangement of labels alone.

use super::*;
use crate::graphs::Graph;
use std::collections::{BTreeSet, HashMap};

fn config() -> PlantedGraphsConfig {
    PlantedGraphsConfig::default()
}

fn all(data: &GraphData) -> impl Iterator<Item = Graph<'_>> {
    (0..data.num_graphs() as u32).map(|index| data.graph(index))
}

/// Accuracy of a linear rule, the nearest class mean of standardised columns: the second half of the graphs by the means of the
/// first half.
fn accuracy_of_class_means(data: &GraphData, features: impl Fn(Graph) -> Vec<f64>) -> f64 {
    let mut rows: Vec<Vec<f64>> = all(data).map(features).collect();
    let count = rows.len() as f64;
    for column in 0..rows[0].len() {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let std = (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt();
        for row in &mut rows {
            row[column] = (row[column] - mean) / std.max(1e-9);
        }
    }
    let half = rows.len() / 2;
    let mut means = vec![vec![0.0; rows[0].len()]; data.num_classes()];
    for (row, &label) in rows[..half].iter().zip(data.labels()) {
        let of_class = data.labels()[..half].iter().filter(|other| **other == label).count() as f64;
        for (mean, value) in means[label as usize].iter_mut().zip(row) {
            *mean += value / of_class;
        }
    }
    let right = (half..rows.len()).filter(|&index| {
        let distance = |mean: &Vec<f64>| mean.iter().zip(&rows[index]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let nearest = (0..means.len()).min_by(|&a, &b| distance(&means[a]).total_cmp(&distance(&means[b])));
        nearest == Some(data.labels()[index] as usize)
    });
    right.count() as f64 / (rows.len() - half) as f64
}

/// Sizes, label counts and degree counts: all that is known without looking at which labels are neighbours.
fn counts(graph: Graph) -> Vec<f64> {
    let mut counts = vec![0.0; 2 + 3 + 6];
    counts[0] = graph.num_nodes() as f64;
    counts[1] = graph.num_edges() as f64;
    for (node, &label) in (0..).zip(graph.node_labels().unwrap()) {
        counts[2 + label as usize] += 1.0;
        counts[5 + graph.neighbours(node).len().min(5)] += 1.0;
    }
    counts
}

/// How often each label has each pair of labels among its neighbours: what one layer of message passing sees.
fn neighbourhoods(graph: Graph) -> Vec<f64> {
    let labels = graph.node_labels().unwrap();
    let mut counts = vec![0.0; 27];
    for node in 0..graph.num_nodes() as u32 {
        let around = graph.neighbours(node);
        for a in around {
            for b in around.iter().filter(|b| *b > a) {
                let (low, high) = (
                    labels[*a as usize].min(labels[*b as usize]),
                    labels[*a as usize].max(labels[*b as usize]),
                );
                counts[(9 * labels[node as usize] + 3 * low + high) as usize] += 1.0;
            }
        }
    }
    counts
}

#[test]
fn counts_do_not_determine_the_class_and_neighbourhoods_do() {
    for classes in [2, 3, 8] {
        let data = PlantedGraphsConfig {
            classes,
            graphs: 2000,
            ..config()
        }
        .generate();
        let chance = 1.0 / classes as f64;
        let (counted, seen) = (
            accuracy_of_class_means(&data, counts),
            accuracy_of_class_means(&data, neighbourhoods),
        );
        println!("{classes} classes: counts {counted:.3}, neighbourhoods {seen:.3}, chance {chance:.3}");
        // Binomial with 1,000 graphs: the standard deviation is at most 0.016.
        assert!((counted - chance).abs() < 0.05, "{classes}: {counted}");
        assert!(seen > 0.75 + 0.25 * chance, "{classes}: {seen}");
    }
}

#[test]
fn another_class_in_the_same_circumstances_has_the_same_structure_and_label_counts() {
    let config = PlantedGraphsConfig { noise: 0.0, ..config() };
    let sorted = |mut labels: Vec<i64>| {
        labels.sort_unstable();
        labels
    };
    for seed in 0..20 {
        let [first, second] = [0, 1].map(|class| config.draw(class, Seed(seed)));
        assert_eq!((first.num_nodes, &first.edges), (second.num_nodes, &second.edges));
        assert_ne!(first.node_labels, second.node_labels);
        assert_eq!(sorted(first.node_labels), sorted(second.node_labels));
    }
}

#[test]
fn arrangements_have_every_label_twice_and_differ_when_turned_or_mirrored() {
    let smallest_form = |arrangement: [i64; RING]| {
        let turned = |start: usize, step: usize| [0, 1, 2, 3, 4, 5].map(|node| arrangement[(start + step * node) % RING]);
        (0..RING)
            .flat_map(|start| [turned(start, 1), turned(start, RING - 1)])
            .min()
            .unwrap()
    };
    assert_eq!(
        ARRANGEMENTS.map(smallest_form).into_iter().collect::<BTreeSet<_>>().len(),
        ARRANGEMENTS.len()
    );
    for arrangement in ARRANGEMENTS {
        let mut sorted = arrangement;
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 0, 1, 1, 2, 2]);
    }
    assert_eq!(
        ARRANGEMENTS.iter().map(name).collect::<BTreeSet<_>>().len(),
        ARRANGEMENTS.len()
    );
}

#[test]
fn equal_configurations_give_equal_graphs_and_seeds_matter() {
    let on_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| config().generate())
    };
    assert_eq!(on_threads(1), on_threads(4));
    assert_ne!(config().generate(), PlantedGraphsConfig { seed: 1, ..config() }.generate());
}

#[test]
fn more_graphs_leave_the_first_ones_unchanged() {
    let (few, many) = (PlantedGraphsConfig { graphs: 10, ..config() }.generate(), config().generate());
    for index in 0..10 {
        let (a, b) = (few.graph(index), many.graph(index));
        assert_eq!(a.node_labels(), b.node_labels());
        assert!((0..a.num_nodes() as u32).all(|node| a.neighbours(node) == b.neighbours(node)));
    }
}

#[test]
fn classes_are_balanced_and_not_in_blocks() {
    let data = config().generate();
    let mut of_class: HashMap<u32, usize> = HashMap::new();
    for &label in data.labels() {
        *of_class.entry(label).or_default() += 1;
    }
    assert!(of_class.values().all(|&count| count == 100));
    assert!(data.labels().windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn sizes_vary_around_their_means() {
    let data = config().generate();
    let sizes: Vec<usize> = all(&data).map(Graph::num_nodes).collect();
    // 2 to 6 rings of six nodes, and 6 to 18 other nodes.
    assert!(sizes.iter().all(|size| (18..=54).contains(size)));
    let mean = sizes.iter().sum::<usize>() as f64 / 300.0;
    assert!((mean - 36.0).abs() < 2.0, "{mean}");
    assert!(sizes.iter().collect::<BTreeSet<_>>().len() > 20);
}

#[test]
fn every_graph_is_connected() {
    for graph in all(&config().generate()) {
        let mut seen = BTreeSet::from([0]);
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            open.extend(graph.neighbours(node).iter().filter(|neighbour| seen.insert(**neighbour)));
        }
        assert_eq!(seen.len(), graph.num_nodes());
    }
}

#[test]
fn the_noise_is_the_share_of_rings_of_another_class() {
    for noise in [0.0, 0.3] {
        let config = PlantedGraphsConfig { noise, ..config() };
        let mut rng = Seed(5).rng();
        let others = (0..4000).filter(|_| config.class_of_ring(1, &mut rng) != 1).count();
        // Binomial with 4,000 draws: the standard deviation is at most 0.0073.
        assert!((others as f64 / 4000.0 - noise).abs() < 0.025, "{noise}: {others}");
    }
}

#[test]
fn the_smallest_and_the_most_noisy_settings_end() {
    let smallest = PlantedGraphsConfig {
        classes: 2,
        graphs: 4,
        rings: 1,
        background: 1,
        ..config()
    };
    assert!(smallest.generate().num_nodes() >= 4 * 7);
    let extreme = PlantedGraphsConfig {
        classes: 8,
        graphs: 16,
        rings: 1000,
        background: 10_000,
        noise: 0.99,
        seed: u64::MAX,
    };
    assert!(extreme.generate().num_nodes() > 16 * 8000);
}

#[test]
fn settings_out_of_range_are_named_with_their_range() {
    let cases = [
        (
            PlantedGraphsConfig { classes: 1, ..config() },
            "data.planted.classes is 1, but must be in [2, 8]",
        ),
        (PlantedGraphsConfig { classes: 9, ..config() }, "data.planted.classes is 9"),
        (
            PlantedGraphsConfig { graphs: 5, ..config() },
            "data.planted.graphs is 5, but must be in [6, ",
        ),
        (
            PlantedGraphsConfig {
                graphs: usize::MAX,
                ..config()
            },
            "data.planted.graphs is 18446744073709551615",
        ),
        (
            PlantedGraphsConfig { rings: 0, ..config() },
            "data.planted.rings is 0, but must be in [1, 1000]",
        ),
        (
            PlantedGraphsConfig {
                rings: usize::MAX,
                ..config()
            },
            "data.planted.rings",
        ),
        (
            PlantedGraphsConfig {
                background: 0,
                ..config()
            },
            "data.planted.background is 0, but must be in [1, 10000]",
        ),
        (
            PlantedGraphsConfig { noise: 1.0, ..config() },
            "data.planted.noise is 1, but must be in [0, 1)",
        ),
        (
            PlantedGraphsConfig {
                noise: f64::NAN,
                ..config()
            },
            "data.planted.noise is NaN",
        ),
    ];
    for (config, text) in cases {
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn unknown_keys_are_refused() {
    let error = toml::from_str::<PlantedGraphsConfig>("graph = 3").unwrap_err();
    assert!(error.to_string().contains("graph"), "{error}");
}
