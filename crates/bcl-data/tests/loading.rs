//! Columns, several files, splits by time and k-cores, as a load combines them.

use bcl_data::{CoreOptions, DataError, InteractionData, KnownIds, ReadOptions, Seed, Source, SplitOptions, load, load_with_ids};
use std::fmt::Write as _;
use std::path::PathBuf;
use tempfile::TempDir;

/// Two users with three interactions each, in five ways to write them; the last is the newest.
const PLAIN: &str = "ann,tea,5,100\nann,jam,1,300\nann,rice,4,200\nbob,jam,3,50\nbob,tea,2,60\nbob,salt,5,55\n";

struct Files {
    dir: TempDir,
    paths: Vec<PathBuf>,
}

fn files(contents: &[(&str, &str)]) -> Files {
    let dir = tempfile::tempdir().unwrap();
    let paths = contents.iter().map(|(name, content)| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    });
    let paths = paths.collect();
    Files { dir, paths }
}

fn read(contents: &[(&str, &str)], split: &str, options: &str) -> Result<InteractionData, DataError> {
    let Files { paths, dir: _dir } = files(contents);
    let split = toml::from_str(split).unwrap_or_else(|error| panic!("{split}: {error}"));
    let options: ReadOptions = toml::from_str(options).unwrap_or_else(|error| panic!("{options}: {error}"));
    load("mine", &Source::Whole { files: paths, split }, &options)
}

fn pairs(data: &InteractionData, part: &bcl_data::Interactions) -> Vec<String> {
    let mut pairs: Vec<String> = part
        .pairs()
        .map(|(user, item)| format!("{} {}", data.users.raw(user), data.items.raw(item)))
        .collect();
    pairs.sort();
    pairs
}

fn test_of(data: &InteractionData) -> Vec<String> {
    pairs(data, &data.test)
}

const LAST: &str = "kind = 'leave_one_out'\norder = 'time'";

#[test]
fn every_way_to_write_the_columns_gives_the_same_interactions() {
    let header = |separator: &str| format!("when,film,who,stars\n{PLAIN}").replace(',', separator);
    let columns = "columns = { user = 'who', item = 'FILM', timestamp = 'when', rating = 'stars' }\n";
    let moved = |separator: &str| {
        let rows = PLAIN.lines().map(|line| {
            let [user, item, rating, time] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            [time, item, user, rating].join(separator) + "\n"
        });
        rows.collect::<String>()
    };
    let with_header = |separator: &str| header(separator).lines().next().unwrap().to_owned() + "\n" + &moved(separator);
    let json = |names: [&str; 4]| {
        let rows = PLAIN.lines().map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            format!(
                "{{\"tags\": [{{\"a\": 1}}], \"{}\": \"{}\", \"{}\": \"{}\", \"{}\": {}, \"{}\": {}}}\n",
                names[0], values[0], names[1], values[1], names[2], values[2], names[3], values[3]
            )
        });
        rows.collect::<String>()
    };
    let known = "user_id,item_id,rating,timestamp\n".to_owned() + PLAIN;
    let numbers = "columns = { user = 3, item = 2, rating = 4, timestamp = 1 }\n";
    let cases: [(&str, String, &str); 14] = [
        ("a.csv", PLAIN.to_owned(), ""),
        ("a.csv", known.clone(), ""),
        ("a.csv", known.replace(',', ";"), ""),
        ("a.txt", known.replace(',', "\t"), ""),
        ("a.tsv", PLAIN.replace(',', "\t"), ""),
        ("a.tsv", PLAIN.replace(',', "\t").replace("tea", "\"tea\""), ""),
        ("a.csv", with_header(","), columns),
        ("a.csv", with_header(";"), columns),
        ("a.txt", with_header("\t"), columns),
        ("a.csv", moved(","), numbers),
        (
            "a.data",
            moved("\t"),
            "format = 'tsv'\ncolumns = { user = 3, item = 2, rating = 4, timestamp = 1 }\n",
        ),
        ("a.jsonl", json(["user", "item", "rating", "timestamp"]), ""),
        ("a.log", json(["who", "film", "stars", "when"]), columns),
        (
            "a.inter",
            known
                .replace(',', "\t")
                .replace("user_id", "user_id:token")
                .replace("item_id", "item_id:token"),
            "",
        ),
    ];
    for (name, content, options) in cases {
        // A threshold and a split by time need all four columns.
        let data = read(&[(name, &content)], LAST, &format!("min_rating = 2\n{options}"))
            .unwrap_or_else(|error| panic!("{name} {options}\n{content}\n{error}"));
        assert_eq!(
            pairs(&data, &data.train),
            ["ann tea", "bob jam", "bob salt"],
            "{name} {options}"
        );
        assert_eq!(test_of(&data), ["ann rice", "bob tea"], "{name} {options}");
        assert_eq!((data.report.rows, data.report.below_min_rating), (6, 1), "{name}");
    }
}

