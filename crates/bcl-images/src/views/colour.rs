//! Colour spaces that keep lightness and colour apart, for contrastive multiview coding (CMC, Tian et al., 2020).
//!
//! The conversions follow scikit-image in 64-bit floats.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The colour space of views.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourSpace {
    /// Red, green and blue, normalised by `mean` and `std` of the configuration.
    #[default]
    Rgb,
    /// CIE L*a*b* of sRGB (D65, 2 degrees), normalised by [`Conversion::LAB`].
    Lab,
    /// Luma and two chroma channels of ITU-R BT.601 in studio range, normalised by [`Conversion::YCBCR`].
    YCbCr,
}

impl ColourSpace {
    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rgb => "rgb",
            Self::Lab => "lab",
            Self::YCbCr => "ycbcr",
        }
    }

    /// How RGB becomes this colour space; `None` for RGB itself.
    pub fn conversion(self) -> Option<&'static Conversion> {
        match self {
            Self::Rgb => None,
            Self::Lab => Some(&Conversion::LAB),
            Self::YCbCr => Some(&Conversion::YCBCR),
        }
    }
}

/// A conversion from 8-bit RGB to another colour space, and the constants that CMC's authors normalise its channels with.
///
/// ```
/// use bcl_images::Conversion;
///
/// // The first channel is lightness: 0 for black, 100 for white, normalised to -1 and 1.
/// assert_eq!(Conversion::LAB.convert([0, 0, 0]), [0.0; 3]);
/// assert_eq!(Conversion::LAB.normalised([0, 0, 0])[0], -1.0);
/// assert_eq!(Conversion::LAB.restored(Conversion::LAB.normalised([12, 200, 99])), [12, 200, 99]);
/// ```
#[derive(Debug)]
pub struct Conversion {
    from_rgb: fn([u8; 3]) -> [f64; 3],
    to_rgb: fn([f64; 3]) -> [u8; 3],
    mean: [f64; 3],
    std: [f64; 3],
}

impl Conversion {
    /// To CIE L*a*b*.
    pub const LAB: Self = Self {
        from_rgb: lab,
        to_rgb: rgb_of_lab,
        mean: [50.0, 6.025, -6.6895],
        std: [50.0, 92.208, 101.1675],
    };

    /// To luma and chroma of ITU-R BT.601.
    pub const YCBCR: Self = Self {
        from_rgb: ycbcr,
        to_rgb: rgb_of_ycbcr,
        mean: [116.151, 121.080, 132.342],
        std: [109.5, 111.855, 111.964],
    };

    /// Converts a pixel.
    pub fn convert(&self, rgb: [u8; 3]) -> [f64; 3] {
        (self.from_rgb)(rgb)
    }

    /// Converts a pixel and normalises it: `(channel - mean) / std`.
    pub fn normalised(&self, rgb: [u8; 3]) -> [f64; 3] {
        let [x, y, z] = self.convert(rgb);
        let [mean, std] = [self.mean, self.std];
        [(x - mean[0]) / std[0], (y - mean[1]) / std[1], (z - mean[2]) / std[2]]
    }

    /// The RGB levels that are closest to a [normalised](Self::normalised) pixel.
    pub fn restored(&self, normalised: [f64; 3]) -> [u8; 3] {
        (self.to_rgb)([0, 1, 2].map(|channel| normalised[channel] * self.std[channel] + self.mean[channel]))
    }
}

type Matrix = [[f64; 3]; 3];

/// From linear RGB to CIE XYZ.
const TO_XYZ: Matrix = [
    [0.412_453, 0.357_580, 0.180_423],
    [0.212_671, 0.715_160, 0.072_169],
    [0.019_334, 0.119_193, 0.950_227],
];
const FROM_XYZ: Matrix = inverse(&TO_XYZ);
/// XYZ of white: illuminant D65 seen at 2 degrees.
const WHITE: [f64; 3] = [0.95047, 1.0, 1.08883];

