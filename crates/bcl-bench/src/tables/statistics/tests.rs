//! Tests of the module above.

use super::*;

fn row<'a>(name: &'a str, values: &[f64]) -> Compared<'a> {
    Compared {
        name,
        seeds: values.iter().enumerate().map(|(seed, value)| (seed as u64, *value)).collect(),
        samples: None,
    }
}

fn compared(rows: &[Compared<'_>]) -> Vec<Paired> {
    let mut pairs = compare(rows, all_pairs(rows.len()));
    correct(pairs.iter_mut().collect());
    pairs
}

#[test]
fn a_steady_difference_is_found_and_scatter_is_not() {
    let base = [0.40, 0.42, 0.41, 0.43, 0.40];
    let better: Vec<f64> = base.iter().enumerate().map(|(i, v)| v + 0.01 + 1e-4 * i as f64).collect();
    let scattered = [0.42, 0.40, 0.43, 0.41, 0.405];
    let pairs = compared(&[row("base", &base), row("better", &better), row("scattered", &scattered)]);
    assert_eq!(pairs.len(), 3);
    assert_eq!(pairs[0].verdict(None), Verdict::Better);
    assert!((pairs[0].difference.mean - 0.0102).abs() < 1e-9);
    for pair in &pairs[1..] {
        assert!(matches!(pair.verdict(Some(1e-3)), Verdict::NotKnown(Some(_))), "{pair:?}");
    }
}

#[test]
fn only_seeds_that_both_have_are_compared() {
    let mut other = row("b", &[0.0, 2.5, 9.0]);
    other.seeds.remove(0);
    let pairs = compared(&[row("a", &[1.0, 2.0]), other]);
    assert_eq!((pairs[0].difference.mean, pairs[0].difference.count), (0.5, 1));
    assert_eq!(pairs[0].p, None, "one difference says nothing");
    assert_eq!(pairs[0].verdict(None), Verdict::TooFewSeeds);
}

#[test]
fn fewer_than_five_seeds_say_nothing() {
    let of = |b: &[f64]| compared(&[row("a", &[0.1, 0.2, 0.3, 0.4]), row("b", b)])[0].verdict(Some(10.0));
    assert_eq!(of(&[0.3, 0.1, 0.5, 0.2]), Verdict::TooFewSeeds);
    assert_eq!(of(&[1.1, 1.2, 1.3001, 1.4]), Verdict::TooFewSeeds);
}

#[test]
fn rows_are_equivalent_if_their_interval_is_within_the_bound() {
    let base = [0.40, 0.42, 0.41, 0.43, 0.40];
    let near = [0.401, 0.419, 0.4105, 0.4295, 0.40];
    let pair = &compared(&[row("base", &base), row("near", &near)])[0];
    let (low, high) = pair.difference.bounds().unwrap();
    assert_eq!(pair.verdict(Some(high + 1e-6)), Verdict::Equivalent(high + 1e-6));
    assert!(matches!(pair.verdict(Some(high - 1e-6)), Verdict::NotKnown(_)));
    assert!(-low <= high + 1e-12, "the upper end decides");
}

/// How often a difference at 5 % is found between two rows that do not differ.
fn found_without_a_difference(seeds: u64, scatter_of_users: f64) -> f64 {
    use rand::RngExt;
    const TABLES: u64 = 2_000;
    const USERS: usize = 20;
    let mut random = bcl_data::Seed(seeds).named("null").rng();
    let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let found = (0..TABLES).filter(|_| {
        // What a user gains is the same with all seeds, and what a seed gains for all users.
        let of_users: Vec<f64> = (0..USERS).map(|_| scatter_of_users * normal()).collect();
        let differences: BTreeMap<u64, Vec<f64>> = (0..seeds)
            .map(|seed| {
                let of_seed = normal();
                (
                    seed,
                    of_users.iter().map(|of_user| of_user + of_seed + 0.5 * normal()).collect(),
                )
            })
            .collect();
        let none: BTreeMap<u64, Vec<f64>> = differences.keys().map(|&seed| (seed, vec![0.0; USERS])).collect();
        let means: Vec<f64> = differences
            .values()
            .map(|users| users.iter().sum::<f64>() / USERS as f64)
            .collect();
        let bootstrap = Bootstrap::with_draws(&[&none, &differences], 200).unwrap();
        let pair = Paired::new("b", "a", &means, Some(bootstrap.standard_error(1, 0))).unwrap();
        pair.p.unwrap() < LEVEL
    });
    found.count() as f64 / TABLES as f64
}

#[test]
fn without_a_difference_one_is_found_in_at_most_one_of_twenty_tables() {
    for seeds in [5, 10] {
        for scatter_of_users in [0.0, 0.5, 4.0] {
            let share = found_without_a_difference(seeds, scatter_of_users);
            assert!(share <= 0.055, "{seeds} seeds, users scatter by {scatter_of_users}: {share}");
        }
    }
}

#[test]
fn the_resolvable_difference_is_computed_by_hand() {
    // Differences of 1, 2, 3, 4, 5 less 3: s² = 2.5, standard error √0.5. One pair at four degrees of freedom: 2.776 and 0.941.
    let pairs = compared(&[row("a", &[3.0; 5]), row("b", &[1.0, 2.0, 3.0, 4.0, 5.0])]);
    let expected = (2.776_445 + 0.940_965) * 0.5_f64.sqrt();
    assert!((pairs[0].resolvable.unwrap() - expected).abs() < 1e-5, "{pairs:?}");
}

#[test]
fn a_difference_of_the_resolvable_size_is_found_in_four_of_five_tables() {
    use rand::RngExt;
    let mut random = bcl_data::Seed(7).rng();
    // The sum of twelve uniform values less 6 is nearly normal with variance 1.
    let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    // The true standard error is 1 / √6; the bound uses the standard error of each draw, so both are averaged.
    let tables = 2_000;
    let mut found = 0;
    let resolvable = (t_bound(0.95, 5) + t_bound(0.6, 5)) / 6.0_f64.sqrt();
    for _ in 0..tables {
        let differences: Vec<f64> = (0..6).map(|_| normal() + resolvable).collect();
        found += usize::from(compared(&[row("a", &[0.0; 6]), row("b", &differences)])[0].is_significant());
    }
    let share = found as f64 / f64::from(tables);
    assert!((share - POWER).abs() < 0.06, "{share}");
}
