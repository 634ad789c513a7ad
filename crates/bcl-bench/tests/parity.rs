//! Runs the program on valid, wrong and ill-formed reference files.
//!
//! The valid one has a few cases of the reference values in `bcl-golden`.

use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};
use tempfile::TempDir;

const CASES: [&str; 8] = [
    "public-4x8-001",
    "public-4x8-016",
    "public-4x8-018",
    "public-4x8-022",
    "public-4x8-129",
    "public-4x8-146",
    "public-4x8-193",
    "public-4x8-194",
];

/// The cases of [`CASES`] and three rows of weights.
fn few_cases() -> Value {
    let mut golden: Value = serde_json::from_slice(&fs::read(bcl_golden::LOSSES).expect("the file")).expect("JSON");
    let shapes = golden["shapes"].as_object_mut().expect("views by name");
    shapes.retain(|name, _| name == "4x8");
    let cases = golden["cases"].as_array_mut().expect("cases");
    cases.retain(|case| CASES.iter().any(|id| case["id"] == *id));
    cases.sort_by_key(|case| case["id"].to_string());
    golden["weights"].as_array_mut().expect("rows").truncate(3);
    golden
}

/// A changed copy of these in its own folder.
struct Copy {
    folder: TempDir,
    golden: Value,
    arrays: Vec<(String, Vec<usize>, Vec<f64>)>,
}

impl Copy {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            golden: few_cases(),
            arrays: Vec::new(),
        }
    }

    fn changed(change: impl FnOnce(&mut Value)) -> Self {
        let mut copy = Self::new();
        change(&mut copy.golden);
        copy
    }

    /// Moves everything long from the JSON to the `.safetensors` file.
    fn with_arrays() -> Self {
        let mut copy = Self::new();
        let Self { golden, arrays, .. } = &mut copy;
        let shape = std::mem::replace(&mut golden["shapes"]["4x8"], json!("safetensors: inputs/4x8/out_1, …"));
        for view in ["out_1", "out_2"] {
            let rows = shape[view].as_array().expect("rows").iter().flat_map(numbers).collect();
            arrays.push((format!("inputs/4x8/{view}"), vec![4, 8], rows));
        }
        for case in golden["cases"].as_array_mut().expect("cases") {
            let id = case["id"].as_str().expect("an id").to_owned();
            if case.get("u").is_some() {
                arrays.push((format!("u/{id}"), vec![8], numbers(&case["u"])));
                case["u"] = Value::Null;
            }
            for (gradient, view) in [("grad_1", "out_1"), ("grad_2", "out_2")] {
                let values = numbers(&case[gradient]);
                case[gradient] = json!({"l2": 0.0, "head": [], "probe": [0.0, 0.0]});
                arrays.push((format!("grad/{id}/{view}"), vec![4, 8], values));
            }
            case["full_grad"] = json!(true);
        }
        copy
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("reference.json")
    }

    fn run(&self, options: &[&str]) -> Output {
        fs::write(self.path(), self.golden.to_string()).expect("a written file");
        if !self.arrays.is_empty() {
            let bytes: Vec<Vec<u8>> = self.arrays.iter().map(|(_, _, values)| to_bytes(values)).collect();
            let views = self.arrays.iter().zip(&bytes).map(|((key, shape, _), bytes)| {
                let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, shape.clone(), bytes);
                (key.clone(), view.expect("bytes of that shape"))
            });
            let file = safetensors::serialize(views, None).expect("arrays");
            fs::write(self.path().with_extension("safetensors"), file).expect("a written file");
        }
        parity(&self.path(), options)
    }
}

fn parity(file: &std::path::Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        // Started as by a shell. With cargo's variables of this test, the program would build the backend.
        .env_remove("CARGO_PKG_NAME")
        .arg("parity")
        .arg(file)
        .args(options)
        .output()
        .expect("the program starts")
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .expect("numbers")
        .iter()
        .map(|x| x.as_f64().expect("a number"))
        .collect()
}

