//! Subsets of a data set: some of its classes, some images of each, or only labelled images.

use crate::error::{ImageError, did_you_mean, excerpt};
use crate::{Collection, ImageData, by_class};
use bcl_data::Seed;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Which part of a data set to use. The default is all.
///
/// ```
/// use bcl_images::{PlantedImagesConfig, Subset};
///
/// let data = PlantedImagesConfig { train: 40, test: 20, ..PlantedImagesConfig::default() }.generate();
/// let two = Subset { two_random_classes: Some(7), ..Subset::default() }.apply(data)?;
/// assert_eq!((two.train.len(), two.test.len()), (8, 4));
/// assert_eq!(two.train.classes().len(), 2);
/// # Ok::<(), bcl_images::ImageError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Subset {
    /// Names of the classes; labels are numbered from 0 in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// Seed that draws two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_random_classes: Option<u64>,
    /// Training images of each class, the first ones; images without a class are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_per_class: Option<usize>,
}

impl Subset {
    /// Checks the choice as far as possible without the data.
    ///
    /// # Errors
    /// Returns an error if classes are chosen in both ways, if there are fewer than two, if one is repeated, or if classes have no training images.
    pub fn check(&self) -> Result<(), ImageError> {
        if self.train_per_class == Some(0) {
            return Err(bad_choice(
                "data.train_per_class",
                "no image",
                "at least one of each class is needed",
            ));
        }
        match self {
            Self {
                classes: Some(classes),
                two_random_classes: Some(_),
                ..
            } => Err(bad_choice(
                "data.two_random_classes",
                "two classes",
                if classes.is_empty() {
                    "data.classes is set too"
                } else {
                    "data.classes chooses others"
                },
            )),
            Self {
                classes: Some(classes), ..
            } => check_choice(classes),
            _ => Ok(()),
        }
    }

    /// Selects the classes in train and test, and the images of each class in train.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check), [`Collection::select_classes`] and [`Collection::first_of_each_class`].
    pub fn apply(&self, data: ImageData) -> Result<ImageData, ImageError> {
        self.check()?;
        let classes = match (&self.classes, self.two_random_classes) {
            (Some(classes), _) => Some(classes.clone()),
            (None, Some(seed)) => Some(data.train.two_random_classes(Seed(seed))?.to_vec()),
            (None, None) => None,
        };
        let ImageData { mut train, mut test, .. } = data;
        if let Some(classes) = classes {
            train = train.select_classes(&classes)?;
            test = test.select_classes(&classes)?;
        }
        if let Some(count) = self.train_per_class {
            train = train.first_of_each_class(count)?;
        }
        Ok(ImageData { train, test, ..data })
    }
}

impl Collection {
    /// Selects the images of the named classes, in their original order. Labels are numbered from 0 in the order of `names`; images without
    /// a class are left out.
    ///
    /// # Errors
    /// Returns an error if a name is unknown, which lists the known ones, if there are fewer than two names, or if one is repeated.
    ///
    /// ```
    /// use bcl_images::{Collection, Image};
    ///
    /// let mut images = Collection::new(["cat", "dog", "frog"].map(String::from).to_vec());
    /// for label in 0..3 {
    ///     images.push(Image { width: 1, height: 1, pixels: &[label as u8; 3] }, Some(label));
    /// }
    /// let two = images.select_classes(&["frog", "cat"])?;
    /// assert_eq!(two.classes(), ["frog", "cat"]);
    /// assert_eq!(two.labels(), [Some(1), Some(0)]);
    ///
    /// let error = images.select_classes(&["frogs", "cat"]).unwrap_err();
    /// assert!(error.to_string().contains("did you mean `frog`?"));
    /// # Ok::<(), bcl_images::ImageError>(())
    /// ```
    pub fn select_classes<S: AsRef<str>>(&self, names: &[S]) -> Result<Self, ImageError> {
        check_choice(names)?;
        if self.classes().is_empty() {
            return Err(bad_choice(
                "data.classes",
                &format!("{} classes", names.len()),
                "these images have none: a class is a folder of images, CLASS/*.jpg or train/CLASS/*.jpg",
            ));
        }
        let mut new_labels = vec![None; self.classes().len()];
        for (new, name) in (0..).zip(names) {
            let name = name.as_ref();
            match self.classes().iter().position(|class| class == name) {
                Some(old) => new_labels[old] = Some(new),
                None => return Err(unknown_class(name, self.classes())),
            }
        }
        let mut subset = Self::new(names.iter().map(|name| name.as_ref().to_owned()).collect());
        for (index, label) in self.labels().iter().enumerate() {
            if let Some(new) = label.and_then(|old| new_labels[old as usize]) {
                subset.push_from(self, index, Some(new));
            }
        }
        Ok(subset)
    }

