//! Runs `bcl-bench explore` as a program, and its page in Chromium if asked to. What the page computes is tested where it is computed.

use std::path::Path;
use std::process::{Command, Output};

fn explore(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .arg("explore")
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn page(folder: &Path) -> String {
    folder.join("explore.html").to_str().expect("a plain path").to_owned()
}

#[test]
fn the_page_begins_with_the_parameters_of_the_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(folder.path());
    let output = explore(&["--out", &page, "--alpha", "0.75", "--negatives", "64"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let html = std::fs::read_to_string(page).expect("the page");
    assert!(html.contains(r#"id="alpha" min="0.5" max="1" step="any" value="0.75""#));
    assert!(html.contains(r#"id="num_negatives" min="1" max="4096" step="any" value="64""#));
}

#[test]
fn bad_flags_and_files_are_refused_with_exit_code_2_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = page(folder.path());
    for (arguments, told) in [
        (&["--alpha", "0.3"][..], "--alpha is 0.3, but must be in [0.5, 1]"),
        (&["--tau-plus", "1"], "--tau-plus is 1, but must be in [0, 1)"),
        (&["--alpha", "1", "--beta", "1"], "choose alpha < 1 or beta < 1"),
        (&["--beta", "NaN"], "--beta is NaN"),
        (&["--negatives", "0"], "--negatives is 0, but must be in [1, 4096]"),
        (&["--temperature", "1e308"], "--temperature is 1e308"),
        (&["--temperature", "warm"], "invalid"),
    ] {
        let output = explore(&[&["--out", &path], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(told), "{arguments:?}: {message}");
        assert!(!Path::new(&path).exists());
    }
    let recipe = folder.path().join("recipe.toml");
    std::fs::write(&recipe, "name = 'precious'").expect("writable");
    let output = explore(&["--out", recipe.to_str().expect("a plain path")]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read(&recipe).expect("still there"), b"name = 'precious'");
}

#[test]
#[ignore = "needs Chromium"]
fn the_page_agrees_with_rust_in_a_browser_at_the_parameters_of_its_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(folder.path());
    assert_eq!(explore(&["--out", &page]).status.code(), Some(0));
    let address = format!("file://{page}#alpha=0.9&beta=0.6&tau_plus=0.1&num_negatives=510&temperature=0.5");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(address)
        .output()
        .expect("Chromium starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    assert!(dom.contains(r#"data-check="ok""#), "the WebAssembly deviates, or did not run");
    // The values of `Posterior` for these parameters.
    for number in ["<dd>509 of 510</dd>", "<dd>0.794 and 1.05</dd>", "<dd>0.664</dd>"] {
        assert!(dom.contains(number), "{number}");
    }
}
