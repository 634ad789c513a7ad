//! The initial encoder of a run, and the checks of its images.

use crate::error::Error;
use bcl_core::schedule::AlphaMeasurement;
use bcl_data::{SearchPath, Seed};
use bcl_eval::images::has_labelled_test;
use bcl_files::input::{self, NotRegular};
use bcl_images::{Collection, ImageData, by_class};
use bcl_methods::Positives;
use bcl_models::vision::{
    ImageEncoder,
    weights::{WeightsError, WeightsReport, is_counter, load_encoder_weights, load_trunks},
};
use bcl_recipe::{ImageRecipe, Sampling};
use burn::tensor::Device;
use std::path::Path;

/// Minimum number of labelled test images: uniformity needs a pair.
const LEAST_TEST_IMAGES: usize = 2;
/// Minimum number of training images.
const LEAST_TRAINING_IMAGES: usize = 2;

/// Creates the encoder of a recipe with random weights from its seed.
pub(crate) fn untrained(recipe: &ImageRecipe, device: &Device) -> ImageEncoder {
    recipe.encoder.config().init(Seed(recipe.seed).named("init").0, device)
}

/// Creates the initial encoder: with the weights that the recipe names, otherwise [`untrained`].
///
/// The projection head is read, too, if the file has one and the recipe trains at all: the evaluation does not use it.
///
/// # Errors
/// Names the file and a tensor that is missing, unexpected, of another shape, or has invalid values.
pub(crate) fn initial(recipe: &ImageRecipe, search: &SearchPath, device: &Device) -> Result<ImageEncoder, Error> {
    initial_with_report(recipe, search, device).map(|(encoder, _)| encoder)
}

/// Creates the initial encoder, and says which tensors of the file were read and which were skipped.
///
/// # Errors
/// As [`initial`].
pub(crate) fn initial_with_report(
    recipe: &ImageRecipe,
    search: &SearchPath,
    device: &Device,
) -> Result<(ImageEncoder, Option<String>), Error> {
    let encoder = untrained(recipe, device);
    let Some(file) = recipe.encoder.weights() else {
        return Ok((encoder, None));
    };
    let file = search.find("encoder.weights", file)?;
    let refuse = |error: WeightsError| Error::Input(format!("encoder.weights: {error}"));
    if let Some(special) = input::open(&file).err().and_then(|error| NotRegular::of(&error)) {
        return Err(Error::Input(format!(
            "encoder.weights: cannot read {}: {special}",
            file.display()
        )));
    }
    let prefix = recipe.encoder.weights_prefix();
    let (encoder, report) = load_trunks(encoder, &file, prefix).map_err(refuse)?;
    if let Some(name) = report.unknown.first() {
        return Err(Error::Input(format!(
            "encoder.weights: {} has a tensor {name}, which is part of neither the encoder nor a classifier `fc` or a head; save only the \
             state_dict of the encoder",
            file.display()
        )));
    }
    if recipe.training.epochs > 0 && report.has_head {
        let (encoder, report) = load_encoder_weights(encoder, &file, prefix).map_err(|error| refuse(of_head(error)))?;
        return Ok((encoder, Some(in_words(&report, &file))));
    }
    let report = in_words(&report, &file);
    Ok((encoder, Some(report)))
}

/// Says which tensors of a file were read and which were skipped.
fn in_words(report: &WeightsReport, file: &Path) -> String {
    let named: Vec<String> = report.prefixes.iter().map(|prefix| format!("`{prefix}…`")).collect();
    let named = if named.is_empty() {
        String::new()
    } else {
        format!(" named {}", named.join(", "))
    };
    // Most files have counters, which are of no interest.
    let mut skipped: Vec<&str> = report
        .skipped
        .iter()
        .map(String::as_str)
        .filter(|name| !is_counter(name))
        .collect();
    skipped.sort_unstable();
    let skipped = match skipped[..] {
        [] => "none skipped".to_owned(),
        [one] => format!("skipped {one}"),
        [first, ref others @ ..] => format!("skipped {first} and {} others", others.len()),
    };
    let others: Vec<String> = report.others.iter().map(|prefix| format!("`{prefix}…`")).collect();
    let others = match others[..] {
        [] => String::new(),
        _ => format!(
            "; the file also has {}, which encoder.weights_prefix chooses",
            others.join(", ")
        ),
    };
    format!(
        "encoder.weights: read {} tensors of {}{named}; {skipped}{others}",
        report.loaded.len(),
        file.display()
    )
}

