//! Parquet files: what they read as, and what their errors say.
#![cfg(feature = "parquet")]

use bcl_data::{ColumnRef, DataError, Format, IdMap, InteractionColumns, InteractionData, ItemColumns, ItemNames, ReadOptions};
use bcl_data::{Source, SplitKind, SplitOptions, SplitOrder, load};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The values of a column; `None` is null.
enum Values {
    Truth(Vec<Option<bool>>),
    Int(Vec<Option<i32>>),
    Long(Vec<Option<i64>>),
    Old(Vec<Option<Int96>>),
    Single(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

fn texts<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Values {
    Values::Bytes(
        values
            .into_iter()
            .map(|text| Some(text.as_ref().as_bytes().to_vec()))
            .collect(),
    )
}

fn longs(values: impl IntoIterator<Item = i64>) -> Values {
    Values::Long(values.into_iter().map(Some).collect())
}

/// Writes each group of columns as a group of rows.
fn write(path: &Path, schema: &str, compression: Compression, groups: &[Vec<Values>]) {
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {schema} }}")).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut file = SerializedFileWriter::new(std::fs::File::create(path).unwrap(), schema, properties).unwrap();
    for group in groups {
        let mut writer = file.next_row_group().unwrap();
        for values in group {
            let mut column = writer.next_column().unwrap().unwrap();
            macro_rules! write {
                ($writer:expr, $values:expr) => {{
                    let levels: Vec<i16> = $values.iter().map(|value| value.is_some().into()).collect();
                    let present: Vec<_> = $values.iter().flatten().cloned().map(Into::into).collect();
                    $writer
                        .write_batch(&present, Some(&levels), Some(&vec![0; levels.len()]))
                        .unwrap();
                }};
            }
            match (column.untyped(), values) {
                (ColumnWriter::BoolColumnWriter(writer), Values::Truth(values)) => write!(writer, values),
                (ColumnWriter::Int32ColumnWriter(writer), Values::Int(values)) => write!(writer, values),
                (ColumnWriter::Int64ColumnWriter(writer), Values::Long(values)) => write!(writer, values),
                (ColumnWriter::Int96ColumnWriter(writer), Values::Old(values)) => write!(writer, values),
                (ColumnWriter::FloatColumnWriter(writer), Values::Single(values)) => write!(writer, values),
                (ColumnWriter::DoubleColumnWriter(writer), Values::Double(values)) => write!(writer, values),
                (ColumnWriter::ByteArrayColumnWriter(writer), Values::Bytes(values)) => write!(writer, values),
                (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Values::Bytes(values)) => {
                    let values: Vec<Option<FixedLenByteArray>> = values
                        .iter()
                        .map(|value| value.clone().map(|bytes| ByteArray::from(bytes).into()))
                        .collect();
                    write!(writer, values);
                }
                _ => panic!("the schema has another type"),
            }
            column.close().unwrap();
        }
        writer.close().unwrap();
    }
    file.close().unwrap();
}

/// A folder with a Parquet file of one group of rows.
fn folder(schema: &str, group: Vec<Values>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    write(&path, schema, Compression::SNAPPY, &[group]);
    (folder, path)
}

fn read(path: &Path, split: SplitOptions, options: &ReadOptions) -> Result<InteractionData, DataError> {
    load("mine", &Source::whole(path, split), options)
}

/// Reads rows with this column of users beside 8 items for each of them.
fn users(kind: &str, values: Values) -> Result<Vec<String>, DataError> {
    let rows = match &values {
        Values::Truth(values) => values.len(),
        Values::Int(values) => values.len(),
        Values::Long(values) => values.len(),
        Values::Old(values) => values.len(),
        Values::Single(values) => values.len(),
        Values::Double(values) => values.len(),
        Values::Bytes(values) => values.len(),
    };
    let (_folder, path) = folder(
        &format!("OPTIONAL {kind}; OPTIONAL INT64 item;"),
        vec![values, longs((0..rows as i64).map(|row| row % 8))],
    );
    let data = read(&path, SplitOptions::default(), &ReadOptions::default())?;
    Ok(data.users.iter().map(str::to_owned).collect())
}

