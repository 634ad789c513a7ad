//! Files as people really have them: read as meant, or refused with the line and a remedy that works.

use bcl_data::{InteractionData, ReadOptions, Seed, Source, SplitOptions, load};
use rand::RngExt;
use std::fmt::Write as _;

fn read(file: &str, content: impl AsRef<[u8]>, options: &str) -> Result<InteractionData, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, content).unwrap();
    let options: ReadOptions = toml::from_str(options).unwrap_or_else(|error| panic!("{options}: {error}"));
    load("mine", &Source::whole(path, SplitOptions::ratio(0.4, 0)), &options).map_err(|error| error.to_string())
}

/// Users, items and interactions.
fn counts(data: &InteractionData) -> [usize; 3] {
    [data.users.len(), data.items.len(), data.train.len() + data.test.len()]
}

/// Twelve users with four items each, of twelve; `line` writes user, item and rating.
fn rows(line: impl Fn(u32, u32, u32) -> String) -> String {
    let mut text = String::new();
    for user in 0..12 {
        for step in 0..4 {
            writeln!(text, "{}", line(user, (user + 5 * step) % 12, 1 + step)).unwrap();
        }
    }
    text
}

const ALL: [usize; 3] = [12, 12, 48];

#[test]
fn awkward_files_are_read_as_meant() {
    let quotes = rows(|user, item, rating| match item {
        1 => format!("u{user}\t\"Heroes\t{rating}"),
        2 => format!("u{user}\tLow\"\t{rating}"),
        _ => format!("u{user}\ti{item}\t{rating}"),
    });
    let cases: [(&str, &str, String); 11] = [
        ("quotes in TSV", "a.tsv", format!("user\titem\tplays\n{quotes}")),
        (
            "quotes in .inter",
            "a.inter",
            format!("user_id:token\titem_id:token\tplays:float\n{quotes}"),
        ),
        (
            "tabs in .csv",
            "a.csv",
            rows(|user, item, rating| format!("u{user}\ti{item}\t{rating}")),
        ),
        (
            "tabs in .csv with a header",
            "a.csv",
            format!("user\titem\trating\n{}", rows(|u, i, r| format!("{u}\t{i}\t{r}"))),
        ),
        (
            ".inter with commas",
            "a.inter",
            format!("user_id:token,item_id:token\n{}", rows(|u, i, _| format!("{u},{i}"))),
        ),
        (
            ".inter with blanks",
            "a.inter",
            format!("user_id:token item_id:token\n{}", rows(|u, i, _| format!("{u} {i}"))),
        ),
        (
            "four columns of blanks",
            "a.txt",
            rows(|u, i, r| format!("{u} {i} {r} {}", 1_700_000_000 + i)),
        ),
        ("u.data of blanks", "u.data", rows(|u, i, r| format!("{u} {i} {r} {}", 7 + i))),
        (
            "decimal commas",
            "a.csv",
            format!("user;item;rating\n{}", rows(|u, i, r| format!("u{u};i{i};{r},5"))),
        ),
        (
            "decimal commas in quotes",
            "a.csv",
            format!("user,item,rating\n{}", rows(|u, i, r| format!("u{u},i{i},\"{r},5\""))),
        ),
        (
            "a header told by its numbers",
            "a.csv",
            format!("user_id,item_id\n{}", rows(|u, i, _| format!("{u},{i}"))),
        ),
    ];
    for (what, file, content) in cases {
        let data = read(file, &content, "").unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(counts(&data), ALL, "{what}");
        assert!(data.items.iter().all(|item| !item.contains(['\n', '\t'])), "{what}");
    }
    let halves = format!("user;item;rating\n{}", rows(|u, i, r| format!("u{u};i{i};{r},5")));
    let data = read("a.csv", halves, "min_rating = 3.5").unwrap();
    assert_eq!((data.report.rows, data.report.below_min_rating), (48, 24));
}

#[test]
fn a_line_of_four_numbers_per_user_is_no_list_of_items() {
    let folder = tempfile::tempdir().unwrap();
    let [train, test] = ["train.txt", "test.txt"].map(|name| folder.path().join(name));
    std::fs::write(&train, rows(|u, i, r| format!("{u}\t{i}\t{r}\t{}", 1_700_000_000 + i))).unwrap();
    let lines = (0..12).map(|user| format!("{user} {} 3 {}\n", (user + 2) % 12, 1_700_000_000 + user));
    std::fs::write(&test, lines.collect::<Vec<_>>().concat()).unwrap();
    let data = load("mine", &Source::Split { train, test }, &ReadOptions::default()).unwrap();
    assert_eq!((data.test.len(), data.items.len()), (12, 12));
}

