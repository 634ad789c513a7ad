//! Tests of the module above.

use super::*;

/// A table as `CubeCL` writes it; the sums in it do not matter.
const TABLE: &str = "\
|⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺⎺|\u{20}
| Name                                   | Duration  | Num Computed | Ratio |
|⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼|\u{20}
| Convolution | bf16 | CudaRuntime_0badf00d | 812.345ms | 2            | 100 % |
|⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼⎼|\u{20}
| Total                                  | 812.345ms | 2            | 100 % |
|⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯|\u{20}
\n";

const PRODUCT: &str = "| 90.112µs   | Matmul | f32_11111111\n";

/// A step: its forward and its backward pass, each with the wait after it. Both convolutions are of one kernel with other settings.
fn step(convolution: &str) -> String {
    let forward = format!(
        "| {convolution:<10} | Convolution | bf16 | CudaRuntime_0badf00d\n| 1.5ms      | Convolution | bf16 | CudaRuntime_12345678\n"
    );
    let backward = "| 500ns      | Adam_step_aaaaaaaa\n| not measured | Copy_bbbbbbbb\n";
    [&forward, TABLE, backward, TABLE].concat()
}

#[test]
fn the_last_step_counts_without_compilation() {
    let log = [
        PRODUCT,
        TABLE,
        PRODUCT,
        TABLE,
        &step("812.345ms"),
        &step("2.1ms"),
        &step("1.4995ms"),
        "| 9s ",
    ];
    let report = ProfileReport::of(&log.concat()).unwrap();
    assert_eq!((report.one_step, report.launches), (true, 4));
    assert!((report.ms - 3.0).abs() < 1e-9, "{report:?}");
    let kernels: Vec<_> = report.kernels.iter().map(|kernel| (&*kernel.name, kernel.launches)).collect();
    assert_eq!(
        kernels,
        [("Convolution | bf16 | CudaRuntime", 2), ("Adam_step", 1), ("Copy", 1)]
    );
    let [convolution, adam, copy] = &report.kernels[..] else {
        panic!()
    };
    assert!((convolution.ms - 2.9995).abs() < 1e-9 && convolution.share > 0.999);
    assert!((adam.ms - 5e-4).abs() < 1e-12 && copy.ms == 0.0);
}

#[test]
fn without_a_repeated_step_all_launches_count() {
    let products = [PRODUCT, TABLE, PRODUCT, TABLE].concat();
    let one_step = [PRODUCT, TABLE, &step("1s"), PRODUCT].concat();
    for (log, launches) in [(products, 2), (one_step, 6)] {
        let report = ProfileReport::of(&log).unwrap();
        assert_eq!((report.one_step, report.launches), (false, launches), "{log}");
    }
}

#[test]
fn a_log_of_something_else_has_no_profile() {
    for log in ["", "\n|||\n| x | y\n", TABLE, "| 3 apples | f32_0badf00d\n|⎯⎯|\n"] {
        assert_eq!(ProfileReport::of(log), None, "{log}");
    }
}
