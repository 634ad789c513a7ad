//! Bad files, and what their errors must say: the file, the line, the value, and the remedy.

use bcl_data::{DataError, Format, ReadOptions, Source, SplitOptions, load};
use flate2::{Compression, write::GzEncoder};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The content of a file, how to read it, and words that the error must contain.
struct Case {
    what: &'static str,
    file: &'static str,
    content: Vec<u8>,
    format: Format,
    min_rating: Option<f64>,
    words: &'static [&'static str],
}

fn case(what: &'static str, file: &'static str, content: impl AsRef<[u8]>, words: &'static [&'static str]) -> Case {
    Case {
        what,
        file,
        content: content.as_ref().to_vec(),
        format: Format::Auto,
        min_rating: None,
        words,
    }
}

impl Case {
    fn format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    fn min_rating(self, min_rating: f64) -> Self {
        Self {
            min_rating: Some(min_rating),
            ..self
        }
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            min_rating: self.min_rating,
            ..ReadOptions::default()
        }
    }

    fn check(&self, result: Result<impl Sized, DataError>) {
        let Err(error) = result else {
            panic!("{}: was accepted", self.what)
        };
        let text = error.to_string();
        let named = self.file.rsplit('/').next().unwrap();
        for word in self.words.iter().chain([&named]) {
            assert!(text.contains(word), "{}: `{word}` is not in: {text}", self.what);
        }
        assert!(text.len() < 700, "{}: {} bytes: {text}", self.what, text.len());
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Incompressible text, so that a truncated gzip file still yields some of its lines.
fn many_rows() -> Vec<u8> {
    let mut state = 1_u64;
    let mut text = String::new();
    for user in 0..4000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        writeln!(text, "{user},{}", state >> 20).unwrap();
    }
    text.into_bytes()
}

fn truncated_gzip() -> Vec<u8> {
    let mut bytes = gzip(&many_rows());
    bytes.truncate(bytes.len() / 2);
    bytes
}

fn endless_quote() -> Vec<u8> {
    let mut text = b"0,1\n\"a".to_vec();
    text.resize(17 << 20, b'\n');
    text
}

fn damaged_gzip() -> Vec<u8> {
    let mut bytes = gzip(b"0,1\n0,2\n1,1\n1,2\n");
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    bytes
}

