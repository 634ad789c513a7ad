//! Recognises files by their content, so that an error can say what a file is and what to do about it.
//!
//! Readers of text call [`Content::of`] with the beginning of a file that they are about to read.

use std::fmt;

/// Bytes to pass to [`Content::of`]: a tar archive has its mark at byte 257, a zip archive the name of its first file at byte 30.
pub const HEAD: usize = 512;

/// A kind of file that is not text in UTF-8.
///
/// ```
/// use bcl_files::content::Content;
///
/// assert_eq!(Content::of(b"BZh91AY&SY......"), Some(Content::Bzip2));
/// assert_eq!(Content::of(b"user,item\n1,2\n"), None);
/// let error = Content::Bzip2.to_string();
/// assert!(error.contains("packed with bzip2") && error.contains("bunzip2"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// Packed with bzip2.
    Bzip2,
    /// Packed with xz.
    Xz,
    /// Packed with zstd.
    Zstd,
    /// Packed with LZ4.
    Lz4,
    /// Packed with `compress`.
    Compress,
    /// A 7-Zip archive.
    SevenZip,
    /// A RAR archive.
    Rar,
    /// A tar archive.
    Tar,
    /// A zip archive that is none of the kinds below.
    Zip,
    /// An Excel workbook of today: `.xlsx`.
    Xlsx,
    /// An Excel workbook of the nineties: `.xls`.
    Xls,
    /// An `OpenDocument` spreadsheet: `.ods`.
    Ods,
    /// Arrays of `NumPy` in a zip archive.
    Npz,
    /// An array of `NumPy`.
    Npy,
    /// Weights or tensors of `PyTorch`.
    Torch,
    /// A Python pickle.
    Pickle,
    /// Feather, or another file of Arrow.
    Arrow,
    /// ORC.
    Orc,
    /// Avro.
    Avro,
    /// HDF5.
    Hdf5,
    /// A file of MATLAB before HDF5.
    Matlab,
    /// Data of R.
    R,
    /// A database of `SQLite`.
    Sqlite,
    /// A PDF document.
    Pdf,
    /// A pointer of Git LFS in place of the file.
    LfsPointer,
    /// Text in UTF-16, least significant byte first, with its mark or without.
    Utf16Le {
        /// Whether the text begins with a byte order mark.
        marked: bool,
    },
    /// Text in UTF-16, most significant byte first, with its mark or without.
    Utf16Be {
        /// Whether the text begins with a byte order mark.
        marked: bool,
    },
    /// Text in UTF-32.
    Utf32,
}

/// Marks at the beginning of files, the longer ones of several first.
const MARKS: [(&[u8], Content); 28] = [
    (b"\xfd7zXZ\0", Content::Xz),
    (b"\x28\xb5\x2f\xfd", Content::Zstd),
    (b"\x04\x22\x4d\x18", Content::Lz4),
    (b"\x1f\x9d", Content::Compress),
    (b"7z\xbc\xaf\x27\x1c", Content::SevenZip),
    (b"Rar!\x1a\x07", Content::Rar),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Content::Xls),
    (b"\x93NUMPY", Content::Npy),
    (b"\x80\x02", Content::Pickle),
    (b"\x80\x03", Content::Pickle),
    (b"\x80\x04\x95", Content::Pickle),
    (b"\x80\x05\x95", Content::Pickle),
    (b"ccopy_reg\n", Content::Pickle),
    (b"cpandas.", Content::Pickle),
    (b"FEA1", Content::Arrow),
    (b"ARROW1\0\0", Content::Arrow),
    (b"ORC\x0a", Content::Orc),
    (b"Obj\x01", Content::Avro),
    (b"\x89HDF\r\n\x1a\n", Content::Hdf5),
    (b"MATLAB 5.0 MAT-file", Content::Matlab),
    (b"RDX3\nX\n", Content::R),
    (b"RDX2\nX\n", Content::R),
    (b"X\n\0\0\0", Content::R),
    (b"SQLite format 3\0", Content::Sqlite),
    (b"%PDF-", Content::Pdf),
    (b"version https://git-lfs.github.com/spec/", Content::LfsPointer),
    (b"\xff\xfe\0\0", Content::Utf32),
    (b"\0\0\xfe\xff", Content::Utf32),
];

impl Content {
    /// Recognises a file by its first [`HEAD`] bytes or more; `None` if it may be text in UTF-8 or a similar encoding.
    ///
    /// Files packed with gzip are not recognised: readers unpack them and pass the content.
    pub fn of(head: &[u8]) -> Option<Self> {
        let marked = MARKS
            .iter()
            .find(|(mark, _)| head.starts_with(mark))
            .map(|(_, content)| *content);
        marked
            .or_else(|| bzip2(head))
            .or_else(|| zipped(head))
            .or_else(|| (head.get(257..262) == Some(b"ustar") && head[..257].contains(&0)).then_some(Self::Tar))
            .or_else(|| utf16(head))
    }

