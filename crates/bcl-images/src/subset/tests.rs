//! Subsets of classes, by name and at random.

use super::*;
use crate::Image;
use proptest::prelude::*;
use std::collections::HashSet;

/// A collection in which image `i` is one pixel of value `i`.
fn images(labels: &[Option<u32>], classes: &[&str]) -> Collection {
    let mut images = Collection::new(classes.iter().map(ToString::to_string).collect());
    for (index, &label) in labels.iter().enumerate() {
        images.push(
            Image {
                width: 1,
                height: 1,
                pixels: &[index as u8; 3],
            },
            label,
        );
    }
    images
}

fn animals() -> Collection {
    images(&[Some(2), None, Some(0), Some(1), Some(2)], &["cat", "dog", "frog"])
}

fn choice(classes: &[&str]) -> Subset {
    let classes = classes.iter().map(ToString::to_string).collect();
    Subset {
        classes: Some(classes),
        ..Subset::default()
    }
}

#[test]
fn labels_follow_the_order_of_names_and_images_keep_their_order() {
    let subset = animals().select_classes(&["frog", "cat"]).unwrap();
    assert_eq!(subset.classes(), ["frog", "cat"]);
    assert_eq!(subset.labels(), [Some(0), Some(1), Some(0)]);
    assert_eq!([0, 1, 2].map(|index| subset.get(index).pixels[0]), [0, 2, 4]);
    let other = animals().select_classes(&["cat", "frog"]).unwrap();
    assert_eq!(other.labels(), [Some(1), Some(0), Some(1)]);
}

#[test]
fn images_without_label_are_left_out_for_probes() {
    let labelled = animals().labelled();
    assert_eq!(labelled.labels(), [Some(2), Some(0), Some(1), Some(2)]);
    assert_eq!(labelled.classes(), animals().classes());
}

#[test]
fn the_first_training_images_of_each_class_are_taken() {
    let labels = [Some(1), Some(0), None, Some(1), Some(1), Some(0)];
    let data = ImageData {
        name: "pets".into(),
        train: images(&labels, &["cat", "dog"]),
        test: images(&labels, &["cat", "dog"]),
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    let first = |count| Subset {
        train_per_class: Some(count),
        ..Subset::default()
    };
    let two = first(2).apply(data.clone()).unwrap();
    assert_eq!(two.train.labels(), [Some(1), Some(0), Some(1), Some(0)]);
    assert_eq!([0, 1, 2, 3].map(|index| two.train.get(index).pixels[0]), [0, 1, 3, 5]);
    assert_eq!(two.test, data.test);
    let refused = |count, data| first(count).apply(data).unwrap_err().to_string();
    assert_eq!(
        refused(3, data.clone()),
        "data.train_per_class chooses 3 image(s) per class, but `cat` has only 2. Change `data.train_per_class`."
    );
    assert!(refused(0, data.clone()).contains("at least one"));
    let unlabelled = ImageData {
        train: images(&[None], &[]),
        ..data
    };
    assert!(refused(1, unlabelled).contains("no classes"));
}

#[test]
fn an_unknown_class_is_named_with_those_there_are() {
    let error = animals().select_classes(&["frog", "Dogs"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no class `Dogs`; did you mean `dog`? The classes are `cat`, `dog`, `frog`."
    );
    let names: Vec<String> = (0..100).map(|class| format!("class {class}")).collect();
    let many = images(&[], &names.iter().map(String::as_str).collect::<Vec<_>>());
    let error = many.select_classes(&["a", "b"]).unwrap_err().to_string();
    assert!(error.contains("`class 19`, and 80 more") && error.len() < 400, "{error}");
}

#[test]
fn choices_of_fewer_than_two_classes_are_refused() {
    let both = Subset {
        two_random_classes: Some(1),
        ..choice(&["cat", "dog"])
    };
    let cases = [
        (choice(&[]), "data.classes chooses no class, but at least two are needed"),
        (choice(&["cat"]), "chooses `cat` alone, but at least two are needed"),
        (
            choice(&["cat", "dog", "cat"]),
            "chooses `cat` twice, but each class counts once",
        ),
        (
            both,
            "data.two_random_classes chooses two classes, but data.classes chooses others",
        ),
    ];
    for (subset, words) in cases {
        let error = subset.check().unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let error = images(&[], &["cat"]).two_random_classes(Seed(0)).unwrap_err().to_string();
    assert!(error.contains("chooses two of 1 class(es)"), "{error}");
}

#[test]
fn a_subset_is_read_from_a_recipe() {
    let subset: Subset = toml::from_str("classes = [\"frog\", \"truck\"]").unwrap();
    assert_eq!(subset, choice(&["frog", "truck"]));
    let subset: Subset = toml::from_str("two_random_classes = 7").unwrap();
    assert_eq!(subset.two_random_classes, Some(7));
    assert!(toml::from_str::<Subset>("class = [\"frog\"]").is_err());
}

#[test]
fn both_parts_get_the_same_classes_and_no_choice_leaves_all() {
    let data = ImageData {
        name: "animals".into(),
        train: animals(),
        test: images(&[Some(2), Some(1)], &["cat", "dog", "frog"]),
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    assert_eq!(Subset::default().apply(data.clone()).unwrap(), data);
    let two = Subset {
        two_random_classes: Some(5),
        ..Subset::default()
    }
    .apply(data)
    .unwrap();
    assert_eq!(two.train.classes(), two.test.classes());
}

#[test]
fn every_pair_of_classes_comes_up() {
    let drawn: HashSet<_> = (0..200)
        .map(|seed| animals().two_random_classes(Seed(seed)).unwrap())
        .collect();
    assert_eq!(drawn.len(), 3, "{drawn:?}");
}

proptest! {
    #[test]
    fn images_keep_their_order_and_their_class(labels in prop::collection::vec(prop::option::of(0_u32..4), 0..30), skipped in 0_usize..4) {
        let classes = ["a", "b", "c", "d"];
        let all = images(&labels, &classes);
        let names: Vec<&str> = classes.into_iter().filter(|class| *class != classes[skipped]).collect();
        let subset = all.select_classes(&names).unwrap();
        let name = |images: &Collection, index: usize| images.labels()[index].map(|label| images.classes()[label as usize].clone());
        let kept: Vec<_> = (0..all.len()).filter(|&index| name(&all, index).is_some_and(|name| name != classes[skipped])).collect();
        prop_assert_eq!(subset.len(), kept.len());
        for (new, old) in kept.into_iter().enumerate() {
            prop_assert_eq!(subset.get(new), all.get(old));
            prop_assert_eq!(name(&subset, new), name(&all, old));
        }
    }
}
