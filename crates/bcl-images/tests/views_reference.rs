//! Every step of a view against the libraries that the published figures were made with.
//!
//! `fixtures/views.txt` was computed with torchvision 0.29.2 on images of Pillow 13.0.0, and the blur with `OpenCV` 5.0.0, all on Python
//! 3.11 with numpy 2.4.6, independently of this library. Its first picture, 9 by 7, is a gradient with noise whose first pixels are black,
//! white, grey and the pure colours; `fixtures/views_large.png`, 32 by 32, is another. The calls were `resized_crop` (bilinear), `hflip`,
//! `adjust_brightness`, `adjust_contrast`, `adjust_saturation`, `adjust_hue`, `rgb_to_grayscale`, `resize` and `center_crop`, `to_tensor`
//! and `normalize` of `torchvision.transforms.functional`, `PIL.ImageOps.solarize`, and `cv2.GaussianBlur`.
//!
//! All levels agree exactly, and the normalised values bit for bit.

#[path = "views_reference/file.rs"]
mod file;

use bcl_images::views::blur::Blurrer;
use bcl_images::views::brightness::adjust_brightness;
use bcl_images::views::contrast::adjust_contrast;
use bcl_images::views::flip::flip;
use bcl_images::views::grayscale::grayscale;
use bcl_images::views::hue::adjust_hue;
use bcl_images::views::resize::Resizer;
use bcl_images::views::saturation::adjust_saturation;
use bcl_images::views::solarise::solarise;
use bcl_images::{Adjustment, Draw, Jitter, Region, ViewsConfig};
use file::{Case, Picture, cases, interleaved, large, planar, small};

/// Compares each case of a step with the result of `step` on a planar copy of the small picture.
fn compare(name: &str, num_cases: usize, step: impl Fn(&mut [u8], &Case)) {
    let found = cases(name);
    assert_eq!(found.len(), num_cases, "cases of {name}");
    for case in found {
        let mut planes = planar(&small());
        step(&mut planes, &case);
        assert_levels(&case, &planes);
    }
}

fn assert_levels(case: &Case, planes: &[u8]) {
    let computed = interleaved(planes);
    let expected = &case.bytes;
    let differing = computed
        .iter()
        .zip(expected)
        .filter(|(computed, expected)| computed != expected)
        .count();
    assert!(
        computed == *expected,
        "{} {:?}: {differing} of {} levels differ",
        case.name,
        case.parameters,
        expected.len()
    );
}

#[test]
fn resizing_a_region_equals_pil() {
    let found = cases("resize");
    assert_eq!(found.len(), 11);
    let mut resizer = Resizer::default();
    for case in found {
        let picture = if case.picture == "small" { small() } else { large() };
        let [left, top, width, height, columns, rows] = *case.parameters else {
            panic!("six parameters, not {:?}", case.parameters)
        };
        let region = Region {
            left: left as usize,
            top: top as usize,
            width: width as usize,
            height: height as usize,
        };
        let mut planes = vec![0; 3 * (columns * rows) as usize];
        resizer.resize(picture.image(), region, columns as usize, rows as usize, &mut planes);
        assert_levels(&case, &planes);
    }
}

#[test]
fn flipping_equals_pil() {
    compare("flip", 1, |planes, case| flip(planes, case.width));
}

#[test]
fn brightness_equals_pil() {
    compare("brightness", 6, |planes, case| adjust_brightness(planes, case.parameters[0]));
}

#[test]
fn contrast_equals_pil() {
    compare("contrast", 4, |planes, case| adjust_contrast(planes, case.parameters[0]));
}

#[test]
fn saturation_equals_pil() {
    compare("saturation", 5, |planes, case| adjust_saturation(planes, case.parameters[0]));
}

#[test]
fn hue_equals_pil() {
    compare("hue", 8, |planes, case| adjust_hue(planes, case.parameters[0]));
}

#[test]
fn grayscale_equals_pil() {
    compare("grayscale", 1, |planes, _| grayscale(planes));
}

#[test]
fn solarising_equals_pil() {
    compare("solarise", 3, |planes, case| solarise(planes, case.parameters[0] as u8));
}

/// The largest kernels are wider than the picture, so that reflections are reflected again.
#[test]
fn blur_equals_opencv() {
    compare("blur", 7, |planes, case| {
        Blurrer::default().blur(planes, case.width, case.parameters[0] as usize, case.parameters[1]);
    });
}

#[test]
fn the_middle_for_evaluation_equals_torchvision() {
    let found = cases("middle");
    assert_eq!(found.len(), 6);
    let raw = raw_views(1);
    for case in found {
        let picture = if case.picture == "small" { small() } else { turned(&small()) };
        let mut out = vec![0.0; case.bytes.len()];
        raw.test_view(picture.image(), case.parameters[0] as usize, &mut out);
        assert_levels(&case, &levels(&out));
    }
}

/// Four colour changes in order, after a flip and before a blur.
#[test]
fn a_whole_view_equals_the_steps_of_the_libraries_in_a_row() {
    let draw = Draw {
        region: Region {
            left: 4,
            top: 2,
            width: 21,
            height: 25,
        },
        flip: true,
        jitter: Some(Jitter {
            order: [
                Adjustment::Saturation,
                Adjustment::Brightness,
                Adjustment::Contrast,
                Adjustment::Hue,
            ],
            brightness: 0.83,
            contrast: 1.34,
            saturation: 1.21,
            hue: Some(-0.06),
        }),
        grayscale: false,
        blur: Some(1.3),
        solarise: None,
    };
    let config = ViewsConfig {
        side: 16,
        blur: bcl_images::BlurConfig {
            kernel_fraction: 0.2,
            ..bcl_images::BlurConfig::default()
        },
        ..ViewsConfig::default()
    };
    let mut out = vec![0.0; 3 * 16 * 16];

    let raw = ViewsConfig {
        mean: [0.0; 3],
        std: [1.0; 3],
        ..config.clone()
    };
    raw.init().apply(0, large().image(), &draw, &mut out);
    assert_levels(&cases("view")[0], &levels(&out));

    config.init().apply(0, large().image(), &draw, &mut out);
    let normalised = &cases("normalised")[0].bytes;
    let expected: Vec<f32> = normalised
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect();
    // The file contains the first two rows of each channel.
    let computed: Vec<f32> = out.chunks(16 * 16).flat_map(|plane| &plane[..2 * 16]).copied().collect();
    assert_eq!(computed, expected);
}

/// Views whose values are levels divided by 255.
fn raw_views(side: usize) -> bcl_images::Views {
    ViewsConfig {
        side,
        mean: [0.0; 3],
        std: [1.0; 3],
        ..ViewsConfig::default()
    }
    .init()
}

fn levels(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().map(|number| (number * 255.0).round() as u8).collect()
}

/// Swaps rows and columns.
fn turned(picture: &Picture) -> Picture {
    let (width, height) = (picture.height, picture.width);
    let pixels = (0..width * height).flat_map(|place| {
        let (x, y) = (place % width, place / width);
        let start = (x * picture.width + y) * 3;
        picture.pixels[start..start + 3].to_vec()
    });
    Picture {
        width,
        height,
        pixels: pixels.collect(),
    }
}