/// Eight rows of each value.
fn eight<T: Clone>(values: &[T]) -> Vec<Option<T>> {
    values
        .iter()
        .flat_map(|value| std::iter::repeat_n(Some(value.clone()), 8))
        .collect()
}

#[test]
fn a_file_reads_as_the_csv_of_the_same_rows() {
    let rows: Vec<(i64, String, f64, i64)> = (0..20_000_i64)
        .map(|row| {
            (
                row % 317,
                format!("b{}", row * 7 % 1009),
                (row % 10) as f64 / 2.0,
                1_600_000_000_000 + row * row * 37 % 1_000_003,
            )
        })
        .collect();
    let mut csv = "user,item,rating,timestamp\n".to_owned();
    for (user, item, rating, millis) in &rows {
        writeln!(csv, "{user},{item},{rating},{}.{:03}", millis / 1000, millis % 1000).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("rows.csv");
    std::fs::write(&text, csv).unwrap();

    let options = ReadOptions {
        min_rating: Some(2.0),
        ..ReadOptions::default()
    };
    let split = || SplitOptions {
        kind: SplitKind::Temporal,
        ..SplitOptions::default()
    };
    let expected = read(&text, split(), &options).unwrap();
    let path = folder.path().join("rows");
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        let groups: Vec<Vec<Values>> = rows
            .chunks(9_000)
            .map(|rows| {
                vec![
                    longs(rows.iter().map(|row| row.3)),
                    texts(rows.iter().map(|row| &row.1)),
                    Values::Truth(vec![None; rows.len()]),
                    Values::Double(rows.iter().map(|row| Some(row.2)).collect()),
                    longs(rows.iter().map(|row| row.0)),
                ]
            })
            .collect();
        let schema = "OPTIONAL INT64 Timestamp (TIMESTAMP(MILLIS,true)); OPTIONAL BYTE_ARRAY item_id (STRING);
                      OPTIONAL BOOLEAN seen; OPTIONAL DOUBLE rating; OPTIONAL INT64 user_id;";
        write(&path, schema, compression, &groups);
        // Found by content: the name has no ending.
        assert_eq!(read(&path, split(), &options).unwrap(), expected, "{compression:?}");
    }
}

