//! Shifts hues on the colour wheel.

use super::blend::{cut_off, nearest};
use super::channels_mut;

/// Pixels processed together: each line of arithmetic below is a loop over them, which compiles to vector instructions.
const BLOCK: usize = 16;

/// Shifts the hue of every pixel by `turn` of the colour wheel, in [-1/2, 1/2].
///
/// Hue, saturation and value are rounded to 8 bits in between, as in PIL, which alone changes a colour by a few levels. The hue wraps at
/// 256 although the wheel has 255 parts, as in torchvision.
///
/// # Shapes
/// - planes: `[3, height, width]`
pub fn adjust_hue(planes: &mut [u8], turn: f64) {
    let shift = (turn * 255.0) as i32 as u8;
    let [red, green, blue] = channels_mut(planes);
    let (reds, last_red) = red.as_chunks_mut::<BLOCK>();
    let (greens, last_green) = green.as_chunks_mut::<BLOCK>();
    let (blues, last_blue) = blue.as_chunks_mut::<BLOCK>();
    for ((red, green), blue) in reds.iter_mut().zip(greens).zip(blues) {
        [*red, *green, *blue] = turned([*red, *green, *blue], shift);
    }

    let last = [last_red, last_green, last_blue];
    let mut block = [[0; BLOCK]; 3];
    for (block, last) in block.iter_mut().zip(&last) {
        block[..last.len()].copy_from_slice(last);
    }
    for (block, last) in turned(block, shift).iter().zip(last) {
        last.copy_from_slice(&block[..last.len()]);
    }
}

/// Shifts the hues of a block of pixels.
fn turned([red, green, blue]: [[u8; BLOCK]; 3], shift: u8) -> [[u8; BLOCK]; 3] {
    let value = each(|i| red[i].max(green[i]).max(blue[i]));
    let least = each(|i| red[i].min(green[i]).min(blue[i]));
    // The hue of grey pixels does not matter, because their saturation is 0.
    let range = each(|i| f32::from((value[i] - least[i]).max(1)));
    let saturation = each(|i| f32::from(value[i] - least[i]) / f32::from(value[i].max(1)));
    let saturation = each(|i| f32::from(cut_off(saturation[i] * 255.0)));

    let sixths = sixths([red, green, blue], value, range);
    let hue = each(|i| {
        let turns = f64::from(sixths[i]) / 6.0 + 1.0;
        (if turns >= 1.0 { turns - 1.0 } else { turns }) as f32
    });
    let hue = each(|i| ((f64::from(hue[i]) * 255.0) as i32 as u8).wrapping_add(shift));
    [5.0, 3.0, 1.0].map(|offset| level(offset, hue, saturation, value))
}

/// Hues from -1 to 5: 0 is red, 2 green, 4 blue.
///
/// With the largest channel `m`, the next one on the wheel `n` and the third `l`, the hue is the hue of `m` plus
/// `((m - l) - (m - n)) / range`. One of the two quotients is 1, because either `n` or `l` is the smallest channel. It is added first, which
/// is exact, so the sum is rounded only once, as in PIL, which adds in 64 bits.
fn sixths([red, green, blue]: [[u8; BLOCK]; 3], value: [u8; BLOCK], range: [f32; BLOCK]) -> [f32; BLOCK] {
    let [to_red, to_green, to_blue] = [red, green, blue].map(|channel| each(|i| f32::from(value[i] - channel[i]) / range[i]));
    each(|i| {
        let is_red = red[i] == value[i];
        let is_green = green[i] == value[i];
        let (start, next, third) = if is_red {
            (0.0, to_green[i], to_blue[i])
        } else if is_green {
            (2.0, to_blue[i], to_red[i])
        } else {
            (4.0, to_red[i], to_green[i])
        };
        if third == 1.0 {
            (start + 1.0) - next
        } else {
            (start - 1.0) + third
        }
    })
}

/// One channel of a colour given as hue, saturation and value: `value (1 - saturation w)`, where `w` rises and falls once around the
/// wheel and begins to rise `6 - offset` sixths from red.
///
/// In units of 1/255 everything is an integer below 2^24, which 32-bit floats represent exactly. The quotient is never closer than
/// 1/130050 to the midpoint between two levels, so it rounds correctly.
fn level(offset: f32, hue: [u8; BLOCK], saturation: [f32; BLOCK], value: [u8; BLOCK]) -> [u8; BLOCK] {
    each(|i| {
        let position = offset * 255.0 + 6.0 * f32::from(hue[i]);
        let position = if position >= 1530.0 { position - 1530.0 } else { position };
        let w = position.min(1020.0 - position).clamp(0.0, 255.0);
        let exact = f32::from(value[i]) * (65025.0 - saturation[i] * w);
        nearest(exact / 65025.0)
    })
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "a call per pixel would cost more than the arithmetic")]
fn each<T: Copy + Default>(value: impl Fn(usize) -> T) -> [T; BLOCK] {
    let mut values = [T::default(); BLOCK];
    for (i, out) in values.iter_mut().enumerate() {
        *out = value(i);
    }
    values
}
