//! Work that process 0 does for all, and facts on which all processes must agree.

use crate::error::Error;
use bcl_collective::Collective;
use serde::{Serialize, de::DeserializeOwned};

/// Runs `work` on process 0, which reads and writes the files of a run. All processes get its result.
///
/// # Errors
/// Returns the error of `work` on process 0, and [`Error::OfFirstProcess`] on all others.
pub fn on_first<T>(processes: &dyn Collective, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error>
where
    T: Clone + Serialize + DeserializeOwned,
{
    if processes.size() == 1 {
        return work();
    }
    // What process 0 has, with all fields that are not sent.
    let mut own = None;
    let received = processes.on_first(|| {
        let outcome = work();
        let sent = match &outcome {
            Ok(value) => Ok(value.clone()),
            Err(error) => Err(error.exit_code().to_string()),
        };
        own = Some(outcome);
        sent
    });
    match (own, received) {
        (Some(Err(error)), _) => Err(error),
        (Some(Ok(value)), Ok(_)) | (None, Ok(value)) => Ok(value),
        (_, Err(message)) => Err(match message.parse() {
            Ok(code) => Error::OfFirstProcess { code },
            Err(_) => Error::Training(message),
        }),
    }
}

/// Refuses to go on unless all processes have the same values of all facts, such as the recipe.
///
/// # Errors
/// Returns an error on all processes if a fact differs; process 0's error names the first process and the fact.
pub fn refuse_differences(processes: &dyn Collective, facts: &[(&str, String)]) -> Result<(), Error> {
    if processes.size() == 1 {
        return Ok(());
    }
    let own: Vec<&String> = facts.iter().map(|(_, value)| value).collect();
    let message = serde_json::to_vec(&own).expect("texts can be written as JSON");
    let all = processes.gather_each(message);
    let Some(process) = all.iter().position(|values| *values != all[0]) else {
        return Ok(());
    };
    let [first, other] = [0, process].map(|process| serde_json::from_slice::<Vec<String>>(&all[process]).unwrap_or_default());
    let differs = facts
        .iter()
        .zip(first.iter().zip(&other))
        .find(|(_, (first, other))| first != other);
    let what = match differs {
        Some(((name, _), (first, other))) => format!("another {name} than process 0: {other} instead of {first}"),
        None => "another version of bcl-train than process 0".to_owned(),
    };
    Err(Error::of_all_processes(
        processes,
        Error::Input(format!(
            "process {process} has {what}; start all processes with the same program, the same recipe and flags, and the same data"
        )),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_collective::Threads;

    #[test]
    fn an_error_of_process_0_stays_there_and_the_others_know_its_exit_code() {
        let outcomes = Threads::run(3, |processes| {
            let outcome = on_first::<u32>(&*processes, || Err(Error::Input("no such folder".to_owned())));
            let error = outcome.unwrap_err();
            (error.to_string(), error.exit_code())
        });
        assert_eq!(outcomes[0], ("no such folder".to_owned(), 2));
        assert!(outcomes[1].0.contains("process 0 has stopped the run"), "{}", outcomes[1].0);
        assert_eq!(outcomes[1..], [outcomes[1].clone(), outcomes[1].clone()]);
        assert_eq!(outcomes[1].1, 2);
    }

    #[test]
    fn the_first_process_and_fact_that_differ_are_named() {
        for (odd, expected) in [
            (None, None),
            (Some(2), Some("process 2 has another data than process 0: b instead of a")),
        ] {
            let outcomes = Threads::run(4, |processes| {
                let data = if odd.is_some_and(|odd| processes.index() >= odd) {
                    "b"
                } else {
                    "a"
                };
                refuse_differences(&*processes, &[("recipe", "r".to_owned()), ("data", data.to_owned())])
                    .map_err(|error| (error.to_string(), error.exit_code()))
            });
            match expected {
                None => assert!(outcomes.iter().all(Result::is_ok)),
                Some(expected) => {
                    let (message, code) = outcomes[0].clone().unwrap_err();
                    assert!(message.starts_with(expected), "{message}");
                    assert_eq!(code, 2);
                    assert!(
                        outcomes
                            .iter()
                            .all(|outcome| outcome.as_ref().is_err_and(|(_, code)| *code == 2))
                    );
                }
            }
        }
    }
}