fn to_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_refused(output: &Output, expected: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    for part in expected {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn a_correct_file_passes_with_a_row_per_estimator() {
    let output = Copy::new().run(&[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for estimator in [
        "info nce",
        "debiased",
        "hard",
        "positive unlabelled",
        "bayesian, exact",
        "bayesian, official",
    ] {
        assert!(text.contains(estimator), "{estimator} is not in:\n{text}");
    }
    assert!(!text.contains("FAIL"), "{text}");
}

#[test]
fn the_excerpt_of_the_golden_file_passes_in_both_precisions() {
    let output = parity(bcl_golden::LOSSES.as_ref(), &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!((&report["passed"], &report["failures"]), (&json!(true), &json!([])));
}

#[test]
fn arrays_beside_the_file_serve_as_well_as_those_inside() {
    let output = Copy::with_arrays().run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn any_wrong_value_fails_by_name() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 6] = [
        (
            |golden| scale(&mut golden["cases"][0]["loss"]),
            "case public-4x8-001, f64: the loss",
        ),
        (
            |golden| scale(&mut golden["cases"][1]["Ng_head"][3]),
            "case public-4x8-016, f64: the Ng",
        ),
        (
            |golden| scale(&mut golden["cases"][2]["grad_1"][0]),
            "case public-4x8-018, f64: the gradient",
        ),
        (
            |golden| scale(&mut golden["cases"][7]["grad_2"][4]),
            "case public-4x8-194, f64: the gradient",
        ),
        (|golden| scale(&mut golden["weights"][1]["ecdf"][0]), "the ecdf is off"),
        (
            |golden| scale(&mut golden["weights"][2]["omega_official"][0]),
            "the omega official, estimator is off",
        ),
    ];
    for (change, expected) in changes {
        let output = Copy::changed(change).run(&["--dtype", "f64"]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
}

fn scale(value: &mut Value) {
    *value = json!(value.as_f64().expect("a number") * (1.0 + 1e-6));
}

#[test]
fn json_lists_every_failure() {
    let output = Copy::changed(|golden| scale(&mut golden["cases"][0]["loss"])).run(&["--json", "--dtype", "f64"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["passed"], false);
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["failures"][0]["quantity"], "loss");
    assert_eq!(report["rows"][0]["failed"], 1);
}

#[test]
fn ill_formed_cases_are_refused_by_file_case_and_problem() {
    type Change = fn(&mut Value);
    let changes: [(Change, &[&str]); 11] = [
        (
            |g| g["cases"][0]["est"] = json!("triplet"),
            &["case public-4x8-001", "`triplet` is unknown; known are simclr"],
        ),
        (
            |g| g["cases"][1]["tau"] = Value::Null,
            &["case public-4x8-016", "`dcl` needs `tau`"],
        ),
        (
            |g| g["cases"][1]["tau"] = json!(1.5),
            &["case public-4x8-016", "tau_plus is 1.5, but must be in [0, 1)"],
        ),
        (|g| g["cases"][0]["loss"] = json!("low"), &["case public-4x8-001", "string"]),
        (|g| g["cases"][0]["id"] = Value::Null, &["case number 1"]),
        (
            |g| g["cases"][0]["shape"] = json!("9x9"),
            &["case public-4x8-001", "`9x9` is not among `shapes`"],
        ),
        (
            |g| g["cases"][0]["grad_2"] = json!([1.0]),
            &["grad/public-4x8-001/out_2 has 1 values", "requires 32"],
        ),
        (
            |g| g["cases"][6]["u"] = json!([1.0, 2.0]),
            &["case public-4x8-193", "u has 2 values", "requires 8"],
        ),
        (
            |g| g["shapes"]["4x8"]["out_2"] = json!([[1.0, 0.0]]),
            &["shape 4x8", "out_2 is [1, 2]", "[4, 8]"],
        ),
        (
            |g| g["weights"][0]["omega_exact"] = json!([1.0]),
            &["weights row 1", "`omega_exact` has 1 values"],
        ),
        (|g| g["weights"][0]["alpha"] = json!(0.2), &["weights row 1", "alpha is 0.2"]),
    ];
    for (change, expected) in changes {
        let output = Copy::changed(change).run(&[]);
        assert_refused(&output, expected);
        assert_refused(&output, &["reference.json"]);
    }
}

#[test]
fn files_without_reference_values_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("reference.json");
    assert_refused(&parity(&file, &[]), &["cannot read", "reference.json"]);
    fs::write(&file, "{\n\"cases\": [").expect("a written file");
    assert_refused(&parity(&file, &[]), &["reference.json: line 2"]);
    fs::write(&file, "{}").expect("a written file");
    assert_refused(&parity(&file, &[]), &["neither `cases` nor `weights`"]);
}

#[test]
fn a_missing_array_is_refused_by_its_key() {
    for key in ["inputs/4x8/out_2", "u/public-4x8-194", "grad/public-4x8-016/out_1"] {
        let mut copy = Copy::with_arrays();
        copy.arrays.retain(|(name, ..)| name != key);
        assert_refused(&copy.run(&[]), &["reference.safetensors", key]);
    }
    let mut copy = Copy::with_arrays();
    copy.arrays.clear();
    assert_refused(
        &copy.run(&[]),
        &["reference.safetensors", "shape 4x8", "this file does not exist"],
    );
}

#[test]
fn a_broken_array_file_is_refused() {
    let copy = Copy::new();
    fs::write(copy.path().with_extension("safetensors"), [1, 2, 3]).expect("a written file");
    let mut copy = copy;
    copy.golden["cases"][6]["u"] = Value::Null;
    assert_refused(&copy.run(&[]), &["reference.safetensors: header"]);
}

#[test]
fn another_backend_is_refused_in_one_line() {
    assert_refused(
        &Copy::new().run(&["--backend", "cuda"]),
        &["--backend cuda is not in this build"],
    );
}

/// A changed copy of the excerpt of the file of frameworks in its own folder.
fn frameworks(change: impl FnOnce(&mut Value)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("frameworks.json");
    let mut golden: Value = serde_json::from_slice(&fs::read(bcl_golden::FRAMEWORKS).expect("the file")).expect("JSON");
    change(&mut golden);
    fs::write(&file, golden.to_string()).expect("a written file");
    (folder, file)
}

/// The first case of a kind.
fn case_of<'a>(golden: &'a mut Value, loss: &str) -> &'a mut Value {
    let cases = golden["cases"].as_array_mut().expect("cases");
    cases.iter_mut().find(|case| case["loss"] == *loss).expect("a case")
}

#[test]
fn losses_and_states_of_frameworks_pass_in_both_precisions() {
    let output = parity(bcl_golden::FRAMEWORKS.as_ref(), &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!((&report["passed"], &report["failures"]), (&json!(true), &json!([])));
    let kinds = |table: &str| {
        let rows = report["rows"].as_array().expect("rows").iter();
        rows.filter(|row| row["precision"] == "f32" && row["table"] == table)
            .map(|row| row["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    for loss in [
        "negative_cosine",
        "barlow_twins",
        "vicreg",
        "swav",
        "dino",
        "nnclr",
        "queue",
        "bank",
        "ntxent",
        "decoupled",
        "bda",
        "dino_last_layer",
    ] {
        assert!(kinds("loss").contains(&loss.to_owned()), "{loss}: {report:#}");
    }
    for state in [
        "sinkhorn",
        "split_batch_norm",
        "prototype_step",
        "bank",
        "support_set",
        "swav_queue",
        "dino_center",
        "schedule",
        "ema",
        "queue",
        "symmetric_step",
        "knn",
        "colour",
    ] {
        assert!(kinds("state").contains(&state.to_owned()), "{state}: {report:#}");
    }
}

/// What the excerpt has and this library does not: other rules of lightly, and results that no function returns.
#[test]
fn nothing_else_of_the_excerpt_is_left_out_in_f32() {
    let output = parity(bcl_golden::FRAMEWORKS.as_ref(), &["--json", "--dtype", "f32"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let left_out = report["left_out"].as_array().expect("entries").iter();
    let places: Vec<_> = left_out.map(|entry| entry["place"].as_str().expect("a place")).collect();
    assert_eq!(
        places,
        [
            "trace public-schedule-01",
            "trace public-schedule-03",
            "trace public-queue-01",
            "trace public-queue-03",
            "`loss_between` of trace public-symmetric_step-00",
            "`queue_between` of trace public-symmetric_step-00",
            "`contents` of trace public-support_set-00",
            "`pointers` of trace public-support_set-00",
            "`running_var_biased` of trace public-split_batch_norm-00",
            "`running_var_biased` of trace public-split_batch_norm-01",
            "`scores` of trace public-knn-00",
        ]
    );
}

#[test]
fn any_wrong_value_of_a_framework_fails_by_name() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 5] = [
        (
            |golden| scale(&mut case_of(golden, "vicreg")["value"]),
            "public-vicreg-00, f64: the loss",
        ),
        (
            |golden| scale(&mut case_of(golden, "barlow_twins")["outputs"]["on_diagonal"]),
            "public-barlow_twins-00, f64: the on_diagonal",
        ),
        (
            |golden| scale(&mut case_of(golden, "swav")["gradients"]["prototypes"][0]),
            "public-swav-00, f64: the gradient of prototypes",
        ),
        (
            // The prediction has a gradient.
            |golden| case_of(golden, "negative_cosine")["stopped"] = json!(["p0"]),
            "the gradient of p0, which must have none,",
        ),
        (
            |golden| {
                let traces = golden["traces"].as_array_mut().expect("traces");
                let trace = traces.iter_mut().find(|trace| trace["kind"] == "sinkhorn").expect("a trace");
                trace["expected"]["codes"]["values"][2] = json!(0.123);
            },
            "trace public-sinkhorn-00, f64: the codes",
        ),
    ];
    for (change, expected) in changes {
        let (_folder, file) = frameworks(change);
        let output = parity(&file, &["--dtype", "f64"]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
}

#[test]
fn what_cannot_be_computed_is_listed_and_does_not_fail() {
    let (_folder, file) = frameworks(|golden| {
        case_of(golden, "vicreg")["loss"] = json!("triplet");
        case_of(golden, "nnclr")["parameters"]["form"] = json!("diagonal");
    });
    let output = parity(&file, &["--dtype", "f64"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for expected in [
        "case public-vicreg-00 (f64) is not computed: there is no loss `triplet` here",
        "is not computed: there is no form `diagonal` here",
        "not computed. The tables",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
}

#[test]
fn ill_formed_cases_of_frameworks_are_refused_by_file_case_and_problem() {
    type Change = fn(&mut Value);
    let changes: [(Change, &[&str]); 6] = [
        (
            |golden| case_of(golden, "dino")["parameters"]["center_momentum"] = json!(1.5),
            &["case public-dino-00", "center_momentum is 1.5, but must be in [0, 1]"],
        ),
        (
            |golden| case_of(golden, "swav")["parameters"]["iterations"] = json!("three"),
            &["case public-swav-00", "`iterations` must be a whole number"],
        ),
        (
            |golden| {
                case_of(golden, "vicreg")["inputs"]
                    .as_object_mut()
                    .expect("inputs")
                    .remove("z1");
                case_of(golden, "vicreg")["gradients"] = json!({});
            },
            &["case public-vicreg-00", "no input `z1`"],
        ),
        (
            |golden| case_of(golden, "vicreg")["inputs"]["z1"] = json!("4x8/center"),
            &["case public-vicreg-00", "z1"],
        ),
        (
            |golden| golden["inputs"]["4x8/indices"]["integers"][0] = json!(20),
            &["case public-bank-00", "`indices` has 20, which is no row of a table of 20"],
        ),
        (
            |golden| {
                let traces = golden["traces"].as_array_mut().expect("traces");
                let trace = traces.iter_mut().find(|trace| trace["kind"] == "ema").expect("a trace");
                trace["given"].as_object_mut().expect("items").remove("online");
            },
            &["trace public-ema-00", "no item `online`"],
        ),
    ];
    for (change, expected) in changes {
        let (_folder, file) = frameworks(change);
        let output = parity(&file, &["--dtype", "f64"]);
        assert_refused(&output, expected);
        assert_refused(&output, &["frameworks.json"]);
    }
}

/// A changed copy of the excerpt of the file of graphs in its own folder.
fn graphs(change: impl FnOnce(&mut Value)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("graphs.json");
    let mut golden: Value = serde_json::from_slice(&fs::read(bcl_golden::GRAPHS).expect("the file")).expect("JSON");
    change(&mut golden);
    fs::write(&file, golden.to_string()).expect("a written file");
    (folder, file)
}

#[test]
fn graph_encoders_and_their_losses_pass_in_both_precisions() {
    let output = parity(bcl_golden::GRAPHS.as_ref(), &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!((&report["passed"], &report["failures"]), (&json!(true), &json!([])));
    assert_eq!(report["left_out"], json!([]));
    let rows = report["rows"].as_array().expect("rows");
    for precision in ["f64", "f32"] {
        for kind in [
            "gin infograph, eval",
            "gin infograph, train",
            "gin xu2019, train",
            "nce, info nce",
            "nce, bayesian, exact",
            "jsd, info nce",
            "jsd, debiased",
            "jsd, hard",
            "jsd, positive unlabelled",
            "jsd, ring",
            "jsd, bayesian, exact",
            "jsd_official, hard",
            "pipeline, jsd, positive unlabelled",
            "pipeline, nce, bayesian, exact",
        ] {
            let is_row = |row: &&Value| row["precision"] == precision && row["table"] == "loss" && row["name"] == kind;
            assert!(rows.iter().any(|row| is_row(&row)), "{kind} is not in {report:#}");
        }
    }
}

#[test]
fn any_wrong_value_of_a_graph_encoder_fails_by_name() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 7] = [
        (
            |golden| scale(&mut golden["gin"][0]["eval"]["graphs"][0][0]),
            "case gin-tiny3, eval, f64: the graphs is off",
        ),
        (
            |golden| scale(&mut golden["gin"][1]["train"]["gradients"]["layers.1.eps"][0]),
            "case gin-ragged4, train, f64: the gradient of layers.1.eps",
        ),
        (
            // The bias before a norm must have no gradient.
            |golden| golden["gin"][2]["train"]["gradients"]["layers.0.b1"][0] = json!(1e-3),
            "case gin-tiny3-xu2019, train, f64: the gradient of layers.0.b1",
        ),
        (
            |golden| scale(&mut golden["gin"][0]["train"]["norms"][2]["running_var_after"][0]),
            "the running variance of norm 2",
        ),
        (
            |golden| scale(&mut golden["cases"][0]["loss"]),
            "case public-n11-g3-d4-000, f64: the loss",
        ),
        (
            |golden| scale(&mut golden["cases"][1]["grad_2"][0]),
            "case public-n11-g3-d4-001, f64: the gradient of graphs",
        ),
        (
            |golden| scale(&mut golden["pipelines"][0]["losses"][3]["gradients"]["whole.biases.1"][0]),
            "case pipeline-tiny3, nce, bayesian, exact, f64: the gradient of whole.biases.1",
        ),
    ];
    for (change, expected) in changes {
        let (_folder, file) = graphs(change);
        let output = parity(&file, &["--dtype", "f64"]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
}

#[test]
fn graphs_that_cannot_be_compared_are_refused() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 4] = [
        (
            |golden| golden["gin"][0]["layers"][0]["eps"] = json!(0.5),
            "case gin-tiny3: its eps is 0.5",
        ),
        (
            |golden| golden["cases"][0]["est"] = json!("geom"),
            "the objective `jsd` has no estimator `geometric`",
        ),
        (
            |golden| golden["cases"][0]["objective"] = json!("other"),
            "case public-n11-g3-d4-000: its objective",
        ),
        (
            |golden| golden["batches"]["tiny3"]["edges"] = json!([[0, 1]]),
            "batch tiny3: the edge (0, 1) has no reverse",
        ),
    ];
    for (change, expected) in changes {
        let (_folder, file) = graphs(change);
        assert_refused(&parity(&file, &[]), &[expected]);
    }
}
