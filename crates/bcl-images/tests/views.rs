//! Batches of views, their settings, and contact sheets.

use bcl_data::Seed;
use bcl_images::views::blur::Blurrer;
use bcl_images::views::solarise::solarise;
use bcl_images::{
    Collection, ColourSpace, Draw, Image, LocalCropsConfig, SecondViewConfig, Views, ViewsConfig, ViewsError, view_seed,
};
use rand::Rng;

/// Noise images of the given sizes.
fn images(sizes: &[[usize; 2]]) -> Collection {
    let mut images = Collection::new(Vec::new());
    for (i, &[width, height]) in (0..).zip(sizes) {
        let mut pixels = vec![0; 3 * width * height];
        Seed(9).index(i).rng().fill_bytes(&mut pixels);
        let image = Image {
            width,
            height,
            pixels: &pixels,
        };
        images.push(image, None);
    }
    images
}

fn views(side: usize) -> Views {
    ViewsConfig {
        side,
        ..ViewsConfig::default()
    }
    .init()
}

const SIZES: [[usize; 2]; 5] = [[32, 32], [9, 40], [1, 1], [33, 17], [12, 12]];

#[test]
fn any_number_of_threads_makes_the_same_batch() {
    let images = images(&SIZES);
    let indices: Vec<usize> = (0..60).map(|i| i * 7 % 5).collect();
    let views = views(12);
    let made_by = |num_threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(num_threads)
            .build()
            .expect("a pool");
        let mut out = Vec::new();
        pool.install(|| {
            views
                .batch(&images, &indices, 3, Seed(1), &mut out)
                .expect("images in memory");
        });
        out
    };
    let alone = made_by(1);
    assert_eq!(alone.len(), 2 * 60 * 3 * 12 * 12);
    assert!(made_by(2) == alone);
    assert!(made_by(5) == alone);
}

#[test]
fn an_image_drawn_twice_with_epochs_of_its_own_looks_different() {
    let images = images(&SIZES);
    let views = views(8);
    let row = 3 * 8 * 8;
    let mut mixed = Vec::new();
    views
        .batch_of_epochs(&images, &[4, 0, 4], &[11, 11, 12], Seed(2), &mut mixed)
        .expect("images in memory");
    for (position, epoch) in [(0, 11), (1, 11), (2, 12)] {
        let mut whole = Vec::new();
        views
            .batch(&images, &[4, 0, 4], epoch, Seed(2), &mut whole)
            .expect("images in memory");
        for which in 0..2 {
            let place = (which * 3 + position) * row;
            assert_eq!(mixed[place..][..row], whole[place..][..row], "{position} {which}");
        }
    }
    assert_ne!(mixed[..row], mixed[2 * row..][..row]);
}

#[test]
fn a_view_depends_on_run_epoch_sample_and_which_alone() {
    let images = images(&SIZES);
    let views = views(8);
    let length = views.view_len(0);
    let mut batch = vec![f32::NAN; 7];
    views
        .batch(&images, &[4, 0, 3], 11, Seed(2), &mut batch)
        .expect("images in memory");
    for which in 0..2 {
        for (row, sample) in [4, 0, 3].into_iter().enumerate() {
            let mut alone = vec![0.0; length];
            let seed = Seed(2).named("views").index(11).index(sample as u64).index(which as u64);
            assert_eq!(seed, view_seed(Seed(2), 11, sample, which));
            views.view(which, images.get(sample), seed, &mut alone);
            assert_eq!(alone, batch[(which * 3 + row) * length..][..length], "{which} {sample}");
        }
    }

    let mut other = Vec::new();
    for (epoch, run) in [(12, 2), (11, 3)] {
        views
            .batch(&images, &[4, 0, 3], epoch, Seed(run), &mut other)
            .expect("images in memory");
        assert!(
            batch.chunks(length).zip(other.chunks(length)).all(|(a, b)| a != b),
            "{epoch} {run}"
        );
    }
    assert_ne!(batch[..length], batch[3 * length..][..length]);

    views
        .single_batch(&images, &[4, 0, 3], 11, Seed(2), &mut other)
        .expect("images in memory");
    assert_eq!(other, batch[..3 * length]);
}

/// Four global views, the second of which differs from the others, and two local crops.
fn six_views() -> ViewsConfig {
    let mut config = ViewsConfig {
        count: 4,
        side: 8,
        local: Some(LocalCropsConfig {
            count: 2,
            side: 5,
            scale: [0.05, 0.14],
        }),
        ..ViewsConfig::default()
    };
    config.second.solarise.probability = Some(1.0);
    config
}

