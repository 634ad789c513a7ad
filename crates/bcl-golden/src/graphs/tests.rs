//! The excerpt is read in full, and what is wrong in a file is named.

use super::*;
use crate::GRAPHS;
use serde_json::json;

/// The error of reading a changed excerpt.
fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut golden: Value = serde_json::from_slice(&std::fs::read(GRAPHS).unwrap()).unwrap();
    change(&mut golden);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graphs.json");
    std::fs::write(&path, golden.to_string()).unwrap();
    GraphFile::read(&path).expect_err("a changed file").to_string()
}

#[test]
fn the_excerpt_has_encoders_losses_and_a_pipeline() {
    let file = GraphFile::read(GRAPHS).unwrap_or_else(|error| panic!("{error}"));
    assert!(GraphFile::is_one(GRAPHS).unwrap());
    assert!(!GraphFile::is_one(crate::LOSSES).unwrap() && !GraphFile::is_one(crate::FRAMEWORKS).unwrap());
    let ids: Vec<_> = file.encoders.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["gin-tiny3", "gin-ragged4", "gin-tiny3-xu2019"]);
    assert_eq!((file.cases.len(), file.pipelines.len()), (97, 1));

    let ragged = &file.encoders[1];
    assert!(ragged.encoder.learns_epsilon && ragged.eval.gradients.contains_key("layers.1.eps"));
    assert_eq!(ragged.encoder.layers[0].epsilon, 0.25);
    let batch = file.batch_of_encoder(ragged);
    assert_eq!((batch.num_nodes(), batch.num_graphs()), (17, 4));
    assert_eq!(batch.node_offsets, [0, 1, 7, 10, 17]);
    assert_eq!(batch.edge_offsets[..3], [0, 0, 5]);
    assert_eq!(batch.neighbours[..6], [2, 3, 4, 5, 6, 1]);

    let pipeline = &file.pipelines[0];
    assert_eq!(file.batch_of_pipeline(pipeline).num_graphs(), 3);
    let objectives: Vec<_> = pipeline.losses.iter().map(|loss| loss.loss.objective.as_str()).collect();
    assert_eq!(objectives, ["jsd", "jsd", "jsd_official", "nce"]);
}

#[test]
fn all_estimators_of_losses_are_known() {
    let file = GraphFile::read(GRAPHS).unwrap();
    for case in &file.cases {
        let table = case
            .loss
            .estimator
            .table()
            .unwrap_or_else(|problem| panic!("{}: {problem}", case.id));
        let has_no_temperature = case.loss.objective != "nce";
        assert_eq!(table["temperature"] == 1.0, has_no_temperature, "{}", case.id);
    }
    let official: Vec<_> = file
        .cases
        .iter()
        .filter(|case| case.loss.objective == "jsd_official")
        .collect();
    assert!(!official.is_empty());
    assert!(
        official
            .iter()
            .all(|case| case.loss.estimator.table().unwrap()["kind"] == "hard")
    );
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 12] = [
        (
            |golden| golden["batches"]["tiny3"]["edges"][0] = json!([0, 3]),
            "batch tiny3: the edge",
        ),
        (
            |golden| golden["batches"]["tiny3"]["edges"][0] = json!([0, 99]),
            "outside its 11 nodes",
        ),
        (
            |golden| golden["batches"]["tiny3"]["edges"][0] = json!([1, 0]),
            "an edge occurs twice",
        ),
        (
            |golden| golden["batches"]["tiny3"]["graph_sizes"] = json!([5, 4, 2]),
            "`graph_sizes` and `node_graph` contradict",
        ),
        (
            |golden| golden["batches"]["tiny3"]["graph_sizes"] = json!([u64::MAX, 1, 11]),
            "`graph_sizes` and `node_graph` contradict",
        ),
        (
            |golden| golden["gin"][0]["batch"] = json!("none"),
            "encoder gin-tiny3: its batch `none`",
        ),
        (
            |golden| golden["gin"][0]["order"] = json!("other"),
            "its order `other` is unknown",
        ),
        (
            |golden| golden["gin"][0]["layers"][1]["w2"][0] = json!([1.0]),
            "`layers.1.w2` must be a table of 4 rows of 4 numbers",
        ),
        (
            |golden| golden["gin"][0]["eval"]["gradients"]["layers.7.w1"] = json!([1.0]),
            "there is no weight `layers.7.w1`",
        ),
        (
            |golden| golden["gin"][0]["train"]["norms"] = json!([]),
            "norms has 0 entries, but must have 3",
        ),
        (
            |golden| golden["cases"][0]["shape"] = json!("none"),
            "its shape `none` is not among `shapes`",
        ),
        (
            |golden| golden["pipelines"][0]["local"]["biases"][0] = json!([1.0]),
            "pipeline pipeline-tiny3: the bias of local.weights has 1 entries",
        ),
    ];
    for (change, expected) in changes {
        let found = refusal(change);
        assert!(found.contains(expected), "{found}");
    }
}
