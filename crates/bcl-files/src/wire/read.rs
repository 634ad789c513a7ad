//! Reads messages.

use super::wire_type;
use std::fmt;

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field<'a> {
    /// Its number in the `.proto` file.
    pub number: u32,
    /// Its value.
    pub value: Value<'a>,
}

/// The value of a field, as far as it is known without a schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// An integer, a boolean or an enum; negative numbers are in two's complement.
    Int(u64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A string, bytes, a packed field, or a nested message, which [`fields`] reads in turn.
    Bytes(&'a [u8]),
}

/// The bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// Offset of the field that cannot be read, in bytes.
    pub offset: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the field at byte {} cannot be read", self.offset)
    }
}

impl std::error::Error for Malformed {}

impl<'a> Value<'a> {
    /// The bytes, if it has a length.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value.cast_signed()),
            _ => None,
        }
    }
}

/// Reads the fields of a message in their order.
///
/// # Errors
/// Names the first field that is cut short or has an unknown type.
pub fn fields(message: &[u8]) -> Result<Vec<Field<'_>>, Malformed> {
    let mut fields = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let offset = message.len() - rest.len();
        fields.push(field(&mut rest).ok_or(Malformed { offset })?);
    }
    Ok(fields)
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<Field<'a>> {
    let key = varint(rest)?;
    let value = match key & 7 {
        wire_type::VARINT => Value::Int(varint(rest)?),
        wire_type::FIXED64 => Value::Double(f64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        wire_type::FIXED32 => Value::Float(f32::from_le_bytes(take(rest, 4)?.try_into().ok()?)),
        wire_type::BYTES => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Value::Bytes(take(rest, length)?)
        }
        _ => return None,
    };
    let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0)?;
    Some(Field { number, value })
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message;

    #[test]
    fn what_was_written_reads_back() {
        let message = Message::new()
            .int(1, -5)
            .float(2, 0.5)
            .double(3, 0.25)
            .text(4, "four")
            .int(300, i64::MAX)
            .into_bytes();
        let values: Vec<(u32, Value)> = fields(&message)
            .unwrap()
            .iter()
            .map(|field| (field.number, field.value))
            .collect();
        assert_eq!(
            values,
            [
                (1, Value::Int((-5_i64).cast_unsigned())),
                (2, Value::Float(0.5)),
                (3, Value::Double(0.25)),
                (4, Value::Bytes(b"four")),
                (300, Value::Int(i64::MAX.cast_unsigned())),
            ]
        );
        assert_eq!(values[0].1.int(), Some(-5));
        assert_eq!(values[3].1.bytes(), Some(&b"four"[..]));
    }

    #[test]
    fn every_cut_or_broken_message_is_refused_where_it_breaks() {
        let message = Message::new().int(1, 3).text(2, "abc").into_bytes();
        for length in [1, 3, 4, 5, 6] {
            let offset = if length < 2 { 0 } else { 2 };
            assert_eq!(fields(&message[..length]), Err(Malformed { offset }), "{length} bytes");
        }
        // A group, field 0, a varint without end, and a length beyond the address space.
        let broken: [&[u8]; 4] = [
            &[0x0b],
            &[0x00, 0x00],
            &[0xff; 11],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ];
        for bytes in broken {
            assert_eq!(fields(bytes), Err(Malformed { offset: 0 }), "{bytes:?}");
        }
        assert!(Malformed { offset: 7 }.to_string().contains("byte 7"));
    }
}
