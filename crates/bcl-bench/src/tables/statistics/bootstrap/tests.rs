//! Tests of the module above.

use super::*;

/// Metrics of 200 users with 6 seeds: an ability of each user that all rows share, and noise.
fn row(shift: f64, noise: u64) -> BTreeMap<u64, Vec<f64>> {
    let mut random = Seed(noise).rng();
    let mut draw = |seed: u64| {
        let user = |user: u64| (user % 10) as f64 / 10.0 + shift + 0.02 * random.random::<f64>() + 0.001 * seed as f64;
        (0..200).map(user).collect()
    };
    (0..6).map(|seed| (seed, draw(seed))).collect()
}

#[test]
fn a_shift_is_found_and_noise_is_not() {
    let (a, b, c) = (row(0.0, 1), row(0.005, 2), row(0.0, 3));
    let bootstrap = Bootstrap::new(&[&a, &b, &c]).unwrap();
    let errors = |row: usize| (bootstrap.means[row] - bootstrap.means[0]) / bootstrap.standard_error(row, 0);
    assert!(errors(1) > 10.0, "{}", errors(1));
    assert!(errors(2).abs() < 2.0, "{}", errors(2));
    assert!((bootstrap.standard_error(0, 2) - bootstrap.standard_error(2, 0)).abs() < 1e-12);
}

#[test]
fn the_standard_error_of_users_alone_is_that_of_the_textbook() {
    // All seeds are equal, so only users scatter: standard error s / √n of the differences.
    let differences: Vec<f64> = (0..100).map(|user| f64::from(user % 7)).collect();
    let of = |figures: &[f64]| {
        (0..5)
            .map(|seed| (seed, figures.to_vec()))
            .collect::<BTreeMap<u64, Vec<f64>>>()
    };
    let (zero, other) = (of(&[0.0; 100]), of(&differences));
    let found = Bootstrap::new(&[&zero, &other]).unwrap().standard_error(1, 0);
    let mean = differences.iter().sum::<f64>() / 100.0;
    let variance = differences.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 100.0;
    let expected = (variance / 100.0).sqrt();
    assert!((found / expected - 1.0).abs() < 0.03, "{found}, not {expected}");
}

#[test]
fn equal_rows_have_no_standard_error() {
    let a = row(0.0, 1);
    assert_eq!(Bootstrap::new(&[&a, &a]).unwrap().standard_error(1, 0), 0.0);
}

#[test]
fn other_users_or_a_single_seed_have_no_bootstrap() {
    let a = row(0.0, 1);
    let shorter: BTreeMap<u64, Vec<f64>> = a.iter().map(|(seed, users)| (*seed, users[1..].to_vec())).collect();
    assert!(Bootstrap::new(&[&a, &shorter]).is_none());
    let single: BTreeMap<u64, Vec<f64>> = a.clone().into_iter().take(1).collect();
    assert!(Bootstrap::new(&[&a, &single]).is_none());
    assert!(Bootstrap::new(&[]).is_none());
}