/// Adds the remedy for a head that does not fit: the trunk has been read already.
fn of_head(mut error: WeightsError) -> WeightsError {
    if let WeightsError::Shape { remedy, .. } | WeightsError::Missing { remedy, .. } | WeightsError::Surplus { remedy, .. } =
        &mut error
    {
        *remedy = String::from(
            "set encoder.head.hidden and encoder.head.out as in the file's head and leave out encoder.head.layers and \
             encoder.head.norm, or remove its tensors `g.*`",
        );
    }
    error
}

/// Checks that the images fit the recipe, before a run has a folder.
///
/// # Errors
/// If there are fewer than two training images, a batch has more images than the data set, the recipe needs labels that are missing, or
/// there are labelled test images but too few labelled images to evaluate. Without labelled test images, probes and nearest neighbours are off.
pub(crate) fn check(recipe: &ImageRecipe, data: &ImageData) -> Result<(), Error> {
    let source = match &recipe.data.images {
        Some(path) => path.display().to_string(),
        None => data.name.clone(),
    };
    let (batch_size, there) = (recipe.training.batch_size, data.train.len());
    if there < LEAST_TRAINING_IMAGES {
        return Err(Error::Input(format!(
            "{source}: train has {there} image(s), but at least two are needed, because training compares images. Add images"
        )));
    }
    if there < batch_size && recipe.training.epochs > 0 {
        return Err(Error::Input(format!(
            "training.batch_size is {batch_size}, but {source} has {there} training images; lower it to {there} or less"
        )));
    }
    check_labels(recipe, data, &source)?;
    if !has_labelled_test(data) {
        return refuse_need_of_labelled_test(recipe, &source);
    }
    let classes = classes(&data.train);
    if let [] | [_] = &classes[..] {
        let remedy = match recipe.data.images {
            Some(_) => ". To train without evaluation, leave out test, or move the images out of the class folder",
            None => "",
        };
        let found = classes.first().map_or("no image with a class".to_owned(), |&class| {
            format!("images of class `{}` only", data.train.classes()[class as usize])
        });
        return Err(Error::Input(format!(
            "{source} has {found} in train, but the evaluation classifies features; provide images of at least two classes{remedy}"
        )));
    }
    if let Some(metric) = recipe.selection.metric.as_deref().filter(|metric| metric.ends_with("_top5"))
        && data.train.classes().len() <= 5
    {
        return Err(Error::Input(format!(
            "selection.metric is \"{metric}\", but of the {} classes of {source} one of the five nearest is always right; use \"{}\"",
            data.train.classes().len(),
            metric.replace("_top5", "_top1")
        )));
    }
    let labelled = data.test.labels().iter().flatten().count();
    if labelled < LEAST_TEST_IMAGES {
        return Err(Error::Input(format!(
            "{source} has {labelled} test image(s) with a class, but the evaluation needs at least {LEAST_TEST_IMAGES}; add test images"
        )));
    }
    Ok(())
}

/// Refuses a share of the training images that is too small to hold out images to evaluate, although there are enough.
pub(super) fn check_held_out(data: &ImageData, part: &ImageData, share: f64) -> Result<(), Error> {
    let sizes: Vec<usize> = by_class(data.train.labels()).iter().map(Vec::len).collect();
    // A class keeps at least one image.
    let divisible: Vec<usize> = sizes.into_iter().filter(|&size| size > 1).collect();
    let (2.., Some(smallest)) = (divisible.len(), divisible.iter().min()) else {
        return Ok(());
    };
    if part.test.len() >= LEAST_TEST_IMAGES {
        return Ok(());
    }
    // From half an image on, rounding gives one.
    let least = (500.0 / *smallest as f64).ceil() / 1000.0;
    Err(Error::Input(format!(
        "selection.held_out is {share}, which holds out {} of the {} training images of {}, but the evaluation needs at least \
         {LEAST_TEST_IMAGES}; set it to {least} or more, so that each class gives one",
        part.test.len(),
        data.train.len(),
        data.name
    )))
}

