//! Planted data: sizes, fractions, determinism, ranges.

use super::*;

fn config() -> PlantedConfig {
    PlantedConfig::default()
}

/// Train and test together.
fn all(data: &InteractionData) -> Interactions {
    data.train.union(&data.test)
}

#[test]
fn equal_configurations_give_equal_data_and_seeds_matter() {
    assert_eq!(config().generate(), config().generate());
    assert_ne!(config().generate(), PlantedConfig { seed: 1, ..config() }.generate());
}

#[test]
fn users_have_the_configured_number_of_interactions() {
    let data = all(&config().generate());
    let sizes: Vec<usize> = (0..600).map(|user| data.items_of(user).len()).collect();
    assert!(sizes.iter().all(|size| (15..=45).contains(size)));
    let mean = data.len() as f64 / 600.0;
    // Uniform from 15 to 45: the mean over 600 users has a standard deviation of 0.36.
    assert!((mean - 30.0).abs() < 1.5, "{mean}");
}

#[test]
fn the_share_of_other_communities_is_the_noise() {
    for noise in [0.0, 0.1, 0.5] {
        let data = PlantedConfig { noise, ..config() }.generate();
        let truth = data.truth.as_ref().unwrap();
        let all = all(&data);
        let others = all.pairs().filter(|&(user, item)| !truth.same_class(user, item)).count();
        let share = others as f64 / all.len() as f64;
        // Binomial with 18,000 draws: the standard deviation is at most 0.004.
        assert!((share - noise).abs() < 0.012, "{noise}: {share}");
        assert_eq!(others == 0, noise == 0.0);
    }
}

#[test]
fn skew_makes_few_items_gather_most_interactions() {
    let share_of_top_tenth = |skew| {
        let mut counts = all(&PlantedConfig { skew, ..config() }.generate()).item_counts();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        f64::from(counts[..80].iter().sum::<u32>()) / f64::from(counts.iter().sum::<u32>())
    };
    assert!(share_of_top_tenth(0.0) < 0.18);
    assert!(share_of_top_tenth(1.0) > 0.25);
}

#[test]
fn every_user_has_train_and_test_items() {
    let data = config().generate();
    for user in 0..600 {
        assert!(!data.train.items_of(user).is_empty() && !data.test.items_of(user).is_empty());
    }
}

#[test]
fn mean_tau_plus_is_near_the_share_of_one_community() {
    let truth = config().generate().truth.unwrap();
    // An eighth of the items is liked, about a fifth of those have a training interaction.
    assert!((0.09..0.125).contains(&truth.mean_tau_plus()), "{}", truth.mean_tau_plus());
}

#[test]
fn test_items_count_as_unlabelled_in_tau_plus() {
    let data = config().generate();
    let truth = data.truth.unwrap();
    let from_train = Truth::new(truth.user_community.clone(), truth.item_community.clone(), &data.train);
    assert_eq!(truth, from_train);
}

#[test]
fn the_largest_setting_that_passes_the_check_ends() {
    let extreme = PlantedConfig {
        num_users: 20,
        interactions_per_user: 33,
        skew: 2.0,
        noise: 0.99,
        test_ratio: 0.99,
        ..config()
    };
    assert!(all(&extreme.generate()).len() > 20 * 16);
    let smallest = PlantedConfig {
        num_users: 2,
        num_items: 24,
        num_communities: 2,
        interactions_per_user: 4,
        test_ratio: 0.25,
        ..config()
    };
    assert!(smallest.generate().test.len() >= 2);
}

#[test]
fn settings_out_of_range_are_named_with_their_range() {
    let cases = [
        (
            PlantedConfig {
                num_users: 1,
                ..config()
            },
            "data.planted.num_users is 1",
        ),
        (
            PlantedConfig {
                num_items: 5,
                ..config()
            },
            "data.planted.num_items is 5",
        ),
        (
            PlantedConfig {
                num_communities: 1,
                ..config()
            },
            "data.planted.num_communities is 1",
        ),
        (
            PlantedConfig {
                num_communities: 0,
                ..config()
            },
            "[2, 66]",
        ),
        (
            PlantedConfig {
                interactions_per_user: 34,
                ..config()
            },
            "data.planted.interactions_per_user is 34, but must be in [4, 33]",
        ),
        (PlantedConfig { skew: -0.1, ..config() }, "data.planted.skew is -0.1"),
        (
            PlantedConfig {
                skew: f64::NAN,
                ..config()
            },
            "data.planted.skew is NaN",
        ),
        (PlantedConfig { noise: 1.0, ..config() }, "data.planted.noise is 1"),
        (
            PlantedConfig {
                test_ratio: 0.01,
                ..config()
            },
            "data.planted.test_ratio is 0.01",
        ),
        (
            PlantedConfig {
                test_ratio: 1.0,
                ..config()
            },
            "data.planted.test_ratio is 1",
        ),
    ];
    for (config, text) in cases {
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn unknown_keys_are_refused() {
    let error = toml::from_str::<PlantedConfig>("num_user = 3").unwrap_err();
    assert!(error.to_string().contains("num_user"), "{error}");
}
