//! Norms without parameters, and norms of groups.

use super::*;
use crate::vision::test_values::{assert_close, values, waves};

#[test]
fn a_plain_norm_has_scale_1_and_shift_0_and_nothing_to_train() {
    let device = Device::flex().autodiff();
    let [plain, affine] = [BatchNorm::plain(3, &device), BatchNorm::new(3, &device)];
    assert_eq!(
        (plain.num_params(), affine.num_params()),
        (6, 12),
        "two running statistics, with scale and shift"
    );
    let input = waves([4, 3], &device).require_grad();
    for mode in [Mode::Train, Mode::Eval] {
        let outputs = [&plain, &affine].map(|norm| norm.forward(input.clone(), mode));
        let [plain, affine] = outputs.clone().map(values);
        assert_eq!(plain, affine);
        let [plain, affine] = outputs.map(|output| {
            let gradients = output.powi_scalar(3).sum().backward();
            values(input.grad(&gradients).expect("a gradient"))
        });
        assert_eq!(plain, affine);
    }
}

#[test]
fn each_group_is_normalised_as_a_batch_of_its_own() {
    let device = Device::flex().autodiff();
    let (whole, split) = (BatchNorm::new(3, &device), BatchNorm::new(3, &device).with_groups(2));
    let input = waves([6, 3, 2, 2], &device).require_grad();
    let cubes = |output: Tensor<4>| output.powi_scalar(3).sum();
    let members = |group: usize| Tensor::from_ints([group, group + 2, group + 4].map(|index| index as i32), &device);

    for relu in [false, true] {
        let apply = |norm: &BatchNorm, input: Tensor<4>| {
            if relu {
                norm.forward_relu(input, Mode::BatchStatistics)
            } else {
                norm.forward(input, Mode::BatchStatistics)
            }
        };
        let output = apply(&split, input.clone());
        let groups = [0, 1].map(|group| apply(&whole, input.clone().select(0, members(group))));
        for (group, alone) in groups.clone().into_iter().enumerate() {
            assert_close(&values(output.clone().select(0, members(group))), &values(alone));
        }
        let gradient = |loss: Tensor<1>| values(input.grad(&loss.backward()).expect("a gradient"));
        let [first, second] = groups.map(cubes);
        assert_close(&gradient(cubes(output)), &gradient(first + second));
    }
}

#[test]
fn each_view_is_normalised_and_counted_as_a_batch_of_its_own() {
    let device = Device::flex().autodiff();
    let input = waves([8, 3, 2, 2], &device).require_grad();
    let residual = waves([8, 3, 2, 2], &device) * 0.5;
    // Groups are parts of a view.
    for groups in [1, 2] {
        let norm = || BatchNorm::new(3, &device).with_groups(groups);
        let (together, alone) = (norm(), norm());
        let pass = Pass {
            mode: Mode::Train,
            views: 2,
        };
        let output = together.forward_add_relu(input.clone(), residual.clone(), pass);
        let of_views: Vec<_> = (input.clone().chunk(2, 0).into_iter().zip(residual.clone().chunk(2, 0)))
            .map(|(view, residual)| alone.forward_add_relu(view, residual, Mode::Train))
            .collect();
        let of_views = Tensor::cat(of_views, 0);
        assert_eq!(values(output.clone()), values(of_views.clone()));
        let gradient = |output: Tensor<4>| values(input.grad(&output.powi_scalar(3).sum().backward()).expect("a gradient"));
        assert_eq!(gradient(output), gradient(of_views));
        for statistic in [
            |norm: &BatchNorm| norm.running_mean.value(),
            |norm: &BatchNorm| norm.running_var.value(),
        ] {
            assert_eq!(values(statistic(&together)), values(statistic(&alone)));
        }
    }
}

#[test]
fn groups_share_scale_and_shift() {
    let device = Device::flex().autodiff();
    let norm = BatchNorm::new(3, &device).with_groups(3);
    let output = norm.forward(waves([6, 3], &device), Mode::Train);
    let gradients = (output.clone() * output).sum().backward();
    let gradient = |param: &Option<Param<Tensor<1>>>| {
        let value = param.as_ref().expect("a parameter").val();
        values(value.grad(&gradients).expect("a gradient"))
    };
    // The 6 outputs of each channel have mean 0 and, but for epsilon, mean square 1.
    assert!(gradient(&norm.weight).iter().all(|scale| (scale - 12.0).abs() < 0.05));
    assert!(gradient(&norm.bias).iter().all(|shift| shift.abs() < 1e-4));
}

#[test]
fn evaluation_ignores_groups() {
    let device = Device::flex();
    let norm = BatchNorm::new(3, &device).with_groups(4);
    norm.forward(waves([8, 3], &device), Mode::Train);
    // 5 does not divide into 4 groups.
    let input = waves([5, 3], &device);
    let split = values(norm.forward(input.clone(), Mode::Eval));
    assert_eq!(split, values(norm.with_groups(1).forward(input, Mode::Eval)));
}

#[test]
#[should_panic(expected = "a batch of 6 does not divide into 4 groups, but must be a multiple of 4")]
fn a_batch_that_does_not_divide_is_refused() {
    let device = Device::flex();
    BatchNorm::new(3, &device)
        .with_groups(4)
        .forward(waves([6, 3], &device), Mode::Train);
}
