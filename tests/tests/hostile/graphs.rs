//! Recipes on graphs: numeric keys with invalid values, settings that do not fit together, and broken data sets.

use super::{
    case::{Case, Content},
    keys::ZERO,
    recipes::TRAIN,
};

/// A tiny graph encoder on generated graphs.
pub(crate) const GRAPHS: &str = r#"
name = "tiny"
[data]
dataset = "planted"
planted = { graphs = 60, rings = 1, background = 4 }
[encoder]
kind = "gin"
layers = 2
hidden = 4
[loss]
kind = "bayesian"
[training]
batch_size = 16
epochs = 1
[evaluation]
classifiers = ["rbf_svm"]
folds = 3
inner_folds = 2
c = [1.0]
baselines = ["majority"]
"#;

/// Settings that make the method GraphCL.
pub(crate) const GRAPHCL: &[&str] = &["method.kind=graphcl"];

/// A recipe on the folder that a case brings.
const OWN: &str = "name = 'tiny'\ndata.graphs = 'MINI'\nencoder.kind = 'gin'\nloss.kind = 'info_nce'\n";

/// The numeric keys: the setting with `?` for the value, and the values of the list in `keys.rs` that are valid.
pub(crate) const NUMBERS: [(&str, &[&str]); 20] = [
    ("logging.every=?", ZERO),
    ("data.planted.classes=?", &[]),
    ("data.planted.graphs=?", &[]),
    ("data.planted.rings=?", &[]),
    ("data.planted.background=?", &[]),
    ("data.planted.noise=?", ZERO),
    ("encoder={kind='gin',layers=?}", &[]),
    ("encoder={kind='gin',hidden=?}", &[]),
    ("training.batch_size=?", &[]),
    ("training.max_nodes=?", &["1000000000000", "9223372036854775807"]),
    ("training.gradient_cache=?", &["1000000000000", "9223372036854775807"]),
    ("training.epochs=?", ZERO),
    ("training.accumulate=?", &[]),
    ("optimizer.learning_rate=?", &[]),
    ("loss={kind='info_nce',objective='jsd',temperature=?}", &[]),
    ("evaluation.every=?", ZERO),
    ("evaluation.folds=?", &[]),
    ("evaluation.inner_folds=?", &[]),
    ("evaluation.c=[?]", &[]),
    ("evaluation.wl_rounds=?", ZERO),
];

/// Three graphs: a path of three nodes, a path of three with an isolated fourth, and an edge.
const MINI: [(&str, &str); 4] = [
    ("A", "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n8, 9\n9, 8\n"),
    ("graph_indicator", "1\n1\n1\n2\n2\n2\n2\n3\n3\n"),
    ("graph_labels", "1\n-1\n1\n"),
    ("node_labels", "2\n3\n6\n2\n3\n6\n2\n3\n6\n"),
];