/// From RGB in [0, 1] to `YCbCr` less [`YCBCR_OF_BLACK`].
const TO_YCBCR: Matrix = [
    [65.481, 128.553, 24.966],
    [-37.797, -74.203, 112.0],
    [112.0, -93.786, -18.214],
];
const FROM_YCBCR: Matrix = inverse(&TO_YCBCR);
const YCBCR_OF_BLACK: [f64; 3] = [16.0, 128.0, 128.0];

/// The intensity of each sRGB level.
static INTENSITIES: LazyLock<[f64; 256]> = LazyLock::new(|| {
    std::array::from_fn(|level| {
        let share = level as f64 / 255.0;
        if share > 0.04045 {
            ((share + 0.055) / 1.055).powf(2.4)
        } else {
            share / 12.92
        }
    })
});

/// ```text
/// L = 116 f(Y) - 16,   a = 500 (f(X) - f(Y)),   b = 200 (f(Y) - f(Z))
/// ```
///
/// where X, Y and Z are relative to white, and f is the cube root except near 0.
fn lab(rgb: [u8; 3]) -> [f64; 3] {
    let intensities = &*INTENSITIES;
    let [x, y, z] = times(&TO_XYZ, rgb.map(|level| intensities[usize::from(level)]));
    let root = |share: f64| {
        if share > 0.008_856 {
            share.cbrt()
        } else {
            7.787 * share + 16.0 / 116.0
        }
    };
    let [x, y, z] = [root(x / WHITE[0]), root(y / WHITE[1]), root(z / WHITE[2])];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn rgb_of_lab([lightness, a, b]: [f64; 3]) -> [u8; 3] {
    let y = (lightness + 16.0) / 116.0;
    let roots = [y + a / 500.0, y, y - b / 200.0];
    let xyz = [0, 1, 2].map(|i| {
        let root: f64 = roots[i];
        let share = if root > 6.0 / 29.0 {
            root.powi(3)
        } else {
            (root - 16.0 / 116.0) / 7.787
        };
        share * WHITE[i]
    });
    times(&FROM_XYZ, xyz).map(|intensity| {
        nearest_level(if intensity > 0.003_130_8 {
            1.055 * intensity.powf(1.0 / 2.4) - 0.055
        } else {
            12.92 * intensity
        })
    })
}

fn ycbcr(rgb: [u8; 3]) -> [f64; 3] {
    let [y, cb, cr] = times(&TO_YCBCR, rgb.map(|level| f64::from(level) / 255.0));
    [y + YCBCR_OF_BLACK[0], cb + YCBCR_OF_BLACK[1], cr + YCBCR_OF_BLACK[2]]
}

fn rgb_of_ycbcr(ycbcr: [f64; 3]) -> [u8; 3] {
    let above_black = [0, 1, 2].map(|channel| ycbcr[channel] - YCBCR_OF_BLACK[channel]);
    times(&FROM_YCBCR, above_black).map(nearest_level)
}

/// The level closest to a share of the largest one.
fn nearest_level(share: f64) -> u8 {
    (share * 255.0).round() as u8
}

fn times(matrix: &Matrix, [x, y, z]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[a, b, c]| a * x + b * y + c * z)
}

/// The inverse, by cofactors.
const fn inverse(m: &Matrix) -> Matrix {
    let mut cofactors = [[0.0; 3]; 3];
    let mut i = 0;
    while i < 9 {
        let (row, column) = (i / 3, i % 3);
        let (r, s) = ((row + 1) % 3, (row + 2) % 3);
        let (c, d) = ((column + 1) % 3, (column + 2) % 3);
        cofactors[row][column] = m[r][c] * m[s][d] - m[r][d] * m[s][c];
        i += 1;
    }
    let determinant = m[0][0] * cofactors[0][0] + m[0][1] * cofactors[0][1] + m[0][2] * cofactors[0][2];
    let mut inverse = [[0.0; 3]; 3];
    i = 0;
    while i < 9 {
        inverse[i % 3][i / 3] = cofactors[i / 3][i % 3] / determinant;
        i += 1;
    }
    inverse
}
