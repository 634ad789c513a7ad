//! Reads the reference pictures and values.

use bcl_images::Image;

const FILE: &str = include_str!("../fixtures/views.txt");
const LARGE: &[u8] = include_bytes!("../fixtures/views_large.png");

/// A picture with its pixels.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// `[height, width, 3]`
    pub(crate) pixels: Vec<u8>,
}

impl Picture {
    pub(crate) fn image(&self) -> Image<'_> {
        Image {
            width: self.width,
            height: self.height,
            pixels: &self.pixels,
        }
    }
}

/// A line of the file: the result of a step on a picture.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) picture: &'static str,
    pub(crate) parameters: Vec<f64>,
    /// Width of the result.
    pub(crate) width: usize,
    /// The result.
    pub(crate) bytes: Vec<u8>,
}

/// The cases of a step.
pub(crate) fn cases(name: &str) -> Vec<Case> {
    let lines = FILE.lines().filter(|line| !line.starts_with('#')).map(case);
    lines.filter(|case| case.name == name).collect()
}

fn case(line: &'static str) -> Case {
    let fields: Vec<_> = line.split('|').map(str::trim).collect();
    let [name, picture, parameters, size, hexadecimal] = *fields else {
        panic!("five fields, not {}", fields.len())
    };
    let numbers = |text: &str| {
        text.split_whitespace()
            .map(|number| number.parse().expect("a number"))
            .collect()
    };
    let size: Vec<f64> = numbers(size);
    let bytes = hexadecimal.as_bytes().chunks(2).map(|digits| {
        let digits = std::str::from_utf8(digits).expect("two digits");
        u8::from_str_radix(digits, 16).expect("a byte")
    });
    Case {
        name,
        picture,
        parameters: numbers(parameters),
        width: size[0] as usize,
        bytes: bytes.collect(),
    }
}

/// The picture of 9 by 7.
pub(crate) fn small() -> Picture {
    let case = cases("image").remove(0);
    Picture {
        width: case.width,
        height: case.bytes.len() / (3 * case.width),
        pixels: case.bytes,
    }
}

/// The picture of 32 by 32.
pub(crate) fn large() -> Picture {
    let image = image::load_from_memory(LARGE).expect("a picture").to_rgb8();
    Picture {
        width: image.width() as usize,
        height: image.height() as usize,
        pixels: image.into_raw(),
    }
}

/// From `[height, width, 3]` to `[3, height, width]`.
pub(crate) fn planar(picture: &Picture) -> Vec<u8> {
    let channel = |channel: usize| picture.pixels.iter().skip(channel).step_by(3);
    (0..3).flat_map(channel).copied().collect()
}

/// From `[3, height, width]` to `[height, width, 3]`.
pub(crate) fn interleaved(planes: &[u8]) -> Vec<u8> {
    let length = planes.len() / 3;
    (0..length)
        .flat_map(|place| [0, 1, 2].map(|channel| planes[channel * length + place]))
        .collect()
}
