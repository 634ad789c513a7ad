//! What a run prints when it starts: data, model, loss, device and folder, and warnings.

use crate::recipe::{ImageRecipe, Precision, RecommenderRecipe};
use bcl_backend::Backend;
use bcl_data::InteractionData;
use bcl_images::{Collection, ImageData, ViewsConfig};
use bcl_report::notice;
use std::{fmt::Display, path::Path};

/// Images whose side shrinks by more than this factor lose most of their detail.
const MOST_SHRUNK: f64 = 4.0;

/// The lines that a run prints when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Lines of `name: value`.
    pub lines: Vec<String>,
    /// Sentences for [`notice::warn`].
    pub warnings: Vec<String>,
}

impl Opening {
    /// The summary of a recommender's run.
    pub fn of_recommender(recipe: &RecommenderRecipe, data: &InteractionData, backend: &Backend, folder: &Path) -> Self {
        let train = &data.train;
        let dim = recipe.encoder.dim();
        let training = &recipe.training;
        let negatives = match recipe.negatives.count() {
            Some(count) => format!("{count} negatives ({})", recipe.negatives.name()),
            None => "the other positives of the batch as negatives".to_owned(),
        };
        let data = format!(
            "{}: {} users, {} items, {} training and {} test interactions",
            data.name,
            grouped(train.num_users()),
            grouped(train.num_items()),
            grouped(train.len()),
            grouped(data.test.len())
        );
        let parameters = (train.num_users() + train.num_items()) * dim;
        let model = format!(
            "{} of {dim} dimensions, {} parameters",
            recipe.encoder.name(),
            grouped(parameters)
        );
        let loss = format!(
            "{}, temperature {}, {negatives}, batches of {}",
            recipe.loss.without_data().name(),
            recipe.loss.without_data().temperature(),
            training.batch_size
        );
        let epochs = format!("at most {}, patience {}", training.epochs, training.patience);
        Self {
            lines: lines(&recipe.name, recipe.seed, [data, model, loss, epochs], backend, folder),
            warnings: Vec::new(),
        }
    }

    /// The summary of an image encoder's run.
    pub fn of_images(recipe: &ImageRecipe, data: &ImageData, num_parameters: usize, backend: &Backend, folder: &Path) -> Self {
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
        let estimator = recipe
            .estimator()
            .map(|estimator| format!("{}, temperature {}", estimator.name(), estimator.temperature()));
        let sizes = format!(
            "batches of {}, {}",
            recipe.training.batch_size,
            recipe.training.precision.name()
        );
        let loss: Vec<String> = method.into_iter().chain(estimator).chain([sizes]).collect();
        let loss = loss.join(", ");
        let epochs = recipe.training.epochs.to_string();
        let slow = slow_precision(recipe.training.precision, backend.name());
        Self {
            lines: lines(&recipe.name, recipe.seed, [images, model, loss, epochs], backend, folder),
            warnings: shrunk(&data.train, &recipe.views).into_iter().chain(slow).collect(),
        }
    }

    /// Prints lines and warnings to stderr.
    pub fn say(&self) {
        self.lines.iter().for_each(notice::status);
        self.warnings.iter().for_each(notice::warn);
    }
}

fn lines(name: &str, seed: u64, [data, model, loss, epochs]: [String; 4], backend: &Backend, folder: &Path) -> Vec<String> {
    let threads = rayon::current_num_threads();
    let line = |name: &str, value: &dyn Display| format!("  {name:7} {value}");
    vec![
        format!("{name}, seed {seed}, in {}", folder.display()),
        line("data", &data),
        line("model", &model),
        line("loss", &loss),
        line("epochs", &epochs),
        line(
            "device",
            &format_args!("{}, {} ({threads} threads)", backend.name(), backend.info().name),
        ),
    ]
}

/// Warns if views are much smaller than the images.
fn shrunk(images: &Collection, views: &ViewsConfig) -> Option<String> {
    let side = views.side;
    let (width, height) = median_size(images)?;
    let factor = ((width * height) as f64).sqrt() / side as f64;
    let of_cifar = if views.mean == ViewsConfig::default().mean {
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
    (precision != Precision::F32 && backend == "flex").then(|| {
        format!(
            "training.precision is \"{}\", which the CPU computes several times slower than \"f32\"; set it to \"f32\", or choose a GPU \
             with --backend",
            precision.name()
        )
    })
}

/// `32 x 32 pixels`, or the smallest and the largest size.
fn sizes(images: &Collection) -> String {
    let of = |index| {
        let image = images.get(index);
        (image.width, image.height)
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
            let image = images.get(index);
            (image.width, image.height)
        })
        .collect();
    let middle = order.len() / 2;
    order.sort_by_key(|(width, height)| width * height);
    order.get(middle).copied()
}

/// `1234567` as `1,234,567`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn sizes_and_counts_read_well() {
        assert_eq!(sizes(&images(&[(32, 32), (32, 32)])), "32 x 32 pixels");
        assert_eq!(sizes(&images(&[(40, 30), (8, 9), (20, 20)])), "from 8 x 9 to 40 x 30 pixels");
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"].map(str::to_owned)
        );
    }
}
