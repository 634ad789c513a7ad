//! Compares losses and states of image frameworks with independent implementations.
//!
//! A file has cases (a loss on named inputs, with its value, further results and gradients) and traces (a state over several steps). In
//! f64, the tolerance is 1e-9; in f32, it is ten times `PyTorch`'s error, which the file has for each case. The result lists whatever this
//! library lacks, with the reason; that is no failure.

mod losses;
mod problem;
mod states;

use super::{
    compute::values,
    precision::{Arithmetic, Precision},
    result::{GRADIENT, Kind, OUTPUT, ParityResult, Quantity, VALUE},
};
use bcl_backend::Backend;
use bcl_golden::{Deviation, FrameworkCase, FrameworkFile, GoldenError, Output, Trace};
use losses::Inputs;
use problem::{Problem, ill_formed};
use std::path::Path;

/// The largest relative error in f64.
const IN_F64: f64 = 1e-9;

/// The largest relative error of a state in f32: exponents of codes are up to 200, which magnifies the rounding of a score as much.
const STATES_IN_F32: f64 = 2e-5;

/// Compares everything in a file on a backend, in precisions that it supports. `name` is only the name in the result.
///
/// # Errors
/// Returns an error that names the case or trace if something in the file is missing or wrong.
pub fn compare(
    file: &FrameworkFile,
    name: &Path,
    precisions: &[Precision],
    backend: &Backend,
) -> Result<ParityResult, GoldenError> {
    let mut result = ParityResult::new(name, backend.info());
    for &precision in precisions {
        let arithmetic = Arithmetic {
            precision,
            device: backend.training_device(),
        };
        for case in &file.cases {
            match compare_case(file, case, &arithmetic, &mut result) {
                Ok(()) => (),
                Err(Problem::Unsupported(reason)) => result.leave_out(precision, format!("case {}", case.id), reason),
                Err(Problem::IllFormed(problem)) => return Err(file.error(&case.id, problem)),
            }
        }
        let arithmetic = Arithmetic {
            precision,
            device: backend.device(),
        };
        for trace in &file.traces {
            match compare_trace(trace, &arithmetic, &mut result) {
                Ok(()) => (),
                Err(Problem::Unsupported(reason)) => result.leave_out(precision, format!("trace {}", trace.id), reason),
                Err(Problem::IllFormed(problem)) => return Err(file.error_in_trace(&trace.id, problem)),
            }
        }
    }
    Ok(result)
}

/// Why an intermediate result is not compared.
const NOT_RETURNED: &str = "no function here returns it";

fn compare_case(
    file: &FrameworkFile,
    case: &FrameworkCase,
    arithmetic: &Arithmetic,
    result: &mut ParityResult,
) -> Result<(), Problem> {
    let (quantities, left_out) = quantities(file, case, arithmetic)?;
    let precision = arithmetic.precision;
    let place = format!("case {}", case.id);
    for name in left_out {
        result.leave_out(precision, format!("`{name}` of {place}"), NOT_RETURNED.to_owned());
    }
    result.record((Kind::Loss, precision, &case.loss), &place, &quantities, false);
    Ok(())
}

/// Compares all of a case. Also returns the names of the results that no function returns.
fn quantities(
    file: &FrameworkFile,
    case: &FrameworkCase,
    arithmetic: &Arithmetic,
) -> Result<(Vec<Quantity>, Vec<String>), Problem> {
    let inputs = Inputs::new(file, case, arithmetic)?;
    let computed = losses::compute(&inputs)?;
    let (of_value, of_gradient) = match arithmetic.precision {
        Precision::F64 => (IN_F64, IN_F64),
        Precision::F32 => (case.tolerances_in_f32().loss, case.tolerances_in_f32().gradient),
    };
    let value = Deviation::of_number(values(computed.loss.clone())[0], case.value);
    let mut quantities = vec![Quantity::new("loss", VALUE, value, of_value)];
    let mut left_out = Vec::new();
    for (name, expected) in &case.outputs {
        let Some((_, found)) = computed.outputs.iter().find(|(output, _)| output == name) else {
            left_out.push(name.clone());
            continue;
        };
        let deviation = match expected {
            Output::Number(expected) => Deviation::of_number(found[0], *expected),
            Output::Array(expected) => {
                expected.check(name, found.len())?;
                Deviation::of_gradient(found, expected)
            }
        };
        quantities.push(Quantity::new(name, OUTPUT, deviation, of_value.max(of_gradient)));
    }
    let gradients = inputs.gradients(computed.loss);
    let zeros = |role: &str| vec![0.0; inputs.len(role)];
    for (role, expected) in &case.gradients {
        let found = gradients.get(role.as_str()).cloned().unwrap_or_else(|| zeros(role));
        let deviation = Deviation::of_gradient(&found, expected);
        quantities.push(Quantity::new(format!("gradient of {role}"), GRADIENT, deviation, of_gradient));
    }
    for role in &case.stopped {
        let found = gradients.get(role.as_str()).cloned().unwrap_or_default();
        let deviation = Deviation::of_array(&found, &vec![0.0; found.len()]);
        let name = format!("gradient of {role}, which must have none,");
        quantities.push(Quantity::new(name, GRADIENT, deviation, of_gradient));
    }
    Ok((quantities, left_out))
}

fn compare_trace(trace: &Trace, arithmetic: &Arithmetic, result: &mut ParityResult) -> Result<(), Problem> {
    let precision = arithmetic.precision;
    let tolerance = match precision {
        Precision::F64 => IN_F64,
        Precision::F32 => STATES_IN_F32,
    };
    let states = states::compute(trace, arithmetic)?;
    for name in trace.expected.keys() {
        if states.iter().all(|state| state.item != name) {
            let place = format!("`{name}` of trace {}", trace.id);
            result.leave_out(precision, place, NOT_RETURNED.to_owned());
        }
    }
    let mut quantities = Vec::new();
    for state in states {
        if state.found.len() != state.expected.len() {
            let [found, expected] = [state.found.len(), state.expected.len()];
            return ill_formed(format!("`{}` has {expected} values, but must have {found}", state.item));
        }
        let deviation = Deviation::of_array(&state.found, &state.expected);
        quantities.push(Quantity::new(state.to_string(), 0, deviation, tolerance));
    }
    let row = (Kind::State, precision, &*trace.kind);
    result.record(row, &format!("trace {}", trace.id), &quantities, false);
    Ok(())
}
