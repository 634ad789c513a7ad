//! Loops over rows against loops over planes of one value.

use super::*;

fn waves<T: Value>(length: usize, frequency: f64) -> Vec<T> {
    (0..length)
        .map(|i| T::from_f64((i as f64 * frequency).sin() + 0.25))
        .collect()
}

fn assert_rows_are_planes<T: Value>(num_rows: usize, num_channels: usize, relu: bool) {
    let layout = Layout::of(&Shape::from([num_rows, num_channels]));
    assert!(layout.is_rows());
    let length = num_rows * num_channels;
    let [values, grads] = [0.37, 0.11].map(|frequency| waves::<T>(length, frequency));
    let (mean, variance) = statistics(&values, layout);
    assert_eq!(rows::statistics(&values, num_channels), (mean.clone(), variance.clone()));

    let [weight, bias] = [0.7, 0.3].map(|frequency| (0..num_channels).map(|i| (i as f64 * frequency).cos()).collect::<Vec<_>>());
    let channels = channels::<T>(&weight, &bias, &mean, &variance, 1e-5, relu);
    let columns = Columns::new(&channels);
    let [mut of_planes, mut of_rows] = [0, 1].map(|_| vec![T::ZERO; length]);
    normalise(&values, layout, &channels, &mut of_planes);
    rows::normalise(&values, &columns, &mut of_rows);
    assert!(of_planes == of_rows);

    let sums = gradient_sums(&values, &grads, layout, &channels);
    assert_eq!(rows::gradient_sums(&values, &grads, &columns), sums);
    let lines: Vec<[T; 2]> = sums[0].iter().zip(&sums[1]).map(|(&a, &b)| [a, b].map(T::from_f64)).collect();
    input_gradient(&values, &grads, layout, &channels, &lines, &mut of_planes);
    rows::input_gradient(&values, &grads, &columns, &lines, &mut of_rows);
    assert!(of_planes == of_rows);
}

#[test]
fn rows_have_the_bits_of_planes_of_one_value() {
    for (num_rows, num_channels) in [(7, 6), (1, 3), (40, 1), (900, 33)] {
        for relu in [false, true] {
            assert_rows_are_planes::<f32>(num_rows, num_channels, relu);
            assert_rows_are_planes::<f64>(num_rows, num_channels, relu);
        }
    }
}
