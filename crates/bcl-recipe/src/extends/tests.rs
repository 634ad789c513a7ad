//! Tests of `extends`.

use crate::{
    RecipeSource,
    sample::{Sample, library},
};
use std::{fs, path::Path};
use tempfile::TempDir;

/// The files of a folder, by name and text.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn read(folder: &Path, name: &str, flags: &[&str]) -> Result<Sample, String> {
    Sample::read(&RecipeSource::File(folder.join(name)), flags, &mut Vec::new())
        .map(|(sample, _)| sample)
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

/// Asserts that a recipe that extends `base` equals one with all keys.
#[track_caller]
fn assert_same(files: &[(&str, &str)], flags: &[&str], whole: &str) {
    let folder = folder(files);
    let recipe = read(folder.path(), files[0].0, flags).unwrap();
    assert_eq!(recipe, Sample::parse(whole, &[]).unwrap());
}

const BASE: &str = "name = 'base'\nseed = 3\ndata.dataset = 'planted'\n[loss]\nkind = 'bayesian'\ntemperature = 0.3\nalpha = 0.7\nbeta = 0.6\n\
                    tau_plus = 0.2\n[training]\nepochs = 7\n";

#[test]
fn tables_are_merged_key_by_key_and_the_name_is_not_inherited() {
    assert_same(
        &[
            ("child.toml", "extends = 'base.toml'\nloss.beta = 0.8\nencoder.dim = 8\n"),
            ("base.toml", BASE),
        ],
        &["loss.temperature=0.4"],
        "name = 'child'\nseed = 3\ndata.dataset = 'planted'\nencoder.dim = 8\ntraining.epochs = 7\n\
         loss = { kind = 'bayesian', temperature = 0.4, alpha = 0.7, beta = 0.8, tau_plus = 0.2 }",
    );
}

#[test]
fn another_kind_drops_the_keys_that_it_does_not_have() {
    assert_same(
        &[
            ("child.toml", "extends = 'base.toml'\nloss.kind = 'debiased'\n"),
            ("base.toml", BASE),
        ],
        &[],
        "name = 'child'\nseed = 3\ndata.dataset = 'planted'\ntraining.epochs = 7\nloss = { kind = 'debiased', temperature = 0.3, tau_plus = 0.2 }",
    );
    // The default kind of an encoder counts as its kind.
    assert_same(
        &[
            (
                "child.toml",
                "extends = 'base.toml'\nencoder.kind = 'mf'\nnegatives.kind = 'in_batch'\n",
            ),
            (
                "base.toml",
                "data.dataset = 'planted'\nloss.kind = 'hard'\nencoder = { kind = 'light_gcn', layers = 3, dim = 8 }\nnegatives.count = 9",
            ),
        ],
        &[],
        "name = 'child'\ndata.dataset = 'planted'\nloss.kind = 'hard'\nencoder = { kind = 'mf', dim = 8 }\nnegatives.kind = 'in_batch'",
    );
}

#[test]
fn a_dropped_key_does_not_come_back() {
    let files = [
        ("last.toml", "extends = 'child.toml'\nloss.kind = 'bayesian'\n"),
        ("child.toml", "extends = 'base.toml'\nloss.kind = 'info_nce'\n"),
        ("base.toml", BASE),
    ];
    let whole =
        "name = 'last'\nseed = 3\ndata.dataset = 'planted'\ntraining.epochs = 7\nloss = { kind = 'bayesian', temperature = 0.3 }";
    assert_same(&files, &[], whole);
    assert_same(&files[1..], &["loss.kind=bayesian"], &whole.replace("last", "child"));
}

#[test]
fn a_parent_is_a_file_of_another_folder_or_a_built_in_recipe() {
    let files = [
        ("a/child.toml", "extends = '../b/base.toml'\n"),
        ("b/base.toml", "extends = 'quickstart/infonce'\ntraining.epochs = 3\n"),
    ];
    let folder = folder(&files);
    let recipe = read(folder.path(), "a/child.toml", &[]).unwrap();
    let builtin = RecipeSource::Builtin(library().named("quickstart/infonce").unwrap());
    let (builtin, _) = Sample::read(&builtin, &["training.epochs=3", "name=child"], &mut Vec::new()).unwrap();
    assert_eq!(recipe, builtin);

    let text = Sample::parse("extends = 'quickstart/infonce'", &[]).unwrap();
    assert_eq!(text.name, "recipe");
}