/// A name, a file with its content, options, and what the refusal says.
type Refused<'a> = (&'a str, &'a str, Vec<u8>, &'a str, &'a [&'a str]);

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn awkward_files_are_refused_with_words_that_help() {
    let pairs = |separator: &str| rows(|u, i, _| format!("c{u}x{separator}p{i}x"));
    let plain = pairs(",");
    let repeated = format!("user_id,item_id\n{plain}user_id,item_id\n{plain}");
    let other = format!("{plain}itemId,userId\n{plain}");
    let marked = format!("user,item\n{plain}\u{feff}user,item\n");
    let utf16 = |bytes: fn(u16) -> [u8; 2]| plain.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let both = |names: &str| format!("{names}\n{}", rows(|u, i, _| format!("N{u},{u},T{i},{i}")));
    let cases: [Refused<'_>; 19] = [
        (
            "unknown names",
            "a.csv",
            format!("customer,product\n{plain}").into(),
            "",
            &["a.csv:1:", "`customer`", "`product`", "data.columns"],
        ),
        (
            "foreign names",
            "a.csv",
            format!("kunde,produkt\n{plain}").into(),
            "",
            &["a.csv:1:", "`kunde`", "`produkt`", "data.columns"],
        ),
        (
            "a header again",
            "a.csv",
            repeated.into(),
            "",
            &["a.csv:50:", "`user_id,item_id` is a header", "Delete the line"],
        ),
        ("another header", "a.csv", other.into(), "", &["a.csv:49:", "is a header"]),
        (
            "a header again, by names",
            "a.csv",
            format!("who,what\n{plain}who,what\n").into(),
            "columns = { user = 'who', item = 'what' }",
            &["a.csv:50:", "is a header"],
        ),
        (
            "a header of NGCF",
            "a.txt",
            b"user item item\n1 2 3\n2 3 4\n".to_vec(),
            "format = 'ngcf'",
            &["a.txt:1:", "is a header"],
        ),
        (
            "a mark within",
            "a.csv",
            marked.into(),
            "",
            &["a.csv:50:", "byte order mark", "data.files"],
        ),
        (
            "a zero byte",
            "a.csv",
            format!("user,item\n{plain}c1x,p\0\n").into(),
            "",
            &["a.csv:50:", "zero byte"],
        ),
        (
            "UTF-16 without a mark",
            "a.csv",
            utf16(u16::to_le_bytes),
            "",
            &["UTF-16", "iconv -f UTF-16LE"],
        ),
        (
            "UTF-16, the other way",
            "a.csv",
            utf16(u16::to_be_bytes),
            "",
            &["UTF-16", "iconv -f UTF-16BE"],
        ),
        (
            "two users",
            "a.csv",
            both("user,user_id,item,x").into(),
            "",
            &["a.csv:1:", "both `user` and `user_id`", "data.columns.user"],
        ),
        (
            "two items",
            "a.csv",
            both("name,user_id,item,item_id").into(),
            "",
            &["both `item` and `item_id`", "data.columns.item = \"item_id\""],
        ),
        (
            "one name twice",
            "a.csv",
            both("x,user,item,item").into(),
            "",
            &["both `item` and `item`", "number of the column"],
        ),
        (
            "two users in JSON",
            "a.jsonl",
            b"{\"user\": 1, \"user_id\": 2, \"item\": 3}\n".to_vec(),
            "",
            &["a.jsonl:1:", "both `user` and `user_id`"],
        ),
        (
            "labels",
            "a.csv",
            format!("user,item,label\n{}", rows(|u, i, r| format!("u{u},i{i},{}", r % 2))).into(),
            "columns.rating = 'label'",
            &["only 0 and 1", "data.min_rating = 1"],
        ),
        (
            "an array",
            "a.json",
            b"[{\"user\": 1, \"item\": 2}]\n".to_vec(),
            "",
            &["a.json:1:", "JSON array", "lines=True"],
        ),
        (
            "an object of several lines",
            "a.json",
            b"{\n  \"user\": 1\n}\n".to_vec(),
            "",
            &["a.json:1:", "one object per line", "jq -c"],
        ),
        (
            "rows in quotes",
            "a.csv",
            b"user,item\n1,\"Heroes\n1,2\n2,\"Low\n2,3\n".to_vec(),
            "",
            &["a.csv:2:", "whole lines", "`1,2`", "Close it"],
        ),
        (
            "thousands",
            "a.csv",
            b"user;item;rating\n1;2;1,500\n2;3;2\n".to_vec(),
            "",
            &["a.csv:2:", "rating `1,500`", "decimal mark"],
        ),
    ];
    for (what, file, content, options, words) in cases {
        let Err(error) = read(file, content, options) else {
            panic!("{what}: was accepted")
        };
        for word in words {
            assert!(error.contains(word), "{what}: `{word}` is not in: {error}");
        }
    }
}

