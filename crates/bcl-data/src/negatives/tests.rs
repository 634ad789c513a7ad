//! Properties that every sampler must have.

use super::*;

/// 40 users; user `u` has between 3 and 55 of 80 items, low indices more often.
fn train() -> Interactions {
    let pairs = (0..40_u32).flat_map(|user| {
        let mut stream = Stream::new(Seed(9).index(u64::from(user)));
        (0..3 + user * 4 / 3).map(move |_| {
            let (a, _) = stream.below(80);
            let (b, _) = stream.below(80);
            (user, a.min(b))
        })
    });
    Interactions::from_pairs(40, 80, pairs)
}

fn configs() -> [NegativesConfig; 5] {
    [
        NegativesConfig::Uniform(Uniform { count: 16 }),
        NegativesConfig::UniformAll(UniformAll {
            count: 16,
            ..UniformAll::default()
        }),
        NegativesConfig::UniformAll(UniformAll {
            count: 16,
            shared: true,
            ..UniformAll::default()
        }),
        NegativesConfig::Popularity(Popularity {
            count: 16,
            ..Popularity::default()
        }),
        NegativesConfig::Popularity(Popularity {
            count: 16,
            shared: true,
            ..Popularity::default()
        }),
    ]
}

fn sampler(config: &NegativesConfig, seed: u64) -> NegativeSampler {
    NegativeSampler::new(config, &train(), Seed(seed)).unwrap()
}

fn draw(sampler: &NegativeSampler, step: u64, users: &[u32]) -> Vec<i32> {
    let mut items = Vec::new();
    sampler.sample(step, users, &mut items);
    items
}

/// Draws for one user over many steps, counted by item.
fn counts(sampler: &NegativeSampler, user: u32) -> Vec<f64> {
    let mut counts = vec![0.0; 80];
    for step in 0..200 {
        for item in draw(sampler, step, &[user; 32]) {
            counts[item as usize] += 1.0;
        }
    }
    counts
}

/// Asserts that the counts fit the probabilities: chi-square is below its mean plus 4.5 standard deviations, and items of
/// probability 0 are never drawn.
fn assert_distribution(counts: &[f64], probabilities: &[f64]) {
    let total: f64 = counts.iter().sum();
    let mut chi_square = 0.0_f64;
    let mut freedom = -1.0_f64;
    for (item, (&count, &probability)) in counts.iter().zip(probabilities).enumerate() {
        if probability == 0.0 {
            assert_eq!(count, 0.0, "item {item} was drawn");
        } else {
            let expected = total * probability;
            chi_square += (count - expected).powi(2) / expected;
            freedom += 1.0;
        }
    }
    assert!(
        chi_square < freedom + 4.5 * (2.0 * freedom).sqrt(),
        "chi-square {chi_square} at {freedom} degrees of freedom"
    );
}

#[test]
fn uniform_is_flat_over_items_that_the_user_does_not_have() {
    let train = train();
    let sampler = sampler(&NegativesConfig::Uniform(Uniform { count: 16 }), 1);
    // The last user has more than half of the items, so the exact map draws most of the negatives.
    for user in [0, 20, 39] {
        let share = 1.0 / (80 - train.items_of(user).len()) as f64;
        let expected: Vec<f64> = (0..80)
            .map(|item| if train.contains(user, item) { 0.0 } else { share })
            .collect();
        assert_distribution(&counts(&sampler, user), &expected);
    }
}

#[test]
fn uniform_all_is_flat_over_all_items() {
    for config in &configs()[1..3] {
        assert_distribution(&counts(&sampler(config, 2), 5), &[1.0 / 80.0; 80]);
    }
}

#[test]
fn popularity_follows_the_power_of_the_counts() {
    for exponent in [0.0, 0.5, 0.75, 1.0] {
        let config = NegativesConfig::Popularity(Popularity {
            count: 16,
            exponent,
            ..Popularity::default()
        });
        let weights: Vec<f64> = train()
            .item_counts()
            .iter()
            .map(|&count| if count == 0 { 0.0 } else { f64::from(count).powf(exponent) })
            .collect();
        let total: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        assert_distribution(&counts(&sampler(&config, 3), 5), &expected);
    }
}

