//! What a run on images prints when it starts.

use super::order::largest_batch_without_repeats;
use crate::training::run_summary::{RunSummary, grouped};
use bcl_backend::Backend;
use bcl_images::{Collection, ColourSpace, ImageData, ViewsConfig};
use bcl_recipe::{ImageRecipe, LossConfig, Precision, Sampling};
use std::path::Path;

/// Images whose side shrinks by more than this factor lose most of their detail.
const MOST_SHRUNK: f64 = 4.0;

/// Summarises a run.
pub(super) fn summary(
    recipe: &ImageRecipe,
    data: &ImageData,
    num_parameters: usize,
    backend: &Backend,
    folder: &Path,
) -> RunSummary {
    let side = recipe.views.side;
    let shown = recipe.evaluation.side.unwrap_or(side);
    let images = format!(
        "{}: {} training and {} test images of {} classes, {}; views of {side} x {side} pixels, evaluated at {shown}",
        data.name,
        grouped(data.train.len()),
        grouped(data.test.len()),
        data.train.classes().len(),
        sizes(&data.train)
    );
    let start = recipe
        .encoder
        .weights()
        .map(|file| format!(", weights from {}", file.display()));
    let model = format!(
        "{}, {} parameters{}",
        recipe.encoder.name(),
        grouped(num_parameters),
        start.unwrap_or_default()
    );
    let method = (!recipe.method.is_default()).then(|| recipe.method.name().to_owned());
    let estimator = recipe.loss.as_ref().map(LossConfig::in_words);
    let sampling = match recipe.training.sampling {
        Sampling::Uniform => "",
        Sampling::ClassBalanced => " drawn equally often by class, which reads the labels",
    };
    let sizes = format!(
        "batches of {}{sampling}, {}",
        recipe.training.batch_size,
        recipe.training.precision.name()
    );
    let loss: Vec<String> = method.into_iter().chain(estimator).chain([sizes]).collect();
    let loss = loss.join(", ");
    let slow = slow_precision(recipe.training.precision, backend.name());
    let warnings = shrunk(&data.train, &recipe.views)
        .into_iter()
        .chain(slow)
        .chain(repeats(recipe, &data.train));
    RunSummary::new(recipe, [images, model, loss], backend, folder).with_warnings(warnings)
}

/// Warns if views are much smaller than the images.
fn shrunk(images: &Collection, views: &ViewsConfig) -> Option<String> {
    let side = views.side;
    let (width, height) = median_size(images)?;
    let factor = ((width * height) as f64).sqrt() / side as f64;
    let of_cifar = if views.colour == ColourSpace::Rgb && views.mean == ViewsConfig::default().mean {
        ", normalised with the mean of CIFAR-10"
    } else {
        ""
    };
    (factor > MOST_SHRUNK).then(|| {
        format!(
            "images of {width} x {height} pixels become views of {side} x {side}{of_cifar}, which loses most of their detail; for \
             photographs set views.side = 224, views.mean and views.std of ImageNet, and encoder.trunk.stem = \"imagenet\""
        )
    })
}

/// Warns about 16-bit precision on the CPU, which emulates it.
fn slow_precision(precision: Precision, backend: &str) -> Option<String> {
    (matches!(precision, Precision::F16 | Precision::Bf16) && backend == "flex").then(|| {
        format!(
            "training.precision is \"{}\", which the CPU computes several times slower than \"f32\"; set it to \"f32\", or choose a GPU \
             with --backend",
            precision.name()
        )
    })
}

/// Warns if class-balanced batches have an image twice, whose views are then compared as negatives.
fn repeats(recipe: &ImageRecipe, images: &Collection) -> Option<String> {
    let has_negatives = recipe.method.settings().num_negatives(recipe.training.batch_size).is_some();
    if recipe.training.sampling == Sampling::Uniform || recipe.training.epochs == 0 || !has_negatives {
        return None;
    }
    let largest = largest_batch_without_repeats(images.labels());
    let remedy = match largest {
        0 | 1 => "leave classes of a single image out (data.classes)".to_owned(),
        largest => format!("lower training.batch_size to {largest} or less"),
    };
    (recipe.training.batch_size > largest).then(|| {
        format!(
            "training.sampling = \"class_balanced\" draws images of the smallest class more than once per batch, and the views of such an \
             image are each other's negatives; {remedy} to avoid it"
        )
    })
}

/// `32 x 32 pixels`, or the smallest and the largest size.
fn sizes(images: &Collection) -> String {
    let of = |index| {
        let [width, height] = images.size(index);
        (width, height)
    };
    let all = || (0..images.len()).map(of);
    let area = |&(width, height): &(usize, usize)| width * height;
    match (all().min_by_key(area), all().max_by_key(area)) {
        (Some(least), Some(most)) if least == most => format!("{} x {} pixels", least.0, least.1),
        (Some(least), Some(most)) => format!("from {} x {} to {} x {} pixels", least.0, least.1, most.0, most.1),
        _ => "no pixels".to_owned(),
    }
}

/// The size of the median image by area.
fn median_size(images: &Collection) -> Option<(usize, usize)> {
    let mut order: Vec<(usize, usize)> = (0..images.len())
        .map(|index| {
            let [width, height] = images.size(index);
            (width, height)
        })
        .collect();
    let middle = order.len() / 2;
    order.sort_by_key(|(width, height)| width * height);
    order.get(middle).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_images::Image;

    fn images(sizes: &[(usize, usize)]) -> Collection {
        let mut images = Collection::new(vec!["any".into()]);
        for &(width, height) in sizes {
            let pixels = vec![0; width * height * 3];
            let image = Image {
                width,
                height,
                pixels: &pixels,
            };
            images.push(image, None);
        }
        images
    }

    #[test]
    fn small_views_of_photographs_give_a_warning_and_those_of_cifar_none() {
        let views = |side| ViewsConfig {
            side,
            ..ViewsConfig::default()
        };
        let warning = shrunk(&images(&[(400, 300)]), &views(32)).unwrap();
        assert!(warning.contains("400 x 300") && warning.contains("32 x 32"), "{warning}");
        assert!(warning.contains("views.side") && warning.contains("CIFAR"), "{warning}");
        for (size, side) in [((32, 32), 32), ((96, 96), 64), ((128, 128), 32), ((400, 300), 224)] {
            assert_eq!(shrunk(&images(&[size]), &views(side)), None, "{size:?}");
        }
        assert_eq!(shrunk(&images(&[]), &views(32)), None);
        // The median decides: one large image among small ones gives no warning.
        assert_eq!(shrunk(&images(&[(32, 32), (32, 32), (400, 300)]), &views(32)), None);
    }

    #[test]
    fn only_the_cpu_warns_about_16_bits() {
        for precision in [Precision::F16, Precision::Bf16] {
            assert!(slow_precision(precision, "flex").unwrap().contains(precision.name()));
            assert_eq!(slow_precision(precision, "cuda"), None);
        }
        assert_eq!(slow_precision(Precision::F32, "flex"), None);
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(sizes(&images(&[(32, 32), (32, 32)])), "32 x 32 pixels");
        assert_eq!(sizes(&images(&[(40, 30), (8, 9), (20, 20)])), "from 8 x 9 to 40 x 30 pixels");
    }
}
