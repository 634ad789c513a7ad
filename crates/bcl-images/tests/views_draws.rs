//! The parameters of views follow their documented distributions.

use bcl_data::Seed;
use bcl_images::{Adjustment, CropConfig, Draw, Jitter, LocalCropsConfig, Region, ViewsConfig};
use std::collections::HashMap;

const NUM_DRAWS: u64 = 100_000;

fn draws(config: &ViewsConfig, width: usize, height: usize) -> Vec<Draw> {
    let views = config.init();
    (0..NUM_DRAWS)
        .map(|i| views.draw(0, width, height, &mut Seed(5).index(i).rng()))
        .collect()
}

/// The largest distance of the empirical distribution from the uniform one on `[low, high]` (Kolmogorov-Smirnov), which is below
/// 1.63 / sqrt(draws) in 99 of 100 samples.
fn assert_uniform(name: &str, values: impl Iterator<Item = f64>, low: f64, high: f64) {
    let mut values: Vec<f64> = values.map(|value| (value - low) / (high - low)).collect();
    assert!(values.len() > 3000, "{} values of {name}", values.len());
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let distance = (1..).zip(&values).map(|(rank, value)| {
        let rank = f64::from(rank);
        (rank / count - value).max(value - (rank - 1.0) / count)
    });
    // `f64::max` would drop NaN.
    let distance: f64 = distance.fold(0.0, |most, next| if next.is_nan() { f64::INFINITY } else { most.max(next) });
    assert!(distance < 1.63 / count.sqrt(), "{name} is {distance} away from uniform");
}

fn assert_share(name: &str, count: usize, of: usize, expected: f64) {
    let share = count as f64 / of as f64;
    let error = (expected * (1.0 - expected) / of as f64).sqrt();
    assert!((share - expected).abs() <= 3.0 * error, "{name}: {share}, not {expected}");
}

/// Regions of at most a quarter of a large image: none has to be redrawn, so the distributions are complete, and rounding to pixels has
/// no visible effect.
#[test]
fn areas_are_uniform_ratios_are_log_uniform_and_places_are_uniform() {
    let config = ViewsConfig {
        crop: CropConfig {
            scale: [0.08, 0.25],
            ..CropConfig::default()
        },
        ..ViewsConfig::default()
    };
    let side = 10_000;
    let regions: Vec<Region> = draws(&config, side, side).iter().map(|draw| draw.region).collect();
    let area = (side * side) as f64;
    let areas = regions.iter().map(|region| (region.width * region.height) as f64 / area);
    assert_uniform("area", areas, 0.08, 0.25);
    let ratios = regions.iter().map(|region| (region.width as f64 / region.height as f64).ln());
    assert_uniform("log ratio", ratios, 0.75f64.ln(), (4.0f64 / 3.0).ln());
    let lefts = regions.iter().map(|region| region.left as f64 / (side - region.width) as f64);
    assert_uniform("left", lefts, 0.0, 1.0);
    let tops = regions.iter().map(|region| region.top as f64 / (side - region.height) as f64);
    assert_uniform("top", tops, 0.0, 1.0);
}

/// Some areas from 0.08 to 1 do not fit and are redrawn, so large regions are rarer than small ones: 60,000 draws by torchvision 0.29.2
/// have areas of at least 80 pixels, with a mean of 0.4896 ± 0.001 of the image.
#[test]
fn regions_of_a_cifar_image_are_as_large_as_those_of_torchvision() {
    let regions: Vec<Region> = draws(&ViewsConfig::default(), 32, 32)
        .iter()
        .map(|draw| draw.region)
        .collect();
    let areas: Vec<usize> = regions.iter().map(|region| region.width * region.height).collect();
    assert_eq!(areas.iter().min(), Some(&80));
    assert_eq!(areas.iter().max(), Some(&1024));
    let mean = areas.iter().sum::<usize>() as f64 / NUM_DRAWS as f64 / 1024.0;
    assert!((mean - 0.4896).abs() < 0.004, "{mean}");
}