#[test]
fn a_batch_has_the_global_views_and_then_the_local_crops() {
    let images = images(&SIZES);
    let views = six_views().init();
    assert_eq!(views.layout(), [8, 8, 8, 8, 5, 5]);
    assert_eq!(views.batch_len(3), 3 * 3 * (4 * 8 * 8 + 2 * 5 * 5));
    let mut batch = vec![f32::NAN; 7];
    views
        .batch(&images, &[4, 0, 3], 11, Seed(2), &mut batch)
        .expect("images in memory");
    assert_eq!(batch.len(), views.batch_len(3));
    let mut rest = batch.as_slice();
    for which in 0..6 {
        for sample in [4, 0, 3] {
            let mut alone = vec![0.0; views.view_len(which)];
            views.view(which, images.get(sample), view_seed(Seed(2), 11, sample, which), &mut alone);
            let of_batch = rest.split_off(..alone.len()).expect("all views");
            assert_eq!(alone, of_batch, "{which} {sample}");
        }
    }
    assert!(rest.is_empty());
}

/// More views per image do not change the two views of a pair, to the bit, and the second view differs only by what it replaces.
#[test]
fn views_do_not_depend_on_the_other_views_of_the_image() {
    let images = images(&SIZES);
    let batch = |config: &ViewsConfig| {
        let mut batch = Vec::new();
        config
            .init()
            .batch(&images, &[4, 0, 3], 11, Seed(2), &mut batch)
            .expect("images in memory");
        batch
    };
    let pair = batch(&ViewsConfig {
        side: 8,
        ..ViewsConfig::default()
    });
    let mut config = six_views();
    let with_second = batch(&config);
    config.second = SecondViewConfig::default();
    let without = batch(&config);
    assert_eq!(without[..pair.len()], pair);
    let of_one_view = pair.len() / 2;
    assert_eq!(with_second[..of_one_view], pair[..of_one_view]);
    assert!(with_second[of_one_view..pair.len()] != pair[of_one_view..]);
    assert_eq!(with_second[pair.len()..], without[pair.len()..]);

    config.count = 1;
    config.local = None;
    assert_eq!(batch(&config), pair[..of_one_view]);
}

#[test]
fn solarisation_comes_after_the_blur() {
    let images = images(&[[8, 8]]);
    let mut config = ViewsConfig {
        mean: [0.0; 3],
        std: [1.0; 3],
        ..ViewsConfig::plain(8)
    };
    config.blur.kernel_fraction = 0.4;
    let mut out = vec![0.0; 3 * 8 * 8];
    let draw = Draw {
        blur: Some(1.0),
        solarise: Some(100),
        ..Draw::plain(8, 8)
    };
    config.init().apply(0, images.get(0), &draw, &mut out);

    let channel = |channel: usize| images.get(0).pixels.iter().skip(channel).step_by(3);
    let mut planes: Vec<u8> = (0..3).flat_map(channel).copied().collect();
    Blurrer::default().blur(&mut planes, 8, 3, 1.0);
    solarise(&mut planes, 100);
    let expected: Vec<f32> = planes.iter().map(|&level| f32::from(level) / 255.0).collect();
    assert_eq!(out, expected);
}

/// Holds even after a colour change, which comes first.
#[test]
fn a_view_without_colour_has_the_same_level_in_all_channels() {
    let images = images(&[[20, 20]]);
    let config = ViewsConfig {
        mean: [0.0; 3],
        std: [1.0; 3],
        ..ViewsConfig::default()
    };
    let views = config.init();
    let mut draw = views.draw(0, 20, 20, &mut Seed(1).rng());
    assert!(draw.jitter.is_some() && !draw.grayscale);
    let mut out = vec![0.0; views.view_len(0)];
    let mut planes_are_equal = |grayscale| {
        draw.grayscale = grayscale;
        views.apply(0, images.get(0), &draw, &mut out);
        let (red, rest) = out.split_at(32 * 32);
        let (green, blue) = rest.split_at(32 * 32);
        red == green && green == blue
    };
    assert!(!planes_are_equal(false));
    assert!(planes_are_equal(true));
}

#[test]
fn a_batch_of_nothing_is_empty() {
    let mut out = vec![1.0; 10];
    views(8)
        .batch(&images(&SIZES), &[], 0, Seed(0), &mut out)
        .expect("images in memory");
    assert!(out.is_empty());
    let size = views(8).test_batch(&images(&SIZES), &[], None, &mut out);
    assert_eq!((size, out.len()), (Ok([0, 0]), 0));
}

