//! Colours turned round the colour wheel.

use super::channels_mut;

/// Turns the hue of every pixel by `turn` of the wheel, in [-1/2, 1/2].
///
/// Hue, saturation and value are rounded to 8 bits in between, as PIL does, which alone moves a colour by a few levels; the hue wraps at
/// 256 although the wheel has 255 parts, as torchvision does.
///
/// # Shapes
/// - planes: `[3, height, width]`
pub fn adjust_hue(planes: &mut [u8], turn: f64) {
    let shift = (turn * 255.0) as i32 as u8;
    let [red, green, blue] = channels_mut(planes);
    for ((r, g), b) in red.iter_mut().zip(green).zip(blue) {
        let (hue, saturation, value) = to_hsv(*r, *g, *b);
        (*r, *g, *b) = to_rgb(hue.wrapping_add(shift), saturation, value);
    }
}

/// Hue, saturation and value in 8 bits, cut off.
fn to_hsv(r: u8, g: u8, b: u8) -> (u8, u8, u8) {
    let max = r.max(g).max(b);
    let min = r.min(g).min(b);
    if max == min {
        return (0, 0, max);
    }
    let range = f32::from(max - min);
    let saturation = range / f32::from(max);
    let below = |channel: u8| f64::from(f32::from(max - channel) / range);
    let sixths = if r == max {
        (below(b) - below(g)) as f32
    } else if g == max {
        (2.0 + below(r) - below(b)) as f32
    } else {
        (4.0 + below(g) - below(r)) as f32
    };
    let hue = ((f64::from(sixths) / 6.0 + 1.0) % 1.0) as f32;
    ((f64::from(hue) * 255.0) as u8, (f64::from(saturation) * 255.0) as u8, max)
}

/// Back to red, green and blue, rounded.
fn to_rgb(hue: u8, saturation: u8, value: u8) -> (u8, u8, u8) {
    if saturation == 0 {
        return (value, value, value);
    }
    let sixths = f64::from(hue) * 6.0 / 255.0;
    let sector = sixths.floor();
    let f = (sixths - sector) as f32;
    let saturation = (f64::from(saturation) / 255.0) as f32;
    let level = |share: f64| (f64::from(value) * (1.0 - share)).round() as u8;
    let p = level(f64::from(saturation));
    let q = level(f64::from(saturation * f));
    let t = level(f64::from(saturation) * (1.0 - f64::from(f)));
    match sector as u8 {
        0 | 6 => (value, t, p),
        1 => (q, value, p),
        2 => (p, value, t),
        3 => (p, q, value),
        4 => (t, p, value),
        _ => (value, p, q),
    }
}
