//! The protobuf wire format: what event files of TensorBoard and ONNX models are made of.
//!
//! Both need a dozen messages of a schema that does not change. [`Message`] writes them field by field, by the numbers of their `.proto`
//! files, and [`fields`] reads them again, so no program needs a compiler of schemas.
//!
//! ```
//! use bcl_files::wire::{Message, Value, fields};
//!
//! let dimension = Message::new().text(2, "batch");
//! let shape = Message::new().message(1, &dimension).into_bytes();
//! assert_eq!(shape, b"\x0a\x07\x12\x05batch");
//!
//! let read = fields(&shape).unwrap();
//! assert_eq!((read[0].number, read[0].value), (1, Value::Bytes(b"\x12\x05batch")));
//! ```
//!
//! Source: [Protocol Buffers, Encoding](https://protobuf.dev/programming-guides/encoding/).

mod read;
mod write;

pub use read::{Field, Malformed, Value, fields};
pub use write::Message;

/// How a field is stored, in the low three bits of its key.
mod wire_type {
    pub(crate) const VARINT: u64 = 0;
    pub(crate) const FIXED64: u64 = 1;
    pub(crate) const BYTES: u64 = 2;
    pub(crate) const FIXED32: u64 = 5;
}
