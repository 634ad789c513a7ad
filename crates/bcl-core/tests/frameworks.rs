//! Losses of image frameworks against values of independent implementations, in f64 and f32.
//!
//! `BCL_FRAMEWORKS=PATH/frameworks_public.json` compares with the whole file that `bcl-golden` has an excerpt of. The last layer of DINO
//! belongs to `bcl-models`, and so do the traces that are not here.

use bcl_core::{
    AugmentedBase, AugmentedLossConfig, AugmentedRate, DecoupledLossConfig, Estimator, EstimatorConfig, InfoNceLossConfig,
    NoiseContrastiveLossConfig, Pairs, Reduction, Scores, SideInformation, Similarity,
    joint_embedding::{
        BarlowTwinsLossConfig, DinoLossConfig, StandardDeviation, SwavLossConfig, VicRegLossConfig, negative_cosine, sinkhorn,
    },
    schedule::Schedule,
    unit_rows,
};
use bcl_golden::{Array, Deviation, FRAMEWORKS, FrameworkCase, FrameworkFile, Gradient, Output, Trace};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::Path,
    sync::LazyLock,
};

/// The largest relative error in f64.
const TOLERANCE: f64 = 1e-9;

/// The kinds of losses that this crate has.
const KINDS: [&str; 11] = [
    "bank",
    "barlow_twins",
    "bda",
    "decoupled",
    "dino",
    "negative_cosine",
    "nnclr",
    "ntxent",
    "queue",
    "swav",
    "vicreg",
];

static GOLDEN: LazyLock<FrameworkFile> = LazyLock::new(|| {
    let file = env::var_os("BCL_FRAMEWORKS").unwrap_or_else(|| FRAMEWORKS.into());
    FrameworkFile::read(Path::new(&file)).unwrap_or_else(|error| panic!("{error}"))
});

/// The inputs of a case as tensors of one precision. All floats are leaves of a graph.
struct Inputs {
    case: &'static FrameworkCase,
    tables: BTreeMap<String, Tensor<2>>,
    device: Device,
    dtype: DType,
}

