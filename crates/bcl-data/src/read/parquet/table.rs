//! Reads the wanted columns of a Parquet file, a block of rows at a time.

use crate::DataError;
use crate::read::lines::Line;
use crate::read::picker::{Wanted, check_distinct, place};
use crate::read::value::{Value, texts};
use bcl_files::input;
use chrono::DateTime;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Number of rows that are decoded at a time.
const BLOCK: usize = 8192;
const SECONDS_PER_DAY: i64 = 86_400;

/// A Parquet file. Its columns are read as text, as in other formats.
pub(in crate::read) struct Table {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

impl Table {
    pub(in crate::read) fn open(path: &Path) -> Result<Self, DataError> {
        let file = input::open(path).map_err(|source| DataError::opening(path, &source))?;
        Ok(Self {
            path: path.to_path_buf(),
            reader: SerializedFileReader::new(file).map_err(|source| damaged(path, source))?,
        })
    }

    /// Calls `each` with the wanted values of every row. Rows count as lines, from 1.
    pub(in crate::read) fn read<const N: usize>(
        &self,
        wanted: &[Wanted<'_>; N],
        mut each: impl FnMut(&Line<'_>, [Option<String>; N]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let metadata = self.reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let joined = names.join(", ");
        let mut line = Line {
            path: &self.path,
            number: 0,
            text: &joined,
            quoted: None,
        };

        let mut places = [None; N];
        for (found, wanted) in places.iter_mut().zip(wanted) {
            *found = place(wanted, &names, &line)?;
        }
        check_distinct(&places, wanted, &line)?;
        let sources = places.map(|place| place.map_or(Source::Missing, |index| Source::of(schema.columns(), names[index])));
        for group in 0..self.reader.num_row_groups() {
            let group = self
                .reader
                .get_row_group(group)
                .map_err(|source| damaged(&self.path, source))?;
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
            let mut columns = sources
                .map(|source| Column::open(&*group, schema.columns(), source))
                .into_iter()
                .collect::<Result<Vec<_>, _>>()
                .map_err(|source| damaged(&self.path, source))?;
            while left > 0 {
                let rows = left.min(BLOCK);
                let mut blocks = Vec::with_capacity(N);
                for column in &mut columns {
                    let block = column.next(rows).map_err(|source| damaged(&self.path, source))?;
                    blocks.push(block.into_iter());
                }
                for _ in 0..rows {
                    line.number += 1;
                    let mut values = [const { Value::Null }; N];
                    for (value, block) in values.iter_mut().zip(&mut blocks) {
                        *value = block.next().ok_or_else(|| {
                            let found = format!("a column ends before row {}", line.number);
                            damaged(&self.path, ParquetError::General(found))
                        })?;
                    }
                    each(&line, texts(&line, wanted, values, names.iter().copied())?)?;
                }
                left -= rows;
            }
        }
        Ok(())
    }
}

fn damaged(path: &Path, source: ParquetError) -> DataError {
    DataError::file(
        path,
        format!("cannot be read as Parquet: {source}. Fetch, copy or write it again"),
    )
}

/// Where the values of a wanted column are.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// The file has no such column.
    Missing,
    /// A column of lists or structures.
    Nested,
    /// The index of the column among those that contain values.
    Flat(usize),
}

impl Source {
    /// Finds a column of the file by its name.
    fn of<C: AsRef<ColumnDescriptor>>(columns: &[C], name: &str) -> Self {
        columns
            .iter()
            .map(AsRef::as_ref)
            .position(|column| matches!(column.path().parts(), [only] if only == name) && column.max_rep_level() == 0)
            .map_or(Self::Nested, Self::Flat)
    }
}

/// A column of a group of rows.
enum Column {
    /// The file has no such column.
    Missing,
    /// A column of lists or structures.
    Nested,
    /// The reader is boxed because it is large beside the other variants.
    Flat { reader: Box<ColumnReader>, meaning: Meaning },
}

/// What the numbers of a column mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Plain,
    Unsigned,
    /// Days since 1970.
    Date,
    /// This many per second since 1970.
    Timestamp(i64),
    /// Digits after the decimal point.
    Decimal(i32),
    /// 16 bytes.
    Uuid,
    /// The time of a day, and types of which no id, rating or timestamp is made.
    Other,
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Self {
        match column.logical_type_ref() {
            Some(LogicalType::Timestamp(timestamp)) => Self::Timestamp(match timestamp.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            }),
            Some(LogicalType::Uuid) => Self::Uuid,
            Some(LogicalType::Float16) => Self::Other,
            // Files that have the newer types have these, too.
            _ => match column.converted_type() {
                ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp(1_000),
                ConvertedType::TIMESTAMP_MICROS => Self::Timestamp(1_000_000),
                ConvertedType::DATE => Self::Date,
                ConvertedType::DECIMAL => Self::Decimal(column.type_scale()),
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                    Self::Unsigned
                }
                ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS | ConvertedType::INTERVAL => Self::Other,
                _ => Self::Plain,
            },
        }
    }

    /// The value that 32 bits stand for.
    fn short(self, bits: i32) -> Value {
        match self {
            Self::Unsigned => Value::Text((bits as u32).to_string()),
            Self::Date => moment(i64::from(bits) * SECONDS_PER_DAY, 0, "%Y-%m-%d"),
            _ => self.long(i64::from(bits)),
        }
    }

    /// The value that 64 bits stand for.
    fn long(self, bits: i64) -> Value {
        match self {
            Self::Plain => Value::Text(bits.to_string()),
            Self::Unsigned => Value::Text((bits as u64).to_string()),
            Self::Timestamp(per_second) => {
                let nanos = bits.rem_euclid(per_second) * (1_000_000_000 / per_second);
                moment(bits.div_euclid(per_second), nanos as u32, "%Y-%m-%d %H:%M:%S%.f")
            }
            Self::Decimal(scale) => Value::of_float(bits as f64 / 10f64.powi(scale)),
            Self::Date | Self::Uuid | Self::Other => Value::Other,
        }
    }

    fn bytes(self, bytes: &[u8]) -> Value {
        match (self, bytes) {
            (Self::Plain, text) => str::from_utf8(text).map_or(Value::Other, Value::of_text),
            (Self::Uuid, &[a, b, c, d, e, f, g, h, i, j, ref node @ ..]) if node.len() == 6 => {
                let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| (sum << 8) | u64::from(byte));
                let parts = [&[a, b, c, d][..], &[e, f], &[g, h], &[i, j], node];
                let parts = parts.map(|bytes| format!("{:0width$x}", number(bytes), width = 2 * bytes.len()));
                Value::Text(parts.join("-"))
            }
            _ => Value::Other,
        }
    }
}