/// A file of the data set with another content, or without it, and words of the error.
#[rustfmt::skip]
const BROKEN: [(&str, Option<&str>, &[&str]); 30] = [
    ("A", None, &["no file that ends in `_A.txt`"]),
    ("A", Some(""), &["MINI_A.txt", "is empty"]),
    ("A", Some("0, 1\n1, 0\n"), &["MINI_A.txt:1:", "numbered from 1 to 9"]),
    ("A", Some("1, 2\n2, 1\n9, 10\n"), &["MINI_A.txt:3:", "node 10"]),
    ("A", Some("1, -2\n"), &["MINI_A.txt:1:", "node -2"]),
    ("A", Some("1, 99999999999999999999\n"), &["MINI_A.txt:1:", "not an integer"]),
    ("A", Some("1 , 2 3\n"), &["MINI_A.txt:1:", "`2 3`"]),
    ("A", Some("1, 2, 0.5\n"), &["MINI_A.txt:1:", "3 value(s)"]),
    ("A", Some("1.5, 2\n"), &["MINI_A.txt:1:", "not an integer"]),
    ("A", Some("row, column\n"), &["MINI_A.txt:1:", "not an integer"]),
    ("A", Some("1, 2\n\n2, 1\n"), &["MINI_A.txt:2:", "blank"]),
    ("A", Some("3, 4\n4, 3\n"), &["MINI_A.txt:1:", "node 4 of graph 2"]),
    ("A", Some("1, 2\n"), &["MINI_A.txt:1:", "symmetrise = true"]),
    ("graph_indicator", None, &["MINI_graph_indicator.txt", "no such file"]),
    ("graph_indicator", Some(""), &["MINI_graph_indicator.txt", "is empty"]),
    ("graph_indicator", Some("0\n0\n0\n1\n1\n1\n1\n2\n2\n"), &["MINI_graph_indicator.txt:1:", "graph id 0"]),
    ("graph_indicator", Some("1\n1\n1\n2\n2\n2\n2\n3\n4\n"), &["MINI_graph_indicator.txt:9:", "graph id 4"]),
    ("graph_indicator", Some("1\n1\n1\n2\n1\n2\n2\n3\n3\n"), &["MINI_graph_indicator.txt:5:", "Sort the nodes"]),
    ("graph_indicator", Some("1\n1\n1\n3\n3\n3\n3\n3\n3\n"), &["graph 2 has no nodes"]),
    ("graph_indicator", Some("1\nb\n"), &["MINI_graph_indicator.txt:2:", "`b`"]),
    ("graph_labels", Some(""), &["MINI_graph_labels.txt", "is empty", "train without evaluation"]),
    ("graph_labels", Some("1\n1\n1\n"), &["MINI_graph_labels.txt", "At least two classes"]),
    ("graph_labels", Some("1\n0.25\n1\n"), &["MINI_graph_labels.txt:2:", "regression"]),
    ("graph_labels", Some("1\n-1\n1\n1\n"), &["graph 4 has no nodes"]),
    ("node_labels", Some("1\n2\n"), &["MINI_node_labels.txt", "has 2 lines"]),
    ("node_labels", Some("1\n2\nC\n1\n2\n5\n1\n2\n5\n"), &["MINI_node_labels.txt:3:", "`C`"]),
    ("node_labels", Some("1\n2\n5\n1\n2\n4000000000\n1\n2\n5\n"), &["MINI_node_labels.txt", "at most 10000"]),
    ("node_attributes", Some("1, 2\n1, x\n"), &["MINI_node_attributes.txt:2:", "`x`"]),
    ("edge_labels", Some("0\n0\n"), &["MINI_edge_labels.txt", "has 2 lines"]),
    // Nothing is broken, but three graphs cannot be divided into ten folds.
    ("edge_labels", None, &["MINI", "evaluation.folds"]),
];