#[test]
fn numbered_columns_without_a_rating_have_none() {
    // The third column is a time, which would pass for a rating.
    let content = "x,ann,tea\ny,ann,jam\nz,bob,tea\nw,bob,jam\n";
    let data = read(&[("a.csv", content)], "test_ratio = 0.5", "columns = { user = 2, item = 3 }").unwrap();
    assert_eq!(data.users.iter().collect::<Vec<_>>(), ["ann", "bob"]);
    let data = read(
        &[("a.csv", "tea,ann\njam,ann\ntea,bob\njam,bob\n")],
        "test_ratio = 0.5",
        "columns.item = 1",
    )
    .unwrap();
    assert_eq!(data.items.iter().collect::<Vec<_>>(), ["tea", "jam"]);
}

#[test]
fn several_files_are_one_data_set() {
    let rows: Vec<&str> = PLAIN.lines().collect();
    let (first, second) = (
        rows[..2].join("\n"),
        "user;item;rating;timestamp\n".to_owned() + &rows[2..].join("\n").replace(',', ";"),
    );
    let whole = read(&[("a.csv", PLAIN)], LAST, "").unwrap();
    let parts = read(&[("a.csv", &first), ("b.csv", &second)], LAST, "").unwrap();
    assert_eq!(parts, whole);

    let twice = read(&[("a.csv", PLAIN), ("b.csv", "ann,tea,1,7\nann,milk,1,8\n")], LAST, "").unwrap();
    assert_eq!((twice.report.rows, twice.report.repeats), (8, 1));
    let error = read(&[("a.csv", PLAIN), ("b.csv", "ann,tea\nbob\n")], LAST, "")
        .unwrap_err()
        .to_string();
    assert!(error.contains("b.csv:1"), "{error}");
}

#[test]
fn the_last_interaction_of_each_user_is_left_out() {
    let content = PLAIN.to_owned() + "eve,tea,1,1\n";
    let data = read(&[("a.csv", &content)], "kind = 'leave_one_out'", "").unwrap();
    assert_eq!(test_of(&data), ["ann jam", "bob tea"]);
    assert!(data.hold_out.is_by_time());
    // A user with a single interaction trains on it.
    assert!(pairs(&data, &data.train).contains(&"eve tea".to_owned()));

    let part = data.hold_out(0.1, Seed(0));
    assert_eq!(test_of(&part), ["ann rice", "bob salt"]);
}

#[test]
fn without_timestamps_one_interaction_of_each_user_is_drawn() {
    let content: String = PLAIN
        .lines()
        .map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let leave = |seed: u64| {
        let split = format!("kind = 'leave_one_out'\nseed = {seed}");
        let data = read(&[("a.csv", &content)], &split, "").unwrap();
        assert!(!data.hold_out.is_by_time());
        assert_eq!(data.test.len(), 2);
        test_of(&data)
    };
    assert_eq!(leave(1), leave(1));
    assert!((2..40).any(|seed| leave(seed) != leave(1)));
    // Times that are present are not used if the recipe says so, and may be any text.
    let odd = PLAIN.replace(",300", ",yesterday");
    let data = read(&[("a.csv", &odd)], "kind = 'leave_one_out'\norder = 'random'", "").unwrap();
    assert!(!data.hold_out.is_by_time());
}

#[test]
fn the_newest_share_is_held_out_per_user_or_of_all() {
    let per_user = read(&[("a.csv", PLAIN)], "order = 'time'\ntest_ratio = 0.5", "").unwrap();
    assert_eq!(test_of(&per_user), ["ann jam", "ann rice", "bob salt", "bob tea"]);
    let content = PLAIN.to_owned() + "eve,tea,1,400\n";
    let of_all = read(&[("a.csv", &content)], "kind = 'temporal'\ntest_ratio = 0.43", "").unwrap();
    assert_eq!(test_of(&of_all), ["ann jam", "ann rice", "eve tea"]);
    // Nothing was learned about eve, nor about rice.
    let report = of_all.report;
    assert_eq!((report.untrained_users, report.of_untrained_users), (1, 1));
    assert_eq!((report.untrained_items, report.of_untrained_items), (1, 1));
    assert_eq!(pairs(&of_all, &of_all.trained_test()), ["ann jam", "ann rice"]);
    let part = of_all.hold_out(0.4, Seed(0));
    assert_eq!(test_of(&part), ["ann tea", "bob tea"]);

    let error = read(&[("a.csv", PLAIN)], "kind = 'temporal'\ntest_ratio = 0.5", "")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("newest 3 interactions") && error.contains("Raise data.split.test_ratio"),
        "{error}"
    );
}

