//! Colour spaces against values computed elsewhere, and where views are converted.
//!
//! The values are 64-bit results of an implementation in Python that was checked against scikit-image (`rgb2lab`, `rgb2ycbcr`), normalised
//! with the constants of CMC's authors.

use bcl_data::Seed;
use bcl_images::{Collection, ColourSpace, Conversion, Draw, Image, ViewsConfig};
use rand::Rng;

/// A colour in both spaces.
struct Colour {
    rgb: [u8; 3],
    lab: [f64; 3],
    lab_normalised: [f64; 3],
    ycbcr: [f64; 3],
    ycbcr_normalised: [f64; 3],
}

const COLOURS: [Colour; 8] = [
    Colour {
        rgb: [255, 0, 0],
        lab: [53.240_587_943_744_9, 80.092_308_225_692_2, 67.202_751_044_428_7],
        lab_normalised: [0.064_811_758_874_897_97, 0.803_263_363_544_293_2, 0.730_395_147_101_872_6],
        ycbcr: [81.481, 90.203, 240.0],
        ycbcr_normalised: [-0.316_621_004_566_210_06, -0.276_044_879_531_536_34, 0.961_541_209_674_538_2],
    },
    Colour {
        rgb: [0, 255, 0],
        lab: [87.735_099_488_318_95, -86.183_029_744_395_01, 83.179_703_175_384_52],
        lab_normalised: [0.754_701_989_766_379, -1.000_000_322_579_331_7, 0.888_320_885_416_606_4],
        ycbcr: [144.553, 53.797, 34.214],
        ycbcr_normalised: [0.259_378_995_433_789_95, -0.601_519_824_773_143_8, -0.876_424_565_038_762_6],
    },
    Colour {
        rgb: [0, 0, 255],
        lab: [32.295_672_565_013_51, 79.185_590_911_765_56, -107.857_300_206_694_89],
        lab_normalised: [-0.354_086_548_699_729_8, 0.793_429_972_581_181_2, -1.000_002_967_422_293_7],
        ycbcr: [40.966, 240.0, 109.786],
        ycbcr_normalised: [-0.686_621_004_566_210_1, 1.063_162_129_542_711_6, -0.201_457_611_375_084_94],
    },
    Colour {
        rgb: [255, 255, 255],
        lab: [100.0, -0.002_454_937_862_050_865_5, 0.004_653_421_154_054_982],
        lab_normalised: [1.0, -0.065_368_025_961_544_01, 0.066_169_011_008_021_93],
        ycbcr: [235.0, 128.0, 128.0],
        ycbcr_normalised: [1.085_378_995_433_79, 0.061_865_808_412_677_14, -0.038_780_322_246_436_47],
    },
    Colour {
        rgb: [0, 0, 0],
        lab: [0.0, 0.0, 0.0],
        lab_normalised: [-1.0, -0.065_341_402_047_544_67, 0.066_123_013_813_724_79],
        ycbcr: [16.0, 128.0, 128.0],
        ycbcr_normalised: [-0.914_621_004_566_21, 0.061_865_808_412_677_14, -0.038_780_322_246_436_47],
    },
    Colour {
        rgb: [128, 128, 128],
        lab: [
            53.585_013_452_169_02,
            -0.001_472_645_553_057_816_4,
            0.002_791_451_496_575_447_8,
        ],
        lab_normalised: [0.071_700_269_043_380_45, -0.065_357_372_956_284_23, 0.066_150_606_187_724_1],
        ycbcr: [125.929_411_764_705_88, 128.0, 128.0],
        ycbcr_normalised: [0.089_300_564_061_240_9, 0.061_865_808_412_677_14, -0.038_780_322_246_436_47],
    },
    Colour {
        rgb: [12, 200, 99],
        lab: [71.066_900_069_981_02, -63.458_225_599_953_4, 38.850_320_987_575_66],
        lab_normalised: [0.421_338_001_399_620_35, -0.753_548_776_678_307_8, 0.450_142_792_770_164_95],
        ycbcr: [129.600_023_529_411_77, 111.505_239_215_686_27, 52.641_623_529_411_774],
        ycbcr_normalised: [0.122_822_132_688_692, -0.085_599_756_687_798_7, -0.711_839_309_694_082_4],
    },
    Colour {
        rgb: [3, 2, 1],
        lab: [0.586_868_916_585_928, 0.122_420_676_306_800_31, 0.470_628_057_419_036_9],
        lab_normalised: [-0.988_262_621_668_281_5, -0.064_013_744_183_728_07, 0.070_774_982_651_731_43],
        ycbcr: [17.876_529_411_764_707, 127.412_560_784_313_73, 128.510_643_137_254_9],
        ycbcr_normalised: [
            -0.897_483_749_664_249_3,
            0.056_614_016_220_229_116,
            -0.034_219_542_556_045_784,
        ],
    },
];

