//! Every format reads back what was written in it, detected by name or by content, plain or gzipped.

use bcl_data::{Format, InteractionData, ReadOptions, Source, SplitOptions, load_with_report};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Pairs of raw ids with their rating.
type Rows = BTreeMap<(String, String), i32>;

fn rows(user: &'static str) -> impl Strategy<Value = Rows> {
    // Larger items could be times.
    let pair = (user, "[0-9]{1,8}");
    // Users `1` and `2` always have enough interactions to hold some out.
    proptest::collection::btree_map(pair, 1..=5, 0..60).prop_map(|mut rows| {
        for user in ["1", "2"] {
            for item in ["1", "2", "3", "40"] {
                rows.insert((user.into(), item.into()), 5);
            }
        }
        rows
    })
}

fn write(rows: &Rows, format: Format) -> String {
    let lines = |text: &dyn Fn(&str, &str, i32) -> String| {
        rows.iter()
            .map(|((user, item), &rating)| text(user, item, rating))
            .collect::<String>()
    };
    match format {
        Format::Csv => lines(&|user, item, rating| format!("{user},{item},{rating}\n")),
        Format::Tsv => {
            "Rating\tUserId\titem\n".to_owned() + &lines(&|user, item, rating| format!("{rating}\t\"{user}\"\t{item}\n"))
        }
        Format::Jsonl => lines(&|user, item, rating| {
            format!("{{\"item\": \"{item}\", \"rating\": {rating}, \"note\": null, \"user\": \"{user}\"}}\n")
        }),
        Format::Udata => lines(&|user, item, rating| format!("{user}\t{item}\t{rating}\t881250949\n")),
        Format::RatingsDat => lines(&|user, item, rating| format!("{user}::{item}::{rating}::978300760\n")),
        Format::YahooR3 => lines(&|user, item, rating| format!("{user}\t{item}\t{rating}\n")),
        Format::Inter => {
            let header = "rating:float\tuser_id:token\tnote:token_seq\titem_id:token\n";
            header.to_string() + &lines(&|user, item, rating| format!("{rating}\t{user}\tx y\t{item}\n"))
        }
        Format::Ngcf => {
            let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (user, item) in rows.keys() {
                users.entry(user).or_default().push(item);
            }
            for items in users.values_mut() {
                items.sort_by_key(|item| item.parse::<u32>().expect("a number"));
            }
            let lines = users.iter().map(|(user, items)| format!("{user} {}", items.join(" ")));
            lines.collect::<Vec<_>>().join("\n") + "\n"
        }
        other => panic!("this test cannot write {other}"),
    }
}

/// All formats but Parquet, which `parquet.rs` tests.
fn texts() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|&format| format != Format::Parquet)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn read(name: &str, content: &[u8], options: ReadOptions) -> InteractionData {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    std::fs::write(&file, content).unwrap();
    load_with_report("mine", &Source::whole(file, SplitOptions::default()), &options)
        .unwrap()
        .0
}

/// The raw pairs of train and test.
fn raw(data: &InteractionData) -> BTreeSet<(String, String)> {
    data.train
        .pairs()
        .chain(data.test.pairs())
        .map(|(user, item)| (data.users.raw(user).to_string(), data.items.raw(item).to_string()))
        .collect()
}