#[test]
fn evaluation_shows_images_as_they_are_or_at_a_side() {
    let images = images(&[[5, 9], [5, 9], [9, 5]]);
    let views = views(8);
    let mut out = Vec::new();
    assert_eq!(views.test_batch(&images, &[1, 0], None, &mut out), Ok([9, 5]));
    let mut alone = vec![0.0; 3 * 9 * 5];
    views.native_view(images.get(0), &mut alone);
    assert_eq!(out[3 * 9 * 5..], alone);
    let level = f32::from(images.get(0).pixels[0]);
    assert!((alone[0] - (level / 255.0 - 0.4914) / 0.2023).abs() < 1e-6, "{level}");

    assert_eq!(views.test_batch(&images, &[1, 2], Some(4), &mut out), Ok([4, 4]));
    let mut alone = vec![0.0; 3 * 4 * 4];
    views.test_view(images.get(2), 4, &mut alone);
    assert_eq!(out[3 * 4 * 4..], alone);
}

#[test]
fn images_of_different_sizes_need_a_common_side() {
    let images = images(&[[5, 9], [5, 9], [9, 5]]);
    let error = views(8).test_batch(&images, &[0, 1, 2], None, &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "image 2 has 5 x 9 rows and columns, but image 0 of the same batch has 9 x 5. Evaluate at a fixed side instead of the native size."
    );
}

#[test]
fn a_contact_sheet_shows_originals_and_the_levels_of_views() {
    let images = images(&[[32, 32], [300, 20]]);
    let config = ViewsConfig::plain(32);
    let views = config.init();
    let mut batch = Vec::new();
    views
        .batch(&images, &[1, 0], 0, Seed(0), &mut batch)
        .expect("images in memory");
    let png = views.contact_sheet(&images, &[1, 0], &batch).expect("images in memory");
    let sheet = image::load_from_memory(&png).expect("a PNG file").to_rgb8();
    assert_eq!(sheet.dimensions(), (3 * 100 + 4, 2 * 100 + 4));
    // A plain view of the first image equals the original; both are enlarged by 3.
    let original = images.get(0);
    for (x, y) in [(0, 0), (31, 0), (13, 22), (31, 31)] {
        let pixel = &original.pixels[3 * (y * 32 + x)..][..3];
        for column in 0..3 {
            let shown = sheet.get_pixel((4 + column * 100 + 3 * x + 2) as u32, (104 + 3 * y + 1) as u32);
            assert_eq!(shown.0, pixel, "{column} {x} {y}");
        }
    }
}

/// With noise for pixels, no two of these cells look alike.
#[test]
fn a_contact_sheet_shows_all_views_in_rgb_and_local_crops_smaller() {
    let images = images(&[[8, 8], [20, 11]]);
    for colour in [ColourSpace::Rgb, ColourSpace::Lab, ColourSpace::YCbCr] {
        let config = ViewsConfig { colour, ..six_views() };
        let views = config.init();
        let mut batch = Vec::new();
        views
            .batch(&images, &[1, 0], 0, Seed(0), &mut batch)
            .expect("images in memory");
        let png = views.contact_sheet(&images, &[1, 0], &batch).expect("images in memory");
        let sheet = image::load_from_memory(&png).expect("a PNG file").to_rgb8();
        // The original and 4 views of 96 pixels, 2 views of 60, and a gap of 4 around each.
        assert_eq!(sheet.dimensions(), (4 + 5 * 100 + 2 * 64, 4 + 2 * 100));

        let raw = ViewsConfig {
            colour: ColourSpace::Rgb,
            mean: [0.0; 3],
            std: [1.0; 3],
            ..six_views()
        };
        let mut levels = Vec::new();
        raw.init()
            .batch(&images, &[1, 0], 0, Seed(0), &mut levels)
            .expect("images in memory");
        let mut rest = levels.as_slice();
        let mut left = 104;
        for side in views.layout() {
            for row in 0..2 {
                let view = rest.split_off(..3 * side * side).expect("all views");
                for place in 0..side * side {
                    let (x, y) = (left + 12 * (place % side) + 11, 4 + row * 100 + 12 * (place / side));
                    let expected = [0, 1, 2].map(|channel| (view[channel * side * side + place] * 255.0).round() as u8);
                    assert_eq!(
                        sheet.get_pixel(x as u32, y as u32).0,
                        expected,
                        "{} {side} {row} {place}",
                        colour.name()
                    );
                }
            }
            left += side * 12 + 4;
        }
    }
}