#[test]
fn log_q_is_the_logarithm_of_the_probability_of_a_draw() {
    let popularity = NegativesConfig::Popularity(Popularity {
        log_q: true,
        ..Popularity::default()
    });
    let in_batch = NegativesConfig::InBatch(InBatch::default());
    for config in [popularity.clone(), in_batch] {
        let log_q = sampler(&config, 0).log_q().unwrap();
        let total: f64 = log_q.iter().map(|&log_q| f64::from(log_q).exp()).sum();
        assert!((total - 1.0).abs() < 1e-5, "{total}");
    }
    let sampler = sampler(&popularity, 4);
    let probabilities: Vec<f64> = sampler.log_q().unwrap().iter().map(|&log_q| f64::from(log_q).exp()).collect();
    assert_distribution(&counts(&sampler, 0), &probabilities);
}

#[test]
fn in_batch_log_q_is_the_share_of_the_interactions() {
    let train = Interactions::from_pairs(3, 3, [(0, 0), (1, 0), (2, 0), (0, 1)]);
    let sampler = NegativeSampler::new(&NegativesConfig::InBatch(InBatch::default()), &train, Seed(0)).unwrap();
    assert_eq!(sampler.log_q(), Some(vec![0.75_f32.ln(), 0.25_f32.ln(), f32::NEG_INFINITY]));
}

#[test]
fn log_q_is_none_unless_configured() {
    let in_batch = NegativesConfig::InBatch(InBatch {
        log_q: false,
        ..InBatch::default()
    });
    for config in configs().iter().chain([&in_batch]) {
        assert_eq!(sampler(config, 0).log_q(), None, "{config:?}");
    }
}

#[test]
fn uniform_never_draws_an_interacted_item() {
    let train = train();
    let sampler = sampler(&NegativesConfig::Uniform(Uniform { count: 500 }), 7);
    let users: Vec<u32> = (0..40).collect();
    for (row, items) in draw(&sampler, 0, &users).chunks(500).enumerate() {
        assert!(
            items.iter().all(|&item| !train.contains(users[row], item as u32)),
            "user {row}"
        );
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_draws() {
    let users: Vec<u32> = (0..400).map(|row| row * 7 % 40).collect();
    let on_threads = |threads: usize, sampler: &NegativeSampler| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let items = draw(sampler, 11, &users);
            let hits = hits_or_mask(sampler, &users, &items);
            (items, hits)
        })
    };
    for config in &configs() {
        let sampler = sampler(config, 5);
        let alone = on_threads(1, &sampler);
        for threads in [2, 5] {
            assert_eq!(on_threads(threads, &sampler), alone, "{config:?}");
        }
    }
}

#[test]
fn a_row_does_not_depend_on_the_other_rows() {
    for config in &configs() {
        let sampler = sampler(config, 5);
        let few = draw(&sampler, 3, &[8, 9]);
        let many = draw(&sampler, 3, &[8, 9, 1, 2, 3]);
        assert_eq!(few[..], many[..few.len()], "{config:?}");
    }
}

#[test]
fn seeds_steps_and_rows_give_different_draws() {
    for config in &configs() {
        let first = draw(&sampler(config, 5), 3, &[8, 8]);
        assert_ne!(draw(&sampler(config, 6), 3, &[8, 8]), first, "{config:?}");
        assert_ne!(draw(&sampler(config, 5), 4, &[8, 8]), first, "{config:?}");
        if !config.shared() {
            assert_ne!(first[..16], first[16..], "{config:?}");
        }
    }
}

#[test]
fn shared_draws_are_one_row() {
    for config in &configs() {
        let rows = if config.shared() { 1 } else { 3 };
        assert_eq!(draw(&sampler(config, 0), 0, &[1, 2, 3]).len(), rows * 16, "{config:?}");
    }
}

