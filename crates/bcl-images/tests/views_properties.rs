//! Properties of views of any image.

use bcl_data::Seed;
use bcl_images::views::blur::Blurrer;
use bcl_images::views::brightness::adjust_brightness;
use bcl_images::views::contrast::adjust_contrast;
use bcl_images::views::flip::flip;
use bcl_images::views::grayscale::grayscale;
use bcl_images::views::hue::adjust_hue;
use bcl_images::views::resize::Resizer;
use bcl_images::views::saturation::adjust_saturation;
use bcl_images::{ColourSpace, CropConfig, Draw, Image, Region, ViewsConfig};
use proptest::collection::vec;
use proptest::prelude::*;

/// Width, height and pixels of an image, at least one pixel.
fn picture(most: usize) -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (1..=most, 1..=most).prop_flat_map(|(width, height)| (Just(width), Just(height), vec(any::<u8>(), 3 * width * height)))
}

fn planar(pixels: &[u8]) -> Vec<u8> {
    (0..3)
        .flat_map(|channel| pixels.iter().skip(channel).step_by(3))
        .copied()
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_view_is_finite_and_between_black_and_white((width, height, pixels) in picture(20), side in 1..20usize, seed: u64) {
        let views = ViewsConfig { side, ..ViewsConfig::default() }.init();
        let mut out = vec![f32::NAN; 3 * side * side];
        views.view(0, Image { width, height, pixels: &pixels }, Seed(seed), &mut out);
        // (0 - 0.4914) / 0.2023 is the lowest, (1 - 0.4465) / 0.2010 the highest.
        prop_assert!(out.iter().all(|number| (-2.43..=2.76).contains(number)), "{out:?}");
    }

    #[test]
    fn regions_are_inside_images_of_any_size(
        width in 1..3000usize, height in 1..3000usize, seed: u64, low in 0.001..1.0f64, high in 0.0..1.0f64, ratio in 0.01..100.0f64,
    ) {
        let crop = CropConfig { scale: [low, low + high * (1.0 - low)], ratio: [ratio, ratio * 1.5] };
        prop_assert_eq!(crop.check(), Ok(()));
        for (width, height) in [(width, height), (width, 1), (1, height), (1, 1)] {
            for region in [crop.draw(width, height, &mut Seed(seed).rng()), crop.fallback(width, height)] {
                prop_assert!(region.width > 0 && region.left + region.width <= width, "{region:?}");
                prop_assert!(region.height > 0 && region.top + region.height <= height, "{region:?}");
            }
        }
    }

    #[test]
    fn resizing_to_the_same_size_copies((width, height, pixels) in picture(12)) {
        let mut planes = vec![0; pixels.len()];
        Resizer::default().resize(Image { width, height, pixels: &pixels }, Region::whole(width, height), width, height, &mut planes);
        prop_assert_eq!(planes, planar(&pixels));
    }

    #[test]
    fn resizing_one_colour_keeps_it(
        colour: [u8; 3], width in 1..40usize, height in 1..40usize, columns in 1..40usize, rows in 1..40usize,
    ) {
        let pixels = colour.repeat(width * height);
        let mut planes = vec![0; 3 * columns * rows];
        Resizer::default().resize(Image { width, height, pixels: &pixels }, Region::whole(width, height), columns, rows, &mut planes);
        for (plane, level) in planes.chunks(columns * rows).zip(colour) {
            prop_assert!(plane.iter().all(|&pixel| pixel == level), "{plane:?} {level}");
        }
    }

    #[test]
    fn augmentations_without_effect_change_no_pixel((width, _, pixels) in picture(12)) {
        let original = planar(&pixels);
        let mut planes = original.clone();
        adjust_brightness(&mut planes, 1.0);
        adjust_contrast(&mut planes, 1.0);
        adjust_saturation(&mut planes, 1.0);
        Blurrer::default().blur(&mut planes, width, 3, 1e-3);
        Blurrer::default().blur(&mut planes, width, 1, 2.0);
        prop_assert_eq!(planes, original);
    }

    #[test]
    fn a_plain_view_is_the_image((width, _, pixels) in picture(12)) {
        let pixels = &pixels[..3 * width];
        let square = pixels.repeat(width);
        let views = ViewsConfig { mean: [0.0; 3], std: [1.0; 3], ..ViewsConfig::plain(width) }.init();
        let image = Image { width, height: width, pixels: &square };
        let expected: Vec<f32> = planar(&square).iter().map(|&level| f32::from(level) / 255.0).collect();

        let mut out = vec![0.0; square.len()];
        views.apply(0, image, &Draw::plain(width, width), &mut out);
        prop_assert_eq!(&out, &expected);
        views.native_view(image, &mut out);
        prop_assert_eq!(&out, &expected);
        views.test_view(image, width, &mut out);
        prop_assert_eq!(&out, &expected);
        // The region is the whole image, drawn or as the fallback.
        views.view(0, image, Seed(0), &mut out);
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn two_flips_undo_each_other((width, _, pixels) in picture(12)) {
        let original = planar(&pixels);
        let mut planes = original.clone();
        flip(&mut planes, width);
        flip(&mut planes, width);
        prop_assert_eq!(planes, original);
    }

    /// Also in 32 bits, in which batches hold the numbers.
    #[test]
    fn every_colour_is_restored_from_another_space(colour: [u8; 3]) {
        for space in [ColourSpace::Lab, ColourSpace::YCbCr] {
            let conversion = space.conversion().expect("not RGB");
            let normalised = conversion.normalised(colour);
            prop_assert!(normalised.iter().all(|number| number.abs() < 1.2), "{normalised:?}");
            prop_assert_eq!(conversion.restored(normalised.map(|number| f64::from(number as f32))), colour, "{}", space.name());
        }
    }

    #[test]
    fn grey_images_stay_as_they_are(greys in vec(any::<u8>(), 1..100), turn in -0.5..0.5f64, factor in 0.0..3.0f64) {
        let original = greys.repeat(3);
        let mut planes = original.clone();
        grayscale(&mut planes);
        adjust_hue(&mut planes, turn);
        adjust_saturation(&mut planes, factor);
        prop_assert_eq!(planes, original);
    }

    /// Largest and smallest channel of a pixel give its value and saturation; 8 bits lose some of the latter.
    #[test]
    fn turning_the_hue_keeps_the_brightest_channel_and_nearly_the_darkest(colour: [u8; 3], turn in -0.5..0.5f64) {
        let mut planes = colour.to_vec();
        adjust_hue(&mut planes, turn);
        prop_assert_eq!(planes.iter().max(), colour.iter().max());
        let darkest = |colour: &[u8]| i32::from(*colour.iter().min().expect("three channels"));
        prop_assert!((darkest(&planes) - darkest(&colour)).abs() <= 1, "{colour:?} {planes:?}");
    }

    #[test]
    fn blur_stays_between_the_darkest_and_the_brightest((width, _, pixels) in picture(12), radius in 0..6usize, sigma in 0.1..4.0f64) {
        let original = planar(&pixels);
        let mut planes = original.clone();
        Blurrer::default().blur(&mut planes, width, 2 * radius + 1, sigma);
        let length = original.len() / 3;
        for (plane, original) in planes.chunks(length).zip(original.chunks(length)) {
            prop_assert!(plane.iter().min() >= original.iter().min());
            prop_assert!(plane.iter().max() <= original.iter().max());
        }
    }
}

/// 90 pixels are five blocks and a remainder; every step must treat the last pixels like the first.
#[test]
fn the_change_of_a_colour_does_not_depend_on_its_pixel() {
    let colour = [201, 37, 90];
    let mut alone = colour.to_vec();
    adjust_hue(&mut alone, 0.07);
    let mut planes: Vec<u8> = colour.iter().flat_map(|&level| [level; 90]).collect();
    adjust_hue(&mut planes, 0.07);
    assert_ne!(alone, colour);
    for (plane, level) in planes.chunks(90).zip(alone) {
        assert!(plane.iter().all(|&pixel| pixel == level), "{plane:?} {level}");
    }
}