/// Files that are always refused.
#[rustfmt::skip]
fn broken_files() -> Vec<Case> {
    let long_line = {
        let mut text = b"0 1 2\n1 ".to_vec();
        text.resize(17 << 20, b'7');
        text
    };
    vec![
        case("csv row with one field", "a.csv", "0,1\n0,2\n7\n", &["a.csv:3:", "1 field(s) in `7`", "csv rows have 2", "Correct the line"]),
        case("csv row with an extra field", "a.csv", "0,1\n0,2,3\n", &["a.csv:2:", "3 field(s)", "`0,2,3`", "Correct the line"]),
        case("csv row with five fields", "a.csv", "0,1,2,3,4\n", &["a.csv:1:", "5 field(s)", "`user,item[,rating[,timestamp]]`"]),
        case("csv row shorter than the header", "a.csv", "user,item,rating\n0,1,5\n0,2\n", &["a.csv:3:", "2 field(s)", "have 3"]),
        case("csv with another separator", "a.csv", "0|1\n0|2\n", &["a.csv:1:", "1 field(s) in `0|1`", "set `format`"]),
        case("csv rating of text", "a.csv", "0,1,5\n0,2,good\n", &["a.csv:2:", "rating `good`", "is not a number", "Correct it"]),
        case("csv rating left out", "a.csv", "0,1,5\n0,2,\n", &["a.csv:2:", "rating ``", "is empty", "Fill it in"]),
        case("csv rating NaN", "a.csv", "user,item,rating\n0,1,NaN\n", &["a.csv:2:", "rating `NaN`", "not finite", "Replace it"]),
        case("csv rating infinite", "a.csv", "0,1,1\n0,2,-inf\n", &["a.csv:2:", "rating `-inf`", "not finite", "Replace it"]),
        case("csv rating too large for a number", "a.csv", "0,1,1\n0,2,1e999\n", &["a.csv:2:", "`1e999`", "not finite"]),
        case("csv quote that is never closed", "a.csv", "0,1\n\n\"a,2\n1,3\n", &["a.csv:3:", "quote", "never closed", "Close it"]),
        case("csv quote without an end in sight", "a.csv", endless_quote(), &["a.csv:2:", "never closed"]),
        case("csv line after a field of two lines", "a.csv", "0,1\n\"a\nb\",2\n7\n", &["a.csv:4:", "1 field(s) in `7`"]),
        case("csv row of quotes with an extra field", "a.csv", "0,1\n\"a,b\",2,3\n", &["a.csv:2:", "3 field(s)", "csv rows have 2"]),
        case("csv header with names of its own", "a.csv", "who,what,much\n0,1,5\n", &["a.csv:1:", "no column `user`", "`who`, `what`, `much`", "data.columns.user = "]),
        case("csv header of two columns with names of its own", "a.csv", "who,what\n0,1\n1,1\n", &["a.csv:1:", "no column `user`", "`who`, `what`", "data.columns.user = "]),
        case("csv header without items", "a.csv", "user,rating\n0,5\n", &["a.csv:1:", "no column `item`", "`user`, `rating`", "data.columns.item = "]),
        case("csv user left out", "a.csv", "0,1\n,2\n", &["a.csv:2:", "user ``", "is empty", "Fill it in"]),
        case("csv item of spaces", "a.csv", "0,1\n1, \n", &["a.csv:2:", "item ``", "is empty"]),
        case("csv item in empty quotes", "a.csv", "0,1\n1,\"\"\n", &["a.csv:2:", "item ``", "is empty"]),
        case("csv user negative", "a.csv", "0,1\n-3,2\n", &["a.csv:2:", "user `-3`", "is negative", "Use ids from 0 on"]),
        case("csv item negative as a float", "a.csv", "0,1\n3,-1.0\n", &["a.csv:2:", "item `-1.0`", "is negative"]),
        case("csv with nothing but a header", "a.csv", "user,item\n", &["no interaction", "read as csv", "up to line 1", "right file"]),
        case("u.data row with a missing field", "u.data", "1\t2\t3\t4\n1\t2\t3\n", &["u.data:2:", "3 field(s)", "u_data rows have 4", "tabs"]),
        case("u.data row with commas", "u.data", "1,2,3,4\n", &["u.data:1:", "1 field(s)", "separated by tabs or spaces"]),
        case("u.data rating of text", "u.data", "1\t2\tx\t4\n", &["u.data:1:", "rating `x`", "is not a number"]),
        case("ratings.dat row with a missing field", "ratings.dat", "1::2::3::4\n1::2::3\n", &["ratings.dat:2:", "3 field(s)", "ratings_dat rows have 4"]),
        case("ratings.dat item negative", "ratings.dat", "1::-2::3::4\n", &["ratings.dat:1:", "item `-2`", "is negative"]),
        case("inter header without users", "a.inter", "uuid:token\titem_id:token\n1\t2\n", &["a.inter:1:", "no column `user_id:token`", "data.columns.user = "]),
        case("inter header without items", "a.inter", "user_id:token\tthing:token\n1\t2\n", &["a.inter:1:", "no column `item_id:token`"]),
        case("inter row shorter than the header", "a.inter", "user_id:token\titem_id:token\trating:float\n1\t2\t3\n1\t3\n", &["a.inter:3:", "2 field(s)", "as many as the header"]),
        case("inter rating of text", "a.inter", "user_id:token\titem_id:token\trating:float\n1\t2\tfour\n", &["a.inter:2:", "rating `four`", "is not a number"]),
        case("Yahoo row with a missing field", "y.txt", "1\t2\t3\n1\t3\n", &["y.txt:2:", "2 field(s)", "yahoo_r3 rows have 3"]).format(Format::YahooR3),
        case("Yahoo rating NaN", "y.txt", "1 2 3\n1 3 nan\n", &["y.txt:2:", "rating `nan`", "not finite"]).format(Format::YahooR3),
        case("ngcf item negative", "t.txt", "0 1 2\n1 2 -1 3\n", &["t.txt:2:", "item `-1`", "is negative"]),
        case("ngcf user negative", "t.txt", "0 1 2 3\n-1 2\n", &["t.txt:2:", "user `-1`", "is negative"]),
        case("ngcf with users but no items", "t.txt", "0\n1\n\n", &["t.txt", "no interaction", "read as ngcf", "up to line 3"]).format(Format::Ngcf),
        case("prose", "README.txt", "Some words about the data\nand more\n", &["README.txt:1:", "cannot tell the format", "`Some words about the data`", "Set `format`", "`yahoo_r3`"]),
        case("an error page", "t.txt", "<!DOCTYPE html>\n<html>\n", &["t.txt:1:", "cannot tell the format", "`<!DOCTYPE html>`"]),
        case("three columns that could be two formats", "t.txt", "0 1 2\n1 3 4\n", &["t.txt:1:", "cannot tell the format", "Set `format`", "`ngcf`"]),
        case("two items for each user, between tabs", "t.txt", "0\t13\t77\n1\t6\t4\n2\t9\t1\n", &["t.txt:1:", "cannot tell the format", "Set `format`", "`ngcf`"]),
        case("empty file", "t.txt", "", &["t.txt", "no interaction", "right file"]),
        case("empty csv", "a.csv", "", &["a.csv", "no interaction", "right file"]),
        case("blank lines only", "t.txt", "\n \n\n", &["t.txt", "no interaction", "up to line 3"]),
        case("Latin-1", "a.csv", b"0,1\n0,caf\xe9\n", &["a.csv:2:", "byte 6", "not UTF-8", "iconv"]),
        case("UTF-16", "a.csv", b"\xff\xfe0\x00,\x001\x00\n\x00", &["a.csv", "UTF-16", "iconv -f UTF-16"]),
        case("a line without end", "t.txt", long_line, &["t.txt:2:", "longer than 16 MiB", "one row or user per line"]).format(Format::Ngcf),
        case("truncated gzip", "a.csv.gz", truncated_gzip(), &["a.csv.gz:", "truncated", "again"]),
        case("gzip header only", "a.csv.gz", b"\x1f\x8b\x08\x00", &["a.csv.gz: the gzip file is truncated", "truncated", "again"]),
        case("damaged gzip", "a.csv.gz", damaged_gzip(), &["a.csv.gz:4:", "damaged", "checksum", "again"]),
        case("a few bytes behind gzip", "a.csv.gz", [gzip(b"0,1\n1,2\n"), b"junk".to_vec()].concat(), &["a.csv.gz:", "other data follow the end of the gzip data", "remove them"]),
        case("many bytes behind gzip", "a.csv.gz", [gzip(b"0,1\n1,2\n"), many_rows()].concat(), &["a.csv.gz:", "other data follow the end of the gzip data", "remove them"]),
        case("old Macs", "a.csv", "user,item\r0,1\r1,2\r", &["a.csv", "carriage return", "tr '\\r' '\\n' < OLD > NEW"]),
        case("columns between bars", "a.csv", "user|item\nu1|i1\nu1|i2\nu2|i1\n", &["a.csv:1:", "`user|item`", "commas, semicolons or tabs"]),
        case("zip instead of the file in it", "a.zip", b"PK\x03\x04....", &["a.zip", "is a zip archive", "Unpack it"]),
        case("one user", "a.csv", "7,1\n7,2\n7,3\n", &["a.csv", "all 3 interactions", "one user, `7`", "first column"]),
        case("threshold without ratings", "a.csv", "0,1\n1,2\n", &["a.csv:1:", "min_rating is 4", "no ratings", "Remove `min_rating`"]).min_rating(4.0),
        case("threshold for ngcf", "t.txt", "0 1 2\n1 2 4 5\n", &["t.txt:1:", "read as ngcf", "no ratings"]).min_rating(4.0),
        case("threshold above all ratings", "a.csv", "0,1,3\n1,2,3.5\n", &["a.csv", "none of its 2 ratings", "min_rating 4", "highest is 3.5", "Lower `min_rating`"]).min_rating(4.0),
    ]
}