fn options(format: Format, min_rating: Option<f64>) -> ReadOptions {
    ReadOptions {
        format,
        min_rating,
        ..ReadOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_reads_back_what_was_written(rows in rows("[a-z0-9_]{1,6}")) {
        let pairs: BTreeSet<_> = rows.keys().cloned().collect();
        for format in texts() {
            let text = write(&rows, format);
            let data = read("file", text.as_bytes(), options(format, None));
            prop_assert_eq!(&raw(&data), &pairs, "{}", format);
            prop_assert_eq!(&data, &read("file", &gzip(&text), options(format, None)), "{} gzipped", format);
        }
    }

    #[test]
    fn the_content_determines_the_format(rows in rows("[0-9]{1,6}")) {
        let users: BTreeSet<_> = rows.keys().map(|(user, _)| user).collect();
        // A row for each user may as well be the user's list of items.
        let is_clear = |format: &Format| *format != Format::YahooR3 || users.len() < rows.len();
        for format in texts().filter(is_clear) {
            let text = write(&rows, format);
            let given = read("file", text.as_bytes(), options(format, None));
            let found = read("file", text.as_bytes(), options(Format::Auto, None));
            prop_assert_eq!(given, found, "{}", format);
        }
    }

    #[test]
    fn a_threshold_keeps_the_ratings_from_it_on(rows in rows("[0-9]{1,6}"), min_rating in 1..=5) {
        let pairs: BTreeSet<_> = rows.iter().filter(|(_, rating)| **rating >= min_rating).map(|(pair, _)| pair.clone()).collect();
        for format in texts().filter(|&format| format != Format::Ngcf) {
            let data = read("file", write(&rows, format).as_bytes(), options(format, Some(f64::from(min_rating))));
            prop_assert_eq!(&raw(&data), &pairs, "{}", format);
        }
    }
}

#[test]
fn csv_headers_find_columns_by_name_in_any_order_and_case() {
    let plain = read(
        "a.csv",
        b"1,7,5\n1,8,4\n1,9,4\n2,7,4\n2,8,3\n",
        options(Format::Csv, Some(4.0)),
    );
    let text = b"Rating,itemId,note,userId\n5,7,a,1\n4,8,b,1\n4,9,c,1\n4,7,d,2\n3,8,e,2\n";
    assert_eq!(plain, read("a.csv", text, options(Format::Auto, Some(4.0))));
}

#[test]
fn quotes_spaces_and_windows_line_ends_are_not_part_of_ids() {
    let plain = read("a.csv", b"user,item\nx,1\nx,2\nx,3\ny,1\n", ReadOptions::default());
    let messy = b"\xef\xbb\xbf\"user\",\"item\"\r\n\r\n\"x\", 1\r\nx ,\"2\"\r\nx,3\r\n\r\ny,1";
    assert_eq!(plain, read("a.csv", messy, ReadOptions::default()));
}

#[test]
fn ngcf_lines_may_repeat_a_user_leave_out_all_items_and_end_in_spaces() {
    let plain = read("t.txt", b"0 1 2 3\n1 1\n", ReadOptions::default());
    let messy = read("t.txt", b"0 1 2 \n5\n1 1\n0 3  \n", options(Format::Ngcf, None));
    assert_eq!(raw(&plain), raw(&messy));
    assert_eq!(messy.users.len(), 2, "a user without items is no user");
}

#[test]
fn yahoo_rows_may_be_aligned_with_spaces() {
    let tabs = read("y.txt", b"1\t14\t5\n1\t35\t1\n1\t9\t1\n2\t46\t1\n", ReadOptions::default());
    let spaces = read("y.txt", b"1  14 5\n1  35 1\n1   9 1\n2  46 1\n", ReadOptions::default());
    assert_eq!(tabs, spaces);
}

#[test]
fn gzip_files_in_several_members_are_read_whole() {
    let mut bytes = gzip("0,1\n0,2\n0,3\n");
    bytes.extend(gzip("1,1\n"));
    let whole = read("a.csv", b"0,1\n0,2\n0,3\n1,1\n", ReadOptions::default());
    assert_eq!(whole, read("a.csv", &bytes, ReadOptions::default()));
}

#[test]
fn ids_that_begin_with_a_dash_are_text_unless_they_are_numbers() {
    let data = read("a.csv", b"-4Anv,1\n-4Anv,2\n-4Anv,3\n--,1\n", ReadOptions::default());
    assert_eq!(data.users.get("-4Anv"), Some(0));
    assert_eq!(data.users.get("--"), Some(1));
}

#[test]
fn huge_ids_cost_no_more_than_small_ones() {
    let data = read(
        "a.csv",
        b"4000000000,18446744073709551616\n0,1\n0,2\n0,3\n",
        ReadOptions::default(),
    );
    assert_eq!((data.train.num_users(), data.train.num_items()), (2, 4));
    assert_eq!(data.users.raw(0), "4000000000");
}

#[test]
fn repeats_and_ratings_left_out_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (train, test) = (dir.path().join("train.csv"), dir.path().join("test.csv"));
    std::fs::write(&train, "0,1,5\n0,1,4\n0,2,1\n1,1,5\n").unwrap();
    std::fs::write(&test, "0,3,5\n0,3,5\n2,1,5\n1,4,2\n").unwrap();
    let (data, report) = load_with_report("mine", &Source::Split { train, test }, &options(Format::Csv, Some(3.0))).unwrap();
    assert_eq!((data.train.len(), data.test.len()), (2, 2));
    assert_eq!((report.rows, report.below_min_rating, report.repeats), (8, 2, 2));
    // User 2 and item 3 are in test only; items 2 and 4 are nowhere.
    assert_eq!((report.untrained_users, report.untrained_items), (1, 1));
    assert_eq!((data.train.num_users(), data.train.num_items()), (3, 2));
    assert_eq!((data.test.num_users(), data.test.num_items()), (3, 2));
}

#[test]
fn a_csv_as_pandas_writes_it_is_read_with_its_commas_quotes_and_dates() {
    let text = ",user,item,rating,timestamp\r\n\
                0,\"Doe, Jane\",\"The \"\"Big\"\" One\",4.0,2024-01-31 10:00\r\n\
                1,\"Doe, Jane\",\"two\r\nlines\",3.0,\r\n\
                2,\"Doe, Jane\",plain,5.0,yesterday\r\n\
                3,Roe,5\" nails,1.0,2024-02-01\r\n\
                4,Roe,\"plain\",2.0,2024-02-01\r\n\
                5,Roe, \"spaced\",2.0,2024-02-01\r\n";
    let data = read("pandas.csv", text.as_bytes(), options(Format::Auto, None));
    let expected = [
        ("Doe, Jane", "The \"Big\" One"),
        ("Doe, Jane", "two\nlines"),
        ("Doe, Jane", "plain"),
        ("Roe", "5\" nails"),
        ("Roe", "plain"),
        ("Roe", "spaced"),
    ];
    let expected: BTreeSet<_> = expected.map(|(user, item)| (user.to_string(), item.to_string())).into();
    assert_eq!(raw(&data), expected);
}

#[test]
fn timestamps_may_be_any_text() {
    for (name, text) in [
        ("a.csv", "1,1,5,2024-01-31\n1,2,5,\n2,1,5,noon\n2,2,5,x\n"),
        ("u.data", "1\t1\t5\t2024-01-31\n1\t2\t5\t\n2\t1\t5\tnoon\n2\t2\t5\tx\n"),
        ("ratings.dat", "1::1::5::2024-01-31\n1::2::5::\n2::1::5::noon\n2::2::5::x\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        let source = Source::whole(file, SplitOptions::ratio(0.5, 0));
        let (data, _) = load_with_report("mine", &source, &ReadOptions::default()).unwrap();
        assert_eq!(raw(&data).len(), 4, "{name}");
    }
}