#[test]
fn every_step_happens_as_often_as_its_probability() {
    let draws = draws(&ViewsConfig::default(), 32, 32);
    let count = |happens: fn(&Draw) -> bool| draws.iter().filter(|draw| happens(draw)).count();
    assert_share("flip", count(|draw| draw.flip), draws.len(), 0.5);
    assert_share("jitter", count(|draw| draw.jitter.is_some()), draws.len(), 0.8);
    assert_share("grayscale", count(|draw| draw.grayscale), draws.len(), 0.2);
    assert_share("blur", count(|draw| draw.blur.is_some()), draws.len(), 0.5);
    // Steps are independent of each other.
    let both = count(|draw| draw.flip && draw.grayscale);
    assert_share("flip and grayscale", both, draws.len(), 0.1);
    let both = count(|draw| draw.jitter.is_some() && draw.blur.is_some());
    assert_share("jitter and blur", both, draws.len(), 0.4);
}

#[test]
fn factors_and_standard_deviations_are_uniform() {
    let draws = draws(&ViewsConfig::default(), 32, 32);
    let jitters = || draws.iter().filter_map(|draw| draw.jitter);
    assert_uniform("brightness", jitters().map(|jitter| jitter.brightness), 0.6, 1.4);
    assert_uniform("contrast", jitters().map(|jitter| jitter.contrast), 0.6, 1.4);
    assert_uniform("saturation", jitters().map(|jitter| jitter.saturation), 0.6, 1.4);
    assert_uniform("hue", jitters().filter_map(|jitter| jitter.hue), -0.1, 0.1);
    assert_uniform("sigma", draws.iter().filter_map(|draw| draw.blur), 0.1, 2.0);
}

#[test]
fn all_orders_of_the_changes_of_colour_are_equally_frequent() {
    let draws = draws(&ViewsConfig::default(), 32, 32);
    let mut counts: HashMap<[Adjustment; 4], usize> = HashMap::new();
    let jitters: Vec<_> = draws.iter().filter_map(|draw| draw.jitter).collect();
    for jitter in &jitters {
        *counts.entry(jitter.order).or_default() += 1;
    }
    assert_eq!(counts.len(), 24);
    let expected = jitters.len() as f64 / 24.0;
    // Chi-squared with 23 degrees of freedom is below 41.6 in 99 of 100 samples.
    let chi_squared: f64 = counts
        .values()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum();
    assert!(chi_squared < 41.6, "{chi_squared}");
}

#[test]
fn factors_of_strengths_above_one_do_not_fall_below_zero() {
    let mut config = ViewsConfig::default();
    config.jitter.brightness = 3.0;
    let draws = draws(&config, 32, 32);
    let factors = draws.iter().filter_map(|draw| draw.jitter).map(|jitter| jitter.brightness);
    assert_uniform("brightness", factors, 0.0, 4.0);
}

#[test]
fn a_hue_of_zero_leaves_the_step_out() {
    let mut config = ViewsConfig::default();
    config.jitter.hue = 0.0;
    let draws = draws(&config, 32, 32);
    let jitters: Vec<Jitter> = draws.iter().filter_map(|draw| draw.jitter).collect();
    assert_share("jitter", jitters.len(), draws.len(), 0.8);
    assert!(jitters.iter().all(|jitter| jitter.hue.is_none()));
}

/// Only squares are drawn, and none with nine tenths of the area fits into an image of 100 by 8.
#[test]
fn an_image_that_no_draw_fits_into_shows_its_middle() {
    let crop = CropConfig {
        scale: [0.9, 1.0],
        ratio: [1.0, 1.0],
    };
    let lying = crop.draw(100, 8, &mut Seed(0).rng());
    assert_eq!((lying.left, lying.top, lying.width, lying.height), (46, 0, 8, 8));
    let standing = crop.draw(8, 101, &mut Seed(0).rng());
    assert_eq!((standing.left, standing.top, standing.width, standing.height), (0, 46, 8, 8));
    assert_eq!(CropConfig::default().fallback(30, 32), Region::whole(30, 32));
}

