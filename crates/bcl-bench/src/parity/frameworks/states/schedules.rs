//! Schedules. They are numbers of the host, the same in every precision of tensors.

use super::{State, reader::Reader};
use crate::parity::frameworks::problem::{Problem, ill_formed, unsupported};
use bcl_methods::DinoConfig;
use bcl_models::vision::cosine_momentum;
use bcl_optim::{Decay, RateSchedule};

pub(super) fn schedule(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let parameters = trace.parameters();
    let value: Box<dyn Fn(usize) -> f64> = match parameters.text("form")? {
        "lr_cosine_epochs" => {
            let schedule = RateSchedule::new(parameters.number("base")?, 0, parameters.count("epochs")?, Decay::Cosine);
            Box::new(move |epoch| schedule.rate(epoch))
        }
        "teacher_temperature" => {
            let config = DinoConfig {
                teacher_temperature_start: parameters.number("start")?,
                teacher_temperature: parameters.number("end")?,
                teacher_warmup_epochs: parameters.count("warmup_epochs")?,
                ..DinoConfig::default()
            };
            Box::new(move |epoch| config.teacher_temperature_at(epoch))
        }
        "momentum_byol" => {
            let (base, steps) = (parameters.number("base")?, parameters.count("steps")?);
            if !(0.0..=1.0).contains(&base) || steps == 0 {
                return ill_formed(format!(
                    "its `base` is {base} and its `steps` are {steps}, but must be in [0, 1] and at least 1"
                ));
            }
            Box::new(move |step| cosine_momentum(base, step, steps))
        }
        form => return unsupported(format!("there is no schedule `{form}` here")),
    };
    let found = trace.array("at")?.values.iter().map(|&at| value(at as usize));
    trace.states([("values", found.collect())])
}