#[test]
fn settings_have_the_defaults_of_simclr_and_refuse_unknown_names() {
    let read = |text: &str| toml::from_str::<ViewsConfig>(text);
    assert_eq!(read("").unwrap(), ViewsConfig::default());
    let config = read("side = 64\nflip = 0.0\n[crop]\nscale = [0.2, 1.0]\n[blur]\nprobability = 0.0").unwrap();
    assert_eq!((config.side, config.crop.scale, config.jitter.hue), (64, [0.2, 1.0], 0.1));
    assert_eq!(read(&toml::to_string(&config).unwrap()).unwrap(), config);
    let partly = read("second = { blur = { probability = 0.1 } }\nlocal = { side = 14 }").unwrap();
    let local = partly.local.as_ref().expect("given");
    assert_eq!((local.count, local.side, local.scale), (6, 14, [0.05, 0.14]));
    assert_eq!(read(&toml::to_string(&partly).unwrap()).unwrap(), partly);
    assert!(
        read("local = { count = 6 }")
            .unwrap_err()
            .to_string()
            .contains("missing field `side`")
    );
    assert_eq!(read("colour = 'ycbcr'").unwrap().colour, ColourSpace::YCbCr);
    for text in [
        "sides = 3",
        "[second]\nflip = 0.1",
        "[second.blur]\nsigmas = 1.0",
        "[local]\nside = 3\nflip = 0.1",
        "[solarise]\nlevel = 3",
        "[crop]\nscales = [0.1, 1.0]",
        "[jitter]\nhues = 0.1",
        "[blur]\nsigmas = 1.0",
    ] {
        assert!(read(text).unwrap_err().to_string().contains("unknown field"), "{text}");
    }
}

/// Resolved recipes are hashed: later settings must not appear unless they are used.
#[test]
fn settings_that_are_not_used_are_not_written() {
    let written = toml::to_string(&ViewsConfig::default()).unwrap();
    for key in ["count", "solarise", "second", "local", "colour"] {
        assert!(!written.contains(key), "{written}");
    }
    let mut config = six_views();
    config.colour = ColourSpace::Lab;
    config.solarise.threshold = 100;
    let written = toml::to_string(&config).unwrap();
    for line in [
        "count = 4",
        "colour = \"lab\"",
        "threshold = 100",
        "[second.solarise]",
        "[local]",
    ] {
        assert!(written.contains(line), "{line} <-> {written}");
    }
    assert!(!written.contains("[second.blur]"), "{written}");
}

#[test]
fn the_defaults_pass_their_check() {
    assert_eq!(ViewsConfig::default().check(), Ok(()));
    assert_eq!(ViewsConfig::plain(1).check(), Ok(()));
}

