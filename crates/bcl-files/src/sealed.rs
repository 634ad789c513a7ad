//! JSON that contains its own checksum.

use crate::sha256;
use serde::Serialize;

const KEY: &[u8] = b",\"checksum\":\"";
const END: &[u8] = b"\"}";
const DIGITS: usize = 64;

/// Result of verifying a sealed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// The checksum matches.
    Intact,
    /// There is no checksum: an earlier version wrote the text.
    Absent,
    /// The checksum does not match.
    Broken,
}

/// Serialises an object as one line of JSON and appends the field `checksum`, the SHA-256 of the text without that field.
pub fn seal(object: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(object).expect("it is plain data");
    let checksum = sha256(&text);
    text.pop();
    text.extend(KEY);
    text.extend(checksum.as_bytes());
    text.extend(END);
    text
}

/// Verifies the checksum of a text that [`seal`] wrote.
pub fn unseal(text: &[u8]) -> Seal {
    let Some(start) = text.len().checked_sub(KEY.len() + DIGITS + END.len()) else {
        return Seal::Absent;
    };
    let (content, field) = text.split_at(start);
    let (key, rest) = field.split_at(KEY.len());
    if key != KEY {
        return Seal::Absent;
    }
    let (checksum, end) = rest.split_at(DIGITS);
    if end == END && checksum == sha256(&[content, b"}"].concat()).as_bytes() {
        Seal::Intact
    } else {
        Seal::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_sealed_object_is_json_and_intact() {
        let text = seal(&json!({ "step": 3, "loss": 0.5 }));
        assert_eq!(unseal(&text), Seal::Intact);
        let read: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!((&read["step"], &read["loss"]), (&json!(3), &json!(0.5)));
        assert_eq!(unseal(b"{\"step\":3,\"loss\":0.5}"), Seal::Absent);
        assert_eq!(unseal(b""), Seal::Absent);
    }

    #[test]
    fn no_bit_flips_unnoticed() {
        let text = seal(&json!({ "step": 3 }));
        for bit in 0..text.len() * 8 {
            let mut flipped = text.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(unseal(&flipped), Seal::Intact, "bit {bit}");
        }
    }
}
