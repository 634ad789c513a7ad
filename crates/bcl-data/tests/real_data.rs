//! Tests with the published files, which are not part of the project: `BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored`,
//! where DIR is the folder that contains them.

use bcl_data::graphs::{GraphData, GraphOptions, NodeFeatures};
use bcl_data::{DataError, Manifest, load_named};
use std::collections::HashMap;
use std::path::PathBuf;

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored"]
fn every_downloaded_data_set_has_the_counts_of_its_manifest() {
    let dir = data_folder();
    let mut loaded = 0;
    for manifest in Manifest::all()
        .iter()
        .filter(|manifest| manifest.counts.interactions.is_some())
    {
        match load_named(&manifest.name, &dir) {
            Ok(data) => {
                loaded += 1;
                let overlap = data.test.pairs().filter(|&(user, item)| data.train.contains(user, item));
                assert_eq!(overlap.count(), 0, "{}", manifest.name);
            }
            Err(DataError::MissingDataset { name, .. }) => eprintln!("skipped: no {name}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(loaded > 0, "no data set in {}", dir.display());
}

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored"]
fn a_data_set_loads_equally_from_its_alternative_files() {
    let dir = data_folder();
    let inter = dir.join("ml-100k/ml-100k.inter");
    assert!(inter.is_file(), "{} is missing", inter.display());
    let only_inter = tempfile::tempdir().unwrap();
    std::fs::copy(inter, only_inter.path().join("ml-100k.inter")).unwrap();
    assert_eq!(
        load_named("ml-100k", &dir).unwrap(),
        load_named("ml-100k", only_inter.path()).unwrap()
    );
}

/// What is known of a data set of graphs beyond its manifest.
struct Known {
    name: &'static str,
    median: f64,
    mean: f64,
    edge_labels: usize,
    /// Number of graphs that Weisfeiler-Lehman colours cannot tell from another one, and how many of them have a twin of another class.
    twins: [usize; 2],
}

#[rustfmt::skip]
const GRAPHS: [Known; 6] = [
    Known { name: "mutag", median: 17.5, mean: 17.93, edge_labels: 4, twins: [24, 0] },
    Known { name: "ptc-mr", median: 13.0, mean: 14.29, edge_labels: 4, twins: [31, 6] },
    Known { name: "enzymes", median: 32.0, mean: 32.63, edge_labels: 0, twins: [10, 0] },
    Known { name: "proteins", median: 26.0, mean: 39.06, edge_labels: 0, twins: [63, 15] },
    Known { name: "dd", median: 241.0, mean: 284.32, edge_labels: 0, twins: [0, 0] },
    Known { name: "reddit-binary", median: 304.5, mean: 429.63, edge_labels: 0, twins: [4, 0] },
];

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored"]
fn every_downloaded_data_set_of_graphs_has_its_published_properties() {
    let dir = data_folder();
    for known in GRAPHS {
        let manifest = Manifest::find(known.name).unwrap();
        let path = match manifest.locate_graphs(&dir) {
            Ok(path) => path,
            Err(DataError::MissingDataset { name, .. }) => {
                eprintln!("skipped: no {name} in {}", dir.display());
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let (data, report) = manifest.load_graphs(&path, &GraphOptions::default()).unwrap();
        assert_eq!(report.edge_lines, data.num_directed_edges(), "{}", known.name);
        assert_eq!((report.self_loops, report.repeats, report.added_reverses), (0, 0, 0));

        let mut sizes: Vec<usize> = (0..data.num_graphs() as u32).map(|graph| data.nodes_of(graph)).collect();
        sizes.sort_unstable();
        let middle = sizes.len() / 2;
        let median = if sizes.len().is_multiple_of(2) {
            f64::midpoint(sizes[middle - 1] as f64, sizes[middle] as f64)
        } else {
            sizes[middle] as f64
        };
        let mean = data.num_nodes() as f64 / sizes.len() as f64;
        assert_eq!(median, known.median, "{}", known.name);
        assert!((mean - known.mean).abs() < 0.005, "{}: {mean}", known.name);
        assert_eq!(edge_labels(&data), known.edge_labels, "{}", known.name);
        assert_eq!(twins(&data), known.twins, "{}", known.name);
    }
}

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored"]
fn features_of_reddit_are_its_standardised_degrees_and_enzymes_has_attributes_on_request() {
    let dir = data_folder();
    let load = |name: &str, options| {
        let manifest = Manifest::find(name).unwrap();
        let path = manifest
            .locate_graphs(&dir)
            .inspect_err(|error| eprintln!("skipped: {error}"))
            .ok()?;
        Some(manifest.load_graphs(&path, &options).unwrap().0)
    };
    if let Some(reddit) = load("reddit-binary", GraphOptions::default()) {
        let feature = f64::from(reddit.batch(&[0]).features[0]);
        let degree = f64::from(reddit.degrees()[0]);
        assert!(
            (feature - (degree - 2.317_145) / 20.667_635).abs() < 1e-6,
            "{degree}: {feature}"
        );
    }
    let with_attributes = GraphOptions {
        features: NodeFeatures::Auto,
        node_attributes: true,
        symmetrise: false,
    };
    if let Some(enzymes) = load("enzymes", with_attributes) {
        let row = enzymes.graph(0).features(0);
        assert_eq!(
            (row.len(), row[..3].to_vec(), &row[18..]),
            (21, vec![11.0, 15.887_014, 37.78], &[1.0, 0.0, 0.0][..])
        );
    }
}

fn edge_labels(data: &GraphData) -> usize {
    let mut labels = data.edge_labels().unwrap_or_default().to_vec();
    labels.sort_unstable();
    labels.dedup();
    labels.len()
}

/// Numbers of graphs with a twin, and with a twin of another class, after ten rounds of Weisfeiler-Lehman colouring by hashes.
fn twins(data: &GraphData) -> [usize; 2] {
    let mix = |value: u64| {
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    };
    let mut of_signature: HashMap<u64, Vec<u32>> = HashMap::new();
    for index in 0..data.num_graphs() as u32 {
        let graph = data.graph(index);
        let nodes = 0..graph.num_nodes() as u32;
        let mut colours: Vec<u64> = match graph.node_labels() {
            Some(labels) => labels.iter().map(|&label| mix(label as u64 + 1)).collect(),
            None => vec![1; graph.num_nodes()],
        };
        for _ in 0..10 {
            let colour = |node: u32| {
                let around = graph.neighbours(node).iter().map(|&other| mix(colours[other as usize]));
                mix(colours[node as usize]
                    .wrapping_mul(3)
                    .wrapping_add(around.fold(7, u64::wrapping_add)))
            };
            colours = nodes.clone().map(colour).collect();
        }
        let signature = colours.into_iter().map(mix).fold(0, u64::wrapping_add);
        of_signature.entry(signature).or_default().extend(graph.class());
    }
    let groups = of_signature.values().filter(|classes| classes.len() > 1);
    groups.fold([0, 0], |[all, other], classes| {
        let mixed = classes.iter().any(|class| *class != classes[0]);
        [all + classes.len(), other + if mixed { classes.len() } else { 0 }]
    })
}

fn data_folder() -> PathBuf {
    PathBuf::from(std::env::var_os("BCL_DATA").expect("BCL_DATA must be the folder with the data sets"))
}
