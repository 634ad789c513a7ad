//! The values of the schedules, their limits and their form in recipes.

use bcl_core::{
    EstimatorConfig, RingLossConfig,
    schedule::{AlphaMeasurement, AlphaReading, AlphaSchedule, Moment, Schedule, Schedules},
};
use proptest::prelude::*;

const LINEAR: AlphaSchedule = AlphaSchedule::Linear {
    start: 0.5,
    end: 0.85,
    epochs: 400,
};
const RELEASED: AlphaSchedule = AlphaSchedule::ReleasedSteps {
    start: 0.501,
    steps: 20,
    every: 20,
};

const MEASURED: AlphaSchedule = AlphaSchedule::Measured {
    reading: AlphaReading::Paper,
};

const HELD_OUT: AlphaSchedule = AlphaSchedule::HeldOut {
    reading: AlphaReading::Paper,
};
const EMPIRICAL: AlphaSchedule = AlphaSchedule::ReleasedEmpirical {
    reading: AlphaReading::Paper,
};

fn label_free(smoothing: f64) -> AlphaSchedule {
    AlphaSchedule::LabelFree {
        reading: AlphaReading::Paper,
        smoothing,
    }
}

fn parse(text: &str) -> Result<AlphaSchedule, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn constant_is_the_configured_value() {
    assert_eq!(AlphaSchedule::default(), AlphaSchedule::Constant {});
    assert_eq!(AlphaSchedule::default().alpha(0.9, 123, Some(0.6)), 0.9);
}

#[test]
fn linear_climbs_by_the_revision_note_and_stays_up() {
    for (epoch, alpha) in [(0, 0.5), (100, 0.5875), (200, 0.675), (400, 0.85), (1000, 0.85)] {
        assert!((LINEAR.alpha(0.9, epoch, None) - alpha).abs() < 1e-12, "epoch {epoch}");
    }
}

#[test]
fn released_steps_are_twenty_levels_of_twenty_epochs() {
    // linspace(0.501, 0.9, 20): 0.501, 0.522, …, 0.9
    for (epoch, alpha) in [
        (0, 0.501),
        (19, 0.501),
        (20, 0.522),
        (39, 0.522),
        (379, 0.879),
        (380, 0.9),
        (5000, 0.9),
    ] {
        assert!((RELEASED.alpha(0.9, epoch, None) - alpha).abs() < 1e-12, "epoch {epoch}");
    }
}

#[test]
fn measured_schedules_use_the_configured_value_until_there_is_a_measurement() {
    for schedule in [MEASURED, HELD_OUT, EMPIRICAL, label_free(0.5)] {
        assert_eq!(schedule.alpha(0.7, 0, None), 0.7);
        assert_eq!(schedule.alpha(0.7, 1, Some(0.8)), 0.8);
    }
}

