//! Tests of the module above.

use super::*;
use bcl_backend::BackendChoice;
use std::cell::RefCell;

fn flex() -> Backend {
    Backend::open(BackendChoice::Flex, None).expect("it is in every build")
}

#[test]
fn a_machine_that_slows_down_between_rounds_does_not_move_the_ratio() {
    let rounds = |factor: f64| {
        let turn = |slower: f64| Turn {
            seconds: factor * slower,
            parts: Vec::new(),
        };
        [1.0, 10.0, 2.0].map(|slower| vec![turn(slower)])
    };
    let ratio = ratio(&rounds(3.0), &rounds(1.0));
    assert_eq!((ratio.median, ratio.least, ratio.most), (3.0, 3.0, 3.0));
}

#[test]
fn cases_take_turns_after_a_run_that_is_not_counted() {
    let log = RefCell::new(String::new());
    let log = &log;
    let case = |name: char| Case::new(name, move || log.borrow_mut().push(name));
    let plan = Plan {
        rounds: 2,
        turns: 2,
        seconds: 0.0,
    };
    let measured = measure(vec![case('a'), case('b')], &plan, &flex());
    assert_eq!(*log.borrow(), "abaabbaabb");
    assert!(measured.iter().all(|one| one.repetitions == 4 && one.ratio.is_some()));
}

#[test]
fn parts_rates_and_scaled_times_are_measured_and_what_needs_too_much_memory_is_skipped() {
    let turn = || Turn {
        seconds: 2.0,
        parts: vec![("loss", 0.5)],
    };
    let cases = vec![
        Case::in_parts("a", turn).scaled(3.0).with_operations(12e9),
        Case::in_parts("b", turn).needing(1e12),
    ];
    let plan = Plan {
        rounds: 1,
        turns: 1,
        seconds: 0.0,
    };
    let measured = measure(cases, &plan, &flex());
    let [a, b] = &measured[..] else { panic!() };
    assert_eq!((a.seconds.unwrap().median, a.gflops, a.extra_mib), (6.0, Some(2.0), None));
    assert_eq!((&*a.parts[0].name, a.parts[0].seconds.median), ("loss", 0.5));
    assert_eq!((b.seconds, b.repetitions), (None, 0));
    assert!(
        b.note.as_ref().is_none_or(|note| note.starts_with("skipped: may need")),
        "{b:?}"
    );
}
