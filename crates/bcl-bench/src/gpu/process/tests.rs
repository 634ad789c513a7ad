//! Tests of the module above.

use super::*;
use std::fs;

/// Runs a script and stops it once it has created the file `ready`. Returns how it ended, its output and its errors.
fn run_script(script: &str) -> (End, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [out, log, ready] = ["out", "log", "ready"].map(|name| folder.path().join(name));
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder.path());
    let end = run_unless(|| ready.exists(), &mut command, &out, &log).unwrap();
    let text = |path| fs::read_to_string(path).unwrap();
    (end, text(out), text(log))
}

#[test]
fn a_program_ends_with_its_code_and_its_words() {
    let (end, out, log) = run_script("echo result; echo trouble >&2; exit 3");
    assert_eq!((end, out.trim(), log.trim()), (End::Exited(Some(3)), "result", "trouble"));
}

#[test]
fn a_deadline_in_the_past_stops_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name| folder.path().join(name);
    let interrupted = AtomicBool::new(false);
    let limits = Limits::new(Instant::now(), &interrupted);
    let end = run(Command::new("sleep").arg("600"), &limits, &file("out"), &file("log"));
    assert_eq!(end.unwrap(), End::Stopped);
}

/// The child of the script keeps the write end of a pipe open, so the pipe closes when the child ends.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_takes_too_long_is_stopped_with_all_that_it_started() {
    use std::{io::Read, os::fd::AsRawFd};
    let (mut reader, writer) = io::pipe().unwrap();
    let pipe = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
    let (end, ..) = run_script(&format!("(touch ready; sleep 60; echo survived) > {pipe} & wait"));
    assert_eq!(end, End::Stopped);
    drop(writer);
    let mut words = String::new();
    reader.read_to_string(&mut words).unwrap();
    assert_eq!(words, "", "a child process outlived the program");
}

#[test]
fn a_stopped_program_may_clean_up() {
    let (end, out, _) = run_script("trap 'echo kept; exit 130' TERM; touch ready; while :; do sleep 0.1; done");
    assert_eq!((end, out.trim()), (End::Stopped, "kept"));
}

#[test]
fn time_is_shared_by_weight_and_unused_time_goes_to_the_later_ones() {
    let interrupted = AtomicBool::new(false);
    let mut limits = Limits::new(Instant::now() + Duration::from_mins(10), &interrupted);
    limits.share_among(6.0);
    let is_about = |limits: Limits<'_>, seconds: f64| (limits.seconds() - seconds).abs() < 5.0;
    assert!(is_about(limits.share(1.0), 100.0));
    assert!(is_about(limits.share(2.0), 240.0));
    assert!(is_about(limits.share(3.0), 600.0));
    assert!(is_about(limits.share(1.0), 600.0));
}
