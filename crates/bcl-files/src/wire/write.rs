//! Writes messages.

use super::wire_type;

/// A message that is written field by field. Repeated fields are written by repeated calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message(Vec<u8>);

impl Message {
    /// Creates an empty message.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an `int32`, `int64`, `bool` or enum.
    #[must_use]
    pub fn int(mut self, number: u32, value: i64) -> Self {
        self.key(number, wire_type::VARINT);
        self.varint(value.cast_unsigned());
        self
    }

    /// Adds a `float`.
    #[must_use]
    pub fn float(mut self, number: u32, value: f32) -> Self {
        self.key(number, wire_type::FIXED32);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds a `double`.
    #[must_use]
    pub fn double(mut self, number: u32, value: f64) -> Self {
        self.key(number, wire_type::FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds a `string`.
    #[must_use]
    pub fn text(self, number: u32, text: &str) -> Self {
        self.bytes(number, text.as_bytes())
    }

    /// Adds a nested message.
    #[must_use]
    pub fn message(self, number: u32, message: &Self) -> Self {
        self.bytes(number, &message.0)
    }

    /// Adds `bytes`, or a packed field.
    #[must_use]
    pub fn bytes(mut self, number: u32, bytes: &[u8]) -> Self {
        self.key(number, wire_type::BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// The bytes of the message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, number: u32, wire_type: u64) {
        self.varint(u64::from(number) << 3 | wire_type);
    }

    /// Seven bits per byte, lowest first; the highest bit says that more bytes follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bytes_of_the_specification() {
        // "150" and "-2" are the examples of the specification.
        assert_eq!(Message::new().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let negative = Message::new().int(1, -2).into_bytes();
        assert_eq!(negative, [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        assert_eq!(Message::new().text(2, "testing").into_bytes(), b"\x12\x07testing");
        assert_eq!(Message::new().float(2, 1.0).into_bytes(), [0x15, 0, 0, 0x80, 0x3f]);
        assert_eq!(
            Message::new().double(1, 1.0).into_bytes(),
            [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]
        );
        assert_eq!(Message::new().int(16, 0).into_bytes(), [0x80, 0x01, 0x00]);
    }

    #[test]
    fn a_nested_message_has_its_length_in_front() {
        let inner = Message::new().int(1, 150);
        assert_eq!(Message::new().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }
}