/// Refuses a loss, schedule or sampling that needs the labels of training images if they have none.
fn check_labels(recipe: &ImageRecipe, data: &ImageData, source: &str) -> Result<(), Error> {
    if recipe.training.epochs == 0 {
        return Ok(());
    }
    let with_truth = recipe.estimator().filter(|loss| loss.init().requirements().truth);
    if data.train.is_labelled() {
        return match (with_truth, &classes(&data.train)[..]) {
            (Some(loss), &[class]) => Err(Error::Input(format!(
                "loss.kind = \"{}\" contrasts images of different classes, but all training images of {source} are of the class `{}`; add images \
                 of another class, or choose another loss",
                loss.name(),
                data.train.classes()[class as usize]
            ))),
            _ => Ok(()),
        };
    }
    let labelled = data.train.labels().iter().flatten().count();
    let there = match labelled {
        0 => format!("{source} has images without labels"),
        some => format!(
            "only {some} of the {} training images of {source} have a label",
            data.train.len()
        ),
    };
    if recipe.method.settings().needs().positives == Positives::OfClass {
        return Err(Error::Input(format!(
            "method.labels needs the labels of training images, but {there}; remove it, or put the images into folders CLASS/ or train/CLASS/"
        )));
    }
    if let Some(loss) = with_truth {
        return Err(Error::Input(format!(
            "loss.kind = \"{}\" needs the labels of training images, but {there}; choose another loss, or put the images into folders \
             CLASS/ or train/CLASS/",
            loss.name()
        )));
    }
    if recipe.training.sampling == Sampling::ClassBalanced {
        return Err(Error::Input(format!(
            "training.sampling = \"class_balanced\" needs the labels of training images, but {there}; set it to \"uniform\", or put the \
             images into folders CLASS/ or train/CLASS/"
        )));
    }
    let read_labels = match recipe.alpha_schedule.measures() {
        Some(AlphaMeasurement::LabelBased) => Some("measured"),
        Some(AlphaMeasurement::HeldOut) => Some("held_out"),
        Some(AlphaMeasurement::Training) => Some("released_empirical"),
        _ => None,
    };
    if let Some(kind) = read_labels {
        return Err(Error::Input(format!(
            "alpha_schedule.kind = \"{kind}\" needs the labels of training images, but {there}; set it to \"label_free\" or another \
             schedule, or put the images into folders CLASS/ or train/CLASS/"
        )));
    }
    Ok(())
}

/// Refuses probes on few labels and the best epoch on test if there are no labelled test images.
fn refuse_need_of_labelled_test(recipe: &ImageRecipe, source: &str) -> Result<(), Error> {
    let key = if !recipe.evaluation.label_fractions.is_empty() {
        "evaluation.label_fractions"
    } else if recipe.selection.oracle {
        "selection.oracle"
    } else {
        return Ok(());
    };
    Err(Error::Input(format!(
        "{key} needs labelled test images, but {source} has none; put some into test/CLASS/, or remove the key"
    )))
}