fn assert_close(computed: [f64; 3], expected: [f64; 3], what: &str) {
    for (computed, expected) in computed.into_iter().zip(expected) {
        assert!(
            (computed - expected).abs() < 1e-12 * expected.abs().max(1.0),
            "{what}: {computed}, not {expected}"
        );
    }
}

#[test]
fn lab_equals_the_reference() {
    for colour in COLOURS {
        assert_close(Conversion::LAB.convert(colour.rgb), colour.lab, "lab");
        assert_close(
            Conversion::LAB.normalised(colour.rgb),
            colour.lab_normalised,
            "normalised lab",
        );
    }
}

#[test]
fn ycbcr_equals_the_reference() {
    for colour in COLOURS {
        assert_close(Conversion::YCBCR.convert(colour.rgb), colour.ycbcr, "ycbcr");
        assert_close(
            Conversion::YCBCR.normalised(colour.rgb),
            colour.ycbcr_normalised,
            "normalised ycbcr",
        );
    }
}

/// The same pixels by every way to a view: at random, in the middle, and at the native size.
#[test]
fn all_views_are_converted_after_the_other_steps() {
    let side = 6;
    let mut pixels = vec![0; 3 * side * side];
    Seed(4).rng().fill_bytes(&mut pixels);
    for (pixel, colour) in pixels.as_chunks_mut().0.iter_mut().zip(COLOURS) {
        *pixel = colour.rgb;
    }
    let image = Image {
        width: side,
        height: side,
        pixels: &pixels,
    };
    let mut images = Collection::new(Vec::new());
    images.push(image, None);

    for colour in [ColourSpace::Lab, ColourSpace::YCbCr] {
        let conversion = colour.conversion().expect("not RGB");
        let expected: Vec<f32> = (0..3)
            .flat_map(|channel| {
                let pixels = pixels.as_chunks().0.iter();
                pixels.map(move |&pixel| conversion.normalised(pixel)[channel] as f32)
            })
            .collect();
        let config = ViewsConfig {
            colour,
            ..ViewsConfig::plain(side)
        };
        let views = config.init();
        let mut out = vec![0.0; expected.len()];
        views.apply(0, image, &Draw::plain(side, side), &mut out);
        assert_eq!(out, expected);
        views.test_view(image, side, &mut out);
        assert_eq!(out, expected);
        views.native_view(image, &mut out);
        assert_eq!(out, expected);
        views
            .single_batch(&images, &[0], 0, Seed(0), &mut out)
            .expect("images in memory");
        assert_eq!(out, expected);

        // Grey has no chroma: conversion to grey comes first.
        let draw = Draw {
            grayscale: true,
            ..Draw::plain(side, side)
        };
        views.apply(0, image, &draw, &mut out);
        let grey = conversion.normalised([128; 3]);
        let chroma = &out[side * side..];
        for (channel, numbers) in (1..).zip(chroma.chunks(side * side)) {
            assert!(
                numbers.iter().all(|&number| (f64::from(number) - grey[channel]).abs() < 1e-4),
                "{channel}"
            );
        }
    }
}