/// A change of settings that the check refuses, and its message.
type Refused = (fn(&mut ViewsConfig), &'static str);

fn assert_refused(cases: &[Refused]) {
    for (change, text) in cases {
        let mut config = ViewsConfig::default();
        change(&mut config);
        let error = config.check().expect_err(text);
        assert!(matches!(error, ViewsError::OutOfRange { .. }));
        assert!(error.to_string().starts_with(&format!("views.{text}")), "{error} <-> {text}");
        assert!(error.to_string().contains("--set views."), "{error}");
    }
}

#[test]
fn every_setting_out_of_range_is_named_with_its_value_and_range() {
    assert_refused(&[
        (|config| config.side = 0, "side is 0, but must be in [1, 4096]"),
        (|config| config.side = 4097, "side is 4097, but must be in [1, 4096]"),
        (
            |config| config.crop.scale = [0.0, 1.0],
            "crop.scale is [0.0, 1.0], but must be in [1e-6, 1.0]",
        ),
        (
            |config| config.crop.scale = [0.5, 1.1],
            "crop.scale is [0.5, 1.1], but must be in [1e-6, 1.0]",
        ),
        (
            |config| config.crop.scale = [0.5, 0.4],
            "crop.scale is [0.5, 0.4], but must be in [1e-6, 1.0], smaller value first",
        ),
        (
            |config| config.crop.ratio = [1.0, f64::INFINITY],
            "crop.ratio is [1.0, inf], but must be in [0.001, 1000.0]",
        ),
        (|config| config.flip = -0.1, "flip is -0.1, but must be in [0, 1]"),
        (
            |config| config.jitter.brightness = -1.0,
            "jitter.brightness is -1.0, but must be in [0, 100]",
        ),
        (
            |config| config.jitter.contrast = f64::INFINITY,
            "jitter.contrast is inf, but must be in [0, 100]",
        ),
        (
            |config| config.jitter.saturation = f64::NAN,
            "jitter.saturation is NaN, but must be in [0, 100]",
        ),
        (|config| config.jitter.hue = 0.6, "jitter.hue is 0.6, but must be in [0, 0.5]"),
        (
            |config| config.jitter.probability = 2.0,
            "jitter.probability is 2.0, but must be in [0, 1]",
        ),
        (
            |config| config.grayscale = f64::NAN,
            "grayscale is NaN, but must be in [0, 1]",
        ),
        (
            |config| config.blur.kernel_fraction = 1.5,
            "blur.kernel_fraction is 1.5, but must be in [0, 1]",
        ),
        (
            |config| config.blur.sigma = [0.0, 2.0],
            "blur.sigma is [0.0, 2.0], but must be in [0.001, 1000.0]",
        ),
        (
            |config| config.blur.probability = -1.0,
            "blur.probability is -1.0, but must be in [0, 1]",
        ),
        (
            |config| config.mean[1] = 1.5,
            "mean is [0.4914, 1.5, 0.4465], but must be in [0, 1]",
        ),
        (
            |config| config.std[2] = 0.0,
            "std is [0.2023, 0.1994, 0.0], but must be in [1e-5, 1e5]",
        ),
    ]);
}

#[test]
fn settings_of_further_views_out_of_range_are_named_with_their_table() {
    assert_refused(&[
        (|config| config.count = 0, "count is 0, but must be in [1, 16]"),
        (|config| config.count = 17, "count is 17, but must be in [1, 16]"),
        (
            |config| config.solarise.threshold = 256,
            "solarise.threshold is 256, but must be in [0, 255]",
        ),
        (
            |config| config.solarise.probability = 1.5,
            "solarise.probability is 1.5, but must be in [0, 1]",
        ),
        (
            |config| config.second.crop.scale = Some([0.0, 1.0]),
            "second.crop.scale is [0.0, 1.0], but must be in [1e-6, 1.0]",
        ),
        (
            |config| config.second.grayscale = Some(f64::NAN),
            "second.grayscale is NaN, but must be in [0, 1]",
        ),
        (
            |config| config.second.solarise.threshold = Some(300),
            "second.solarise.threshold is 300, but must be in [0, 255]",
        ),
        (
            |config| config.local = Some(local(33, 8, [0.1, 0.2])),
            "local.count is 33, but must be in [1, 32]",
        ),
        (
            |config| config.local = Some(local(0, 8, [0.1, 0.2])),
            "local.count is 0, but must be in [1, 32]",
        ),
        (
            |config| config.local = Some(local(1, 4097, [0.1, 0.2])),
            "local.side is 4097, but must be in [1, 4096]",
        ),
        (
            |config| config.local = Some(local(1, 8, [0.3, 0.2])),
            "local.scale is [0.3, 0.2], but must be in [1e-6, 1.0]",
        ),
    ]);
}

fn local(count: usize, side: usize, scale: [f64; 2]) -> LocalCropsConfig {
    LocalCropsConfig { count, side, scale }
}

#[test]
fn settings_without_effect_are_refused() {
    let refused = |text: &str| toml::from_str::<ViewsConfig>(text).unwrap().check().unwrap_err().to_string();
    assert_eq!(
        refused("count = 1\nsecond = { grayscale = 0.1 }"),
        "views.second has no effect with views.count = 1, which leaves no second view; raise the count, or remove the table."
    );
    assert_eq!(
        refused("colour = 'lab'\nmean = [0.5, 0.5, 0.5]"),
        "views.mean has no effect with views.colour = \"lab\", whose channels are normalised with constants of their own; remove it, or \
         set it to its default [0.4914, 0.4822, 0.4465]."
    );
    assert!(
        refused("colour = 'ycbcr'\nstd = [0.5, 0.5, 0.5]").starts_with("views.std has no effect with views.colour = \"ycbcr\"")
    );
    assert_eq!(
        toml::from_str::<ViewsConfig>("count = 1\ncolour = 'lab'").unwrap().check(),
        Ok(())
    );
}

#[test]
#[should_panic(expected = "images have 2 views, and none has number 2")]
fn a_third_view_of_a_pair_panics() {
    views(8).view_len(2);
}

#[test]
#[should_panic(expected = "views.flip is 2.0")]
fn views_of_settings_out_of_range_panic() {
    let config = ViewsConfig {
        flip: 2.0,
        ..ViewsConfig::default()
    };
    config.init();
}
