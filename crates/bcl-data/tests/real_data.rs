//! Tests with the published files, which are not part of the project: `BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored`,
//! where DIR is the folder that contains them.

use bcl_data::{DataError, Manifest, load_named};
use std::path::PathBuf;

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored"]
fn every_downloaded_data_set_has_the_counts_of_its_manifest() {
    let dir = data_folder();
    let mut loaded = 0;
    for manifest in Manifest::all().iter().filter(|manifest| !manifest.is_images()) {
        match load_named(&manifest.name, &dir) {
            Ok(data) => {
                loaded += 1;
                let overlap = data.test.pairs().filter(|&(user, item)| data.train.contains(user, item));
                assert_eq!(overlap.count(), 0, "{}", manifest.name);
            }
            Err(DataError::MissingDataset { name, .. }) => eprintln!("skipped: no {name}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(loaded > 0, "no data set in {}", dir.display());
}

#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-data --test real_data -- --ignored"]
fn a_data_set_loads_equally_from_its_alternative_files() {
    let dir = data_folder();
    let inter = dir.join("ml-100k/ml-100k.inter");
    assert!(inter.is_file(), "{} is missing", inter.display());
    let only_inter = tempfile::tempdir().unwrap();
    std::fs::copy(inter, only_inter.path().join("ml-100k.inter")).unwrap();
    assert_eq!(
        load_named("ml-100k", &dir).unwrap(),
        load_named("ml-100k", only_inter.path()).unwrap()
    );
}

fn data_folder() -> PathBuf {
    PathBuf::from(std::env::var_os("BCL_DATA").expect("BCL_DATA must be the folder with the data sets"))
}
