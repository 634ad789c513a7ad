//! Negatives that are positives of the same user are masked, even if none remains.

use std::{fs, path::Path, process::Output};
use whole_program_tests::{assert_refused, bcl_train, shown};

/// Trains on data in which 41 users interact with all ten items, except for the last user with the last item.
fn train(folder: &Path, count: usize, batch_size: usize) -> Output {
    let pairs = (0..41).flat_map(|user| (0..10).map(move |item| (user, item)));
    let lines: Vec<String> = pairs
        .filter(|pair| *pair != (40, 9))
        .map(|(user, item)| format!("{user},{item},5\n"))
        .collect();
    fs::write(folder.join("train.csv"), format!("user,item,rating\n{}", lines.concat())).expect("writable");
    fs::write(folder.join("test.csv"), "user,item,rating\n40,9,5\n").expect("writable");
    let recipe = format!(
        "name = 'masked'\n[data]\ntrain = '{0}/train.csv'\ntest = '{0}/test.csv'\n[loss]\nkind = 'bayesian'\n[negatives]\nkind = \
         'uniform_all'\nshared = true\ncount = {count}\n[training]\nbatch_size = {batch_size}\nepochs = 2\n[evaluation]\nbaselines = []\n",
        folder.display()
    );
    fs::write(folder.join("masked.toml"), recipe).expect("writable");
    bcl_train()
        .arg(folder.join("masked.toml"))
        .arg("--out")
        .arg(folder.join("runs"))
        .arg("--quiet")
        .output()
        .expect("it starts")
}

#[test]
fn anchors_without_negatives_are_counted_and_have_no_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = train(folder.path(), 4, 2);
    assert!(output.status.success(), "{}", shown(&output));
    let metrics = fs::read_to_string(folder.path().join("runs/masked-0/metrics.jsonl")).expect("metrics");
    let last: serde_json::Value = serde_json::from_str(metrics.lines().last().expect("epochs")).expect("JSON");
    // An epoch has 409 interactions. Only the nine of the last user can have negatives.
    assert!(
        last["anchors_without_negatives"].as_u64().is_some_and(|count| count >= 400),
        "{last}"
    );
    // The mean is over anchors with negatives only; over all of them it would be close to 0.
    assert!(last["loss"].as_f64().is_some_and(|loss| loss > 0.1), "{last}");
}

#[test]
fn an_epoch_without_any_negative_ends_with_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    // One shared draw per batch: in nine of ten cases an item that every user has.
    let output = train(folder.path(), 1, 512);
    assert_refused(&output, &["no anchor of epoch 1 had a negative", "negatives.count"]);
}
