//! Colour spaces of views. The conversions compute on the host, the same in every precision of tensors.

use super::{State, reader::Reader};
use crate::parity::frameworks::problem::{Problem, ill_formed};
use bcl_images::Conversion;

pub(super) fn colour(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let rgb = trace.array("rgb")?;
    let (pixels, rest) = rgb.values.as_chunks::<3>();
    let is_byte = |value: &f64| (0.0..=255.0).contains(value) && value.fract() == 0.0;
    if !rest.is_empty() || !rgb.values.iter().all(is_byte) {
        return ill_formed("`rgb` must have three whole numbers from 0 to 255 per pixel");
    }
    let converted = |convert: &dyn Fn([u8; 3]) -> [f64; 3]| -> Vec<f64> {
        let bytes = pixels.iter().map(|pixel| pixel.map(|value| value as u8));
        bytes.flat_map(convert).collect()
    };
    trace.states([
        ("lab", converted(&|rgb| Conversion::LAB.convert(rgb))),
        ("lab_normalised", converted(&|rgb| Conversion::LAB.normalised(rgb))),
        ("ycbcr", converted(&|rgb| Conversion::YCBCR.convert(rgb))),
        ("ycbcr_normalised", converted(&|rgb| Conversion::YCBCR.normalised(rgb))),
    ])
}