    /// What the file is, to follow its name, such as "is packed with bzip2".
    pub fn what(self) -> &'static str {
        match self {
            Self::Bzip2 => "is packed with bzip2",
            Self::Xz => "is packed with xz",
            Self::Zstd => "is packed with zstd",
            Self::Lz4 => "is packed with lz4",
            Self::Compress => "is packed with compress (.Z)",
            Self::SevenZip => "is a 7-Zip archive",
            Self::Rar => "is a RAR archive",
            Self::Tar => "is a tar archive",
            Self::Zip => "is a zip archive",
            Self::Xlsx => "is an Excel workbook (.xlsx)",
            Self::Xls => "is an Excel workbook (.xls) or another Office document",
            Self::Ods => "is an OpenDocument spreadsheet",
            Self::Npz => "is a file of NumPy arrays (.npz)",
            Self::Npy => "is a NumPy array (.npy)",
            Self::Torch => "is a file of PyTorch",
            Self::Pickle => "is a Python pickle",
            Self::Arrow => "is a Feather or Arrow file",
            Self::Orc => "is an ORC file",
            Self::Avro => "is an Avro file",
            Self::Hdf5 => "is an HDF5 file",
            Self::Matlab => "is a MATLAB file",
            Self::R => "is a file of R (.rds or .RData)",
            Self::Sqlite => "is an SQLite database",
            Self::Pdf => "is a PDF document",
            Self::LfsPointer => "is only a pointer of Git LFS, which stands for the file",
            Self::Utf16Le { marked: true } | Self::Utf16Be { marked: true } => "is text in UTF-16",
            Self::Utf16Le { marked: false } | Self::Utf16Be { marked: false } => "is text in UTF-16 without a byte order mark",
            Self::Utf32 => "is text in UTF-32",
        }
    }

    /// What to do about a file that is packed, encoded or missing, but may hold the right text: unlike other remedies, these hold for readers
    /// of other data than tables.
    pub fn general_remedy(self) -> Option<&'static str> {
        match self {
            Self::Bzip2
            | Self::Xz
            | Self::Zstd
            | Self::Lz4
            | Self::Compress
            | Self::LfsPointer
            | Self::Utf16Le { .. }
            | Self::Utf16Be { .. }
            | Self::Utf32 => Some(self.remedy()),
            _ => None,
        }
    }

    /// What to do about a file where a table was expected.
    fn remedy(self) -> &'static str {
        match self {
            Self::Bzip2 => "Unpack it with `bunzip2`, or pack it with gzip instead",
            Self::Xz => "Unpack it with `unxz`, or pack it with gzip instead",
            Self::Zstd => "Unpack it with `unzstd`, or pack it with gzip instead",
            Self::Lz4 => "Unpack it with `unlz4`, or pack it with gzip instead",
            Self::Compress => "Unpack it with `uncompress`, or pack it with gzip instead",
            Self::SevenZip | Self::Rar | Self::Zip => "Unpack it and name the file inside; only .gz is read directly",
            Self::Tar => "Unpack it with `tar -xf` and name the file inside; a single file may be packed with gzip",
            Self::Xlsx | Self::Xls | Self::Ods => "Save the sheet as CSV (UTF-8) and name that file",
            Self::Npz | Self::Npy | Self::Torch => {
                "Load it in Python and write CSV: pandas.DataFrame({\"user\": users, \"item\": items}).to_csv(\"data.csv\", index=False)"
            }
            Self::Pickle => "Write CSV in Python: pandas.read_pickle(\"FILE\").to_csv(\"data.csv\", index=False)",
            Self::Arrow => "Write CSV in Python: pandas.read_feather(\"FILE\").to_csv(\"data.csv\", index=False)",
            Self::Orc => "Write CSV in Python: pandas.read_orc(\"FILE\").to_csv(\"data.csv\", index=False)",
            Self::Avro | Self::Hdf5 | Self::Matlab => "Write it as CSV with the program that made it, or with pandas' `to_csv`",
            Self::R => "Write CSV in R: write.csv(data, \"data.csv\", row.names = FALSE)",
            Self::Sqlite => "Write its table as CSV: sqlite3 -header -csv FILE \"select * from TABLE\" > data.csv",
            Self::Pdf => "Write the data as CSV",
            Self::LfsPointer => "Fetch the file with `git lfs pull`",
            Self::Utf16Le { marked: true } | Self::Utf16Be { marked: true } => {
                "Save it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8 OLD > NEW`"
            }
            Self::Utf16Le { marked: false } => "Save it as UTF-8, for example with `iconv -f UTF-16LE -t UTF-8 OLD > NEW`",
            Self::Utf16Be { marked: false } => "Save it as UTF-8, for example with `iconv -f UTF-16BE -t UTF-8 OLD > NEW`",
            Self::Utf32 => "Save it as UTF-8, for example with `iconv -f UTF-32 -t UTF-8 OLD > NEW`",
        }
    }
}

