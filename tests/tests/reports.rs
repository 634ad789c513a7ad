//! Report pages: which runs they contain, and that no page is overwritten.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};
use whole_program_tests::{assert_refused, bcl_bench, bcl_train, shown, small_recipe};

fn in_folder(mut program: Command, folder: &Path, arguments: &[&str]) -> Output {
    program.args(arguments).current_dir(folder).output().expect("it starts")
}

fn train(folder: &Path, arguments: &[&str]) -> Output {
    let output = in_folder(bcl_train(), folder, &[&["small.toml", "--epochs", "1"], arguments].concat());
    assert!(output.status.success(), "{}", shown(&output));
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_page_of_other_runs_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    small_recipe(folder, "");
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));

    // Like the quickstart: a command with several runs ends with the path of a page that compares them.
    let first = train(folder, &["--seeds", "0,1"]);
    assert!(said(&first).ends_with("report: runs/report.html\n"), "{}", shown(&first));
    let second = train(folder, &["--seeds", "2,3"]);
    assert!(said(&second).ends_with("report: runs/report.2.html\n"), "{}", shown(&second));
    assert!(
        said(&second).contains("note: runs/report.html shows other results and is kept"),
        "{}",
        shown(&second)
    );
    let kept = [page("runs/report.html"), page("runs/report.2.html")];

    // The arguments as a shell expands `runs/*`, then the folder itself. The same results replace the same page.
    let report = |arguments: &[&str]| in_folder(bcl_train(), folder, &[&["report"], arguments].concat());
    let listed = report(&[
        "runs/report.html",
        "runs/report.2.html",
        "runs/small-0",
        "runs/small-1",
        "runs/small-2",
        "runs/small-3",
    ]);
    assert!(listed.status.success(), "{}", shown(&listed));
    for words in [
        "note: skipping runs/report.html: it is not a run folder",
        "report: report.html\n",
    ] {
        assert!(said(&listed).contains(words), "`{words}` is missing\n{}", shown(&listed));
    }
    let nested = report(&["runs"]);
    assert!(said(&nested).ends_with("report: report.html\n"), "{}", shown(&nested));
    assert_eq!(nested.stdout, listed.stdout);
    let fewer = report(&["runs/small-0", "runs/small-1"]);
    assert!(said(&fewer).ends_with("report: report.2.html\n"), "{}", shown(&fewer));

    // `bcl-bench` writes its own page to the same folder.
    fs::write(folder.join("runs/notes.md"), "# Notes\n").expect("writable");
    for _ in 0..2 {
        let site = in_folder(bcl_bench(), folder, &["report", "runs"]);
        assert_eq!(
            String::from_utf8_lossy(&site.stdout),
            "runs/report.3.html\n",
            "{}",
            shown(&site)
        );
    }
    assert_eq!([page("runs/report.html"), page("runs/report.2.html")], kept);

    // An explicit `--out` may replace a page, but no other file.
    assert!(report(&["runs", "--out", "report.2.html"]).status.success());
    assert_refused(&report(&["runs", "--out", "small.toml"]), &["small.toml", "is not .html"]);
    assert_refused(
        &report(&["runs", "--out", "runs/small-0/model.bpk"]),
        &["model.bpk", " needs; choose another name"],
    );
    assert_refused(&report(&["nowhere"]), &["nowhere"]);
    assert_refused(&report(&["small.toml"]), &["small.toml", "no result.json"]);
}