#[test]
fn the_models_reading_inverts_the_auc_within_the_range_of_alpha() {
    for kind in ["measured", "held_out", "released_empirical", "label_free"] {
        let schedule = parse(&format!(r#"{{"kind": "{kind}", "reading": "model"}}"#)).unwrap();
        for (auc, alpha) in [(0.4, 0.5), (0.5, 0.5), (0.6, 0.65), (0.7, 0.8), (0.8, 0.95)] {
            assert!((schedule.alpha(0.9, 1, Some(auc)) - alpha).abs() < 1e-12, "{auc}");
        }
        let beyond = schedule.alpha(0.9, 1, Some(0.9));
        assert!((0.999..1.0).contains(&beyond), "{beyond}");
        assert_eq!(schedule.alpha(0.7, 0, None), 0.7);
    }
}

#[test]
fn the_papers_reading_is_the_default_and_is_not_written() {
    assert_eq!(serde_json::to_string(&MEASURED).unwrap(), r#"{"kind":"measured"}"#);
    assert_eq!(parse(r#"{"kind": "measured", "reading": "paper"}"#), Ok(MEASURED));
}

#[test]
fn each_schedule_says_what_it_wants_measured() {
    assert_eq!(AlphaSchedule::Constant {}.measures(), None);
    assert_eq!(LINEAR.measures(), None);
    assert_eq!(RELEASED.measures(), None);
    assert_eq!(MEASURED.measures(), Some(AlphaMeasurement::LabelBased));
    assert_eq!(HELD_OUT.measures(), Some(AlphaMeasurement::HeldOut));
    assert_eq!(EMPIRICAL.measures(), Some(AlphaMeasurement::Training));
    assert_eq!(label_free(0.0).measures(), Some(AlphaMeasurement::LabelFree));
}

#[test]
fn smoothing_keeps_its_share_of_the_past() {
    let smooth = label_free(0.75);
    assert_eq!(smooth.remember(None, 0.9), 0.9);
    assert!((smooth.remember(Some(0.5), 0.9) - 0.6).abs() < 1e-12);
    assert_eq!(label_free(0.0).remember(Some(0.5), 0.9), 0.9);
    assert_eq!(MEASURED.remember(Some(0.5), 0.9), 0.9);
}

proptest! {
    #[test]
    fn measurements_of_any_kind_give_an_accepted_alpha(measured in -2.0..3.0) {
        let alpha = MEASURED.alpha(0.9, 3, Some(measured));
        prop_assert!((0.5..1.0).contains(&alpha));
    }

    #[test]
    fn the_released_steps_never_fall_and_end_where_configured(configured in 0.501..1.0, epoch in 0usize..600) {
        prop_assert!(RELEASED.alpha(configured, epoch, None) <= RELEASED.alpha(configured, epoch + 1, None));
        prop_assert_eq!(RELEASED.alpha(configured, 400, None), configured);
    }
}

#[test]
fn defaults_are_the_published_settings() {
    assert_eq!(parse(r#"{"kind": "constant"}"#), Ok(AlphaSchedule::Constant {}));
    assert_eq!(parse(r#"{"kind": "linear"}"#), Ok(LINEAR));
    assert_eq!(parse(r#"{"kind": "released_steps"}"#), Ok(RELEASED));
    assert_eq!(parse(r#"{"kind": "measured"}"#), Ok(MEASURED));
    assert_eq!(parse(r#"{"kind": "label_free"}"#), Ok(label_free(0.0)));
}

#[test]
fn unknown_keys_are_refused_in_every_kind() {
    for kind in [
        "constant",
        "linear",
        "released_steps",
        "measured",
        "held_out",
        "released_empirical",
        "label_free",
    ] {
        let error = parse(&format!(r#"{{"kind": "{kind}", "warmup": 1}}"#)).unwrap_err();
        assert!(error.contains("warmup"), "{kind}: {error}");
    }
}

#[test]
fn every_schedule_survives_a_round_trip() {
    let others = [AlphaSchedule::Constant {}, MEASURED, HELD_OUT, EMPIRICAL, label_free(0.5)];
    for schedule in others.into_iter().chain([LINEAR, RELEASED]) {
        assert_eq!(parse(&serde_json::to_string(&schedule).unwrap()), Ok(schedule));
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let text = |schedule: AlphaSchedule| schedule.check().unwrap_err().to_string();
    assert!(LINEAR.check().is_ok() && RELEASED.check().is_ok());
    assert_eq!(
        text(AlphaSchedule::Linear {
            start: 0.4,
            end: 0.85,
            epochs: 400
        }),
        "start is 0.4, but must be in [0.5, 1]"
    );
    assert_eq!(
        text(AlphaSchedule::Linear {
            start: 0.5,
            end: 0.85,
            epochs: 0
        }),
        "epochs is 0, but must be in [1, 1000000]"
    );
    assert_eq!(
        text(AlphaSchedule::ReleasedSteps {
            start: 0.5,
            steps: 1,
            every: 1
        }),
        "steps is 1, but must be in [2, 1000000]"
    );
    assert_eq!(
        text(AlphaSchedule::ReleasedSteps {
            start: 0.5,
            steps: 2,
            every: 0
        }),
        "every is 0, but must be in [1, 1000000]"
    );
    assert_eq!(text(label_free(1.0)), "smoothing is 1, but must be in [0, 1)");
}

fn schedule(text: &str) -> Schedule {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn near(schedule: &Schedule, expected: &[(usize, f64)]) {
    for &(epoch, value) in expected {
        let found = schedule.value(Moment::in_epoch(epoch));
        assert!(
            (found - value).abs() < 1e-12,
            "{schedule:?}, epoch {epoch}: {found} is not {value}"
        );
    }
}

#[test]
fn a_parameter_moves_from_start_to_end_and_stays() {
    let linear = schedule(r#"{"kind": "linear", "start": 0.5, "end": 0.1, "epochs": 40}"#);
    near(&linear, &[(0, 0.5), (10, 0.4), (40, 0.1), (400, 0.1)]);
    let cosine = schedule(r#"{"kind": "cosine", "start": 0.5, "end": 0.1, "epochs": 40}"#);
    near(
        &cosine,
        &[(0, 0.5), (10, 0.3 + 0.2 * 0.5f64.sqrt()), (20, 0.3), (40, 0.1), (400, 0.1)],
    );
    let constant = schedule(r#"{"kind": "constant", "value": 0.3}"#);
    near(&constant, &[(0, 0.3), (99, 0.3)]);
}

#[test]
fn a_cosine_with_a_period_oscillates() {
    let cosine = schedule(r#"{"kind": "cosine", "start": 1.0, "end": 0.1, "period": 400}"#);
    near(
        &cosine,
        &[(0, 1.0), (100, 0.55), (200, 0.1), (300, 0.55), (400, 1.0), (1000, 0.1)],
    );
}

#[test]
fn a_schedule_may_count_steps() {
    let at = |step| Moment { epoch: 3, step };
    let values = |text| [0, 1, 3, 400].map(|step| schedule(text).value(at(step)));
    assert_eq!(
        values(r#"{"kind":"harmonic","start":1.0,"steps":1}"#),
        [1.0, 0.5, 0.25, 1.0 / 401.0]
    );
    assert_eq!(values(r#"{"kind":"harmonic","start":0.75,"end":0.25,"steps":3}"#)[2], 0.5);
    assert_eq!(
        values(r#"{"kind":"linear","start":1.0,"end":0.0,"steps":4}"#),
        [1.0, 0.75, 0.25, 0.0]
    );
    let cosine = values(r#"{"kind":"cosine","start":1.0,"end":0.0,"steps":2}"#);
    assert!((cosine[1] - 0.5).abs() < 1e-12 && cosine[2] == 0.0, "{cosine:?}");
    let of = |lambda: &[&str]| {
        let schedules = lambda.iter().zip(["lambda", "temperature"]);
        schedules
            .map(|(text, name)| (name.to_owned(), schedule(text)))
            .collect::<Schedules>()
    };
    let (by_step, by_epoch) = (
        r#"{"kind":"linear","start":1.0,"end":0.5,"steps":4}"#,
        r#"{"kind":"linear","start":1.0,"end":0.5,"epochs":4}"#,
    );
    assert!(of(&[by_step]).count_steps() && !of(&[by_epoch]).count_steps());
    // What two parameters allow each other could not be checked before training.
    let found = refused(&[("lower", by_step), ("upper", by_epoch)], "ring");
    assert!(
        found.starts_with("lower.steps cannot be combined with the schedule of another"),
        "{found}"
    );
}

#[test]
fn each_step_holds_until_its_epoch() {
    let steps = schedule(r#"{"kind": "steps", "values": [0.5, 0.2, 0.1], "epochs": [20, 40]}"#);
    near(&steps, &[(0, 0.5), (19, 0.5), (20, 0.2), (39, 0.2), (40, 0.1), (99, 0.1)]);
}

proptest! {
    #[test]
    fn no_value_leaves_the_range_between_start_and_end(start in 0.0..1.0, end in 0.0..1.0, epoch in 0usize..100) {
        for schedule in [
            Schedule::Linear { start, end, epochs: Some(37), steps: None },
            Schedule::Cosine { start, end, epochs: Some(37), steps: None, period: None },
            Schedule::Cosine { start, end, epochs: None, steps: None, period: Some(7) },
            Schedule::Harmonic { start, end, epochs: Some(7), steps: None },
        ] {
            prop_assert!((f64::min(start, end)..=f64::max(start, end)).contains(&schedule.value(Moment::in_epoch(epoch))));
        }
    }
}

#[test]
fn schedules_of_parameters_survive_a_round_trip_and_refuse_unknown_keys() {
    for text in [
        r#"{"kind":"constant","value":0.5}"#,
        r#"{"kind":"linear","start":0.5,"end":0.1,"epochs":3}"#,
        r#"{"kind":"cosine","start":0.5,"end":0.1,"epochs":3}"#,
        r#"{"kind":"cosine","start":0.5,"end":0.1,"period":3}"#,
        r#"{"kind":"cosine","start":0.5,"end":0.1,"steps":3}"#,
        r#"{"kind":"linear","start":0.5,"end":0.1,"steps":3}"#,
        r#"{"kind":"harmonic","start":0.5,"end":0.0,"steps":3}"#,
        r#"{"kind":"steps","values":[0.5,0.1],"epochs":[3]}"#,
        r#"{"kind":"learned","start":0.07,"least":0.01,"most":100.0}"#,
    ] {
        assert_eq!(serde_json::to_string(&schedule(text)).unwrap(), text);
        let error = serde_json::from_str::<Schedule>(&text.replace('}', r#","warmup":1}"#)).unwrap_err();
        assert!(error.to_string().contains("warmup"), "{error}");
    }
    let learned = schedule(r#"{"kind":"learned","start":0.07}"#);
    assert!(matches!(
        learned,
        Schedule::Learned {
            least: 0.01,
            most: 100.0,
            ..
        }
    ));
}

/// Why a schedule of a parameter is refused.
fn refused(parameters: &[(&str, &str)], kind: &str) -> String {
    let schedules: Schedules = parameters
        .iter()
        .map(|(name, text)| ((*name).to_owned(), schedule(text)))
        .collect();
    let config: EstimatorConfig = serde_json::from_str(&format!(r#"{{"kind": "{kind}"}}"#)).unwrap();
    schedules
        .check(&config, 100)
        .err()
        .map_or_else(String::new, |error| error.to_string())
}

#[test]
fn every_value_that_a_parameter_can_take_is_in_its_range() {
    for (parameter, kind, text, expected) in [
        (
            "temperature",
            "info_nce",
            r#"{"kind":"cosine","start":0.5,"end":0,"epochs":9}"#,
            "temperature.end is 0, but must be in [1e-6, 1000000]",
        ),
        (
            "beta",
            "bayesian",
            r#"{"kind":"steps","values":[0.5,1.5],"epochs":[4]}"#,
            "beta.values is 1.5, but must be in [0, 1]",
        ),
        (
            "alpha",
            "bayesian",
            r#"{"kind":"constant","value":0.4}"#,
            "alpha.value is 0.4, but must be in [0.5, 1]",
        ),
        (
            "upper",
            "ring",
            r#"{"kind":"linear","start":0.0,"end":0.5,"epochs":9}"#,
            "upper.start is 0, but must be in [2.2250738585072014e-308, 1]",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"linear","start":0.0,"end":0.5,"epochs":0}"#,
            "lambda.epochs is 0, but must be in [1, 1000000]",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"cosine","start":0.0,"end":0.5,"period":1}"#,
            "lambda.period is 1, but must be in [2, 1000000]",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"cosine","start":0.0,"end":0.5,"period":4,"epochs":4}"#,
            "lambda.period cannot be combined with epochs",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"cosine","start":0.0,"end":0.5}"#,
            "lambda.epochs is missing; give epochs or steps",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"steps","values":[0.5],"epochs":[4]}"#,
            "lambda.values has 1 numbers, but must have one more than epochs, which has 1",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"steps","values":[0.1,0.2,0.3],"epochs":[4,4]}"#,
            "lambda.epochs has 4 before 4, but must ascend",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"learned","start":0.5}"#,
            "lambda.kind is \"learned\", but only the temperature can be learned",
        ),
        (
            "temperature",
            "info_nce",
            r#"{"kind":"learned","start":0.5,"most":0.2}"#,
            "temperature.start is 0.5, but must be in [0.01, 0.2]",
        ),
        (
            "temperature",
            "info_nce",
            r#"{"kind":"learned","start":0.5,"least":0.0}"#,
            "temperature.least is 0, but must be in [1e-6, 1000000]",
        ),
    ] {
        let found = refused(&[(parameter, text)], kind);
        assert!(found.starts_with(expected), "{found}");
    }
    let valid = r#"{"kind":"steps","values":[0.1,1],"epochs":[4]}"#;
    for config in EstimatorConfig::all() {
        assert_eq!(refused(&[("temperature", valid)], config.name()), "");
    }
}

#[test]
fn a_schedule_spans_epochs_or_steps() {
    for (parameter, kind, text, expected) in [
        (
            "lambda",
            "augmented",
            r#"{"kind":"linear","start":0.0,"end":0.5}"#,
            "lambda.epochs is missing; give the number of epochs, or of training steps as steps",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"harmonic","start":1.0,"epochs":4,"steps":4}"#,
            "lambda.steps cannot be combined with epochs; give one of them",
        ),
        (
            "lambda",
            "augmented",
            r#"{"kind":"harmonic","start":1.0,"steps":0}"#,
            "lambda.steps is 0, but must be in [1, 1000000000]",
        ),
        (
            "temperature",
            "info_nce",
            r#"{"kind":"harmonic","start":1.0,"steps":5}"#,
            "temperature.end is 0, but must be in [1e-6, 1000000]",
        ),
    ] {
        let found = refused(&[(parameter, text)], kind);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn parameters_that_limit_each_other_do_so_in_every_epoch() {
    let rise = |from, to| format!(r#"{{"kind":"linear","start":{from},"end":{to},"epochs":10}}"#);
    let steps = r#"{"kind":"steps","values":[0.2,0.9],"epochs":[8]}"#;
    // The ends of either are beyond the start of the other.
    assert_eq!(refused(&[("lower", &rise(0.1, 0.7)), ("upper", &rise(0.5, 0.9))], "ring"), "");
    assert_eq!(
        refused(&[("lower", &rise(0.1, 0.7)), ("upper", &rise(0.5, 0.6))], "ring"),
        "lower.end is 0.7, but must be in [0, 0.6)"
    );
    let found = refused(&[("lower", &rise(0.1, 0.7)), ("upper", steps)], "ring");
    assert!(
        found.starts_with("lower is 0.2") && found.contains("in epoch 3, but must be in [0, 0.2)"),
        "{found}"
    );
    assert_eq!(
        refused(
            &[
                ("upper", r#"{"kind":"linear","start":0.9,"end":0.1,"epochs":10}"#),
                ("lower", &rise(0.2, 0.2))
            ],
            "ring"
        ),
        "lower.end is 0.2, but must be in [0, 0.1)"
    );
    // A parameter without a schedule can be the one that is out of range.
    let schedules: Schedules = [("upper".to_owned(), schedule(&rise(0.9, 0.4)))].into_iter().collect();
    let ring = EstimatorConfig::Ring(RingLossConfig::new().with_lower(0.5));
    assert_eq!(
        schedules.check(&ring, 100).unwrap_err().to_string(),
        "upper.end is 0.4, with which lower is 0.5, but must be in [0, 0.4)"
    );
}