#[test]
fn ids_of_every_type_become_text() {
    let of = |kind, values| users(kind, values).unwrap();
    assert_eq!(of("INT32 user", Values::Int(eight(&[0, 7]))), ["0", "7"]);
    assert_eq!(
        of("INT32 user (INTEGER(32,false))", Values::Int(eight(&[-1, 7]))),
        ["4294967295", "7"]
    );
    assert_eq!(
        of("INT64 user", Values::Long(eight(&[i64::MAX, 7]))),
        ["9223372036854775807", "7"]
    );
    assert_eq!(
        of("INT64 user (INTEGER(64,false))", Values::Long(eight(&[-1, 7]))),
        ["18446744073709551615", "7"]
    );
    assert_eq!(of("DOUBLE user", Values::Double(eight(&[12.0, 7.5]))), ["12", "7.5"]);
    assert_eq!(of("FLOAT user", Values::Single(eight(&[12.0, 0.1]))), ["12", "0.1"]);
    assert_eq!(
        of(
            "BYTE_ARRAY user (STRING)",
            Values::Bytes(eight(&[b" ada ".to_vec(), b"b".to_vec()]))
        ),
        ["ada", "b"]
    );
    // Older programs do not say that bytes are text.
    assert_eq!(
        of("BYTE_ARRAY user", Values::Bytes(eight(&[b"ada".to_vec(), b"b".to_vec()]))),
        ["ada", "b"]
    );
    assert_eq!(
        of(
            "FIXED_LEN_BYTE_ARRAY (16) user (UUID)",
            Values::Bytes(eight(&[(0..16).collect(), vec![255; 16]]))
        ),
        ["00010203-0405-0607-0809-0a0b0c0d0e0f", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
    );
}

#[test]
fn what_is_no_id_says_the_row_and_the_remedy() {
    let message = |kind, values| users(kind, values).unwrap_err().to_string();
    let with_null = |at: usize| {
        let mut values = eight(&[1_i64, 2]);
        values[at] = None;
        Values::Long(values)
    };
    for (text, words) in [
        (
            message("INT64 user", with_null(10)),
            &["rows.parquet:11", "user `null`", "Fill it in"][..],
        ),
        (
            message("DOUBLE user", Values::Double(eight(&[f64::NAN]))),
            &["rows.parquet:1:", "user `null`"],
        ),
        (
            message("DOUBLE user", Values::Double(eight(&[1e16]))),
            &["rows.parquet:1:", "too large for a float", "as text"],
        ),
        (
            message("FLOAT user", Values::Single(eight(&[16_777_216.0]))),
            &["too large for a float"],
        ),
        (message("INT64 user", Values::Long(eight(&[-1]))), &["user `-1` is negative"]),
        (
            message("BOOLEAN user", Values::Truth(eight(&[true]))),
            &["not text or a number", "data.columns"],
        ),
        (
            message("BYTE_ARRAY user", Values::Bytes(eight(&[vec![0xff]]))),
            &["not text or a number"],
        ),
        (
            message("INT32 user (TIME(MILLIS,true))", Values::Int(eight(&[5]))),
            &["not text or a number"],
        ),
        (
            message("INT64 customer", Values::Long(eight(&[5]))),
            &["no column `user`", "`customer`, `item`", "data.columns.user"],
        ),
    ] {
        for word in words {
            assert!(text.contains(word), "`{word}` is not in: {text}");
        }
    }
}

#[test]
fn lists_are_no_ids() {
    let schema = "OPTIONAL INT64 user; REPEATED INT64 item;";
    let (_folder, path) = folder(schema, vec![longs(0..8), longs(0..8)]);
    let text = read(&path, SplitOptions::default(), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(text.contains("rows.parquet:1: item `` is not text or a number"), "{text}");
}

#[test]
fn timestamps_of_every_type_order_the_rows() {
    const NEWEST_EIGHTH: [i64; 10] = [5, 3, 8, 1, 2, 7, 4, 6, 9, 0];
    // Each user's row of item 8 is the newest, by milliseconds.
    let millis: Vec<i64> = (0..20).map(|row| 1_700_000_000_000 + NEWEST_EIGHTH[row % 10]).collect();
    let days = (0..20).map(|row| Some(NEWEST_EIGHTH[row % 10] as i32 - 2)).collect();
    let scaled = |factor: i64| Values::Long(millis.iter().map(|&at| Some(at * factor)).collect());
    let julian = |millis: i64| {
        let mut value = Int96::new();
        let nanos = (millis % 86_400_000) as u64 * 1_000_000;
        value.set_data(nanos as u32, (nanos >> 32) as u32, (millis / 86_400_000) as u32 + 2_440_588);
        value
    };
    for (kind, times) in [
        ("INT64 timestamp", scaled(1)),
        ("INT64 timestamp (TIMESTAMP(MILLIS,true))", scaled(1)),
        ("INT64 timestamp (TIMESTAMP(MICROS,false))", scaled(1_000)),
        ("INT64 timestamp (TIMESTAMP(NANOS,true))", scaled(1_000_000)),
        ("INT64 timestamp (TIMESTAMP_MILLIS)", scaled(1)),
        (
            "INT96 timestamp",
            Values::Old(millis.iter().map(|&at| Some(julian(at))).collect()),
        ),
        ("INT32 timestamp (DATE)", Values::Int(days)),
    ] {
        let (_folder, path) = folder(
            &format!("OPTIONAL INT64 user; OPTIONAL INT64 item; OPTIONAL {kind};"),
            vec![longs((0..20).map(|row| row / 10)), longs((0..20).map(|row| row % 10)), times],
        );
        let split = SplitOptions {
            kind: SplitKind::LeaveOneOut,
            order: Some(SplitOrder::Time),
            ..SplitOptions::default()
        };
        let data = read(&path, split, &ReadOptions::default()).unwrap();
        let test: Vec<&str> = data.test.pairs().map(|(_, item)| data.items.raw(item)).collect();
        assert_eq!(test, ["8", "8"], "{kind}");
    }
}

#[test]
fn decimals_are_ratings() {
    let (_folder, path) = folder(
        "OPTIONAL INT64 user; OPTIONAL INT64 item; OPTIONAL INT32 stars (DECIMAL(4,1));",
        vec![
            longs((0..20).map(|row| row % 2)),
            longs((0..20).map(|row| row / 2)),
            Values::Int((0..20).map(|row| Some(row / 2 * 5)).collect()),
        ],
    );
    let options = ReadOptions {
        min_rating: Some(2.5),
        ..ReadOptions::default()
    };
    assert_eq!(read(&path, SplitOptions::default(), &options).unwrap().items.len(), 5);
}

#[test]
fn columns_are_named_or_numbered() {
    let (_folder, path) = folder(
        "OPTIONAL INT64 index; OPTIONAL BYTE_ARRAY who (STRING); OPTIONAL INT64 what;",
        vec![
            longs(0..16),
            texts((0..16).map(|row| ["ada", "b"][row % 2])),
            longs((0..16).map(|row| 10 + row / 2)),
        ],
    );
    let columns = |user: &str, item: ColumnRef| ReadOptions {
        columns: InteractionColumns {
            user: Some(ColumnRef::Name(user.to_owned())),
            item: Some(item),
            ..InteractionColumns::default()
        },
        ..ReadOptions::default()
    };
    let split = SplitOptions::default;
    let data = read(&path, split(), &columns("WHO", ColumnRef::Number(3))).unwrap();
    assert_eq!((data.users.raw(0), data.items.len()), ("ada", 8));

    let text = read(&path, split(), &columns("whom", ColumnRef::Number(3)))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("rows.parquet: no column `whom`. The columns are `index`, `who`, `what`"),
        "{text}"
    );
    let text = read(&path, split(), &columns("who", ColumnRef::Number(2)))
        .unwrap_err()
        .to_string();
    assert!(text.contains("column 2 would be both the user and the item"), "{text}");
    let text = read(&path, split(), &columns("who", ColumnRef::Number(4)))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("data.columns.item is 4") && text.contains("3 column(s)"),
        "{text}"
    );
}