#[allow(clippy::too_many_lines)] // a table of cases
#[test]
fn errors_name_the_file_and_line_of_the_mistake() {
    let refused = |files: &[(&str, &str)], flags: &[&str]| {
        let folder = folder(files);
        read(folder.path(), files[0].0, flags).unwrap_err()
    };
    let child = |text| ("child.toml", text);
    for (files, flags, expected) in [
        (
            vec![child("extends = 'base.toml'\n"), ("base.toml", "seed = 1\nloss = 3")],
            &[][..],
            "base.toml:2: loss is 3, but must be a table",
        ),
        (
            vec![child("extends = 'base.toml'\n"), ("base.toml", "[loss")],
            &[],
            "base.toml:1: not TOML",
        ),
        (
            vec![
                child("extends = 'base.toml'\nloss.kind = 'debiased'"),
                ("base.toml", &BASE.replace("alpha", "alhpa")),
            ],
            &[],
            "base.toml:7: unknown key loss.alhpa",
        ),
        (
            vec![
                child("extends = 'base.toml'\nloss.kind = 'debiased'\nloss.alpha = 0.9"),
                ("base.toml", BASE),
            ],
            &[],
            "child.toml:3: unknown key loss.alpha",
        ),
        (
            vec![child("extends = 'base.toml'\nloss.kind = 'debaised'"), ("base.toml", BASE)],
            &[],
            "child.toml:2: loss.kind is \"debaised\", but must be one of",
        ),
        (
            vec![child("extends = 'base.toml'"), ("base.toml", "data.dataset = 'planted'")],
            &[],
            "child.toml: loss is missing",
        ),
        (
            vec![child("\nextends = 3")],
            &[],
            "child.toml:2: extends is 3, but must be a string in quotes",
        ),
        (
            vec![child("extends = ''")],
            &[],
            "child.toml:1: extends is \"\", but must be a string in quotes",
        ),
        (
            vec![child("extend = 'x'")],
            &[],
            "child.toml:1: unknown key extend; did you mean extends?",
        ),
        (
            vec![child(BASE)],
            &["extends=x"],
            "--set extends=x: extends cannot be set by a flag",
        ),
        (
            vec![child("extends = 'base'"), ("base.toml", BASE)],
            &[],
            "child.toml:1: extends \"base\", which is neither a file beside it nor a built-in recipe; did you mean \"base.toml\"?",
        ),
        (
            vec![child("extends = 'quickstart/infonec'")],
            &[],
            "nor a built-in recipe; did you mean \"quickstart/infonce\"?",
        ),
        (
            vec![child("extends = 'base.toml'"), ("base.toml", "\nextends = 'gone.toml'")],
            &[],
            "base.toml:2: extends \"gone.toml\", which is neither a file beside it nor a built-in recipe (child.toml extends base.toml extends \
             gone.toml)",
        ),
        (
            vec![child("extends = '.'")],
            &[],
            "child.toml:1: extends \".\", which cannot be read",
        ),
        (
            vec![child("extends = 'child.toml'")],
            &[],
            "child.toml:1: extends \"child.toml\", which is the recipe itself",
        ),
        (
            vec![child("extends = 'base.toml'"), ("base.toml", "extends = './child.toml'")],
            &[],
            "base.toml:1: extends \"./child.toml\", which closes a circle (child.toml extends base.toml extends ./child.toml)",
        ),
    ] {
        let message = refused(&files, flags);
        assert!(
            message.starts_with(expected) || message.contains(expected),
            "{expected}\n{message}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn the_error_for_a_long_chain_lists_its_ends() {
    let files: Vec<(String, String)> = (0..40)
        .map(|i| (format!("{i}.toml"), format!("extends = '{}.toml'", i + 1)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let folder = folder(&files);
    assert_eq!(
        read(folder.path(), "0.toml", &[]).unwrap_err(),
        "31.toml:1: extends \"32.toml\", but a chain may have 32 recipes at most (0.toml extends 1.toml extends 2.toml extends … extends \
         30.toml extends 31.toml extends 32.toml)"
    );
}

#[test]
fn the_origin_of_a_value_is_where_it_was_last_set() {
    let folder = folder(&[
        ("child.toml", "extends = 'base.toml'\nloss.beta = 0.8\n"),
        ("base.toml", BASE),
    ]);
    let found = RecipeSource::File(folder.path().join("child.toml"));
    let (recipe, origins) = Sample::read(&found, &["loss.alpha=0.9"], &mut Vec::new()).unwrap();
    let shown = |key: &str| {
        let origin = origins.get(key).map_or("default".to_owned(), ToString::to_string);
        origin.replace(&format!("{}/", folder.path().display()), "")
    };
    for (key, origin) in [
        ("name", "child.toml"),
        ("seed", "base.toml:2"),
        ("loss.kind", "base.toml:5"),
        ("loss.alpha", "--set loss.alpha=0.9"),
        ("loss.beta", "child.toml:2"),
        ("training.epochs", "base.toml:11"),
        ("training.batch_size", "default"),
        ("encoder.kind", "default"),
    ] {
        assert_eq!(shown(key), origin, "{key}");
    }
    let resolved = toml::to_string(&recipe).unwrap();
    let text = origins.annotate(&resolved);
    assert_eq!(Sample::parse(&text, &[]).unwrap(), recipe);
    let without: Vec<&str> = text
        .lines()
        .map(|line| line.split(" # ").next().unwrap().trim_end())
        .collect();
    assert_eq!(without, resolved.lines().collect::<Vec<_>>());
}

#[test]
fn the_comments_of_a_printed_recipe_cannot_break_it() {
    let folder = folder(&[("a\nseed = 1\n#.toml", "data.dataset = 'planted'\nloss.kind = 'hard'\n")]);
    let found = RecipeSource::File(folder.path().join("a\nseed = 1\n#.toml"));
    let (recipe, origins) = Sample::read(&found, &[], &mut Vec::new()).unwrap();
    let again = |sample: &Sample| Sample::parse(&origins.annotate(&toml::to_string(sample).unwrap()), &[]).unwrap();
    assert_eq!(again(&recipe), recipe);
    let lines = Sample::parse("data.dataset = \"\"\"a\nb\"\"\"\nloss.kind = 'hard'", &[]).unwrap();
    assert_eq!(again(&lines), lines);
}