#[test]
fn a_repeated_pair_counts_at_its_first_time() {
    let content = PLAIN.to_owned() + "bob,jam,3,900\n";
    let data = read(&[("a.csv", &content)], LAST, "").unwrap();
    assert_eq!(test_of(&data), ["ann jam", "bob tea"]);
    assert_eq!(data.report.repeats, 1);
}

#[test]
fn dates_order_interactions_too() {
    let content = "user,item,date\nann,tea,2020-01-31\nann,jam,2020-02-01T10:00:00Z\nbob,tea,2019-12-31 23:59\nbob,jam,2019-12-31 23:58:59.5\n";
    let data = read(&[("a.csv", content)], LAST, "").unwrap();
    assert_eq!(test_of(&data), ["ann jam", "bob tea"]);
}

#[test]
fn rare_users_and_items_are_left_out_before_the_split() {
    // Ann, bob and eve share tea and jam; zoe has a single item, which nobody else has left.
    let content = "zoe,salt\nann,tea\nann,jam\nbob,tea\nbob,jam\neve,tea\neve,jam\neve,rice\nzoe,rice\n";
    let data = read(
        &[("a.csv", content)],
        "kind = 'leave_one_out'",
        "core = { min_user_interactions = 2, min_item_interactions = 2 }",
    )
    .unwrap();
    assert_eq!(data.users.iter().collect::<Vec<_>>(), ["ann", "bob", "eve"]);
    assert_eq!(data.items.iter().collect::<Vec<_>>(), ["tea", "jam"]);
    let report = data.report;
    assert_eq!(
        (report.rows, report.rare_users, report.rare_items, report.of_rare),
        (9, 1, 2, 3)
    );
    assert_eq!((data.train.len(), data.test.len(), data.train.num_items()), (3, 3, 2));
}

#[test]
fn a_core_split_by_time_is_the_same_in_any_order_of_rows() {
    let mut rows: Vec<String> = (0..400_u32)
        .map(|row| format!("u{},i{},1,{}\n", row * row / 4000, row * 13 % (1 + row % 29), row * 11 % 97))
        .collect();
    let options = ReadOptions {
        core: CoreOptions {
            min_user_interactions: Some(5),
            min_item_interactions: Some(5),
        },
        ..ReadOptions::default()
    };
    let split: SplitOptions = toml::from_str("kind = 'temporal'\ntest_ratio = 0.3").unwrap();
    let read = |rows: &[String], ids: KnownIds| {
        let Files { paths, dir: _dir } = files(&[("a.csv", &rows.concat())]);
        load_with_ids("mine", &Source::Whole { files: paths, split }, &options, ids).unwrap()
    };
    let first = read(&rows, KnownIds::default());
    assert!(
        first.report.rare_users > 0 && first.report.rare_items > 0,
        "{:?}",
        first.report
    );
    rows.reverse();
    let ids = KnownIds {
        users: first.users.clone(),
        items: first.items.clone(),
    };
    assert_eq!(read(&rows, ids), first);
}

/// File, content, split and options, and words that the error must contain.
type BadSettings = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