#[test]
fn titles_are_read() {
    let (_folder, path) = folder(
        "OPTIONAL INT32 asin; OPTIONAL BYTE_ARRAY title (STRING);",
        vec![
            Values::Int(vec![Some(1), Some(2), Some(9)]),
            Values::Bytes(vec![
                Some(b"Alien, the film".to_vec()),
                None,
                Some("Amélie".as_bytes().to_vec()),
            ]),
        ],
    );
    let mut items = IdMap::default();
    for id in ["9", "1", "2"] {
        items.get_or_insert(id);
    }
    let names = ItemNames::read(&path, &ItemColumns::default(), &items).unwrap();
    let titles: Vec<Option<&str>> = (0..3).map(|item| names.title(item)).collect();
    assert_eq!(titles, [Some("Amélie"), Some("Alien, the film"), None]);
}

#[test]
fn a_damaged_file_is_an_error() {
    let (_folder, path) = folder(
        "OPTIONAL INT64 user; OPTIONAL BYTE_ARRAY item (STRING);",
        vec![
            longs((0..40).map(|row| row / 8)),
            texts((0..40).map(|row| format!("item {row}"))),
        ],
    );
    let whole = std::fs::read(&path).unwrap();
    let options = ReadOptions {
        format: Format::Parquet,
        ..ReadOptions::default()
    };
    let open = || read(&path, SplitOptions::default(), &options);
    assert_eq!(open().unwrap().users.len(), 5);

    // Other bytes may be other rows, but never end the program.
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5a;
        std::fs::write(&path, &bytes).unwrap();
        drop(open());
    }
    for length in [0, 3, 4, 100, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let text = open().unwrap_err().to_string();
        assert!(
            text.contains("rows.parquet: cannot be read as Parquet") && text.contains("again"),
            "{text}"
        );
    }
}

#[test]
fn a_file_without_rows_is_an_error() {
    let (_folder, path) = folder("OPTIONAL INT64 user; OPTIONAL INT64 item;", vec![longs([]), longs([])]);
    let text = read(&path, SplitOptions::default(), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(text.contains("no interaction in the file, read as parquet."), "{text}");
}
