//! The framing of event files: `TFRecord` with masked checksums.
//!
//! ```text
//! u64  length           little endian
//! u32  checksum of the length
//! ..   data
//! u32  checksum of the data
//! ```
//!
//! Source: [TFRecord](https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details).

use std::iter;

/// CRC-32C: the polynomial of Castagnoli, bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;
const TABLE: [u32; 256] = table();
/// Length and its checksum.
const HEADER: usize = 12;

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0, |crc, &byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

/// A checksum of data that contain checksums is weak, so a record's checksum is rotated and shifted.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A record with this content.
pub(super) fn framed(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let checksums = [&length, data].map(|bytes| masked_crc32c(bytes).to_le_bytes());
    [&length[..], &checksums[0], data, &checksums[1]].concat()
}

/// The contents of the records of a file, up to the first that is cut short or damaged.
pub(super) fn unframed(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    iter::from_fn(move || {
        let (data, rest) = first(bytes)?;
        bytes = rest;
        Some(data)
    })
}

/// The content of the first record, and what follows it.
fn first(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let (length, checksum) = header.split_first_chunk::<8>()?;
    if checksum != masked_crc32c(length).to_le_bytes() {
        return None;
    }
    let (data, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    (*checksum == masked_crc32c(data).to_le_bytes()).then_some((data, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_rfc_3720() {
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&ascending), 0x46dd_794e);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn the_first_record_of_an_event_file_has_the_header_that_tensorflow_writes() {
        // 24 bytes: the time and `brain.Event:2`.
        assert_eq!(framed(&[0; 24])[..12], [0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
    }

    #[test]
    fn records_read_back_until_the_first_damaged_one() {
        let mut file = [framed(b"one"), framed(b""), framed(b"three")].concat();
        let read = |file: &[u8]| unframed(file).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(read(&file), [&b"one"[..], b"", b"three"]);
        assert_eq!(read(&file[..file.len() - 1]), [&b"one"[..], b""]);
        file[13] ^= 1;
        assert!(read(&file).is_empty());
        assert!(read(&[&[0xff; 8][..], &masked_crc32c(&[0xff; 8]).to_le_bytes()].concat()).is_empty());
    }
}
