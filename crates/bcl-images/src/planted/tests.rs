//! Planted images are the same everywhere, balanced, and not recognisable from single pixels.

use super::*;
use proptest::prelude::*;

fn small() -> PlantedImagesConfig {
    PlantedImagesConfig {
        train: 40,
        test: 20,
        ..PlantedImagesConfig::default()
    }
}

fn on_threads(threads: usize, config: &PlantedImagesConfig) -> ImageData {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| config.generate())
}

fn pixels(images: &Collection) -> Vec<(Vec<f32>, u32)> {
    (0..images.len())
        .map(|index| {
            let pixels = images.get(index).pixels.iter().map(|&value| f32::from(value)).collect();
            (pixels, images.labels()[index].unwrap())
        })
        .collect()
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Accuracy of the nearest class mean on `test`.
fn accuracy_of_class_means(train: &[(Vec<f32>, u32)], test: &[(Vec<f32>, u32)], classes: usize) -> f64 {
    let mut means = vec![vec![0.0; train[0].0.len()]; classes];
    let mut counts = vec![0.0; classes];
    for (pixels, label) in train {
        counts[*label as usize] += 1.0;
        for (mean, pixel) in means[*label as usize].iter_mut().zip(pixels) {
            *mean += pixel;
        }
    }
    for (mean, count) in means.iter_mut().zip(&counts) {
        for value in mean {
            *value /= count;
        }
    }
    let nearest = |pixels: &[f32]| {
        let distances = means.iter().map(|mean| distance(pixels, mean));
        distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0
    };
    let right = test
        .iter()
        .filter(|(pixels, label)| nearest(pixels) == *label as usize)
        .count();
    right as f64 / test.len() as f64
}

/// Accuracy of the nearest neighbour on `test`.
fn accuracy_of_neighbours(train: &[(Vec<f32>, u32)], test: &[(Vec<f32>, u32)]) -> f64 {
    let right = test.par_iter().filter(|(pixels, label)| {
        let nearest = train
            .iter()
            .min_by(|a, b| distance(pixels, &a.0).total_cmp(&distance(pixels, &b.0)));
        nearest.unwrap().1 == *label
    });
    right.count() as f64 / test.len() as f64
}

#[test]
fn pixels_alone_do_not_determine_the_class() {
    let data = PlantedImagesConfig {
        train: 2000,
        test: 300,
        ..PlantedImagesConfig::default()
    }
    .generate();
    let (train, test) = (pixels(&data.train), pixels(&data.test));
    let means = accuracy_of_class_means(&train, &test, 10);
    let neighbours = accuracy_of_neighbours(&train, &test);
    println!("class means {means:.3}, nearest neighbour {neighbours:.3}, chance 0.1");
    assert!(means < 0.2, "{means}");
    assert!(neighbours < 0.5, "{neighbours}");
}

#[test]
fn without_nuisances_pixels_determine_the_class() {
    // The random circumstances hide the class: without them, each class is a single image up to noise.
    let config = small();
    let images = |class| config.draw(class, Seed(3));
    for class in 1..10 {
        let differ = images(0)
            .iter()
            .zip(images(class))
            .filter(|(a, b)| a.abs_diff(*b) > 40)
            .count();
        assert!(differ > 90, "class {class} differs from class 0 in {differ} values");
    }
}

#[test]
fn neither_shape_nor_texture_alone_determines_the_class() {
    let pairs: Vec<_> = (0..15).map(pair).collect();
    for (index, (shape, texture)) in pairs.iter().enumerate() {
        assert!(!pairs[..index].contains(&(*shape, *texture)), "{index}");
    }
    for (shape, texture) in &pairs[..10] {
        assert_eq!(pairs[..10].iter().filter(|pair| pair.0 == *shape).count(), 2);
        assert!(pairs[..10].iter().filter(|pair| pair.1 == *texture).count() >= 3);
    }
}

#[test]
fn colours_are_as_far_from_grey_as_the_tint() {
    // The spread of red, green and blue within a pixel, averaged over all pixels.
    let spread = |tint: f64| {
        let config = PlantedImagesConfig {
            tint,
            noise: 0.0,
            ..small()
        };
        let images = config.generate().train;
        let spreads = pixels(&images).into_iter().flat_map(|(pixels, _)| {
            let of_pixel =
                |pixel: &[f32]| pixel.iter().copied().fold(0.0, f32::max) - pixel.iter().copied().fold(f32::MAX, f32::min);
            pixels.chunks(3).map(of_pixel).collect::<Vec<_>>()
        });
        let spreads: Vec<f32> = spreads.collect();
        spreads.iter().sum::<f32>() / spreads.len() as f32
    };
    assert_eq!(spread(0.0), 0.0);
    let [faint, strong] = [0.05, 0.3].map(spread);
    assert!(strong > 4.0 * faint && faint > 0.0, "{faint} {strong}");
}

#[test]
fn classes_are_balanced() {
    let data = small().generate();
    for class in 0..10 {
        assert_eq!(data.train.labels().iter().filter(|label| **label == Some(class)).count(), 4);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let config = PlantedImagesConfig { train: 1500, ..small() };
    assert_eq!(on_threads(1, &config), on_threads(2, &config));
}

#[test]
fn train_and_test_share_no_image() {
    let data = small().generate();
    for index in 0..20 {
        assert_ne!(data.train.get(index), data.test.get(index), "{index}");
    }
}

/// Changing this constant would change every published run.
#[test]
fn images_are_frozen() {
    let data = small().generate();
    let sum = |images: &Collection| {
        (0..images.len())
            .flat_map(|i| images.get(i).pixels)
            .map(|&p| u64::from(p))
            .sum::<u64>()
    };
    assert_eq!((sum(&data.train), sum(&data.test)), (15_352_891, 7_365_375));
}

#[test]
fn settings_out_of_range_are_named_with_their_range() {
    let default = PlantedImagesConfig::default;
    let cases = [
        (
            PlantedImagesConfig { classes: 1, ..default() },
            "data.planted.classes is 1, but must be in [2, 15]",
        ),
        (
            PlantedImagesConfig {
                classes: 16,
                ..default()
            },
            "classes is 16",
        ),
        (
            PlantedImagesConfig { train: 9, ..default() },
            "train is 9, but must be in [10, ",
        ),
        (
            PlantedImagesConfig {
                test: usize::MAX,
                ..default()
            },
            "test is 18446744073709551615",
        ),
        (
            PlantedImagesConfig { side: 15, ..default() },
            "side is 15, but must be in [16, 256]",
        ),
        (
            PlantedImagesConfig {
                noise: f64::NAN,
                ..default()
            },
            "noise is NaN, but must be in [0, 0.5]",
        ),
        (
            PlantedImagesConfig { tint: 0.6, ..default() },
            "tint is 0.6, but must be in [0, 0.5]",
        ),
    ];
    for (config, words) in cases {
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("--set data.planted."), "{error}");
    }
}

#[test]
fn configurations_are_read_with_defaults_and_without_unknown_keys() {
    let config: PlantedImagesConfig = toml::from_str("classes = 4\nnoise = 0.1").unwrap();
    assert_eq!(
        config,
        PlantedImagesConfig {
            classes: 4,
            noise: 0.1,
            ..PlantedImagesConfig::default()
        }
    );
    assert!(toml::from_str::<PlantedImagesConfig>("klasses = 4").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn an_image_depends_on_seed_and_index_alone(seed in any::<u64>(), more in 1_usize..30, classes in 2_usize..15) {
        let few = PlantedImagesConfig { classes, train: 20, test: 20, side: 16, seed, ..PlantedImagesConfig::default() };
        let many = PlantedImagesConfig { train: 20 + more, ..few.clone() };
        let (few, many) = (few.generate(), many.generate());
        for index in 0..20 {
            prop_assert_eq!(few.train.get(index), many.train.get(index));
        }
        prop_assert_eq!(few.test, many.test);
    }
}