#[test]
fn remedies_work_when_followed() {
    let unknown = format!("customer,product\n{}", rows(|u, i, _| format!("c{u}x,p{i}x")));
    let data = read("a.csv", &unknown, "columns = { user = 'customer', item = 'product' }").unwrap();
    assert_eq!(counts(&data), ALL);
    // With numbers, the file has no header, as the error says.
    assert_eq!(
        counts(&read("a.csv", &unknown, "columns = { user = 1, item = 2 }").unwrap()),
        [13, 13, 49]
    );
    let both = format!(
        "user,user_id,item,item_id\n{}",
        rows(|u, i, _| format!("N,{u},T{},{i}", i / 2))
    );
    let data = read("a.csv", &both, "columns = { user = 'user_id', item = 'item_id' }").unwrap();
    assert_eq!(counts(&data), ALL);
    let twice = format!("user,item,item\n{}", rows(|u, i, _| format!("{u},T,{i}")));
    assert_eq!(counts(&read("a.csv", &twice, "columns.item = 3").unwrap()), ALL);
    let labels = format!("user,item,label\n{}", rows(|u, i, r| format!("u{u},i{i},{}", r % 2)));
    assert_eq!(
        read("a.csv", &labels, "columns.rating = 'label'\nmin_rating = 1")
            .unwrap()
            .report
            .below_min_rating,
        24
    );
    assert_eq!(counts(&read("a.csv", &labels, "").unwrap()), ALL);
    let four = rows(|u, i, r| format!("{u} {i} {} {r}", 1_700_000_000 + i));
    let error = read("a.txt", &four, "").unwrap_err();
    assert!(
        error.contains("`u_data`") && error.contains("`ngcf`") && !error.contains("`csv`"),
        "{error}"
    );
    assert_eq!(counts(&read("a.txt", &four, "format = 'u_data'").unwrap()), ALL);
}

/// `BCL_FUZZ_RUNS=10000` tries more.
#[test]
fn mutated_tables_are_read_or_refused_but_never_panic() {
    let tables = [
        (
            "a.csv",
            format!("user,item,rating\n{}", rows(|u, i, r| format!("{u},\"i {i}\",{r}.5"))),
        ),
        (
            "a.csv",
            format!("user;item;rating\n{}", rows(|u, i, r| format!("u{u};i{i};{r},5"))),
        ),
        (
            "a.tsv",
            format!(
                "user_id\titem_id\tlabel\n{}",
                rows(|u, i, r| format!("u{u}\t\"{i}\t{}", r % 2))
            ),
        ),
        (
            "a.jsonl",
            rows(|u, i, r| format!("{{\"user\": {u}, \"item\": \"{i}\", \"rating\": {r}}}")),
        ),
        (
            "a.inter",
            format!("user_id:token\titem_id:token\n{}", rows(|u, i, _| format!("{u}\t{i}"))),
        ),
        ("a.txt", rows(|u, i, r| format!("{u} {i} {r} {}", 1_700_000_000 + i))),
        ("ratings.dat", rows(|u, i, r| format!("{u}::{i}::{r}::978300760"))),
    ];
    let pieces: [&[u8]; 16] = [
        b",",
        b";",
        b"\t",
        b" ",
        b"\"",
        b"\\",
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"user",
        b"nan",
        b"-1e9",
        b"{",
        b"::",
    ];
    let runs = std::env::var("BCL_FUZZ_RUNS").map_or(700, |runs| runs.parse().expect("a number"));
    let (mut accepted, mut refused) = (0, 0);
    for run in 0..runs {
        let mut rng = Seed(run).rng();
        let (name, text) = &tables[run as usize % tables.len()];
        let mut bytes = text.clone().into_bytes();
        for _ in 0..rng.random_range(1..4) {
            let place = rng.random_range(0..bytes.len());
            let end = (place + rng.random_range(0..12)).min(bytes.len());
            match rng.random_range(0..4) {
                0 => drop(bytes.splice(place..end, pieces[rng.random_range(0..pieces.len())].iter().copied())),
                1 => drop(bytes.splice(place..place, pieces[rng.random_range(0..pieces.len())].iter().copied())),
                2 => drop(bytes.splice(place..place, bytes[end..].to_vec())),
                _ => bytes[place] = rng.random(),
            }
        }
        match read(name, bytes, "") {
            Ok(_) => accepted += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > runs / 20 && refused > runs / 20, "{accepted} {refused}");
}