/// Valid files that cannot be split.
#[rustfmt::skip]
fn unsplittable_files() -> Vec<Case> {
    vec![
        case("one item per user", "a.csv", "0,1\n1,2\n2,2\n", &["a.csv", "no test items", "0.2", "at most 1", "Raise `test_ratio`"]),
        case("one item per user after repeats", "a.csv", "0,1\n0,1\n0,1\n1,2\n1,2\n", &["a.csv", "no test items", "at most 1"]),
    ]
}

/// Test files that do not match the training file `train.csv`, which contains (0, 1), (0, 2), (1, 1).
#[rustfmt::skip]
fn bad_tests() -> Vec<Case> {
    vec![
        case("leak", "test.csv", "0,3\n0,2\n1,3\n1,1\n1,1\n", &["test.csv:2:", "user `0`, item `2`", "train.csv", "1 more", "Remove"]),
        case("train itself", "train.csv", "0,1\n0,2\n1,1\n", &["train.csv:1:", "user `0`, item `1`", "2 more", "Remove"]),
        case("other users", "test.csv", "8,1\n9,1\n", &["none of its 2 users", "`8`", "train.csv", "same data set"]),
        case("test is empty", "test.csv", "", &["test.csv", "no interaction", "right file"]),
        case("test is broken", "test.csv", "0,3\n0,x,y\n", &["test.csv:2:", "3 field(s)", "Correct the line"]),
    ]
}