#[cfg(unix)]
#[test]
fn the_site_of_results_survives_circular_links_and_lists_what_it_skips() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    fs::create_dir_all(results.join("deep/table")).expect("writable");
    fs::write(results.join("notes.md"), "# Notes\n").expect("writable");
    symlink(&results, results.join("deep/up")).expect("a link");
    symlink("nowhere", results.join("deep/table/table.json")).expect("a link");
    symlink("/dev/zero", results.join("deep/zero.svg")).expect("a link");
    let output = in_folder(bcl_bench(), folder.path(), &["report", "results"]);
    assert!(output.status.success(), "{}", shown(&output));
    for words in [
        "note: skipping results/deep/up: its content is shown already",
        "note: skipping results/deep/table/table.json: it cannot be read",
        "note: skipping results/deep/zero.svg: it is not a file",
    ] {
        assert!(said(&output).contains(words), "`{words}` is missing\n{}", shown(&output));
    }
    let page = fs::read_to_string(results.join("report.html")).expect("a page is written");
    assert_eq!(page.matches("<h2>Notes</h2>").count(), 1);
}

#[test]
fn a_user_without_training_gets_a_note_and_ids_cannot_control_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let train_pairs: Vec<String> = (0..60).map(|i| format!("u{},i{}\n", i % 12, i * 7 % 11)).collect();
    fs::write(folder.join("train.csv"), train_pairs.concat() + "u2,\u{1b}[31mred\n").expect("writable");
    fs::write(folder.join("test.csv"), "u0,i1\nu1,\u{1b}[31mred\nghost,i1\n").expect("writable");
    let recipe =
        "name = 'small'\n[data]\ntrain = 'train.csv'\ntest = 'test.csv'\n[loss]\nkind = 'info_nce'\n[training]\nepochs = 1\n";
    fs::write(folder.join("small.toml"), recipe).expect("writable");
    train(folder, &["--data", "."]);

    let recommend = |arguments: &[&str]| {
        in_folder(
            bcl_train(),
            folder,
            &[&["recommend", "runs/small-0", "--user"], arguments].concat(),
        )
    };
    let ghost = recommend(&["ghost", "--top", "99", "--json"]);
    assert!(
        said(&ghost).contains("note: user ghost has no training interaction"),
        "{}",
        shown(&ghost)
    );
    let json: serde_json::Value = serde_json::from_slice(&ghost.stdout).expect("JSON");
    assert_eq!(
        (&json["run"], &json["user_in_train"]),
        (&"runs/small-0".into(), &false.into())
    );
    let items = json["items"].as_array().expect("a list");
    let red = items
        .iter()
        .find(|item| item["item"] == "\u{1b}[31mred")
        .expect("JSON has exact ids");
    assert_eq!(red["in_test"], false);

    let known = recommend(&["u1", "--top", "99"]);
    assert!(!said(&known).contains("no training interaction"), "{}", shown(&known));
    let text = String::from_utf8_lossy(&known.stdout).into_owned();
    assert!(
        text.contains("\\u{1b}[31mred") && text.contains("(in test)"),
        "{}",
        shown(&known)
    );
    assert!(!text.contains('\u{1b}'), "{}", shown(&known));
    let unknown = recommend(&["\u{1b}]0;title\u{7}"]);
    assert_refused(&unknown, &["--user \\u{1b}]0;title\\u{7} is not among the"]);
}

#[test]
fn another_loss_keeps_common_keys_and_reports_dropped_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    small_recipe(folder.path(), "");
    let output = in_folder(
        bcl_train(),
        folder.path(),
        &["small.toml", "--set", "loss.kind=info_nce", "--print-recipe"],
    );
    let recipe = String::from_utf8_lossy(&output.stdout);
    let loss: Vec<&str> = recipe.lines().skip_while(|line| *line != "[loss]").take(4).collect();
    let line = |value: &str, origin: &str| format!("{value:<40} # {origin}");
    assert_eq!(
        loss,
        [
            "[loss]",
            &line("kind = \"info_nce\"", "--set loss.kind=info_nce"),
            &line("temperature = 0.3", "small.toml:23"),
            ""
        ],
        "{}",
        shown(&output)
    );
    assert_eq!(
        said(&output),
        "note: --set loss.kind=info_nce leaves out loss.tau_plus of small.toml: loss.kind \"info_nce\" has no such key\n"
    );
}