/// A date as CSV files have it, so that files of both kinds can be read together.
fn moment(seconds: i64, nanos: u32, pattern: &str) -> Value {
    DateTime::from_timestamp(seconds, nanos).map_or(Value::Other, |moment| Value::Text(moment.format(pattern).to_string()))
}

impl Column {
    fn open<C: AsRef<ColumnDescriptor>>(group: &dyn RowGroupReader, columns: &[C], source: Source) -> Result<Self, ParquetError> {
        Ok(match source {
            Source::Missing => Self::Missing,
            Source::Nested => Self::Nested,
            Source::Flat(index) => Self::Flat {
                reader: Box::new(group.get_column_reader(index)?),
                meaning: Meaning::of(columns[index].as_ref()),
            },
        })
    }

    /// The values of the next rows, fewer if the column ends.
    fn next(&mut self, rows: usize) -> Result<Vec<Value>, ParquetError> {
        let (reader, meaning) = match self {
            Self::Missing => return Ok(vec![Value::Missing; rows]),
            Self::Nested => return Ok(vec![Value::Other; rows]),
            Self::Flat { reader, meaning } => (reader, *meaning),
        };
        match reader.as_mut() {
            ColumnReader::BoolColumnReader(reader) => block(reader, rows, |_| Value::Other),
            ColumnReader::Int32ColumnReader(reader) => block(reader, rows, |&bits| meaning.short(bits)),
            ColumnReader::Int64ColumnReader(reader) => block(reader, rows, |&bits| meaning.long(bits)),
            // A timestamp of older programs.
            ColumnReader::Int96ColumnReader(reader) => {
                block(reader, rows, |bits| Meaning::Timestamp(1_000_000_000).long(bits.to_nanos()))
            }
            ColumnReader::FloatColumnReader(reader) => block(reader, rows, |&number| Value::of_single(number)),
            ColumnReader::DoubleColumnReader(reader) => block(reader, rows, |&number| Value::of_float(number)),
            ColumnReader::ByteArrayColumnReader(reader) => block(reader, rows, |bytes: &ByteArray| meaning.bytes(bytes.data())),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                block(reader, rows, |bytes: &FixedLenByteArray| meaning.bytes(bytes.data()))
            }
        }
    }
}

/// Decodes up to `rows` values of a column without lists.
fn block<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    value: impl Fn(&T::T) -> Value,
) -> Result<Vec<Value>, ParquetError> {
    let (mut levels, mut present) = (Vec::new(), Vec::new());
    let (read, ..) = reader.read_records(rows, Some(&mut levels), None, &mut present)?;
    // Columns without nulls have no levels.
    levels.resize(read, 1);
    let mut present = present.iter();
    Ok(levels
        .iter()
        .map_while(|&level| {
            if level == 0 {
                Some(Value::Null)
            } else {
                present.next().map(&value)
            }
        })
        .collect())
}