#[rustfmt::skip]
const BAD_SETTINGS: [BadSettings; 18] = [
    ("a.csv", "ann,tea\nbob,jam\n", "kind = 'temporal'", "", &["a.csv:1:", "data.split.kind = \"temporal\"", "no timestamp", "data.columns.timestamp", "\"ratio\""]),
    ("a.csv", "ann,tea\nbob,jam\n", "order = 'time'", "", &["a.csv:1:", "data.split.order = \"time\"", "\"random\""]),
    ("a.csv", "ann,tea,1,2\nbob,jam,1,noon\n", LAST, "", &["a.csv:2:", "timestamp `noon`", "is not a time", "2010-10-19"]),
    ("a.csv", "ann,tea,1,1577836800\nbob,jam,1,2019-01-01\n", "kind = 'temporal'", "", &["a.csv:2:", "timestamp `2019-01-01`", "some are dates, some are numbers"]),
    ("a.csv", "ann,tea,1,2\nbob,jam,1,\n", "kind = 'leave_one_out'", "", &["a.csv:2:", "timestamp ``", "is empty"]),
    ("a.csv", "ann,tea\nbob,jam\n", "kind = 'leave_one_out'", "", &["a.csv", "no user has two", "more data"]),
    ("a.csv", PLAIN, "", "core.min_user_interactions = 4", &["a.csv", "data.min_user_interactions 4", "none of 2 users", "Lower"]),
    ("a.csv", PLAIN, "", "core = { min_user_interactions = 3, min_item_interactions = 2 }", &["none of 2 users with 4 items", "data.min_user_interactions or data.min_item_interactions"]),
    ("a.csv", PLAIN, "", "core.min_user_interactions = 0", &["data.min_user_interactions is 0", "[1, 1000000]"]),
    ("a.csv", "who,what\nann,tea\n", "", "columns.user = 'name'", &["a.csv:1:", "no column `name`", "`who`, `what`", "data.columns.user ="]),
    ("a.csv", "user,what\nann,tea\n", "", "columns.user = 'user'", &["a.csv:1:", "no column `item`", "data.columns.item ="]),
    ("a.csv", "user,item\nann,tea\n", "", "columns.user = 'item'", &["a.csv:1:", "column 2 would be both the user and the item", "`data.columns.user`", "`data.columns.item`"]),
    ("a.jsonl", "{\"user\": 1, \"item\": 2}\n", "", "columns.user = 'item'", &["a.jsonl:1:", "`item` would be both the user and the item", "`data.columns.user`", "`data.columns.item`"]),
    ("a.jsonl", "{\"user\": 1, \"item\": 2}\n", "", "columns.item = 'user'", &["a.jsonl:1:", "`user` would be both the user and the item"]),
    ("a.csv", PLAIN, "", "columns.user = 9", &["a.csv:1:", "data.columns.user is 9", "1 to 4"]),
    ("a.csv", PLAIN, "", "columns = { user = 2, item = 2 }", &["data.columns.item is `2`", "data.columns.user"]),
    ("a.txt", "0 1 2\n1 2 3\n2 1\n", "", "columns.user = 1", &["a.txt", "read as ngcf", "Remove `data.columns`"]),
    ("a.jsonl", "{\"user\": 1, \"item\": 2}\n{\"user\": 2}\n", "", "", &["a.jsonl:2:", "no column `item`", "`user`", "data.columns.item"]),
];

#[test]
fn bad_settings_and_files_are_refused_with_the_remedy() {
    for (name, content, split, options, words) in BAD_SETTINGS {
        let error = read(&[(name, content)], split, options).expect_err(name).to_string();
        for word in words {
            assert!(error.contains(word), "{name} {split} {options}: `{word}` is not in: {error}");
        }
    }
}

#[test]
fn json_lines_are_refused_with_line_and_value() {
    let cases: [(&str, &[&str]); 8] = [
        (
            "{\"user\": 1, \"item\": 2}\nnot json\n",
            &["a.jsonl:2:", "`not json`", "one object per line"],
        ),
        (
            "{\"user\": 1, \"item\": 2} {\"user\": 1}\n",
            &["a.jsonl:1:", "one object per line"],
        ),
        ("[1, 2]\n", &["a.jsonl:1:", "`[1, 2]`"]),
        (
            "{\"user\": 1, \"item\": true}\n",
            &["a.jsonl:1:", "item ``", "not text or a number"],
        ),
        ("{\"user\": null, \"item\": 2}\n", &["a.jsonl:1:", "user `null`", "is empty"]),
        ("{\"user\": -1, \"item\": 2}\n", &["a.jsonl:1:", "user `-1`", "is negative"]),
        (
            "{\"user\": 1, \"item\": 2, \"rating\": \"good\"}\n",
            &["a.jsonl:1:", "rating `good`", "not a number"],
        ),
        (
            "{\"user\": 123456789012345678901, \"item\": 2}\n",
            &["a.jsonl:1:", "too large", "quotes"],
        ),
    ];
    for (content, words) in cases {
        let error = read(&[("a.jsonl", content)], "", "").expect_err(content).to_string();
        for word in words {
            assert!(error.contains(word), "{content}: `{word}` is not in: {error}");
        }
    }
}

#[test]
fn a_given_split_takes_no_core() {
    let Files { paths, dir: _dir } = files(&[("train.csv", PLAIN), ("test.csv", "ann,salt\n")]);
    let source = Source::Split {
        train: paths[0].clone(),
        test: paths[1].clone(),
    };
    let options: ReadOptions = toml::from_str("core.min_item_interactions = 2").unwrap();
    let error = load("mine", &source, &options).unwrap_err().to_string();
    assert!(
        error.contains("data.min_item_interactions") && error.contains("remove it"),
        "{error}"
    );
}

#[test]
fn a_long_chain_of_rare_users_and_items_is_left_out_in_linear_time() {
    let mut content = String::new();
    for step in 0..100_000 {
        writeln!(content, "u{step},i{step}\nu{step},i{}", step + 1).unwrap();
    }
    content += "a,x\na,y\nb,x\nb,y\n";
    let options = "core = { min_user_interactions = 2, min_item_interactions = 2 }";
    let data = read(&[("a.csv", &content)], "kind = 'leave_one_out'", options).unwrap();
    assert_eq!((data.users.len(), data.report.rare_users), (2, 100_000));
}