/// Names of further results, and their values.
type Outputs = Vec<(&'static str, Vec<f64>)>;

impl Inputs {
    fn new(case: &'static FrameworkCase, dtype: DType) -> Self {
        let device = Device::flex().autodiff();
        let table = |role: &str| {
            let array = GOLDEN.input(case, role).expect("a role of the case");
            // Rows of a single vector are a table, too.
            let columns = *array.shape.last().expect("an axis");
            let data = TensorData::new(array.values.clone(), [array.values.len() / columns, columns]);
            (role.to_owned(), Tensor::<2>::from_data(data, (&device, dtype)).require_grad())
        };
        Self {
            tables: GOLDEN.roles(case).map(table).collect(),
            case,
            device,
            dtype,
        }
    }

    fn table(&self, role: &str) -> Tensor<2> {
        self.tables[role].clone()
    }

    fn unit(&self, role: &str) -> Tensor<2> {
        unit_rows(self.table(role))
    }

    /// The tables `PREFIX0`, `PREFIX1`, …, as far as the case has them.
    fn views(&self, prefix: &str) -> Vec<Tensor<2>> {
        let names = (0..).map(|view| format!("{prefix}{view}"));
        names.map_while(|name| self.tables.get(&name).cloned()).collect()
    }

    fn vector(&self, role: &str) -> Tensor<1> {
        self.table(role).squeeze_dim(0)
    }

    fn integers<const D: usize>(&self, role: &str) -> Tensor<D, Int> {
        let Array { shape, values } = GOLDEN.input(self.case, role).expect("a role of the case");
        let integers: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        Tensor::from_data(TensorData::new(integers, shape.clone()), &self.device)
    }

    fn number(&self, parameter: &str) -> f64 {
        self.case
            .parameters
            .number(parameter)
            .unwrap_or_else(|problem| panic!("{problem}"))
    }

    fn text(&self, parameter: &str) -> &str {
        self.case
            .parameters
            .text(parameter)
            .unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// The estimator of the case, with its draws.
    fn estimator(&self) -> (Box<dyn Estimator>, SideInformation) {
        let estimator = GOLDEN.estimator(self.case).expect("a known estimator");
        let table = estimator.table().expect("a complete estimator");
        let config: EstimatorConfig = serde_json::from_value(table).expect("a configuration");
        let draws = estimator.beside.get("g").map(|draws| {
            let draws: Vec<f64> = serde_json::from_value(draws.clone()).expect("numbers");
            Tensor::from_data(draws.as_slice(), (&self.device, self.dtype))
        });
        let side = match draws {
            Some(draws) => SideInformation::none().with_noise(draws),
            None => SideInformation::none(),
        };
        (config.init(), side)
    }
}

/// The loss of a case by its kind.
fn loss(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    match &*inputs.case.loss {
        "negative_cosine" => (of_negative_cosine(inputs), vec![]),
        "barlow_twins" => of_barlow_twins(inputs),
        "vicreg" => of_vicreg(inputs),
        "swav" => of_swav(inputs),
        "dino" => of_dino(inputs),
        "nnclr" => of_nnclr(inputs),
        "queue" => (of_queue(inputs), vec![]),
        "bank" => of_bank(inputs),
        "ntxent" => {
            let estimator = InfoNceLossConfig::new().with_temperature(inputs.number("temperature"));
            (estimator.init().forward(two_views(inputs), Reduction::Mean), vec![])
        }
        "decoupled" => of_decoupled(inputs),
        "bda" => of_bda(inputs),
        other => panic!("no loss `{other}`"),
    }
}

fn of_negative_cosine(inputs: &Inputs) -> Tensor<1> {
    let directions = [("p0", "z1"), ("p1", "z0")];
    let [first, second] =
        directions.map(|(prediction, target)| negative_cosine(inputs.table(prediction), inputs.table(target)).mean());
    match inputs.text("form") {
        "mean" => (first + second) * 0.5,
        form => {
            assert_eq!(form, "byol");
            (first + second) * 2.0 + 4.0
        }
    }
}

fn of_barlow_twins(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let deviation: StandardDeviation =
        serde_json::from_value(inputs.case.parameters["normalisation"].clone()).expect("a known normalisation");
    let loss = BarlowTwinsLossConfig::new()
        .with_lambda(inputs.number("lambda"))
        .with_scale(inputs.number("scale"))
        .with_epsilon(inputs.number("eps"))
        .with_deviation(deviation)
        .init();
    let views = || (inputs.table("z0"), inputs.table("z1"));
    let terms = loss.terms(views().0, views().1);
    let outputs = vec![
        ("on_diagonal", host(terms.on_diagonal)),
        ("off_diagonal", host(terms.off_diagonal)),
    ];
    (loss.forward(views().0, views().1), outputs)
}

fn of_vicreg(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let loss = VicRegLossConfig::new()
        .with_invariance(inputs.number("lambda"))
        .with_variance(inputs.number("mu"))
        .with_covariance(inputs.number("nu"))
        .with_epsilon(inputs.number("eps"))
        .init();
    let views = || (inputs.table("z0"), inputs.table("z1"));
    let terms = loss.terms(views().0, views().1);
    let outputs = vec![
        ("invariance", host(terms.invariance)),
        ("variance", host(terms.variance)),
        ("covariance", host(terms.covariance)),
    ];
    (loss.forward(views().0, views().1), outputs)
}

fn of_swav(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let swav = SwavLossConfig::new()
        .with_temperature(inputs.number("temperature"))
        .with_epsilon(inputs.number("epsilon"))
        .with_iterations(inputs.case.parameters.count("iterations").expect("a count"))
        .init();
    let prototypes = || inputs.table("prototypes").transpose();
    let scores: Vec<_> = inputs
        .views("f")
        .into_iter()
        .map(|rows| unit_rows(rows).matmul(prototypes()))
        .collect();
    let queues = inputs.views("queue");
    let codes = [0, 1].map(|view: usize| match queues.get(view) {
        Some(queue) => swav.codes_with_queue(scores[view].clone(), queue.clone().matmul(prototypes())),
        None => swav.codes(scores[view].clone()),
    });
    let loss = swav.forward_no_reduction(&codes, &scores).mean();
    let [first, second] = codes.map(host);
    (loss, vec![("codes_0", first), ("codes_1", second)])
}

fn of_dino(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let dino = DinoLossConfig::new()
        .with_student_temperature(inputs.number("student_temperature"))
        .with_teacher_temperature(inputs.number("teacher_temperature"))
        .with_center_momentum(inputs.number("center_momentum"))
        .init();
    let (teacher, center) = (inputs.views("t"), inputs.vector("center"));
    let loss = dino.forward_no_reduction(&teacher, &inputs.views("s"), center.clone()).mean();
    (loss, vec![("new_center", host(dino.new_center(center, &teacher)))])
}

fn of_nnclr(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let nearest = |view: &str| {
        let cosines = inputs.unit(view).matmul(inputs.unit("support").transpose());
        cosines.argmax(1).squeeze_dim::<1>(1)
    };
    let indices = ["z0", "z1"].map(nearest);
    let [first, second] = indices
        .clone()
        .map(|indices| inputs.table("support").detach().select(0, indices));
    let estimator = InfoNceLossConfig::new().with_temperature(inputs.number("temperature")).init();
    let loss = |scores| estimator.forward(scores, Reduction::Mean);
    let crossed = |anchors: &Tensor<2>, others: &Tensor<2>| {
        let scores = Pairs::from_cross_views(anchors.clone(), others.clone(), Similarity::Cosine).into_scores();
        loss(scores)
    };
    let directions = [(first, inputs.table("p1")), (second, inputs.table("p0"))];
    let [first, second] = directions.map(|(neighbours, predictions)| match inputs.text("form") {
        "cross" => crossed(&neighbours, &predictions),
        "cross_symmetric" => crossed(&neighbours, &predictions) + crossed(&predictions, &neighbours),
        form => {
            assert_eq!(form, "ntxent");
            loss(Pairs::from_views(neighbours, predictions, Similarity::Cosine).into_scores())
        }
    });
    let outputs = indices.map(|indices| indices.into_data().iter::<f64>().collect());
    let [nearest_0, nearest_1] = outputs;
    (
        (first + second) * 0.5,
        vec![("nearest_0", nearest_0), ("nearest_1", nearest_1)],
    )
}

fn of_queue(inputs: &Inputs) -> Tensor<1> {
    let (queries, keys, queue) = (inputs.unit("q"), inputs.unit("k").detach(), inputs.table("queue").detach());
    let positives = (queries.clone() * keys).sum_dim(1).squeeze_dim(1);
    let scores = Scores::new(positives, queries.matmul(queue.transpose())).with_least_similarity(-1.0);
    let dims = scores.negatives.dims();
    let mask = inputs.case.parameters.count("valid").ok().map(|valid| {
        let marks: Vec<bool> = (0..dims[0] * dims[1]).map(|entry| entry % dims[1] < valid).collect();
        Tensor::<2, Bool>::from_data(TensorData::new(marks, dims), &inputs.device)
    });
    let (estimator, side) = inputs.estimator();
    estimator.forward_with(scores.with_mask(mask), &side, Reduction::Mean)
}

fn of_bank(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let (indices, drawn) = (inputs.integers::<1>("indices"), inputs.integers::<2>("negatives"));
    let num_stored = inputs.case.parameters.count("num_data").expect("a count");
    let scores = |features: &str, bank: &str| {
        let (features, bank) = (inputs.unit(features), inputs.table(bank).detach());
        let positives = features.clone() * bank.clone().select(0, indices.clone());
        let negatives = features.matmul(bank.transpose()).gather(1, drawn.clone());
        let scores = Scores::new(positives.sum_dim(1).squeeze_dim(1), negatives).with_least_similarity(-1.0);
        let masked = inputs.case.parameters.flag("mask_collisions").expect("a switch");
        let others = drawn.clone().not_equal(indices.clone().unsqueeze_dim(1));
        scores.with_mask(masked.then_some(others))
    };
    let directions = [
        (scores("l", "bank_ab"), "loss_l", "z_l"),
        (scores("ab", "bank_l"), "loss_ab", "z_ab"),
    ];
    let mut outputs = Vec::new();
    let losses = directions.map(|(scores, name, normaliser)| {
        let loss = if inputs.text("form") == "nce" {
            let nce = NoiseContrastiveLossConfig::new().with_temperature(inputs.number("t")).init();
            let log_normaliser = match inputs.case.parameters[normaliser].as_f64() {
                Some(z) => Tensor::from_data([z.ln()], (&inputs.device, inputs.dtype)),
                None => nce.log_normaliser(&scores, num_stored),
            };
            outputs.push((normaliser, host(log_normaliser.clone().exp())));
            nce.losses(&scores, log_normaliser, num_stored).reduce(Reduction::Mean)
        } else {
            let (estimator, side) = inputs.estimator();
            estimator.forward_with(scores, &side, Reduction::Mean)
        };
        outputs.push((name, host(loss.clone())));
        loss
    });
    let [first, second] = losses;
    (first + second, outputs)
}

fn two_views(inputs: &Inputs) -> Scores {
    Pairs::from_views(inputs.table("z0"), inputs.table("z1"), Similarity::Cosine).into_scores()
}

fn of_decoupled(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let weighted = inputs.case.parameters.flag("weighted").expect("a switch");
    let config = DecoupledLossConfig::new()
        .with_temperature(inputs.number("temperature"))
        .with_sigma(weighted.then(|| inputs.number("sigma")));
    let (loss, scores) = (config.init(), two_views(inputs));
    let mut outputs = Vec::new();
    if weighted {
        let num_pairs = scores.num_anchors() / 2;
        outputs.push(("weights", host(loss.positive_weights(&scores).slice_dim(0, 0..num_pairs))));
    }
    (loss.forward(scores, Reduction::Mean), outputs)
}

fn of_bda(inputs: &Inputs) -> (Tensor<1>, Outputs) {
    let read = |parameter: &str| inputs.case.parameters[parameter].clone();
    let rate: AugmentedRate = serde_json::from_value(read("rate")).expect("a known rate");
    let base: AugmentedBase = serde_json::from_value(read("base")).expect("a known base");
    let config = AugmentedLossConfig::new()
        .with_temperature(inputs.number("temperature"))
        .with_lambda(inputs.number("lambda"))
        .with_rate(rate)
        .with_base(base);
    let (loss, scores) = (config.init(), two_views(inputs));
    let (side, weights) = match inputs.text("draws") {
        "from_rate" => {
            let draws = inputs.vector("g").detach();
            let log_rates = loss.log_rates(&scores, loss.log_means(&scores));
            let side = SideInformation::none().with_noise(draws.clone());
            (side, draws * log_rates.neg().exp())
        }
        draws => {
            assert_eq!(draws, "given");
            let draws = inputs.vector("u").detach();
            let side = SideInformation::none().with_log_rates(draws.zeros_like());
            (side.with_noise(draws.clone()), draws)
        }
    };
    (loss.forward_with(scores, &side, Reduction::Mean), vec![("u", host(weights))])
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Compares value, outputs and gradients with a case.
fn assert_matches(case: &'static FrameworkCase, dtype: DType) {
    let id = &case.id;
    let (of_loss, of_gradient) = match dtype {
        DType::F64 => (TOLERANCE, TOLERANCE),
        _ => (case.tolerances_in_f32().loss, case.tolerances_in_f32().gradient),
    };
    let inputs = Inputs::new(case, dtype);
    let (loss, outputs) = loss(&inputs);
    let value = host(loss.clone())[0];
    let deviation = Deviation::of_number(value, case.value);
    assert!(
        deviation.within(of_loss),
        "{id}: {value} is not {}: {deviation:?}",
        case.value
    );
    for (name, found) in outputs {
        let deviation = match &case.outputs[name] {
            Output::Number(expected) => Deviation::of_number(found[0], *expected),
            Output::Array(expected) => Deviation::of_gradient(&found, expected),
        };
        assert!(deviation.within(of_gradient.max(of_loss)), "{id}: {name}: {deviation:?}");
    }
    let gradients = loss.backward();
    for (role, expected) in &case.gradients {
        let found = host(inputs.tables[role].grad(&gradients).expect("a gradient"));
        let deviation = Deviation::of_gradient(&found, expected);
        assert!(deviation.within(of_gradient), "{id}: the gradient of {role}: {deviation:?}");
    }
    for role in &case.stopped {
        let found = inputs.tables[role].grad(&gradients).map(host).unwrap_or_default();
        assert!(found.iter().all(|&slope| slope == 0.0), "{id}: {role} has a gradient");
    }
}

fn assert_all_match(dtype: DType) {
    let mut seen = BTreeSet::new();
    for case in GOLDEN.cases.iter().filter(|case| KINDS.contains(&&*case.loss)) {
        assert_matches(case, dtype);
        seen.insert(&*case.loss);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), KINDS);
}

#[test]
fn losses_outputs_and_gradients_match_the_reference_in_f64() {
    assert_all_match(DType::F64);
}

#[test]
fn losses_outputs_and_gradients_match_the_reference_in_f32() {
    assert_all_match(DType::F32);
}

fn traces(kind: &str) -> impl Iterator<Item = &'static Trace> {
    let mut found = GOLDEN.traces.iter().filter(move |trace| trace.kind == kind).peekable();
    assert!(found.peek().is_some(), "no trace of kind {kind}");
    found
}

fn table(array: &Array, dtype: DType) -> Tensor<2> {
    Tensor::from_data(
        TensorData::new(array.values.clone(), array.shape.clone()),
        (&Device::flex(), dtype),
    )
}

fn number(trace: &Trace, parameter: &str) -> f64 {
    trace
        .parameters
        .number(parameter)
        .unwrap_or_else(|problem| panic!("{problem}"))
}

fn assert_close(found: &[f64], expected: &Array, tolerance: f64, what: &str) {
    let deviation = Deviation::of_array(found, &expected.values);
    assert!(deviation.within(tolerance), "{what}: {deviation:?}");
}

/// One of the traces has an ε at which `exp(score / ε)` is infinite in f32.
#[test]
fn codes_match_the_reference_at_any_sharpness() {
    for trace in traces("sinkhorn") {
        let iterations = trace.parameters.count("iterations").expect("a count");
        for (dtype, tolerance) in [(DType::F64, TOLERANCE), (DType::F32, 1e-5)] {
            let scores = table(trace.given("scores").array(), dtype);
            let codes = sinkhorn(scores, number(trace, "epsilon"), iterations);
            for (name, found) in [
                ("codes", codes.clone()),
                ("row_sums", codes.clone().sum_dim(1)),
                ("column_sums", codes.sum_dim(0)),
            ] {
                assert_close(&host(found), trace.expected(name).array(), tolerance, &trace.id);
            }
        }
    }
}

#[test]
fn each_loss_of_dino_uses_the_centre_of_the_step_before() {
    for trace in traces("dino_center") {
        let dino = DinoLossConfig::new()
            .with_student_temperature(number(trace, "student_temperature"))
            .with_teacher_temperature(number(trace, "teacher_temperature"))
            .with_center_momentum(number(trace, "center_momentum"))
            .init();
        let views = |name: &str, step: usize| -> Vec<Tensor<2>> {
            let views = trace.given(name).list()[step].list();
            views.iter().map(|view| table(view.array(), DType::F64)).collect()
        };
        let initial = &trace.given("initial").array().values;
        let mut center = Tensor::<1>::from_data(initial.as_slice(), (&Device::flex(), DType::F64));
        let mut losses = Vec::new();
        for (step, expected) in trace.expected("centers").list().iter().enumerate() {
            let teacher = views("teacher", step);
            let rows = dino.forward_no_reduction(&teacher, &views("student", step), center.clone());
            losses.extend(host(rows.mean()));
            center = dino.new_center(center, &teacher);
            assert_close(&host(center.clone()), expected.array(), TOLERANCE, &trace.id);
        }
        assert_close(&losses, trace.expected("losses").array(), TOLERANCE, &trace.id);
    }
}

/// `linspace` with both ends in so many epochs arrives one epoch earlier than their number.
#[test]
fn a_straight_line_warms_the_teacher_up() {
    let forms = traces("schedule").filter(|trace| trace.parameters["form"] == "teacher_temperature");
    let mut seen = 0;
    for trace in forms {
        let schedule: Value = json!({
            "kind": "linear",
            "start": number(trace, "start"),
            "end": number(trace, "end"),
            "epochs": trace.parameters.count("warmup_epochs").expect("a count") - 1,
        });
        let schedule: Schedule = serde_json::from_value(schedule).expect("a schedule");
        let epochs = &trace.given("at").array().values;
        let found: Vec<f64> = epochs.iter().map(|&epoch| schedule.value(epoch as usize)).collect();
        assert_close(&found, trace.expected("values").array(), TOLERANCE, &trace.id);
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn blocks_of_samples_have_the_rows_of_the_whole_batch() {
    for case in GOLDEN.cases.iter().filter(|case| case.loss == "dino") {
        let inputs = Inputs::new(case, DType::F64);
        let dino = DinoLossConfig::new().init();
        let rows = |rows: std::ops::Range<usize>| {
            let some = |views: Vec<Tensor<2>>| -> Vec<_> { views.into_iter().map(|view| view.slice([rows.clone()])).collect() };
            host(dino.forward_no_reduction(&some(inputs.views("t")), &some(inputs.views("s")), inputs.vector("center")))
        };
        let [num_samples, _] = inputs.table("t0").dims();
        let blocks = [rows(0..1), rows(1..num_samples)].concat();
        let deviation = Deviation::of_gradient(&blocks, &Gradient::Full(rows(0..num_samples)));
        assert!(deviation.within(1e-12), "{}: {deviation:?}", case.id);
    }
}