/// Settings of valid values that do not fit together.
const CONTRADICTIONS: [(&[&str], &[&str]); 22] = [
    (
        &["data.graphs=x.zip", "data.dataset=mutag"],
        &["data.graphs", "cannot be combined"],
    ),
    (&["data={dataset='mutag'}", "data.planted.graphs=9"], &["data.planted"]),
    (&["data={dataset='mutagg'}"], &["did you mean \"mutag\"?"]),
    (&["data.node_attributes=true"], &["data.node_attributes", "planted"]),
    (&["data.symmetrise=true"], &["data.symmetrise"]),
    (&["data={graphs='nowhere.zip'}"], &["data.graphs", "nowhere.zip"]),
    (&["data={dataset='ml-100k'}"], &["encoder.kind", "interactions"]),
    (&["encoder.kind=resnet"], &["data.planted.background"]),
    (&["encoder.kind=gcn"], &["encoder.kind", "gin"]),
    (&["loss.tau_plus=density"], &["loss.tau_plus", "graphs"]),
    (&["loss={kind='decoupled',objective='jsd'}"], &["loss.objective", "decoupled"]),
    (
        &["loss={kind='ring',objective='jsd_official'}"],
        &["loss.objective", "debiased, hard"],
    ),
    (&["loss={kind='augmented',running=0.5}"], &["loss.running"]),
    (
        &["loss={kind='hard',objective='jsd'}", "training.gradient_cache=8"],
        &["training.gradient_cache", "jsd"],
    ),
    (&["selection.held_out=0.1"], &["selection.held_out", "graphs"]),
    (&["selection.oracle=true"], &["selection.oracle", "evaluation.every"]),
    (&["training.precision=bf16"], &["training.precision", "graphs"]),
    (&["method.kind=simclr"], &["method.kind", "simclr", "infograph", "graphcl"]),
    (&["method.views.ratio=0.1"], &["method.views", "similarity"]),
    (&["method={kind='graphcl',similarity='dot'}"], &["method.similarity", "views"]),
    (
        &["method={kind='graphcl',views={first=[]}}"],
        &["method.views.first", "is empty", "identity"],
    ),
    (
        &["method={kind='graphcl',views={second=['drop_edges']}}"],
        &["method.views", "drop_edges", "perturb_edges"],
    ),
];

pub(crate) fn cases() -> Vec<Case> {
    let broken = BROKEN.iter().enumerate().map(|(number, &(part, content, words))| {
        let name = format!("graphs: {number}, {part}");
        let mut case = Case::refused(name, &TRAIN, words)
            .with("tiny.toml", OWN)
            .with("MINI", Content::Folder);
        for (of, text) in MINI.iter().filter(|(of, _)| *of != part) {
            case = case.with(&format!("MINI/MINI_{of}.txt"), *text);
        }
        match content {
            Some(text) => case.with(&format!("MINI/MINI_{part}.txt"), text),
            None => case,
        }
    });
    let contradictions = CONTRADICTIONS.iter().map(|(settings, words)| {
        let mut arguments = TRAIN.to_vec();
        arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        Case::refused(format!("graphs: {}", settings.join(" ")), &arguments, words).with("tiny.toml", GRAPHS)
    });
    let other_kinds = [
        Case::refused(
            "recommender: nodes",
            &[&TRAIN[..], &["--set", "training.max_nodes=9"]].concat(),
            &["max_nodes", "interactions"],
        )
        .with("tiny.toml", super::recipes::RECOMMENDER),
        Case::refused(
            "images: nodes",
            &[&TRAIN[..], &["--set", "training.max_nodes=9"]].concat(),
            &["max_nodes", "images"],
        )
        .with("tiny.toml", super::recipes::IMAGES),
    ];
    let fine = [
        Case::fine("graphs: tiny", &TRAIN).with("tiny.toml", GRAPHS),
        Case::fine(
            "graphs: two nodes per batch",
            &[&TRAIN[..], &["--set", "training.max_nodes=2"]].concat(),
        )
        .with("tiny.toml", GRAPHS),
        Case::fine(
            "graphs: one node at a time",
            &[&TRAIN[..], &["--set", "training.gradient_cache=1"]].concat(),
        )
        .with("tiny.toml", GRAPHS),
        Case::fine(
            "graphs: a batch of all",
            &[&TRAIN[..], &["--set", "training.batch_size=10000000"]].concat(),
        )
        .with("tiny.toml", GRAPHS),
        // Every view of a graph is a single node.
        Case::fine(
            "graphs: views at the end of the range",
            &[
                &TRAIN[..],
                &[
                    "--set",
                    "method={kind='graphcl',views={first=['drop_nodes'],second=['subgraph'],ratio=0.999999}}",
                ],
                &["--set", "training.gradient_cache=1"],
            ]
            .concat(),
        )
        .with("tiny.toml", GRAPHS),
    ];
    broken.chain(contradictions).chain(other_kinds).chain(fine).collect()
}