/// What the file is and what to do about it: two sentences to follow its name, the last without its point.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.what(), self.remedy())
    }
}

/// `BZh9` alone could be an id, so the mark of the first block, or the end of an empty file, must follow.
fn bzip2(head: &[u8]) -> Option<Content> {
    let [b'B', b'Z', b'h', b'1'..=b'9', block @ ..] = head else {
        return None;
    };
    let marks: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];
    marks.iter().any(|mark| block.starts_with(mark)).then_some(Content::Bzip2)
}

/// The kind of a zip archive, by the name of its first file.
fn zipped(head: &[u8]) -> Option<Content> {
    if !head.starts_with(b"PK\x03\x04") && !head.starts_with(b"PK\x05\x06") {
        return None;
    }
    let length = head
        .get(26..28)
        .map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    let rest = head.get(30..).unwrap_or_default();
    let (name, content) = rest.split_at(length.min(rest.len()));
    Some(match name {
        b"[Content_Types].xml" => Content::Xlsx,
        b"mimetype" if content.starts_with(b"application/vnd.oasis.opendocument.spreadsheet") => Content::Ods,
        name if name.starts_with(b"xl/") || name.starts_with(b"_rels/") => Content::Xlsx,
        name if name.ends_with(b".npy") => Content::Npz,
        name if name.ends_with(b"/data.pkl") => Content::Torch,
        _ => Content::Zip,
    })
}

/// Text in UTF-16: with its mark, or, as most text is ASCII, with a zero in every other byte of its first characters.
fn utf16(head: &[u8]) -> Option<Content> {
    const CHARACTERS: usize = 4;
    match head {
        [0xff, 0xfe, ..] => return Some(Content::Utf16Le { marked: true }),
        [0xfe, 0xff, ..] => return Some(Content::Utf16Be { marked: true }),
        _ => {}
    }
    let first = head.get(..2 * CHARACTERS)?;
    let zero_at = |parity: usize| {
        first
            .iter()
            .enumerate()
            .all(|(index, &byte)| (byte == 0) == (index % 2 == parity))
    };
    if zero_at(1) {
        Some(Content::Utf16Le { marked: false })
    } else if zero_at(0) {
        Some(Content::Utf16Be { marked: false })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip archive whose first file has this name and content.
    fn zip(name: &str, content: &str) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(26, 0);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.bytes().chain(content.bytes()));
        bytes
    }

    fn tar() -> Vec<u8> {
        let mut bytes = b"ratings.csv".to_vec();
        bytes.resize(257, 0);
        bytes.extend(b"ustar\0");
        bytes
    }

    #[test]
    fn kinds_of_files_are_told_by_their_first_bytes() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let swapped = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let cases: [(Vec<u8>, Content); 16] = [
            (b"BZh91AY&SY\x01".to_vec(), Content::Bzip2),
            (b"\xfd7zXZ\0\0".to_vec(), Content::Xz),
            (zip("ratings.csv", "1,2"), Content::Zip),
            (b"PK\x03\x04....".to_vec(), Content::Zip),
            (zip("[Content_Types].xml", ""), Content::Xlsx),
            (
                zip("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
                Content::Ods,
            ),
            (zip("data.npy", ""), Content::Npz),
            (zip("archive/data.pkl", ""), Content::Torch),
            (tar(), Content::Tar),
            (b"\x80\x04\x95\x10\0\0\0".to_vec(), Content::Pickle),
            (b"ARROW1\0\0".to_vec(), Content::Arrow),
            (utf16("\u{feff}user,item"), Content::Utf16Le { marked: true }),
            (swapped("\u{feff}user,item"), Content::Utf16Be { marked: true }),
            (utf16("user,item"), Content::Utf16Le { marked: false }),
            (swapped("user,item"), Content::Utf16Be { marked: false }),
            (b"\xff\xfe\0\0u\0\0\0".to_vec(), Content::Utf32),
        ];
        for (head, expected) in cases {
            assert_eq!(Content::of(&head), Some(expected), "{head:?}");
        }
        for (mark, expected) in MARKS {
            assert_eq!(Content::of(mark), Some(expected), "{mark:?}");
        }
    }

    #[test]
    fn text_is_not_mistaken_for_anything_else() {
        for text in [
            "",
            "u",
            "user,item\n",
            "BZh9,1\nBZh9,2\n",
            "PK,3\n",
            "PAR1,1\n",
            "Rar,Zip\n",
            "ORC,1\n",
            "X\n",
            "7z\t1\n",
            "\u{feff}user,item\n",
            "\u{e9}t\u{e9},1\n",
        ] {
            assert_eq!(Content::of(text.as_bytes()), None, "{text}");
        }
        // Latin-1.
        assert_eq!(Content::of(b"\xe9t\xe9,1\n"), None);
    }
}