/// For each user the positions of their accidental hits, from the lists or from the mask.
fn hits_or_mask(sampler: &NegativeSampler, users: &[u32], items: &[i32]) -> Vec<Vec<u32>> {
    if sampler.config().shared() {
        return sampler.hits(users, items);
    }
    let mut keep = vec![true; 3];
    sampler.mask(users, items, &mut keep);
    let Some(count) = keep.len().checked_div(users.len()).filter(|&count| count > 0) else {
        return Vec::new();
    };
    let hits = |keep: &[bool]| {
        (0..)
            .zip(keep)
            .filter(|&(_, &keep)| !keep)
            .map(|(position, _)| position)
            .collect()
    };
    keep.chunks(count).map(hits).collect()
}

#[test]
fn accidental_hits_are_found() {
    let train = train();
    let users: Vec<u32> = (0..40).collect();
    for config in configs().iter().filter(|config| config.mask_hits()) {
        let sampler = sampler(config, 5);
        let items = draw(&sampler, 0, &users);
        let hits = hits_or_mask(&sampler, &users, &items);
        assert_eq!(hits.len(), 40);
        for (row, hits) in hits.iter().enumerate() {
            let items = if config.shared() { &items[..] } else { &items[row * 16..] };
            let is_hit = |position: &u32| train.contains(users[row], items[*position as usize] as u32);
            let expected: Vec<u32> = (0..16).filter(is_hit).collect();
            let mut hits = hits.clone();
            hits.sort_unstable();
            assert_eq!(hits, expected, "{config:?} row {row}");
        }
        assert!(
            hits.iter().any(|hits| !hits.is_empty()),
            "{config:?}: there was no hit, so the test shows nothing"
        );
    }
}

#[test]
fn no_hits_are_looked_for_unless_configured() {
    let off = |shared| {
        NegativesConfig::UniformAll(UniformAll {
            mask_hits: false,
            shared,
            ..UniformAll::default()
        })
    };
    for config in [configs()[0].clone(), off(false), off(true)] {
        assert!(hits_or_mask(&sampler(&config, 0), &[0], &[0]).is_empty(), "{config:?}");
    }
}

#[test]
fn the_anchors_own_positive_is_a_hit_in_the_batch() {
    let train = Interactions::from_pairs(3, 3, [(0, 0), (1, 1), (2, 2), (0, 2)]);
    let sampler = NegativeSampler::new(&NegativesConfig::InBatch(InBatch::default()), &train, Seed(0)).unwrap();
    assert!(draw(&sampler, 0, &[0, 1, 2]).is_empty());
    // The last two anchors have the same positive.
    let hits = sampler.hits(&[0, 1, 2, 0], &[0, 1, 2, 2]);
    assert_eq!(hits, [vec![0, 2, 3], vec![1], vec![2, 3], vec![0, 2, 3]]);
}

#[test]
fn a_user_who_has_everything_is_named_when_the_sampler_is_made() {
    let train = Interactions::from_pairs(2, 2, [(0, 0), (1, 0), (1, 1)]);
    let error = NegativeSampler::new(&NegativesConfig::default(), &train, Seed(0)).unwrap_err();
    assert_eq!(error, NegativesError::NothingLeft { user: 1, num_items: 2 });
    assert!(
        error.to_string().contains("user 1") && error.to_string().contains("uniform_all"),
        "{error}"
    );
}

#[test]
fn nothing_to_draw_from_is_an_error() {
    let no_items = Interactions::from_pairs(2, 0, []);
    for config in configs().iter().chain([&NegativesConfig::InBatch(InBatch::default())]) {
        let error = NegativeSampler::new(config, &no_items, Seed(0)).unwrap_err();
        assert_eq!(error, NegativesError::NoItems, "{config:?}");
    }
    let no_pairs = Interactions::from_pairs(2, 4, []);
    let error = NegativeSampler::new(&configs()[3], &no_pairs, Seed(0)).unwrap_err();
    assert_eq!(error, NegativesError::NoInteractions);
}

#[test]
fn an_exponent_or_a_count_out_of_range_is_refused() {
    let exponent = |exponent| {
        NegativesConfig::Popularity(Popularity {
            exponent,
            ..Popularity::default()
        })
        .check()
    };
    assert!(exponent(0.0).is_ok() && exponent(2.0).is_ok());
    assert!(exponent(-0.1).is_err() && exponent(f64::NAN).is_err());
    assert!(NegativesConfig::Uniform(Uniform { count: 0 }).check().is_err());
}
