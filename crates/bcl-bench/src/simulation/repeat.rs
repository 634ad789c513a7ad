//! Repeats points in parallel; the number of threads does not change the results.

use bcl_core::simulation::SimulationConfig;
use bcl_data::{Seed, seed::Xoshiro256PlusPlus};
use bcl_report::Interval;
use rayon::prelude::*;

/// Draws every repetition of every point. The outer list is by point, the inner one by repetition.
///
/// Each repetition has its own seed, derived from `topic`, the parameters of the point and the number of the repetition. So a
/// point has the same values wherever it appears, and more repetitions do not change the first ones.
pub(super) fn repeat<T: Send>(
    seed: Seed,
    topic: &str,
    points: &[SimulationConfig],
    draw: impl Fn(&SimulationConfig, &mut Xoshiro256PlusPlus) -> T + Sync,
) -> Vec<Vec<T>> {
    let seeds: Vec<Seed> = points.iter().map(|point| seed.named(topic).named(&name(point))).collect();
    let repetitions = |index: usize| (0..points[index].repetitions as u64).into_par_iter();
    let each = |index: usize| repetitions(index).map(move |repetition| (index, repetition));
    let drawn: Vec<(usize, T)> = (0..points.len())
        .into_par_iter()
        .flat_map(each)
        .map(|(index, repetition)| (index, draw(&points[index], &mut seeds[index].index(repetition).rng())))
        .collect();
    let mut by_point: Vec<Vec<T>> = points.iter().map(|_| Vec::new()).collect();
    for (index, found) in drawn {
        by_point[index].push(found);
    }
    by_point
}

/// The parameters that a repetition depends on.
fn name(point: &SimulationConfig) -> String {
    let anonymous = SimulationConfig {
        repetitions: 1,
        ..*point
    };
    serde_json::to_string(&anonymous).expect("parameters are plain data")
}

/// Mean and interval over at least one repetition.
pub(super) fn interval<T>(repetitions: &[T], value: impl Fn(&T) -> f64) -> Interval {
    let values: Vec<f64> = repetitions.iter().map(value).collect();
    Interval::of(&values).expect("a point has repetitions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::simulation::Repetition;

    fn drawn(threads: usize, points: &[SimulationConfig]) -> Vec<Vec<Repetition>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| repeat(Seed(1), "test", points, Repetition::draw))
    }

    fn points() -> [SimulationConfig; 2] {
        let small = SimulationConfig {
            num_anchors: 5,
            num_negatives: 8,
            repetitions: 3,
            ..SimulationConfig::default()
        };
        [small, SimulationConfig { alpha: 0.7, ..small }]
    }

    #[test]
    fn threads_and_neighbours_change_nothing() {
        let alone = drawn(1, &points()[1..]);
        assert_eq!(drawn(1, &points()), drawn(3, &points()));
        assert_eq!(drawn(3, &points())[1], alone[0]);
    }

    #[test]
    fn repetitions_differ_and_more_of_them_do_not_change_the_first() {
        let few = drawn(2, &points());
        assert!(few[0][0] != few[0][1] && few[0][0] != few[1][0]);
        let many = drawn(2, &points().map(|point| SimulationConfig { repetitions: 4, ..point }));
        assert_eq!(many[0][..3], few[0]);
    }
}
