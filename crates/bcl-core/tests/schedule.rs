//! The values of the schedules, their limits and their form in recipes.

use bcl_core::schedule::{AlphaMeasurement, AlphaReading, AlphaSchedule};
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
    for schedule in [MEASURED, label_free(0.5)] {
        assert_eq!(schedule.alpha(0.7, 0, None), 0.7);
        assert_eq!(schedule.alpha(0.7, 1, Some(0.8)), 0.8);
    }
}

#[test]
fn the_models_reading_inverts_the_auc_within_the_range_of_alpha() {
    for kind in ["measured", "label_free"] {
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
fn names_alone_give_the_published_settings() {
    assert_eq!(parse(r#"{"kind": "constant"}"#), Ok(AlphaSchedule::Constant {}));
    assert_eq!(parse(r#"{"kind": "linear"}"#), Ok(LINEAR));
    assert_eq!(parse(r#"{"kind": "released_steps"}"#), Ok(RELEASED));
    assert_eq!(parse(r#"{"kind": "measured"}"#), Ok(MEASURED));
    assert_eq!(parse(r#"{"kind": "label_free"}"#), Ok(label_free(0.0)));
}

#[test]
fn unknown_keys_are_refused_in_every_kind() {
    for kind in ["constant", "linear", "released_steps", "measured", "label_free"] {
        let error = parse(&format!(r#"{{"kind": "{kind}", "warmup": 1}}"#)).unwrap_err();
        assert!(error.contains("warmup"), "{kind}: {error}");
    }
}

#[test]
fn every_schedule_survives_a_round_trip() {
    let others = [AlphaSchedule::Constant {}, MEASURED, label_free(0.5)];
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
