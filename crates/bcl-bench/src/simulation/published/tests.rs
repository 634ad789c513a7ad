//! Tests of the module above.

use super::*;

#[test]
fn the_normal_distribution_equals_printed_values() {
    for (x, expected) in [
        (0.0, 0.5),
        (1.0, 0.841_344_746_068_543),
        (-1.96, 0.024_997_895_148_220),
        (3.0, 0.998_650_101_968_370),
    ] {
        assert!((normal_distribution(x) - expected).abs() < 1e-12, "{x}");
        assert!((normal_quantile(expected) - x).abs() < 1e-9, "{x}");
    }
    assert_eq!((normal_distribution(9.0), normal_distribution(-9.0)), (1.0, 0.0));
}

#[test]
fn drawn_scores_follow_their_density() {
    let drawing = scores(Seed(3)).remove(2);
    assert_eq!(drawing.name, "figure5-alpha-0.9");
    let text = drawing.csv.to_string();
    let mut mass = 0.0;
    for line in text.lines().skip(1).filter(|line| line.contains("true_negatives")) {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        assert!((cells[1] - cells[2]).abs() < 0.06, "{line}");
        mass += cells[1] * LARGEST / BINS as f64;
    }
    assert!((mass - 1.0).abs() < 0.02, "{mass}");
}

#[test]
fn at_random_guesses_or_equal_classes_both_distribution_functions_are_equal() {
    // Equation 21 of the paper.
    for line in transformations()
        .iter()
        .flat_map(|drawing| drawing.csv.to_string().lines().map(str::to_owned).collect::<Vec<_>>())
    {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        if let [alpha, tau_plus, unlabelled, base] = cells[..]
            && (alpha == 0.5 || tau_plus == 0.5)
        {
            assert!((unlabelled - base).abs() < 1e-9, "{line}");
        }
    }
}

#[test]
fn figures_nine_and_ten_use_the_interval_of_the_text() {
    let base = SimulationConfig {
        num_anchors: 20,
        repetitions: 2,
        ..SimulationConfig::default()
    };
    let (means, errors) = estimators(Seed(1), &base);
    let names: Vec<&str> = means.iter().map(|drawing| drawing.name.as_str()).collect();
    assert_eq!(names, ["figure9a-gamma", "figure9b-alpha"]);
    assert_eq!(errors.len(), Parameter::ALL.len());
    // Scores are between exp(-0.5 / t) and exp(0.5 / t), that is 1/e and e at t = 1/2.
    for line in means[0].csv.to_string().lines().filter(|line| line.contains("supervised")) {
        let mean: f64 = line.split(',').nth(2).unwrap().parse().unwrap();
        assert!((0.36..2.72).contains(&mean), "{line}");
    }
}
