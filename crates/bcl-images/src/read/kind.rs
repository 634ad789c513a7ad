//! What a file is: an image that is read, one that is not, or something else. Content decides, because names lie: browsers save JPEG files as
//! `.jfif`, `.jpg_large` or without an ending.

use super::store::Entry;
use crate::error::ImageError;

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Jpeg,
    Png,
    WebP,
}

/// What the first bytes of a file are the beginning of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByContent {
    /// An image that is read.
    Image(Format),
    /// An image that is not read, in words.
    NotRead(&'static str),
    /// Anything else.
    Other,
}

/// Number of bytes from which [`ByContent::of`] tells every kind.
const HEAD: usize = 32;

const HEIC: ByContent = ByContent::NotRead("an HEIC image");
const AVIF: ByContent = ByContent::NotRead("an AVIF image");
const JPEG_XL: ByContent = ByContent::NotRead("a JPEG XL image");
const JPEG_2000: ByContent = ByContent::NotRead("a JPEG 2000 image");
const TIFF: ByContent = ByContent::NotRead("a TIFF");
const RAW: ByContent = ByContent::NotRead("a camera's raw image");

/// Signatures: where they are, their bytes, and what they say.
const SIGNATURES: [(usize, &[u8], ByContent); 30] = [
    (0, b"\xff\xd8", ByContent::Image(Format::Jpeg)),
    (0, b"\x89PNG", ByContent::Image(Format::Png)),
    (8, b"WEBP", ByContent::Image(Format::WebP)),
    (0, b"GIF8", ByContent::NotRead("a GIF")),
    (0, b"II*\0", TIFF),
    (0, b"MM\0*", TIFF),
    (0, b"II+\0", TIFF),
    (0, b"MM\0+", TIFF),
    (0, b"II\xbc\x01", ByContent::NotRead("a JPEG XR image")),
    (0, b"IIRO", RAW),
    (0, b"IIU\0", RAW),
    (0, b"FUJIFILM", RAW),
    (4, b"ftypcrx ", RAW),
    (4, b"ftyphei", HEIC),
    (4, b"ftyphev", HEIC),
    (4, b"ftypmif1", HEIC),
    (4, b"ftypmsf1", HEIC),
    (4, b"ftypavi", AVIF),
    (0, b"\xff\x0a", JPEG_XL),
    (4, b"JXL \r\n\x87\n", JPEG_XL),
    (4, b"jP  \r\n\x87\n", JPEG_2000),
    (0, b"\xff\x4f\xff\x51", JPEG_2000),
    (0, b"8BPS", ByContent::NotRead("a Photoshop file")),
    (0, b"qoif", ByContent::NotRead("a QOI image")),
    (0, b"\x76\x2f\x31\x01", ByContent::NotRead("an OpenEXR image")),
    (0, b"#?RADIANCE", ByContent::NotRead("a Radiance image")),
    (0, b"DDS ", ByContent::NotRead("a DDS texture")),
    (0, b"gimp xcf", ByContent::NotRead("a GIMP file")),
    (0, b"SIMPLE  =", ByContent::NotRead("a FITS image")),
    (0, b"BPG\xfb", ByContent::NotRead("a BPG image")),
];

impl ByContent {
    /// Tells the kind of a file from its beginning.
    pub(super) fn of(head: &[u8]) -> Self {
        let is_there = |(at, bytes): (usize, &[u8])| head.get(at..).is_some_and(|rest| rest.starts_with(bytes));
        let known = SIGNATURES.iter().find(|(at, bytes, _)| is_there((*at, bytes)));
        match known {
            Some((8, ..)) if !head.starts_with(b"RIFF") => Self::Other,
            Some((.., content)) => *content,
            None if is_bmp(head) => Self::NotRead("a BMP"),
            None if is_netpbm(head) => Self::NotRead("a Netpbm image"),
            None => Self::Other,
        }
    }
}

/// Whether these first bytes of a file begin an image, of a format that is read or not. 32 bytes are enough.
pub fn is_image(head: &[u8]) -> bool {
    ByContent::of(head) != ByContent::Other
}

