//! Batches of views, their settings, and contact sheets.

use bcl_data::Seed;
use bcl_images::{Collection, Image, Views, ViewsConfig, ViewsError, view_seed};
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
        pool.install(|| views.batch(&images, &indices, 3, Seed(1), &mut out));
        out
    };
    let alone = made_by(1);
    assert_eq!(alone.len(), 2 * 60 * 3 * 12 * 12);
    assert!(made_by(2) == alone);
    assert!(made_by(5) == alone);
}

#[test]
fn a_view_depends_on_run_epoch_sample_and_which_alone() {
    let images = images(&SIZES);
    let views = views(8);
    let length = views.view_len();
    let mut batch = vec![f32::NAN; 7];
    views.batch(&images, &[4, 0, 3], 11, Seed(2), &mut batch);
    for which in 0..2 {
        for (row, sample) in [4, 0, 3].into_iter().enumerate() {
            let mut alone = vec![0.0; length];
            let seed = Seed(2).named("views").index(11).index(sample as u64).index(which as u64);
            assert_eq!(seed, view_seed(Seed(2), 11, sample, which));
            views.view(images.get(sample), seed, &mut alone);
            assert_eq!(alone, batch[(which * 3 + row) * length..][..length], "{which} {sample}");
        }
    }

    let mut other = Vec::new();
    for (epoch, run) in [(12, 2), (11, 3)] {
        views.batch(&images, &[4, 0, 3], epoch, Seed(run), &mut other);
        assert!(
            batch.chunks(length).zip(other.chunks(length)).all(|(a, b)| a != b),
            "{epoch} {run}"
        );
    }
    assert_ne!(batch[..length], batch[3 * length..][..length]);

    views.single_batch(&images, &[4, 0, 3], 11, Seed(2), &mut other);
    assert_eq!(other, batch[..3 * length]);
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
    let mut draw = views.draw(20, 20, &mut Seed(1).rng());
    assert!(draw.jitter.is_some() && !draw.grayscale);
    let mut out = vec![0.0; views.view_len()];
    let mut planes_are_equal = |grayscale| {
        draw.grayscale = grayscale;
        views.apply(images.get(0), &draw, &mut out);
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
    views(8).batch(&images(&SIZES), &[], 0, Seed(0), &mut out);
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
    views.batch(&images, &[1, 0], 0, Seed(0), &mut batch);
    let png = views.contact_sheet(&images, &[1, 0], &batch);
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

#[test]
fn settings_have_the_defaults_of_simclr_and_refuse_unknown_names() {
    let read = |text: &str| toml::from_str::<ViewsConfig>(text);
    assert_eq!(read("").unwrap(), ViewsConfig::default());
    let config = read("side = 64\nflip = 0.0\n[crop]\nscale = [0.2, 1.0]\n[blur]\nprobability = 0.0").unwrap();
    assert_eq!((config.side, config.crop.scale, config.jitter.hue), (64, [0.2, 1.0], 0.1));
    assert_eq!(read(&toml::to_string(&config).unwrap()).unwrap(), config);
    for text in [
        "sides = 3",
        "[crop]\nscales = [0.1, 1.0]",
        "[jitter]\nhues = 0.1",
        "[blur]\nsigmas = 1.0",
    ] {
        assert!(read(text).unwrap_err().to_string().contains("unknown field"), "{text}");
    }
}

#[test]
fn the_defaults_pass_their_check() {
    assert_eq!(ViewsConfig::default().check(), Ok(()));
    assert_eq!(ViewsConfig::plain(1).check(), Ok(()));
}

/// A change of settings that the check refuses, and its message.
type Refused = (fn(&mut ViewsConfig), &'static str);

#[test]
fn every_setting_out_of_range_is_named_with_its_value_and_range() {
    let cases: [Refused; 18] = [
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
    ];
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
#[should_panic(expected = "views.flip is 2.0")]
fn views_of_settings_out_of_range_panic() {
    let config = ViewsConfig {
        flip: 2.0,
        ..ViewsConfig::default()
    };
    config.init();
}