/// The classes that have images.
fn classes(images: &Collection) -> Vec<u32> {
    let mut classes: Vec<u32> = images.labels().iter().flatten().copied().collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_images::Image;
    use bcl_models::vision::weights::to_safetensors;
    use bcl_recipe::from_toml;
    use burn::module::{Module, ModuleVisitor, Param};
    use burn::tensor::Tensor;

    fn recipe(more: &str) -> ImageRecipe {
        let text = format!(
            "data.dataset = 'planted'\nloss.kind = 'info_nce'\n{more}\nencoder.kind = 'resnet'\n\
             encoder.trunk = {{ depth = 18, stem = 'imagenet', width = 2 }}\nencoder.head = {{ hidden = 4, out = 3 }}\n"
        );
        from_toml(&text, "recipe", &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn values(encoder: &ImageEncoder) -> Vec<f32> {
        encoder.trunk.layer4[1].conv2.weight.val().into_data().iter::<f32>().collect()
    }

    /// Parameters that a gradient reaches.
    struct TrainableCount(usize);

    impl ModuleVisitor for TrainableCount {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0 += usize::from(param.val().is_require_grad());
        }
    }

    #[test]
    fn an_encoder_starts_from_the_weights_of_a_file_and_learns_from_there() {
        let folder = tempfile::tempdir().unwrap();
        let device = Device::flex().autodiff();
        let other = untrained(&recipe("seed = 7"), &Device::flex());
        std::fs::write(folder.path().join("w.safetensors"), to_safetensors(&other.trunk).unwrap()).unwrap();

        let recipe = recipe("encoder.weights = 'w.safetensors'");
        let found = initial(&recipe, &SearchPath::new(None, folder.path()), &device).unwrap();
        let drawn = untrained(&recipe, &device);
        assert_eq!(values(&found), values(&other));
        assert_ne!(values(&drawn), values(&other));
        let [mut of_found, mut of_drawn] = [TrainableCount(0), TrainableCount(0)];
        found.visit(&mut of_found);
        drawn.visit(&mut of_drawn);
        assert_eq!(of_found.0, of_drawn.0);
        assert!(of_drawn.0 > 60);
    }

    fn data(train: &[Option<u32>], test: &[Option<u32>]) -> ImageData {
        let images = |labels: &[Option<u32>]| {
            let mut images = Collection::new(vec!["cat".into(), "dog".into()]);
            for &label in labels {
                let pixels = [0; 3];
                images.push(
                    Image {
                        width: 1,
                        height: 1,
                        pixels: &pixels,
                    },
                    label,
                );
            }
            images
        };
        ImageData {
            name: "mine".into(),
            train: images(train),
            test: images(test),
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_share_that_rounds_to_no_image_is_refused_with_the_least_that_does_not() {
        let of_sizes = |cats: usize, dogs: usize| {
            let labels: Vec<Option<u32>> = (0..cats + dogs).map(|index| Some(u32::from(index >= cats))).collect();
            data(&labels, &[])
        };
        let checked = |all: &ImageData, share: f64| {
            let (train, test) = bcl_images::hold_out(&all.train, share, Seed(1));
            let part = ImageData {
                train,
                test,
                ..all.clone()
            };
            check_held_out(all, &part, share)
        };
        for (cats, dogs, least) in [(8, 8, "0.063"), (8, 50, "0.063"), (2, 3, "0.25"), (700, 300, "0.002")] {
            let all = of_sizes(cats, dogs);
            let text = checked(&all, 0.0001).unwrap_err().to_string();
            assert!(
                text.contains("selection.held_out is 0.0001") && text.contains(&format!("set it to {least} or more")),
                "{text}"
            );
            checked(&all, least.parse().unwrap()).unwrap();
        }
        // No share helps a class of one image.
        checked(&of_sizes(1, 9), 0.01).unwrap();
    }

    #[test]
    fn images_that_do_not_fit_the_recipe_are_refused() {
        let (cat, dog) = (Some(0), Some(1));
        let refused = |recipe: &ImageRecipe, train: &[_], test: &[_]| check(recipe, &data(train, test)).unwrap_err().to_string();
        let two = recipe("training.batch_size = 2");
        check(&two, &data(&[cat, dog], &[cat, dog])).unwrap();
        assert!(refused(&recipe("training.batch_size = 3"), &[cat, dog], &[cat, dog]).contains("lower it to 2"));
        assert!(refused(&two, &[cat], &[cat, dog]).contains("mine: train has 1 image(s), but at least two"));
        assert!(refused(&two, &[None; 4], &[cat, dog]).contains("mine has no image with a class"));
        assert!(refused(&two, &[dog, dog, None], &[cat, dog]).contains("images of class `dog` only"));
        assert!(refused(&two, &[cat, dog], &[cat, None]).contains("1 test image(s)"));
        // Without labelled test images there is nothing to evaluate.
        check(&two, &data(&[None; 4], &[None; 2])).unwrap();
        check(&two, &data(&[dog; 4], &[])).unwrap();
        // Cases one-class-with-test and supervised-one-class-message.
        let mine = ImageRecipe {
            data: bcl_recipe::ImageDataConfig {
                images: Some("pics".into()),
                ..Default::default()
            },
            ..recipe("training.batch_size = 2")
        };
        assert!(refused(&mine, &[dog; 4], &[dog; 2]).contains("leave out test, or move the images out of the class folder"));
        let supervised = recipe("training.batch_size = 2");
        let supervised = ImageRecipe {
            loss: from_toml::<ImageRecipe>(
                "data.dataset = 'planted'\nloss.kind = 'supervised'\nencoder.kind = 'resnet'",
                "recipe",
                &[],
            )
            .unwrap()
            .loss,
            ..supervised
        };
        assert!(refused(&supervised, &[dog; 4], &[]).contains("all training images of mine are of the class `dog`"));
        check(&supervised, &data(&[dog, cat], &[])).unwrap();
        // Without training no batch is needed.
        check(
            &recipe("training.batch_size = 3\ntraining.epochs = 0"),
            &data(&[cat, dog], &[cat, dog]),
        )
        .unwrap();
    }
}
