//! Small measurements, and the sizes of generated data.

use super::*;
use bcl_recipe::from_toml;

fn plan(users: usize, items: usize, interactions: usize) -> ScalePlan {
    let text = "data.dataset = 'planted'\nloss.kind = 'info_nce'\nnegatives.count = 4\ntraining.batch_size = 32";
    ScalePlan {
        recipe: from_toml(text, "test", &[]).expect("it is whole"),
        users,
        items,
        interactions,
        steps: 3,
        evaluated_users: 20,
        threads: 1,
    }
}

#[test]
fn the_generator_makes_about_as_many_interactions_as_asked_for() {
    for (users, items, interactions) in [(943, 1682, 80_000), (200_000, 100_000, 5_000_000), (100, 30, 400)] {
        let config = plan(users, items, interactions).planted();
        assert!(config.check().is_ok(), "{:?}", config.check());
        let train = users as f64 * config.interactions_per_user as f64 * (1.0 - TEST_RATIO);
        assert!(
            (train / interactions as f64 - 1.0).abs() < 0.1,
            "{train} are not {interactions}"
        );
    }
}

#[test]
fn every_part_of_a_step_and_the_evaluation_are_measured() {
    let plan = plan(60, 120, 600);
    let measured = run(&plan, &Device::flex().autodiff(), |_| ()).expect("it trains");
    assert!(measured.steps.parts.named().iter().all(|(_, seconds)| *seconds > 0.0));
    assert_eq!((measured.steps.batch_size, measured.steps.negatives), (32, 4));
    assert_eq!(measured.evaluation.expect("it was asked for").users, 20);
    let text = measured.to_string();
    assert!(text.contains("scores and loss") && text.contains("20 users"), "{text}");
}