    /// Selects the first images of each class, in their original order; images without a class are left out.
    ///
    /// # Errors
    /// Returns an error that names the first class with fewer images, and if there are no classes.
    pub fn first_of_each_class(&self, count: usize) -> Result<Self, ImageError> {
        let chosen = format!("{count} image(s) per class");
        let bad = |reason: &str| Err(bad_choice("data.train_per_class", &chosen, reason));
        if self.classes().is_empty() {
            return bad("these images have no classes");
        }
        let of_class = by_class(self.labels());
        let mut chosen = Vec::new();
        for (class, name) in self.classes().iter().enumerate() {
            let images = of_class.get(class).map_or(&[][..], Vec::as_slice);
            match images.get(..count) {
                Some(first) => chosen.extend_from_slice(first),
                None => return bad(&format!("`{}` has only {}", excerpt(name), images.len())),
            }
        }
        chosen.sort_unstable();
        let mut subset = Self::new(self.classes().to_vec());
        for index in chosen {
            subset.push_from(self, index, self.labels()[index]);
        }
        Ok(subset)
    }

    /// Draws two different classes; all pairs are equally probable.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two classes.
    pub fn two_random_classes(&self, seed: Seed) -> Result<[String; 2], ImageError> {
        let count = self.classes().len();
        if count < 2 {
            let found = format!("two of {count} class(es)");
            return Err(bad_choice("data.two_random_classes", &found, "at least two are needed"));
        }
        let mut rng = seed.named("two random classes").rng();
        let first = rng.random_range(0..count);
        let second = (first + rng.random_range(1..count)) % count;
        let (low, high) = (first.min(second), first.max(second));
        Ok([low, high].map(|class| self.classes()[class].clone()))
    }

    /// Selects the labelled images, for probes.
    pub fn labelled(&self) -> Self {
        let mut labelled = Self::new(self.classes().to_vec());
        for (index, &label) in self.labels().iter().enumerate().filter(|(_, label)| label.is_some()) {
            labelled.push_from(self, index, label);
        }
        labelled
    }
}

/// A choice of classes that leaves fewer than two.
fn bad_choice(setting: &str, found: &str, needed: &str) -> ImageError {
    ImageError::Invalid(format!("{setting} chooses {found}, but {needed}. Change `{setting}`"))
}

fn check_choice<S: AsRef<str>>(names: &[S]) -> Result<(), ImageError> {
    let bad = |found: String, needed| Err(bad_choice("data.classes", &found, needed));
    let repeated = |(index, name): &(usize, &S)| names[..*index].iter().any(|earlier| earlier.as_ref() == name.as_ref());
    match names {
        [] => bad("no class".to_string(), "at least two are needed to tell them apart"),
        [one] => bad(
            format!("`{}` alone", excerpt(one.as_ref())),
            "at least two are needed to tell them apart",
        ),
        names => match names.iter().enumerate().find(repeated) {
            Some((_, name)) => bad(format!("`{}` twice", excerpt(name.as_ref())), "each class counts once"),
            None => Ok(()),
        },
    }
}

fn unknown_class(name: &str, classes: &[String]) -> ImageError {
    const SHOWN: usize = 20;
    let mut known: Vec<String> = classes
        .iter()
        .take(SHOWN)
        .map(|class| format!("`{}`", excerpt(class)))
        .collect();
    if classes.len() > SHOWN {
        known.push(format!("and {} more", classes.len() - SHOWN));
    }
    let suggestion = did_you_mean(most_alike(name, classes));
    let (name, known) = (excerpt(name), known.join(", "));
    ImageError::Invalid(format!("there is no class `{name}`{suggestion} The classes are {known}"))
}

/// The class most similar to `name`, if any is similar.
pub(crate) fn most_alike(name: &str, classes: &[String]) -> Option<String> {
    let likeness = |class: &str| strsim::jaro_winkler(&name.to_lowercase(), &class.to_lowercase());
    let closest = classes.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(closest) > 0.8).then(|| closest.clone())
}

#[cfg(test)]
mod tests;