fn whole(dir: &Path, file: &str) -> Source {
    Source::whole(dir.join(file), SplitOptions::default())
}

#[test]
fn broken_files_are_refused_with_place_value_and_remedy() {
    for case in broken_files().iter().chain(&unsplittable_files()) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(case.file), &case.content).unwrap();
        case.check(load("mine", &whole(dir.path(), case.file), &case.options()));
    }
}

#[test]
fn a_broken_test_file_is_refused_like_a_broken_whole() {
    for case in broken_files() {
        // A single user is enough for a test file; `train.csv` has no ratings to compare with a threshold.
        if case.what == "one user" || case.min_rating.is_some() {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let (train, test) = (dir.path().join("train.txt"), dir.path().join(case.file));
        std::fs::write(&test, &case.content).unwrap();
        let train_text = match case.format {
            Format::YahooR3 => "0 1 5\n0 2 5\n1 1 5\n",
            _ => "0 1 2 3\n1 1\n",
        };
        std::fs::write(&train, train_text).unwrap();
        case.check(load("mine", &Source::Split { train, test }, &case.options()));
    }
}

#[test]
fn a_test_that_does_not_go_with_train_is_refused() {
    for case in bad_tests() {
        let dir = tempfile::tempdir().unwrap();
        let (train, test) = (dir.path().join("train.csv"), dir.path().join(case.file));
        std::fs::write(&train, "0,1\n0,2\n1,1\n").unwrap();
        if test != train {
            std::fs::write(&test, &case.content).unwrap();
        }
        case.check(load("mine", &Source::Split { train, test }, &case.options()));
    }
}

#[test]
fn there_are_enough_cases_to_call_it_a_table() {
    assert!(broken_files().len() + unsplittable_files().len() + bad_tests().len() >= 55);
}

#[test]
fn a_missing_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    case("missing", "nowhere.csv", "", &["no such file", "Check the path"]).check(load(
        "mine",
        &whole(dir.path(), "nowhere.csv"),
        &ReadOptions::default(),
    ));
}

#[test]
fn a_folder_is_not_a_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("folder.csv")).unwrap();
    case("folder", "folder.csv", "", &["is a folder", "Name the file in it"]).check(load(
        "mine",
        &whole(dir.path(), "folder.csv"),
        &ReadOptions::default(),
    ));
}

#[test]
fn a_gzip_file_is_read_to_its_last_whole_line_before_it_is_called_truncated() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.csv.gz"), truncated_gzip()).unwrap();
    let error = load("mine", &whole(dir.path(), "a.csv.gz"), &ReadOptions::default()).unwrap_err();
    let DataError::File { at, problem } = error else {
        panic!("{error}")
    };
    assert!(problem.starts_with("the gzip file is truncated here"), "{problem}");
    assert!((1500..2500).contains(&at.line), "{at}");
}

#[test]
fn settings_out_of_range_are_named_with_their_range() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.csv"), "0,1,3\n0,2,4\n1,2,4\n").unwrap();
    let split = |test_ratio| Source::whole(dir.path().join("a.csv"), SplitOptions::ratio(test_ratio, 0));
    let error = load("mine", &split(1.5), &ReadOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("data.split.test_ratio is 1.5, but must be in (0, 1)"),
        "{error}"
    );

    let options = ReadOptions {
        min_rating: Some(f64::NAN),
        ..ReadOptions::default()
    };
    let error = load("mine", &split(0.5), &options).unwrap_err().to_string();
    assert!(
        error.contains("data.min_rating is NaN, but must be in (-inf, inf)"),
        "{error}"
    );
}

#[test]
#[cfg(not(feature = "parquet"))]
fn parquet_needs_its_feature() {
    for (what, file, format) in [
        ("found by name", "ratings.Parquet", Format::Auto),
        ("found by content", "ratings", Format::Auto),
        ("given", "ratings", Format::Parquet),
    ] {
        let case = case(
            what,
            file,
            "PAR1, then the rows, then PAR1",
            &["built without Parquet", "--features parquet", "pd.read_parquet"],
        );
        let case = case.format(format);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(case.file);
        std::fs::write(&path, &case.content).unwrap();
        case.check(load("mine", &Source::whole(path, SplitOptions::default()), &case.options()));
    }
}

#[test]
fn text_may_begin_as_parquet_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ratings.csv");
    std::fs::write(&path, "PAR1,1\nPAR1,2\nPAR1,3\n2,1\n2,2\n2,3\n").unwrap();
    let data = load("mine", &Source::whole(path, SplitOptions::default()), &ReadOptions::default()).unwrap();
    assert_eq!(data.users.raw(0), "PAR1");
}
