//! Answers from finished recommenders: lists for many users, similar items, new users, other evaluations, and more seeds.

use std::{collections::BTreeSet, fs, ops::Range, path::Path};
use whole_program_tests::{assert_refused, run_in, shown, succeeds_in};

const RECIPE: &str = "name = 'small'\n[data]\ntrain = 'train.csv'\ntest = 'test.csv'\nitems = 'items.csv'\n[encoder]\nkind = 'mf'\ndim = 8\n\
    [loss]\nkind = 'info_nce'\n[negatives]\ncount = 4\n[training]\nepochs = 3\npatience = 2\n";

/// A folder with data, titles and a recipe; one test user has no training interaction.
fn folder(more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("writable");
    let train: Vec<String> = (0..72)
        .map(|i| format!("u{},i{}\n", i % 12, (i % 12 * 7 + i / 12 * 2) % 15))
        .collect();
    let test: Vec<String> = (0..12).map(|user| format!("u{user},i{}\n", 15 + user % 3)).collect();
    write("train.csv", train.concat());
    write("test.csv", test.concat() + "ghost,i1\n");
    write("items.csv", "id,title\ni1,\"One, first\"\ni2,Two\n".to_owned());
    write("small.toml", format!("{RECIPE}{more}"));
    folder
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path)
        .expect("readable")
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_finished_recommender_answers_in_bulk_for_new_users_and_about_items() {
    let folder = folder("");
    let folder = folder.path();
    succeeds_in(folder, &["small.toml", "--quiet"]);

    let output = succeeds_in(
        folder,
        &["recommend", "runs/small-0", "--all", "--top", "4", "--out", "recs.csv"],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("left out: 1 user without training interactions") && said.contains("users per second"),
        "{said}"
    );
    let rows = lines(&folder.join("recs.csv"));
    assert_eq!((rows[0].as_str(), rows.len()), ("user,item,score,rank,title", 1 + 12 * 4));
    let seen: BTreeSet<String> = lines(&folder.join("train.csv")).into_iter().collect();
    let pair = |row: &String| row.splitn(3, ',').take(2).collect::<Vec<_>>().join(",");
    assert!(
        rows[1..].iter().all(|row| !seen.contains(&pair(row))),
        "training items are left out"
    );

    // One user at a time gives the same list.
    let one = succeeds_in(folder, &["recommend", "runs/small-0", "--user", "u3", "--top", "4", "--json"]);
    let one: serde_json::Value = serde_json::from_slice(&one.stdout).expect("JSON");
    let of_user: Vec<String> = rows.iter().filter(|row| row.starts_with("u3,")).map(pair).collect();
    let expected: Vec<String> = one["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| format!("u3,{}", item["item"].as_str().expect("an id")))
        .collect();
    assert_eq!(of_user, expected);

    fs::write(folder.join("ids.txt"), "u3\n\nghost\n").expect("writable");
    let all = [
        "recommend",
        "runs/small-0",
        "--users",
        "ids.txt",
        "--top",
        "99",
        "--include-seen",
        "--out",
        "recs.jsonl",
    ];
    succeeds_in(folder, &all);
    let rows = lines(&folder.join("recs.jsonl"));
    assert_eq!(rows.len(), 2);
    let first: serde_json::Value = serde_json::from_str(&rows[0]).expect("JSON");
    // Of the 18 items, three have no training interactions, and are in no list.
    assert_eq!(
        (&first["user"], first["items"].as_array().map(Vec::len)),
        (&"u3".into(), Some(15))
    );

    let similar = succeeds_in(
        folder,
        &["recommend", "runs/small-0", "--item", "i2", "--top", "99", "--json"],
    );
    let similar: serde_json::Value = serde_json::from_slice(&similar.stdout).expect("JSON");
    let items = similar["items"].as_array().expect("a list");
    assert_eq!((items.len(), &similar["title"]), (14, &"Two".into()));
    assert!(items.iter().all(|item| item["item"] != "i2"));

    let new = ["recommend", "runs/small-0", "--items", "i1,i4", "--top", "99", "--json"];
    let [new, again] = [succeeds_in(folder, &new), succeeds_in(folder, &new)];
    assert_eq!(new.stdout, again.stdout, "fold-in draws nothing");
    let new: serde_json::Value = serde_json::from_slice(&new.stdout).expect("JSON");
    let items = new["items"].as_array().expect("a list");
    assert!(items.len() == 13 && items.iter().all(|item| item["item"] != "i1" && item["item"] != "i4"));
    says_that_no_item_is_left(folder);
    refuses_bad_flags(folder);
    evaluates_otherwise(folder);
    works_without_titles(folder);
}

fn works_without_titles(folder: &Path) {
    fs::remove_file(folder.join("items.csv")).expect("it was there");
    for arguments in [
        &["export", "runs/small-0", "--out", "untitled.safetensors"][..],
        &["embed", "runs/small-0", "--out", "untitled"],
        &["recommend", "runs/small-0", "--all", "--out", "untitled.csv"],
    ] {
        let output = succeeds_in(folder, arguments);
        assert!(shown(&output).contains("shown without their titles"), "{}", shown(&output));
    }
    assert!(lines(&folder.join("untitled.csv"))[0] == "user,item,score,rank");
}

/// The 15 items with training interactions leave none for a new user who has them all.
fn says_that_no_item_is_left(folder: &Path) {
    let all = (0..15).map(|item| format!("i{item}")).collect::<Vec<_>>().join(",");
    let arguments = ["recommend", "runs/small-0", "--items", all.as_str()];
    let text = succeeds_in(folder, &arguments);
    assert_eq!(String::from_utf8_lossy(&text.stdout), "No item is left to recommend.\n");
    let json = succeeds_in(folder, &[&arguments[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["items"], serde_json::json!([]));
}

fn refuses_bad_flags(folder: &Path) {
    let recommend = |arguments: &[&str]| run_in(folder, &[&["recommend", "runs/small-0"], arguments].concat());
    fs::write(folder.join("bad.txt"), "u1\nnobody\n").expect("writable");
    fs::write(folder.join("empty.txt"), "\n").expect("writable");
    for (arguments, words) in [
        (&[][..], &["--user"][..]),
        (&["--user", "u1", "--all"], &["cannot be used with"]),
        (&["--all"], &["--out"]),
        (&["--all", "--out", "recs.xlsx"], &[".csv or .jsonl"]),
        (&["--all", "--out", "no/such/recs.csv"], &["no/such/recs.csv"]),
        (&["--all", "--out", "runs/small-0/metrics.jsonl"], &["metrics.jsonl"]),
        (&["--all", "--out", "runs/small-0/users.csv"], &["users.csv", "small-0 needs"]),
        (
            &["--all", "--out", "train.csv"],
            &["train.csv would overwrite a file that is read"],
        ),
        (
            &["--users", "empty.txt", "--out", "runs/../items.csv"],
            &["items.csv would overwrite a file that is read"],
        ),
        (
            &["--users", "bad.txt", "--out", "a.csv"],
            &["bad.txt:2", "nobody is not among"],
        ),
        (&["--users", "empty.txt", "--out", "a.csv"], &["has no ids"]),
        (&["--users", "missing.txt", "--out", "a.csv"], &["missing.txt"]),
        (&["--user", "u1", "--out", "a.csv"], &["cannot be used with"]),
        (&["--item", "nothing"], &["--item nothing is not among the 18 items"]),
        (&["--items", "i1,nothing"], &["--items nothing is not among"]),
        (&["--items", ""], &["--items"]),
        (&["--items-file", "bad.txt"], &["bad.txt:1", "not among the 18 items"]),
        (
            &["--user", "u1", "--include-seen", "--exclude-seen"],
            &["cannot be used with"],
        ),
    ] {
        assert_refused(&recommend(arguments), words);
    }
    assert!(!folder.join("a.csv").exists());
    assert_refused(
        &run_in(folder, &["embed", "runs/small-0", "--out", "."]),
        &["items.csv would overwrite a file that is read"],
    );
    assert_refused(
        &run_in(folder, &["evaluate", "runs/small-0", "--per-user", "test.csv"]),
        &["test.csv would overwrite a file that is read"],
    );
}

fn evaluates_otherwise(folder: &Path) {
    let evaluate = |arguments: &[&str]| run_in(folder, &[&["evaluate", "runs/small-0", "--json"], arguments].concat());
    let metrics = |arguments: &[&str]| -> serde_json::Value {
        let output = evaluate(arguments);
        assert!(output.status.success(), "{}", shown(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let other = metrics(&["--cutoffs", "1,3", "--per-user", "users.csv"]);
    assert!(
        other["metrics"].get("ndcg@3").is_some() && other["metrics"].get("ndcg@5").is_none(),
        "{other}"
    );
    let rows = lines(&folder.join("users.csv"));
    assert_eq!(rows.len(), 13, "a header and the users with training interactions: {rows:?}");

    fs::write(folder.join("later.csv"), "user,item\nu1,i16\nu2,i17\nnobody,i1\nu1,nothing\n").expect("writable");
    let output = evaluate(&["--test", "later.csv", "--fold-in"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("leaving out 2 interactions with a user (1) or an item (1) that the run does not know"),
        "{said}"
    );
    let later: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&later["users"], &later["fold_in"]), (&2.into(), &true.into()));

    fs::write(folder.join("strange.csv"), "a,b\nc,d\n").expect("writable");
    for (arguments, words) in [
        (&["--cutoffs", "0"][..], &["--cutoffs"][..]),
        (&["--cutoffs", "5,x"], &["`x` is not a whole number"]),
        (&["--cutoffs", "10,5"], &["ascending"]),
        (&["--test", "missing.csv"], &["missing.csv"]),
        (&["--test", "strange.csv"], &["strange.csv", "none of its"]),
        (
            &["--test", "train.csv"],
            &["all of its interactions are training interactions"],
        ),
        (&["--per-user", "runs/small-0/result.json"], &["--per-user"]),
        (&["--per-user", "no/such/users.csv"], &["no/such/users.csv"]),
    ] {
        assert_refused(&evaluate(arguments), words);
    }
}

#[test]
fn a_test_file_may_have_the_columns_of_the_runs_files_and_no_ratings() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let rows: Vec<String> = (0..72)
        .map(|i| format!("u{};i{};{}\n", i % 12, (i % 12 * 7 + i / 12 * 2) % 15, 1 + i % 5))
        .collect();
    fs::write(folder.join("likes.csv"), "Who;What;Stars\n".to_owned() + &rows.concat()).expect("writable");
    let recipe = RECIPE.replace(
        "train = 'train.csv'\ntest = 'test.csv'\nitems = 'items.csv'",
        "file = 'likes.csv'\nmin_rating = 2\ncolumns = { user = 'Who', item = 'What', rating = 'Stars' }",
    );
    let recipe = recipe + "[selection]\nheld_out = 0.4\n";
    fs::write(folder.join("small.toml"), recipe).expect("writable");
    succeeds_in(folder, &["small.toml", "--quiet"]);
    for header in ["Who;What", "Who;What;Stars", "user,item"] {
        let separator = if header.contains(';') { ";" } else { "," };
        let stars = if header.contains("Stars") { ";5" } else { "" };
        let rows: Vec<String> = (0..15).map(|item| format!("u1{separator}i{item}{stars}\n")).collect();
        fs::write(folder.join("later.csv"), format!("{header}\n{}", rows.concat())).expect("writable");
        let output = succeeds_in(folder, &["evaluate", "runs/small-0", "--test", "later.csv"]);
        let said = shown(&output);
        assert!(
            said.contains("small on 1 user of later.csv") && said.contains("@20"),
            "{said}"
        );
        assert_eq!(
            said.contains("has no ratings, so data.min_rating = 2"),
            stars.is_empty(),
            "{said}"
        );
    }
    fs::write(folder.join("later.csv"), "Whom;item\nu1;i1\n").expect("writable");
    let output = run_in(folder, &["evaluate", "runs/small-0", "--test", "later.csv"]);
    assert_refused(&output, &["later.csv:1", "no column `Who`"]);
}

#[test]
fn a_file_of_numbers_is_evaluated_in_the_format_of_the_recipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let rows = |places: Range<usize>, separator: &str| -> String {
        let items = |user: usize| places.clone().map(move |i| ((user * 7 + i * 2) % 15).to_string());
        let row = |user: usize| {
            [user.to_string()]
                .into_iter()
                .chain(items(user))
                .collect::<Vec<_>>()
                .join(separator)
                + "\n"
        };
        (0..12).map(row).collect()
    };
    fs::write(folder.join("train.txt"), rows(0..5, " ")).expect("writable");
    fs::write(folder.join("test.txt"), rows(5..7, " ")).expect("writable");
    let files = "train = 'train.txt'\ntest = 'test.txt'\nformat = 'ngcf'";
    let recipe = RECIPE.replace("train = 'train.csv'\ntest = 'test.csv'\nitems = 'items.csv'", files);
    fs::write(folder.join("small.toml"), recipe).expect("writable");
    succeeds_in(folder, &["small.toml", "--quiet"]);
    // Each looks like user, item and rating.
    for separator in [" ", "\t"] {
        fs::write(folder.join("later.txt"), rows(5..7, separator)).expect("writable");
        let output = succeeds_in(folder, &["evaluate", "runs/small-0", "--test", "later.txt"]);
        assert!(
            shown(&output).contains("small on 12 users of later.txt"),
            "{}",
            shown(&output)
        );
    }
}

#[test]
fn more_seeds_keep_the_finished_runs_and_train_the_missing_ones() {
    let folder = folder("");
    let folder = folder.path();
    succeeds_in(folder, &["small.toml", "--seeds", "0..2", "--quiet"]);
    let before = fs::metadata(folder.join("runs/small-0/result.json")).and_then(|file| file.modified());
    let output = succeeds_in(folder, &["small.toml", "--seeds", "0..3", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("runs/small-0 is finished and is not trained again"), "{said}");
    assert!(folder.join("runs/small-2/result.json").is_file() && !folder.join("runs/small-0.2").exists());
    let after = fs::metadata(folder.join("runs/small-0/result.json")).and_then(|file| file.modified());
    assert_eq!(before.expect("a time"), after.expect("a time"));

    // Another recipe of the same name is another run.
    succeeds_in(
        folder,
        &["small.toml", "--seeds", "0..1", "--set", "encoder.dim=4", "--quiet"],
    );
    assert!(folder.join("runs/small-0.2/result.json").is_file());
}
