//! Interaction files that are broken, endless, or no files at all.

use super::{
    case::{Case, Content},
    recipes::{RECOMMENDER, TRAIN},
};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

const GOOD: &str = "user,item\n\
    a,1\na,2\na,3\na,4\na,5\na,6\na,7\na,8\n\
    b,3\nb,4\nb,5\nb,6\nb,7\nb,8\nb,9\nb,10\n\
    c,5\nc,6\nc,7\nc,8\nc,9\nc,10\nc,11\nc,12\n\
    d,1\nd,2\nd,3\nd,4\nd,9\nd,10\nd,11\nd,12\n\
";

/// A recipe on the given file, with `more` lines in its `[data]` table.
fn recipe(file: &str, more: &str) -> String {
    let planted = RECOMMENDER.lines().filter(|line| !line.contains("planted"));
    let text: Vec<&str> = planted.collect();
    text.join("\n").replace("[data]", &format!("[data]\nfile = '{file}'\n{more}"))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// A gzip bomb: `line` repeated to the given number of mebibytes.
fn bomb(line: &str, mebibytes: usize) -> Vec<u8> {
    gzip(line.repeat((mebibytes << 20) / line.len()).as_bytes())
}

pub(crate) fn cases() -> Vec<Case> {
    let arguments = [&TRAIN[..], &["--data", "."]].concat();
    let with = |name: &str, file: &str, more: &str, content: Content, words: &[&str]| {
        // If the recipe is wrong, the error need not name the file.
        let words = if more.is_empty() {
            [&[file][..], words].concat()
        } else {
            words.to_vec()
        };
        Case::refused(format!("data: {file}: {name}"), &arguments, &words)
            .with("tiny.toml", recipe(file, more))
            .with(file, content)
    };
    let csv = |name: &str, text: &str, words: &[&str]| with(name, "likes.csv", "", text.into(), words);
    let bytes = |name: &str, bytes: Vec<u8>, words: &[&str]| with(name, "likes.csv", "", bytes.into(), words);
    let inter = |name: &str, text: &str, words: &[&str]| with(name, "likes.inter", "", text.into(), words);
    let ngcf = |name: &str, text: &str, words: &[&str]| with(name, "likes.txt", "format = 'ngcf'", text.into(), words);
    let long = "x".repeat(17 << 20);

    let mut cases = vec![
        csv("empty", "", &["no interaction"]),
        csv("blank lines", "\n\n\n", &["no interaction"]),
        csv("only a header", "user,item\n", &["no interaction"]),
        csv("a column less", "user,item,rating\na,1,5\nb,2\n", &["3"]),
        csv("a column more", "user,item\na,1\nb,2,3,4,5\n", &["3"]),
        csv("one column", "user\na\nb\n", &["likes.csv"]),
        csv("no user", "user,item\na,1\n,2\n", &["3", "user"]),
        csv("no item", "user,item\na,1\nb,\n", &["3", "item"]),
        csv("a rating of words", "user,item,rating\na,1,5\nb,2,good\n", &["3", "rating"]),
        csv("a rating of nan", "user,item,rating\na,1,5\nb,2,nan\n", &["3", "rating"]),
        csv("a rating of inf", "user,item,rating\na,1,5\nb,2,1e999\n", &["3", "rating"]),
        csv("an empty rating", "user,item,rating\na,1,5\nb,2,\n", &["3", "rating"]),
        csv("a negative user", "user,item\na,1\n-1,2\n", &["3", "user"]),
        csv("one user", "user,item\na,1\na,2\na,3\n", &["one user"]),
        csv("nobody with two", "user,item\na,1\nb,2\nc,3\n", &["test"]),
        csv("no item column", "user,thing,rating\na,1,5\nb,2,4\n", &["item"]),
        csv(
            "a web page",
            "<!DOCTYPE html>\n<html><body>404</body></html>\n",
            &["likes.csv"],
        ),
        csv("JSON", "{\"user\": 1}\n{\"user\": 2}\n", &["likes.csv"]),
        csv("a line without end", &long, &["longer than"]),
        csv(
            "escapes in an id that is named",
            "user,item\n\u{1b}[31mred,1\n\u{1b}[31mred,2\n\u{1b}[31mred,3\n",
            &["one user"],
        ),
        csv("escapes in a broken line", "user,item,rating\na,1,5\nb,2,\u{1b}[2J\n", &["3"]),
        bytes("not UTF-8", b"user,item\na,1\nb,\xff\xfe\n".to_vec(), &["3", "UTF-8"]),
        bytes("UTF-16", b"\xff\xfeu\0s\0e\0r\0,\0i\0t\0e\0m\0\n\0".to_vec(), &["likes.csv"]),
        bytes("zeros", vec![0; 1000], &["likes.csv"]),
        bytes("a zip", b"PK\x03\x04rest".to_vec(), &["zip"]),
        bytes("gzip cut in its header", b"\x1f\x8b\x08".to_vec(), &["truncated"]),
        bytes(
            "gzip cut in the middle",
            {
                let whole = gzip(&[GOOD.as_bytes(), &b"a,1\n".repeat(20_000)].concat());
                whole[..whole.len() / 2].to_vec()
            },
            &["truncated"],
        ),
        bytes(
            "gzip damaged",
            {
                let mut whole = gzip(GOOD.as_bytes());
                let middle = whole.len() / 2;
                whole[middle] ^= 0xff;
                whole
            },
            &["gzip"],
        ),
        bytes("gzip of nothing", gzip(b""), &["no interaction"]),
        bytes("gzip of blank lines without end", bomb("\n", 80), &["200 times"]),
        bytes("gzip of one row without end", bomb("ann,tea\n", 160), &["200 times"]),
        bytes("gzip of zeros without end", bomb("\0", 80), &["likes.csv"]),
        bytes("gzip in gzip", gzip(&gzip(GOOD.as_bytes())), &["likes.csv"]),
        inter("a header without types", "user\titem\na\t1\n", &["likes.inter"]),
        inter(
            "no item column",
            "user_id:token\trating:float\na\t1\nb\t2\n",
            &["item_id:token"],
        ),
        inter(
            "no user column",
            "item_id:token\trating:float\na\t1\nb\t2\n",
            &["user_id:token"],
        ),
        inter("a truncated row", "user_id:token\titem_id:token\na\t1\nb\n", &["3"]),
        inter("commas for tabs", "user_id:token,item_id:token\na,1\nb,2\n", &["likes.inter"]),
        inter("only a header", "user_id:token\titem_id:token\n", &["no interaction"]),
        ngcf("users without items", "0\n1\n2\n", &["no interaction"]),
        ngcf("a negative item", "0 1 2\n1 -3 4\n", &["2", "item"]),
        ngcf("one user", "0 1 2 3 4 5\n", &["one user"]),
        ngcf("a line without end", &"1 ".repeat(9 << 20), &["longer than"]),
        with(
            "words of no format",
            "likes.txt",
            "",
            "hello there general\nyes\n".into(),
            &["format"],
        ),
        with("an unknown format", "likes.csv", "format = 'excel'", GOOD.into(), &["format"]),
        with(
            "ratings asked for",
            "likes.csv",
            "min_rating = 3",
            GOOD.into(),
            &["min_rating"],
        ),
        with(
            "a rating that nobody gave",
            "likes.csv",
            "min_rating = 9",
            "user,item,rating\na,1,5\nb,2,4\n".into(),
            &["min_rating"],
        ),
        with(
            "an infinite rating",
            "likes.csv",
            "min_rating = inf",
            GOOD.into(),
            &["min_rating"],
        ),
        with(
            "a test share of 0",
            "likes.csv",
            "split.test_ratio = 0",
            GOOD.into(),
            &["test_ratio"],
        ),
        with(
            "a test share of 1",
            "likes.csv",
            "split.test_ratio = 1.0",
            GOOD.into(),
            &["test_ratio"],
        ),
        with(
            "a test share of nan",
            "likes.csv",
            "split.test_ratio = nan",
            GOOD.into(),
            &["test_ratio"],
        ),
        with(
            "a core of nothing",
            "likes.csv",
            "min_user_interactions = 9",
            GOOD.into(),
            &["likes.csv", "data.min_user_interactions 9", "Lower"],
        ),
        with(
            "a split by times that are not there",
            "likes.csv",
            "split.kind = 'temporal'",
            GOOD.into(),
            &["likes.csv:2", "timestamp"],
        ),
        with(
            "columns that are not there",
            "likes.csv",
            "columns.user = 'who'",
            GOOD.into(),
            &["likes.csv:1", "`who`", "`user`, `item`"],
        ),
        with(
            "a column beyond the last",
            "likes.csv",
            "columns.item = 1000000",
            GOOD.into(),
            &["likes.csv:1", "1 to 2"],
        ),
        with(
            "broken JSON lines",
            "likes.jsonl",
            "format = 'jsonl'",
            "{\"user\": 1, \"item\": 2}\n{\"user\": [[[[".into(),
            &["likes.jsonl:2"],
        ),
        with(
            "JSON without a bottom",
            "likes.jsonl",
            "format = 'jsonl'",
            "[".repeat(1 << 20).into(),
            &["likes.jsonl:1"],
        ),
        with(
            "titles of other items",
            "likes.csv",
            "items = 'likes.csv'\nitem_columns = { id = 'user', title = 'item' }",
            GOOD.into(),
            &["likes.csv"],
        ),
        with(
            "titles that are not there",
            "likes.csv",
            "items = 'none.csv'",
            GOOD.into(),
            &["data.items", "none.csv"],
        ),
        with(
            "histories too short to validate on",
            "likes.csv",
            "split.test_ratio = 0.2",
            "user,item\na,1\na,2\na,3\nb,1\nb,2\nb,4\nb,5\nb,6\n".into(),
            &["at most 4", "selection.held_out = 0.25"],
        ),
        with("a negative seed", "likes.csv", "split.seed = -1", GOOD.into(), &["seed"]),
        with("a folder", "likes.csv", "", Content::Folder, &["a folder"]),
        with("a pipe", "likes.csv", "", Content::Pipe, &["a pipe"]),
        with("/dev/zero", "likes.csv", "", Content::Link("/dev/zero".into()), &["a device"]),
        with("/dev/null", "likes.csv", "", Content::Link("/dev/null".into()), &["a device"]),
        with(
            "a link to nothing",
            "likes.csv",
            "",
            Content::Link("nowhere.csv".into()),
            &["neither beside"],
        ),
        with(
            "a link to itself",
            "likes.csv",
            "",
            Content::Link("likes.csv".into()),
            &["likes.csv"],
        ),
        with("an empty name", "", "", Content::Folder, &[]),
    ];
    for (name, train, test, words) in [
        ("test is train", GOOD, GOOD, &["test.csv", "train"][..]),
        ("test of other users", GOOD, "user,item\nx,1\ny,2\n", &["test.csv"][..]),
        ("an empty test", GOOD, "", &["test.csv"][..]),
        ("an empty train", "", GOOD, &["train.csv"][..]),
        (
            "a user of everything",
            &format!(
                "{GOOD}{}",
                "keen,1\nkeen,2\nkeen,3\nkeen,4\nkeen,5\nkeen,6\nkeen,7\nkeen,8\nkeen,9\nkeen,10\nkeen,11\nkeen,12\n"
            ),
            "user,item\na,9\n",
            &["user keen has interacted with all 12 items", "uniform_all"][..],
        ),
    ] {
        let recipe = recipe("train.csv", "").replace("file = 'train.csv'", "train = 'train.csv'\ntest = 'test.csv'");
        let case = Case::refused(format!("data: {name}"), &arguments, words);
        cases.push(case.with("tiny.toml", recipe).with("train.csv", train).with("test.csv", test));
    }
    cases.push(
        Case::refused(
            "data for a recipe",
            &["likes.csv"],
            &["likes.csv: is no recipe", "data.file = \"likes.csv\""],
        )
        .with("likes.csv", GOOD),
    );
    let utf16: Vec<u8> = "\u{feff}seed = 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    cases.push(Case::refused("a recipe in UTF-16", &["tiny.toml"], &["tiny.toml", "iconv -f UTF-16 "]).with("tiny.toml", utf16));
    for (name, file, content) in [
        ("as it should be", "likes.csv", Content::from(GOOD)),
        ("gzipped", "likes.csv.gz", gzip(GOOD.as_bytes()).into()),
        ("with Windows' line ends", "likes.csv", GOOD.replace('\n', "\r\n").into()),
        ("with a byte order mark", "likes.csv", format!("\u{feff}{GOOD}").into()),
        ("without an end of its last line", "likes.csv", GOOD.trim_end().into()),
        (
            "with every row a hundred times",
            "likes.csv",
            format!("{GOOD}{}", GOOD["user,item\n".len()..].repeat(99)).into(),
        ),
        (
            "gzipped well",
            "likes.csv",
            gzip(format!("{GOOD}{}", "a,1\n".repeat(1 << 20)).as_bytes()).into(),
        ),
        ("behind a link", "link.csv", Content::Link("likes.csv".into())),
        ("separated by semicolons", "likes.csv", GOOD.replace(',', ";").into()),
        ("separated by tabs", "likes.tsv", GOOD.replace(',', "\t").into()),
    ] {
        let case = Case::fine(format!("data: {name}"), &arguments).with("tiny.toml", recipe(file, ""));
        let case = if file == "link.csv" {
            case.with("likes.csv", GOOD)
        } else {
            case
        };
        cases.push(case.with(file, content));
    }
    cases
}
