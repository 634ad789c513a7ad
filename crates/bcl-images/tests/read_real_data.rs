//! Tests with the published files, which are not part of the project:
//! `BCL_DATA=DIR cargo test -p bcl-images --test read_real_data -- --ignored`, where DIR is the folder that contains them.

use bcl_data::{DataError, Manifest};
use bcl_images::{ImageError, Subset, load_named};
use std::path::PathBuf;

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-images --test read_real_data -- --ignored"]
fn every_downloaded_data_set_has_the_counts_of_its_manifest() {
    let dir = PathBuf::from(std::env::var_os("BCL_DATA").expect("BCL_DATA must be the folder with the data sets"));
    let mut loaded = 0;
    for manifest in Manifest::all().iter().filter(|manifest| manifest.is_images()) {
        match load_named(&manifest.name, &dir) {
            Ok(data) => {
                loaded += 1;
                assert_eq!(data.train.classes(), data.test.classes(), "{}", manifest.name);
            }
            Err(ImageError::Data(DataError::MissingDataset { name, .. })) => eprintln!("skipped: no {name}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(loaded > 0, "no images in {}", dir.display());
}

/// Published figures come from the archive of two classes; recipes select these classes from the whole data set.
#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-images --test read_real_data -- --ignored"]
fn frogs_and_trucks_are_the_same_images_in_the_same_order_from_either_archive() {
    let dir = PathBuf::from(std::env::var_os("BCL_DATA").expect("BCL_DATA must be the folder with the data sets"));
    let alone = load_named("cifar10-2class", &dir).unwrap();
    let choice = Subset {
        classes: Some(["frog", "truck"].map(String::from).to_vec()),
        ..Subset::default()
    };
    let chosen = choice.apply(load_named("cifar10-jpg", &dir).unwrap()).unwrap();
    assert_eq!((chosen.train.len(), chosen.test.len()), (10_000, 2_000));
    assert!(chosen.train == alone.train && chosen.test == alone.test, "the images differ");
}