/// Two letters are too few to go by, so this also reads the length of the second header.
fn is_bmp(head: &[u8]) -> bool {
    head.starts_with(b"BM") && matches!(head.get(14..18), Some([12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

/// `P5`, and a size behind a line break: a text may begin with the same two letters.
fn is_netpbm(head: &[u8]) -> bool {
    matches!(head, [b'P', b'1'..=b'7', b'\n' | b'\r', b'0'..=b'9' | b'#' | b'W', ..])
}

/// The ending of a file with the label of the image beside it.
pub(super) const LABEL: &str = "cls";
/// Endings of images that are read.
const READ: [&str; 4] = ["jpg", "jpeg", "png", "webp"];
/// Endings of images that are not read, for those whose content does not tell.
const NOT_READ: [&str; 26] = [
    "gif", "bmp", "dib", "tif", "tiff", "jp2", "j2k", "jpf", "jxr", "jxl", "avif", "heic", "heif", "hif", "ppm", "pgm", "pbm",
    "pnm", "tga", "cr2", "cr3", "nef", "arw", "dng", "orf", "raf",
];
/// Endings of what lies beside images. Files with these names are many, so they are not opened.
const BESIDE: [&str; 14] = [
    LABEL, "txt", "text", "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "md", "html", "npy", "py",
];

/// What a file of a folder or an archive is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// An image of a format that is read, or a file that its name calls one: if it is none, reading it says so.
    Image,
    /// An image of a format that is not read, in words.
    OtherImage(String),
    /// Any other file.
    Other,
}

impl Kind {
    /// The kind of a file. This reads the first bytes of those whose name does not say that they are an image.
    pub(super) fn of(entry: &mut Entry) -> Result<Self, ImageError> {
        let extension = extension(&entry.name);
        if READ.contains(&&*extension) {
            return Ok(Self::Image);
        }
        if is_beside(&extension) {
            return Ok(Self::Other);
        }
        Ok(match ByContent::of(entry.peek(HEAD)?) {
            ByContent::Image(_) => Self::Image,
            ByContent::NotRead(what) => Self::OtherImage(what.to_owned()),
            ByContent::Other if NOT_READ.contains(&&*extension) => Self::OtherImage(format!("a .{extension} file")),
            ByContent::Other => Self::Other,
        })
    }
}

/// The kind of a file, where one that cannot be read, such as a link that leads nowhere, is none that matters.
pub(super) fn if_readable(kind: Result<Kind, ImageError>) -> Result<Kind, ImageError> {
    match kind {
        Err(error) if error.is_of_one_image() => Ok(Kind::Other),
        kind => kind,
    }
}

/// Whether files with this ending are texts that lie beside images.
pub(super) fn is_beside(extension: &str) -> bool {
    let last = extension.rsplit_once('.').map_or(extension, |(_, last)| last);
    BESIDE.contains(&last)
}

/// The ending of a file's name in lower case, without its dot.
pub(super) fn extension(name: &str) -> String {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    extension.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_kind() {
        for (head, expected) in [
            (&b"\xff\xd8\xff\xe0\0\x10JFIF\0"[..], ByContent::Image(Format::Jpeg)),
            (b"\x89PNG\r\n\x1a\n", ByContent::Image(Format::Png)),
            (b"RIFF\x58\0\0\0WEBPVP8 ", ByContent::Image(Format::WebP)),
            (b"\0\0\0\x18ftypheic", HEIC),
            (b"\0\0\0\x18ftypmif1", HEIC),
            (b"\0\0\0\x1cftypavif", AVIF),
            (b"\xff\x0a", JPEG_XL),
            (b"\0\0\0\x0cJXL \r\n\x87\n", JPEG_XL),
            (b"MM\0*\0\0\0\x08", TIFF),
            (
                b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0",
                ByContent::NotRead("a BMP"),
            ),
            (b"P6\n8 6\n255\n", ByContent::NotRead("a Netpbm image")),
        ] {
            assert_eq!(ByContent::of(head), expected, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn texts_and_videos_are_no_images() {
        for head in [
            &b"BMW and Audi are makers of cars"[..],
            b"P3 is a note",
            b"II. Methods",
            b"\0\0\0\x20ftypisom",
            b"RIFF\0\0\0\0WAVEfmt ",
            b"....ssssWEBP",
            b"",
            b"B",
        ] {
            assert_eq!(ByContent::of(head), ByContent::Other, "{}", head.escape_ascii());
        }
    }
}