/// Keys given for the second view replace the first view's keys one by one; local crops differ only in their regions.
#[test]
fn each_view_is_drawn_from_its_own_distribution() {
    let mut config = ViewsConfig {
        local: Some(LocalCropsConfig {
            count: 1,
            side: 16,
            scale: [0.05, 0.14],
        }),
        ..ViewsConfig::default()
    };
    config.blur.probability = 0.9;
    config.second.crop.scale = Some([0.2, 0.3]);
    config.second.jitter.hue = Some(0.3);
    config.second.grayscale = Some(0.6);
    config.second.blur.probability = Some(0.1);
    config.second.solarise.probability = Some(0.2);
    let views = config.init();
    // Large images, so that rounding to pixels hardly changes areas and no draw is rejected for lack of space.
    let draws_of = |which: usize| -> Vec<Draw> {
        let draw = |i| views.draw(which, 1000, 1000, &mut Seed(6).index(i).rng());
        (0..NUM_DRAWS).map(draw).collect()
    };
    let area = |draw: &Draw| (draw.region.width * draw.region.height) as f64 / 1e6;
    let hue = |draw: &Draw| draw.jitter.and_then(|jitter| jitter.hue);
    let saturation = |draw: &Draw| draw.jitter.map(|jitter| jitter.saturation);
    for (which, scale, strongest_hue, [grey, blurred, solarised]) in [
        (0, None, 0.1, [0.2, 0.9, 0.0]),
        (1, Some([0.2, 0.3]), 0.3, [0.6, 0.1, 0.2]),
        (2, Some([0.05, 0.14]), 0.1, [0.2, 0.9, 0.0]),
    ] {
        let draws = draws_of(which);
        let count = |happens: fn(&Draw) -> bool| draws.iter().filter(|draw| happens(draw)).count();
        if let Some([low, high]) = scale {
            // Sides are whole pixels, of which there are at least 190.
            assert!(
                draws.iter().all(|draw| (low - 0.003..high + 0.003).contains(&area(draw))),
                "{which}"
            );
            assert_uniform("area", draws.iter().map(area).map(|area| area.clamp(low, high)), low, high);
        }
        assert_uniform("hue", draws.iter().filter_map(hue), -strongest_hue, strongest_hue);
        assert_uniform("saturation", draws.iter().filter_map(saturation), 0.6, 1.4);
        assert_uniform("sigma", draws.iter().filter_map(|draw| draw.blur), 0.1, 2.0);
        assert_share("grayscale", count(|draw| draw.grayscale), draws.len(), grey);
        assert_share("blur", count(|draw| draw.blur.is_some()), draws.len(), blurred);
        assert_share("flip", count(|draw| draw.flip), draws.len(), 0.5);
        assert_share("solarise", count(|draw| draw.solarise == Some(128)), draws.len(), solarised);
    }
}

/// Changing these constants would change every published run.
#[test]
fn draws_are_frozen() {
    let draw = ViewsConfig::default().init().draw(0, 32, 32, &mut Seed(1).rng());
    let expected = Draw {
        region: Region {
            left: 1,
            top: 0,
            width: 31,
            height: 27,
        },
        flip: true,
        jitter: Some(Jitter {
            order: [
                Adjustment::Contrast,
                Adjustment::Saturation,
                Adjustment::Hue,
                Adjustment::Brightness,
            ],
            brightness: 1.018_733_491_192_244_5,
            contrast: 0.677_281_460_734_375_5,
            saturation: 0.707_435_025_635_751_6,
            hue: Some(0.084_076_106_262_511_91),
        }),
        grayscale: false,
        blur: Some(0.849_702_953_446_827_4),
        solarise: None,
    };
    assert_eq!(draw, expected);
}
