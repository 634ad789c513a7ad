//! `cargo xtask datasets` as a user meets it. Nothing here reaches the network.

use std::process::{Command, Output};

fn datasets(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("datasets")
        .args(arguments)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_list_names_every_data_set() {
    let output = datasets(&["list"]);
    assert_eq!(output.status.code(), Some(0));
    let list = String::from_utf8(output.stdout).unwrap();
    for manifest in bcl_data::Manifest::all() {
        assert!(
            list.lines().any(|line| line.starts_with(&format!("{} ", manifest.name))),
            "{list}"
        );
    }
}

#[test]
fn a_misspelt_name_is_bad_input_and_the_right_one_is_suggested() {
    let output = datasets(&["fetch", "ml-10k"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `ml-100k`?"), "{}", stderr(&output));
}

#[test]
fn a_data_set_under_licence_says_where_to_ask_for_it() {
    let output = datasets(&["fetch", "yahoo-r3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("ask Yahoo! Webscope"), "{}", stderr(&output));
}

#[test]
fn images_that_are_nowhere_published_as_one_file_say_how_to_pack_them() {
    let output = datasets(&["fetch", "cifar10-jpg", "--dir", "no such folder"]);
    assert_eq!(output.status.code(), Some(2));
    for words in ["ImageFolder archive", "train/frog/0001.jpg", "cifar10-jpg.tar.gz"] {
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    }
}
