//! What a recommender leaves out of its files, and how it splits them: on stderr, in `result.json`, and in later commands.

use std::{fmt::Write as _, fs, path::Path};
use whole_program_tests::{shown, succeeds_in};

/// The newest share of all interactions of two files is held out, in a 4-core.
const RECIPE: &str = "name = 'mine'\n[data]\nfiles = ['days/*.csv', 'late.jsonl']\nmin_user_interactions = 4\nmin_item_interactions = 4\n\
    items = 'titles.csv'\nsplit = { kind = 'temporal', test_ratio = 0.3 }\ncolumns = { user = 'who', item = 'what', timestamp = 'when' }\n\
    [encoder]\ndim = 8\n[loss]\nkind = 'info_nce'\n[negatives]\ncount = 8\n[training]\nbatch_size = 64\nepochs = 2\n\
    [evaluation]\nbaselines = ['popularity']\n";

/// Thirty users with items at increasing times, a user who only comes late, and one with a single item of their own.
fn write_files(folder: &Path) {
    fs::create_dir(folder.join("days")).expect("a new folder");
    let mut days = [String::from("when;who;what\n"), String::from("when;who;what\n")];
    for step in 0..240_usize {
        let (user, item) = (step % 30, (step % 30 * 7 + step / 30 * 3) % 24);
        writeln!(days[step / 120], "{step};u{user};i{item}").expect("memory");
    }
    // A repeated pair, and a rare user with a rare item.
    days[1] += "500;u0;i0\n900;rare;only\n";
    for (day, text) in days.iter().enumerate() {
        fs::write(folder.join(format!("days/{day}.csv")), text).expect("writable");
    }
    let mut late = String::new();
    for item in 0..6 {
        writeln!(
            late,
            "{{\"who\": \"late\", \"what\": \"i{item}\", \"when\": {}}}",
            1000 + item
        )
        .expect("memory");
    }
    fs::write(folder.join("late.jsonl"), late).expect("writable");
    let mut titles = String::from("id,title\n");
    for item in 0..20 {
        writeln!(titles, "i{item},\"Item, the {item}th\"").expect("memory");
    }
    fs::write(folder.join("titles.csv"), titles).expect("writable");
    fs::write(folder.join("mine.toml"), RECIPE).expect("writable");
}

#[test]
fn a_run_says_how_it_split_and_what_it_left_out_and_is_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    write_files(folder.path());
    let output = succeeds_in(folder.path(), &["mine.toml"]);
    let said = shown(&output);
    for words in [
        "the newest share of all interactions is held out, by timestamp",
        "1 repeated interaction, 1 interaction of 1 user and 1 item with too few interactions, of 248 in the files",
        "6 of 74 test interactions are not evaluated: 1 user has no training interaction",
        "data.items has no title for 4 of 24 items",
    ] {
        assert!(said.contains(words), "`{words}` is missing\n{said}");
    }

    let result = fs::read_to_string(folder.path().join("runs/mine-0/result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    let expected = serde_json::json!({
        "rows": 248, "below_min_rating": 0, "repeats": 1, "rare_users": 1, "rare_items": 1, "of_rare": 1,
        "untrained_users": 1, "of_untrained_users": 6, "untrained_items": 0, "of_untrained_items": 0,
    });
    assert_eq!(result["left_out"], expected);

    // The same data in another order of rows are read with the same core and the same split.
    let day = folder.path().join("days/1.csv");
    let text = fs::read_to_string(&day).expect("readable");
    let (header, rows) = text.split_once('\n').expect("a header");
    let reversed: Vec<&str> = rows.lines().rev().collect();
    fs::write(&day, format!("{header}\n{}\n", reversed.join("\n"))).expect("writable");
    let said = shown(&succeeds_in(folder.path(), &["evaluate", "runs/mine-0"]));
    assert!(said.contains("30 users"), "{said}");
    succeeds_in(folder.path(), &["recommend", "runs/mine-0", "--user", "u3", "--top", "3"]);
}

#[test]
fn leaving_one_out_validates_on_one_more() {
    let folder = tempfile::tempdir().expect("a folder");
    write_files(folder.path());
    let said = shown(&succeeds_in(
        folder.path(),
        &["mine.toml", "--set", "data.split={kind='leave_one_out'}"],
    ));
    assert!(
        said.contains("the last interaction of each user is held out, by timestamp"),
        "{said}"
    );
    assert!(said.contains("31 test interactions"), "{said}");
}
