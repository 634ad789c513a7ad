//! What the optimizer of a recipe promises.

use super::*;
use crate::recipe::{ImageRecipe, RecommenderRecipe, from_toml};

fn optimizer(text: &str) -> Result<OptimizerConfig, String> {
    let recipe = format!("data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'info_nce'\n[optimizer]\n{text}");
    from_toml::<ImageRecipe>(&recipe, "a.toml", &[])
        .map(|recipe| recipe.optimizer)
        .map_err(|error| error.to_string())
}

#[test]
fn every_rule_has_an_optimizer() {
    for kind in ["adam", "adamw", "sgd", "lars"] {
        optimizer(&format!("kind = '{kind}'")).unwrap().init();
    }
}

#[test]
fn lars_takes_the_large_rates_it_is_used_with_and_adam_does_not() {
    assert!(optimizer("kind = 'lars'\nlearning_rate = 4.8").is_ok());
    let refused = optimizer("kind = 'adam'\nlearning_rate = 4.8").unwrap_err();
    assert!(
        refused.contains("a.toml:6: optimizer.learning_rate is 4.8, but must be above 0 and at most 1"),
        "{refused}"
    );
}

#[test]
fn a_rate_above_one_warms_up_and_falls_along_a_cosine() {
    let config = optimizer("kind = 'lars'\nlearning_rate = 4.8\nwarmup_epochs = 2\nschedule = 'cosine'").unwrap();
    let mut schedule = config.schedule(12, 5);
    let rates: Vec<f64> = (0..60).map(|_| schedule.step().base()).collect();
    for (step, expected) in [(0, 0.48), (5, 2.64), (10, 4.8), (35, 2.4)] {
        assert!((rates[step] - expected).abs() < 1e-12, "step {step}: {}", rates[step]);
    }
    assert!(rates[59] > 0.0 && rates[59] < 0.01);
}

#[test]
fn values_out_of_range_are_refused_with_key_value_and_range() {
    for (text, expected) in [
        (
            "kind = 'lars'\ntrust_coefficient = 0",
            "a.toml:6: optimizer.trust_coefficient is 0, but must be in [1e-9, 1000]",
        ),
        (
            "learning_rate = 0",
            "a.toml:5: optimizer.learning_rate is 0, but must be above 0 and at most 1",
        ),
        ("learning_rate = nan", "optimizer.learning_rate is NaN, but must be above 0"),
        (
            "kind = 'sgd'\nlearning_rate = 101",
            "optimizer.learning_rate is 101, but must be above 0 and at most 100",
        ),
        ("clip_global_norm = -1", "optimizer.clip_global_norm is -1, but must"),
        (
            "clip_global_norm = 1\nclip_norm = 1",
            "a.toml:5: optimizer.clip_global_norm cannot be combined with optimizer.clip_norm; set one of them to 0",
        ),
        (
            "kind = 'lar'",
            "optimizer.kind is \"lar\", but must be one of \"adam\", \"adamw\", \"sgd\", \"lars\"; did you mean lars?",
        ),
    ] {
        let refused = optimizer(text).unwrap_err();
        assert!(
            refused.contains(expected),
            "{text}\nexpected: {expected}\nfound:    {refused}"
        );
    }
}

#[test]
fn a_norm_of_zero_clips_nothing() {
    assert_eq!(optimizer("").unwrap().largest_global_norm(), None);
    assert_eq!(optimizer("clip_global_norm = 2.5").unwrap().largest_global_norm(), Some(2.5));
}

#[test]
fn adam_alone_is_lazy_and_only_on_interactions() {
    let of_interactions = |text: &str| {
        let recipe = format!("data.dataset = 'planted'\nloss.kind = 'info_nce'\n[optimizer]\n{text}");
        from_toml::<RecommenderRecipe>(&recipe, "a.toml", &[]).map_err(|error| error.to_string())
    };
    assert!(of_interactions("lazy = true").unwrap().optimizer.lazy);
    assert!(of_interactions("kind = 'adamw'\nlazy = true").is_ok());
    let refused = of_interactions("kind = 'sgd'\nlazy = true").unwrap_err();
    assert!(refused.contains("a.toml:5: optimizer.lazy is true, but only"), "{refused}");
    let refused = optimizer("lazy = true").unwrap_err();
    assert!(refused.contains("optimizer.lazy does not apply to images"), "{refused}");
    // Hashes of earlier recipes stay.
    assert!(!toml::to_string(&OptimizerConfig::default()).unwrap().contains("lazy"));
}
