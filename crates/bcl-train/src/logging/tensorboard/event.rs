//! The messages of event files.
//!
//! Source: `event.proto`, `summary.proto` and `tensor.proto` of [TensorBoard](https://github.com/tensorflow/tensorboard), compatible since 2015.

use crate::logging::Picture;
use bcl_files::wire::{Message, Value, fields};

/// Fields of an `Event`.
mod field {
    pub(super) const WALL_TIME: u32 = 1;
    pub(super) const STEP: u32 = 2;
    pub(super) const FILE_VERSION: u32 = 3;
    pub(super) const SUMMARY: u32 = 5;
    pub(super) const SESSION_LOG: u32 = 7;
}

/// `SessionLog.START`: all points from this step on that other files have are void.
const START: i64 = 1;
/// `SummaryMetadata.data_class` of tensors.
const TENSOR: i64 = 2;
/// `DataType.DT_STRING`.
const STRING: i64 = 7;
/// `Summary.Image.colorspace` of red, green and blue.
const RGB: i64 = 3;

/// The first event of a file.
pub(super) fn version(wall_time: f64) -> Message {
    Message::new()
        .double(field::WALL_TIME, wall_time)
        .text(field::FILE_VERSION, "brain.Event:2")
}

/// Says that a resumed run repeats all points from a step on.
pub(super) fn session_start(wall_time: f64, step: usize) -> Message {
    at(wall_time, step).message(field::SESSION_LOG, &Message::new().int(1, START))
}

/// The values of a step.
pub(super) fn value_event(wall_time: f64, step: usize, values: impl IntoIterator<Item = Message>) -> Message {
    let summary = values
        .into_iter()
        .fold(Message::new(), |summary, value| summary.message(1, &value));
    at(wall_time, step).message(field::SUMMARY, &summary)
}

fn at(wall_time: f64, step: usize) -> Message {
    Message::new()
        .double(field::WALL_TIME, wall_time)
        .int(field::STEP, step as i64)
}

/// A number; TensorBoard has 32 bits for it.
pub(super) fn scalar(tag: &str, value: f64) -> Message {
    Message::new().text(1, tag).float(2, value as f32)
}

/// A picture.
pub(super) fn image(tag: &str, picture: &Picture) -> Message {
    let image = Message::new()
        .int(1, i64::from(picture.height))
        .int(2, i64::from(picture.width))
        .int(3, RGB)
        .bytes(4, &picture.png);
    Message::new().text(1, tag).message(4, &image)
}

/// A text in Markdown, a tensor of one string.
pub(super) fn text(tag: &str, markdown: &str) -> Message {
    let metadata = Message::new().message(1, &Message::new().text(1, "text")).int(4, TENSOR);
    let shape = Message::new().message(2, &Message::new().int(1, 1));
    let tensor = Message::new().int(1, STRING).message(2, &shape).text(8, markdown);
    Message::new().text(1, tag).message(8, &tensor).message(9, &metadata)
}

/// The step of an event, 0 if it names none; `None` if it is no event.
pub(super) fn step(event: &[u8]) -> Option<usize> {
    let fields = fields(event).ok()?;
    let step = fields.iter().find(|found| found.number == field::STEP);
    match step.map(|step| step.value) {
        None => Some(0),
        Some(Value::Int(step)) => usize::try_from(step).ok(),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_has_the_bytes_that_tensorboard_reads() {
        let event = value_event(1.0, 3, [scalar("a", 0.5)]).into_bytes();
        let expected = [
            &[0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f][..], // wall time 1.0
            &[0x10, 3],                                // step 3
            &[0x2a, 10, 0x0a, 8],                      // summary, value
            &[0x0a, 1, b'a', 0x15, 0, 0, 0, 0x3f],     // tag, simple value 0.5
        ];
        assert_eq!(event, expected.concat());
        assert_eq!(step(&event), Some(3));
    }

    #[test]
    fn the_version_belongs_to_no_step_and_other_bytes_are_no_event() {
        let version = version(0.0).into_bytes();
        assert_eq!((version.len(), step(&version)), (24, Some(0)));
        assert_eq!(step(b"\x12\x01a"), None);
        assert_eq!(step(b"\xff"), None);
    }
}
