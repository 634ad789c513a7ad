//! Colour spaces of views. The conversions compute on the host, the same in every precision of tensors.

use super::{super::problem::Problem, State, given::array};
use bcl_golden::Trace;
use bcl_images::Conversion;

pub(super) fn colour(trace: &Trace) -> Result<Vec<State>, Problem> {
    let rgb = array(&trace.given, "rgb")?;
    let (pixels, rest) = rgb.values.as_chunks::<3>();
    let is_byte = |value: &f64| (0.0..=255.0).contains(value) && value.fract() == 0.0;
    if !rest.is_empty() || !rgb.values.iter().all(is_byte) {
        return Err(Problem::IllFormed(
            "`rgb` must have three whole numbers from 0 to 255 per pixel".to_owned(),
        ));
    }
    let converted = |convert: &dyn Fn([u8; 3]) -> [f64; 3]| -> Vec<f64> {
        let bytes = pixels.iter().map(|pixel| pixel.map(|value| value as u8));
        bytes.flat_map(convert).collect()
    };
    [
        ("lab", converted(&|rgb| Conversion::LAB.convert(rgb))),
        ("lab_normalised", converted(&|rgb| Conversion::LAB.normalised(rgb))),
        ("ycbcr", converted(&|rgb| Conversion::YCBCR.convert(rgb))),
        ("ycbcr_normalised", converted(&|rgb| Conversion::YCBCR.normalised(rgb))),
    ]
    .into_iter()
    .map(|(name, found)| Ok(State::new(name, found, array(&trace.expected, name)?)))
    .collect()
}
