//! Tests of recipes.

use super::*;
use crate::Builtin;
use bcl_core::{EstimatorConfig, schedule::AlphaSchedule};
use bcl_files::sha256;
use std::{collections::BTreeSet, fs};

/// The least a recipe says.
const LEAST: &str = "data.dataset = 'planted'\nloss.kind = 'bayesian'\n";
const IMAGES: &str = "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'bayesian'\n";

fn recipe(text: &str) -> Recipe {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn recipes_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes")
}

#[test]
fn every_file_in_the_recipes_folder_is_a_recipe_and_named_after_its_path() {
    let found = find(recipes_folder().to_str().unwrap()).unwrap();
    assert!(found.len() >= 30, "{} recipes", found.len());
    for file in found {
        let RecipeSource::File(path) = &file else {
            unreachable!("{file:?}")
        };
        let recipe = Recipe::read(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        let name = path.strip_prefix(recipes_folder()).unwrap().with_extension("");
        assert_eq!(Path::new(recipe.name()), name);
    }
}

#[test]
fn the_built_in_recipes_are_the_files() {
    let files = find(recipes_folder().to_str().unwrap()).unwrap();
    let files: BTreeSet<PathBuf> = files
        .into_iter()
        .map(|file| match file {
            RecipeSource::File(path) => path.strip_prefix(recipes_folder()).unwrap().with_extension(""),
            RecipeSource::Builtin(_) => unreachable!(),
        })
        .collect();
    let built_in: BTreeSet<PathBuf> = built_in().iter().map(|recipe| recipe.name.into()).collect();
    assert_eq!(built_in, files);
}

#[test]
fn every_base_is_built_in_and_extended_by_a_recipe() {
    fn bases(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if path.is_dir() {
                bases(&path, found);
            } else if name.starts_with('_') {
                found.push(path.strip_prefix(recipes_folder()).unwrap().with_extension(""));
            }
        }
    }
    let mut found = Vec::new();
    bases(&recipes_folder(), &mut found);
    assert!(found.len() >= 20, "{found:?}");
    let mut used = BTreeSet::new();
    for recipe in built_in() {
        let (_, origins) = Recipe::read_with_origins(&RecipeSource::Builtin(*recipe), &[], &mut Vec::new()).unwrap();
        used.extend(
            origins
                .values()
                .map(|origin| origin.to_string().split(':').next().unwrap().to_owned()),
        );
    }
    for base in found {
        let name = base.to_str().unwrap();
        assert!(LIBRARY.named(name).is_some(), "{name} is not built in");
        assert!(
            used.contains(name) || name.starts_with("table4/"),
            "nothing takes a value from {name}"
        );
    }
}

#[test]
fn every_built_in_recipe_has_a_summary() {
    for recipe in built_in() {
        assert!(
            recipe.text.starts_with("# ") && recipe.summary().len() > 20,
            "{}",
            recipe.name
        );
    }
}

/// A row that is InfoNCE under another name compares nothing. A sweep over beta passes such a point.
#[test]
fn no_bayesian_recipe_is_info_nce() {
    fn of(recipe: &impl RunRecipe) -> Option<(EstimatorConfig, AlphaSchedule)> {
        // Words such as "classes" need data, which give other numbers.
        let estimator = recipe.loss()?.estimator(DataFacts::default()).ok()?;
        Some((estimator, recipe.alpha_schedule()))
    }
    let is_info_nce = |recipe: &&Builtin| {
        let loss = match Recipe::read(&RecipeSource::Builtin(**recipe), &[]).unwrap() {
            Recipe::Recommender(recipe) => of(&*recipe),
            Recipe::Images(recipe) => of(&*recipe),
            Recipe::Graphs(recipe) => of(&*recipe),
        };
        match loss {
            Some((EstimatorConfig::Bayesian(config), AlphaSchedule::Constant {})) => config.weighs_equally(),
            _ => false,
        }
    };
    let found: Vec<&str> = built_in().iter().filter(is_info_nce).map(|recipe| recipe.name).collect();
    assert_eq!(found, ["table5/cifar10-frog-truck/bayesian-b09"]);
}

#[test]
fn written_files_are_read_back_equal() {
    for found in find("table10").unwrap().into_iter().chain(find("quickstart").unwrap()) {
        let recipe = Recipe::read(&found, &[]).unwrap();
        assert_eq!(self::recipe(&recipe.to_toml()), recipe);
    }
    let files = "data.file = 'x.csv'\ndata.min_rating = 4\nloss.kind = 'hard'\nalpha_schedule.kind = 'constant'\nnegatives.kind = 'in_batch'";
    assert_eq!(recipe(&recipe(files).to_toml()), recipe(files));
}

#[test]
fn every_estimator_can_be_named_in_a_recipe() {
    for config in EstimatorConfig::all() {
        let recipe = recipe(&format!("data.dataset = 'planted'\nloss.kind = '{}'", config.name()));
        assert_eq!(
            recipe
                .as_kind::<RecommenderRecipe>()
                .unwrap()
                .loss
                .estimator(DataFacts::default())
                .unwrap(),
            config
        );
    }
}

#[test]
fn a_resolved_recipe_shows_every_default() {
    let text = recipe(LEAST).to_toml();
    for key in [
        "num_communities = 8",
        "similarity = \"cosine\"",
        "count = 128",
        "learning_rate = 0.01",
        "patience = 12",
        "ease_lambda",
    ] {
        assert!(text.contains(key), "{key} is not in\n{text}");
    }
}

#[test]
fn logging_changes_neither_the_hash_nor_the_text_of_a_recipe_without_it() {
    let plain = recipe(LEAST);
    assert!(!plain.to_toml().contains("logging"));
    let logging = recipe(&format!("{LEAST}logging = {{ every = 10, tensorboard = true }}"));
    assert_eq!(logging.hash(), plain.hash());
    assert_eq!(recipe(&logging.to_toml()), logging);
    assert!(logging.to_toml().contains("[logging]\nevery = 10\ntensorboard = true\n"));
}

#[test]
fn the_hash_is_that_of_the_content() {
    let hash = recipe(LEAST).hash();
    assert_eq!(hash.len(), 64);
    // Order, comments, spelled-out defaults and the seed do not matter.
    for same in [
        "seed = 7\n# c\nloss.kind = 'bayesian'\ndata.dataset = 'planted'",
        "loss.kind = 'bayesian'\ndata.dataset = 'planted'\ntraining.batch_size = 1024\nencoder.kind = 'mf'\nloss.beta = 0.90",
    ] {
        assert_eq!(recipe(same).hash(), hash, "{same}");
    }
    for other in [
        "loss.beta = 0.8",
        "data.planted.seed = 1",
        "training.epochs = 61",
        "name = 'x'",
    ] {
        assert_ne!(recipe(&format!("{LEAST}{other}")).hash(), hash, "{other}");
    }
}

/// A change of this constant means that results of before and after are no longer recognised as runs of one recipe.
#[test]
fn the_hash_is_frozen() {
    let recipe = recipe("data.dataset = 'ml-100k'\nloss = {kind = 'info_nce', temperature = 0.2}");
    assert_eq!(
        recipe.hash(),
        "706e151bb29b81dd5ddb7370142bc30836523520a6326814b5583a5067ed857b"
    );
}

/// A change of the list means that results of before and after are no longer recognised as runs of one recipe.
#[test]
fn built_in_recipes_keep_their_hashes_and_their_resolved_text() {
    let digest_of = |recipe: &Builtin| {
        let read = Recipe::read(&RecipeSource::Builtin(*recipe), &[]).unwrap();
        let [hash, text] = [read.hash(), sha256(read.to_toml().as_bytes())].map(|digest| digest[..16].to_owned());
        format!("{} {hash} {text}", recipe.name)
    };
    let found: BTreeSet<String> = built_in().iter().map(digest_of).collect();
    let known: BTreeSet<String> = include_str!("digests.txt").lines().map(str::to_owned).collect();
    assert!(known.len() >= 131, "{} recipes", known.len());
    let changed: Vec<&String> = known.difference(&found).collect();
    assert!(changed.is_empty(), "{changed:#?} are no longer among\n{found:#?}");
}

#[test]
fn a_recipe_without_a_name_is_named_after_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my run.toml");
    std::fs::write(&path, LEAST).unwrap();
    let recipe = Recipe::from_file(&path, &[Override::new("seed", 3, "--seed 3")]).unwrap();
    assert_eq!(recipe.run_folder(Path::new("runs")), Path::new("runs/my_run-3"));
    assert_eq!(
        self::recipe(&format!("name = 'a/b'\n{LEAST}")).run_folder(Path::new("runs")),
        Path::new("runs/a/b-0")
    );
}

#[test]
fn flags_reach_every_key() {
    let set = |texts: &[&str]| {
        let changes: Vec<Override> = texts.iter().map(|text| text.parse().unwrap()).collect();
        from_toml::<RecommenderRecipe>(LEAST, "a.toml", &changes).unwrap()
    };
    assert_eq!(
        set(&["loss.beta=0.8"]).loss.without_data(),
        &EstimatorConfig::Bayesian(bcl_core::BayesianLossConfig::new().with_beta(0.8))
    );
    assert_eq!(
        set(&["encoder.dim=32"]).encoder,
        recipe(&format!("{LEAST}encoder = {{kind = 'mf', dim = 32}}"))
            .as_kind::<RecommenderRecipe>()
            .unwrap()
            .encoder
    );
    assert_eq!(
        set(&["encoder.kind=light_gcn", "encoder.layers=2"]).encoder.name(),
        "light_gcn"
    );
    assert_eq!(set(&["evaluation.cutoffs=[20]", "training.epochs=3"]).training.epochs, 3);
    assert_eq!(set(&["loss={kind='info_nce'}"]).loss.without_data().name(), "info_nce");
    let dense = set(&["loss.tau_plus=density"])
        .loss
        .estimator(DataFacts::of_density(0.25))
        .unwrap();
    assert_eq!(dense.tau_plus(), Some(0.25));
}

#[test]
fn what_cannot_be_found_is_said_with_a_guess() {
    let text = |name: &str| find(name).unwrap_err().to_string();
    assert!(text("quickstart/bayes").contains("did you mean quickstart/bayesian?"));
    assert!(text("recipes/table10/ml-100k/mf-bayesain.toml").contains("did you mean table10/ml-100k/mf-bayesian?"));
    assert!(text("nonsense").ends_with("folder or built-in recipe; `bcl-train recipes` lists the built-in ones"));
    assert_eq!(find("table10/").unwrap().len(), 40);
}

#[test]
fn the_recipe_of_the_revision_note_differs_from_table_3_in_its_schedule_and_beta() {
    let read = |name: &str, flags: &[&str]| {
        let changes: Vec<Override> = flags.iter().map(|text| text.parse().unwrap()).collect();
        let recipe = Recipe::read(&find(name).unwrap()[0], &changes).unwrap();
        recipe.as_kind::<ImageRecipe>().unwrap().clone()
    };
    let of_note = read("table3/cifar10-revision-note/bayesian", &[]);
    let configured = of_note.loss.as_ref().unwrap().without_data().parameter("alpha").unwrap();
    let last = of_note.training.epochs - 1;
    assert_eq!(last, 399);
    for (epoch, alpha) in [(0, 0.5), (200, 0.675), (last, 0.85 - 0.35 / 400.0)] {
        let found = of_note.alpha_schedule.alpha(configured, epoch, None);
        assert!((found - alpha).abs() < 1e-12, "alpha of epoch {epoch} is {found}");
    }

    let flags = ["loss.beta=1", "alpha_schedule={kind='linear'}"];
    let mut of_table = read("table3/cifar10/bayesian", &flags);
    of_table.name.clone_from(&of_note.name);
    assert_eq!(of_note, of_table);
}

#[test]
fn other_data_take_the_place_of_the_parents() {
    let folder = tempfile::tempdir().unwrap();
    let planted = "data = { dataset = 'planted', planted = { num_users = 50 } }\nloss.kind = 'hard'\n";
    fs::write(folder.path().join("base.toml"), planted).unwrap();
    for data in ["data.file = 'mine.csv'", "data.dataset = 'gowalla'"] {
        let child = folder.path().join("child.toml");
        fs::write(&child, format!("extends = 'base.toml'\n{data}\n")).unwrap();
        let whole = recipe(&format!("name = 'child'\n{data}\nloss.kind = 'hard'"));
        assert_eq!(Recipe::from_file(child, &[]).unwrap().to_toml(), whole.to_toml());
    }
}

/// Recipe, flags, and the message.
type Bad = (&'static str, &'static [&'static str], &'static str);

const BAD: &[Bad] = &[
    // Syntax.
    ("data.dataset = 'planted'\n\nseed = = 3", &[], "a.toml:3: not TOML: "),
    ("seed = 1\nseed = 2", &[], "a.toml:2: not TOML: duplicate key"),
    ("[loss\nkind = 'hard'", &[], "a.toml:1: not TOML: "),
    (
        "[data]\nfile = \"C:\\Users\\ann.csv\"",
        &[],
        "write a Windows path in single quotes",
    ),
    (
        "[data]\nfile = \"C:\\new.csv\"",
        &[],
        "a.toml:2: data.file has a tab or a line break in it; in double quotes",
    ),
    ("[data]\nfile = “a.csv”", &[], "write straight quotes"),
    // Unknown keys.
    (
        "data.dataset = 'planted'\n[loss]\nkind = 'info_nce'\ntemprature = 0.2",
        &[],
        "a.toml:4: unknown key loss.temprature; did you mean loss.temperature?; [loss] of kind \"info_nce\" has kind, temperature",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'info_nce'\nloss.alpha = 0.9",
        &[],
        "a.toml:3: unknown key loss.alpha; [loss] of kind",
    ),
    (
        "dta.dataset = 'planted'\nloss.kind = 'info_nce'",
        &[],
        "a.toml:1: unknown key dta; did you mean data?; a recipe has name, seed, data",
    ),
    (
        LEAST,
        &["trainig.epochs=3"],
        "--set trainig.epochs=3: unknown key trainig; did you mean training?",
    ),
    (
        LEAST,
        &["training.epoch=3"],
        "--set training.epoch=3: unknown key training.epoch; did you mean training.epochs?",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nencoder.knd = 'mf'",
        &[],
        "a.toml:3: unknown key encoder.knd; did you mean encoder.kind?",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\n[data.planted]\nnois = 0.1",
        &[],
        "a.toml:4: unknown key data.planted.nois; did you mean data.planted.noise?",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nencoder.layers = 2",
        &[],
        "a.toml:3: unknown key encoder.layers; [encoder] of kind \"mf\" has",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'bayesian'\nalpha_schedule = {kind = 'linear', ends = 0.9}",
        &[],
        "a.toml:3: unknown key alpha_schedule.ends; did you mean alpha_schedule.end?",
    ),
    (
        "loss.kind = 'hard'\ndata.file = 'x'\ndata.split.rule = 'leave_one_out'",
        &[],
        "a.toml:3: unknown key data.split.rule; [data.split] has kind, test_ratio, order, seed",
    ),
    // What a recipe trains.
    (
        "loss.kind = 'hard'\ndata.images = 'x'\nencoder.kind = 'vit'",
        &[],
        "a.toml:3: encoder.kind is \"vit\", but must be one of \"resnet\"",
    ),
    (
        "loss.kind = 'hard'\ndata.train = 'x'\ndata.test = 'y'\nencoder.kind = 'vit'",
        &[],
        "a.toml:4: encoder.kind is \"vit\", but must be one of \"mf\", \"light_gcn\"",
    ),
    (
        "loss.kind = 'hard'\ndata.images = 'x'",
        &[],
        "a.toml: encoder is missing; set encoder.kind = \"resnet\" to train on images, \"gin\" to train on graphs",
    ),
    (
        "loss.kind = 'hard'\ndata.images = 'x'\nencoder.kind = 'mf'",
        &[],
        "a.toml:3: encoder.kind is \"mf\", which trains on interactions, but data.images is for images; use encoder.kind = \"resnet\"",
    ),
    (
        "loss.kind = 'hard'\ndata.dataset = 'ml-100k'\nencoder.kind = 'resnet'",
        &[],
        "a.toml:3: encoder.kind is \"resnet\", which trains on images, but data.dataset = \"ml-100k\" is for interactions; use \
         encoder.kind = \"mf\" or \"light_gcn\"",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nencoder = { kind = 'resnet', head = { hidden = 8 } }",
        &["encoder.head.out=0"],
        "--set encoder.head.out=0: encoder.head.out is 0, but must be in [1, 65536]",
    ),
    // Missing keys.
    ("loss.kind = 'hard'", &[], "a.toml: data is missing; set data.dataset"),
    (
        "data.dataset = 'planted'\n[loss]\ntemperature = 0.2",
        &[],
        "a.toml:2: loss.kind is missing; set loss.kind to one of \"info_nce\"",
    ),
    (
        "data.dataset = 'planted'\n[loss]\nkid = 'hard'",
        &[],
        "a.toml:3: loss.kind is missing; did you misspell it as loss.kid?",
    ),
    // Keys that mean nothing for a kind.
    (
        LEAST,
        &["training.precision=f32"],
        "training.precision does not apply to interactions: embedding tables are kept and trained in 32 bits; remove it",
    ),
    (
        IMAGES,
        &["optimizer.l2=0"],
        "optimizer.l2 does not apply to images: it regularises embedding tables, which they do not have; use optimizer.weight_decay",
    ),
    (
        IMAGES,
        &["recovery={}", "method.kind=moco"],
        "recovery does not apply to method \"moco\": it needs negatives of the batch",
    ),
    (
        IMAGES,
        &["recovery.attract=1"],
        "recovery.attract is 1, but must be in [0, 1)",
    ),
    (
        IMAGES,
        &["selection.oracle=true", "evaluation.every=0"],
        "selection.oracle is true, but no epochs are evaluated to choose from; set evaluation.every, such as 5",
    ),
    (
        IMAGES,
        &["selection.oracle=true", "selection.held_out=0.1"],
        "selection.oracle is true, but selection.held_out chooses the epoch of an image run",
    ),
    (
        IMAGES,
        &["training.patience=3"],
        "training.patience chooses an epoch on held-out images, but none are held out; set selection.held_out, such as 0.1, or remove it",
    ),
    (
        IMAGES,
        &["selection.held_out=0.1", "selection.metric=knn"],
        "selection.metric is \"knn\", but must be one of knn_top1, knn_top5",
    ),
    (
        IMAGES,
        &["selection.held_out=0.1", "evaluation.every=0"],
        "evaluation.every is 0, but selection.held_out needs epochs that are evaluated to choose from",
    ),
    (
        IMAGES,
        &["selection.held_out=0.1", "training.patience=5"],
        "training.patience is 5 epochs, but the encoder is evaluated every 10 epochs; set it to 10 or more, or evaluation.every to 5 or less",
    ),
    (
        IMAGES,
        &["loss={kind='augmented',running=0.3}", "recovery.attract=0.5"],
        "recovery.attract gives anchors several positives, but with loss.running the rate counts one; set loss.rate = \"negatives\"",
    ),
    (
        IMAGES,
        &["loss={kind='positive_unlabelled',floor='printed',objective='jsd'}"],
        "loss.floor does not apply to loss.objective = \"jsd\", whose floor is 0; remove it",
    ),
    (
        IMAGES,
        &["training.accumulate=0"],
        "training.accumulate is 0, but must be in [1, 1000000]",
    ),
    // Wrong types.
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nseed = '3'",
        &[],
        "a.toml:3: seed is the string \"3\", but must be a whole number, 0 or more",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nseed = -1",
        &[],
        "a.toml:3: seed is -1, but must be a whole number, 0 or more",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\ntraining.epochs = 2.5",
        &[],
        "a.toml:3: training.epochs is 2.5, but must be a whole number, 0 or more",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\ntraining.epochs = 10.0",
        &[],
        "a.toml:3: training.epochs is 10.0, but must be a whole number, 0 or more, without a decimal point; write 10",
    ),
    (
        "data.dataset = 'planted'\n[loss]\nkind = 'hard'\ntemperature = 'cold'",
        &[],
        "a.toml:4: loss.temperature is the string \"cold\", but must be a number",
    ),
    (
        "data.dataset = 'planted'\nloss = 3",
        &[],
        "a.toml:2: loss is 3, but must be a table",
    ),
    // Serde would read lists as tables, by position: of a table, and of one inside a table with a kind.
    (
        LEAST,
        &["training=[32]"],
        "--set training=[32]: training is a list, but must be a table",
    ),
    (
        LEAST,
        &["encoder.kind=resnet", "encoder.trunk=[34]"],
        "encoder.trunk is a list, but must be a table",
    ),
    (
        "loss.kind = 'hard'\n[[data]]\ndataset = 'planted'",
        &[],
        "data is a list, but must be a table",
    ),
    (
        LEAST,
        &["selection.oracle=maybe"],
        "--set selection.oracle=maybe: selection.oracle is the string \"maybe\", but must be true or false",
    ),
    (
        LEAST,
        &["evaluation.cutoffs=20"],
        "evaluation.cutoffs is 20, but must be a list in brackets",
    ),
    (
        LEAST,
        &["loss.tau_plus=densty"],
        "--set loss.tau_plus=densty: loss.tau_plus is the string \"densty\", but must be a number or one of the words \"density\" and \"classes\"",
    ),
    (LEAST, &["seed.x=1", "seed.x.y=2"], "--set seed.x.y=2: seed.x is not a table"),
    // Words that are none of the choices.
    (
        "data.dataset = 'planted'\nloss.kind = 'bayes'",
        &[],
        "a.toml:2: loss.kind is \"bayes\", but must be one of \"info_nce\"",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'bayesain'",
        &[],
        "did you mean bayesian?",
    ),
    (
        LEAST,
        &["encoder={dim=8, kind='lightgcn'}"],
        "encoder.kind is \"lightgcn\", but must be one of \"mf\", \"light_gcn\", \"resnet\", \"gin\"; did you mean light_gcn?",
    ),
    (
        LEAST,
        &["encoder.similarity=cosin"],
        "encoder.similarity is \"cosin\", but must be one of \"cosine\", \"dot\"; did you mean cosine?",
    ),
    (
        LEAST,
        &["evaluation.baselines=['ease','pop']"],
        "evaluation.baselines is \"pop\", but must be one of \"random\", \"popularity\", \"item_knn\", \"ease\"",
    ),
    (
        LEAST,
        &["optimizer.kind=rmsprop"],
        "optimizer.kind is \"rmsprop\", but must be one of \"adam\", \"adamw\", \"sgd\", \"lars\"",
    ),
    // Out of range.
    (
        LEAST,
        &["loss.beta=1.2"],
        "--set loss.beta=1.2: loss.beta is 1.2, but must be in [0, 1]",
    ),
    (
        "data.dataset = 'planted'\n[loss]\nkind = 'bayesian'\n\nalpha = 0.4",
        &[],
        "a.toml:5: loss.alpha is 0.4, but must be in [0.5, 1]",
    ),
    (
        LEAST,
        &["loss.alpha=1", "loss.beta=1"],
        "--set loss.alpha=1: loss.alpha is 1, but must be below 1 when beta is 1",
    ),
    (
        LEAST,
        &["loss.temperature=0"],
        "loss.temperature is 0, but must be in [1e-6, 1000000]",
    ),
    (LEAST, &["loss.temperature=nan"], "loss.temperature is NaN, but must be in"),
    (LEAST, &["encoder.dim=0"], "encoder.dim is 0, but must be in [1, 65536]"),
    (
        LEAST,
        &["encoder={kind='light_gcn', layers=0}"],
        "encoder.layers is 0, but must be in [1, 100]",
    ),
    (
        LEAST,
        &["negatives.count=0"],
        "negatives.count is 0, but must be in [1, 1000000]",
    ),
    (
        LEAST,
        &["negatives={kind='popularity', exponent=-1}"],
        "negatives.exponent is -1, but must be in [0, 2]",
    ),
    (
        LEAST,
        &["optimizer.learning_rate=-0.1"],
        "optimizer.learning_rate is -0.1, but must be in [1e-30, 1e38]",
    ),
    (
        LEAST,
        &["selection.held_out=0.9"],
        "selection.held_out is 0.9, but must be in [0.001, 0.5]",
    ),
    (
        LEAST,
        &["training.epochs=0"],
        "training.epochs is 0, but must be in [1, 1000000]",
    ),
    (
        LEAST,
        &["evaluation.cutoffs=[10, 5]"],
        "evaluation.cutoffs is [10, 5], but must be ascending",
    ),
    (
        LEAST,
        &["selection.metric=ndgc@20"],
        "selection.metric is \"ndgc@20\", but must be one of precision, recall, ndcg, hit_rate, mrr, map with `@` and one of the cutoffs [5, 10, 20]; did you mean \"ndcg@20\"?",
    ),
    (
        LEAST,
        &["evaluation.ease_lambda=0"],
        "evaluation.ease_lambda is 0, but must be in [1e-12, 1000000000000]",
    ),
    (
        LEAST,
        &["evaluation.baselines=['ease','ease']"],
        "evaluation.baselines names a baseline twice",
    ),
    (
        LEAST,
        &["data.planted.noise=1"],
        "--set data.planted.noise=1: data.planted.noise is 1, but must be in [0, 1)",
    ),
    (
        "loss.kind = 'hard'\ndata.file = 'x'\ndata.split.test_ratio = 0",
        &[],
        "a.toml:3: data.split.test_ratio is 0, but must be in (0, 1)",
    ),
    (
        LEAST,
        &["name=../x"],
        "--set name=../x: name is \"../x\", but must be a relative path",
    ),
    (LEAST, &["name=/x"], "name is \"/x\", but must be a relative path"),
    // Contradictions.
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nalpha_schedule.kind = 'linear'",
        &[],
        "a.toml:3: alpha_schedule.kind moves alpha, which loss.kind \"hard\" does not have; remove [alpha_schedule]",
    ),
    (
        LEAST,
        &["loss.beta=1", "alpha_schedule={kind='linear', end=1}"],
        "alpha_schedule.end makes alpha 1, which must be below 1 when beta is 1",
    ),
    (
        LEAST,
        &["negatives.kind=in_batch", "training.batch_size=1"],
        "--set training.batch_size=1: training.batch_size is 1, but negatives.kind \"in_batch\" needs at least 2",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'augmented'\nloss.running = 0.1",
        &[],
        "a.toml:3: loss.running does not apply to recommenders: running rates are kept per training image; remove it",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'augmented'\nloss.running = 0",
        &[],
        "a.toml:4: loss.running is 0, but must be in (0, 1]",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'decoupled'\nloss.sigma = 0.5\ntraining.gradient_cache = 64",
        &[],
        "a.toml:5: training.gradient_cache computes the loss in blocks of anchors, but with loss.sigma it depends on all anchors of a \
         batch at once; remove training.gradient_cache or loss.sigma",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'decoupled'\nloss.sigma = 0.5",
        &["training.gradient_cache=64"],
        "--set training.gradient_cache=64: training.gradient_cache computes the loss in blocks of anchors",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\ntraining.sampling = 'class_balanced'",
        &[],
        "a.toml:3: training.sampling does not apply to interactions, which have no classes; remove it",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\nevaluation.label_fractions = [0.1]",
        &[],
        "a.toml:3: evaluation.label_fractions does not apply to interactions, which have no classes to probe; remove it",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'hard'\nevaluation.label_fractions = [0.1, 1]",
        &[],
        "a.toml:4: evaluation.label_fractions is 1, but must be in [1e-6, 0.999999]",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'hard'\nevaluation.label_fractions = [0.1, 0.1]",
        &[],
        "a.toml:4: evaluation.label_fractions lists 0.1 twice; list each fraction once",
    ),
    (
        "data.dataset = 'ml-100k'\nloss.kind = 'supervised'",
        &[],
        "a.toml:2: loss.kind is \"supervised\", which needs to know the true negatives",
    ),
    (
        "data.dataset = 'ml-100k'\nloss.kind = 'bayesian'\nalpha_schedule.kind = 'measured'",
        &[],
        "a.toml:3: alpha_schedule.kind is \"measured\", which reads the true classes",
    ),
    (
        "data.dataset = 'ml-100k'\nloss.kind = 'bayesian'\nalpha_schedule.kind = 'released_empirical'",
        &[],
        "a.toml:3: alpha_schedule.kind is \"released_empirical\", which reads the features of training images; use \"label_free\"",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'bayesian'\nalpha_schedule.kind = 'held_out'",
        &[],
        "a.toml:4: alpha_schedule.kind is \"held_out\", but no training data are held out; for images, set selection.held_out",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'gin'\nloss.kind = 'bayesian'\nalpha_schedule.kind = 'held_out'",
        &[],
        "a.toml:4: alpha_schedule.kind is \"held_out\", but no training data are held out",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'bayesian'\nalpha_schedule.kind = 'released_empirical'\nevaluation.every = 0",
        &[],
        "a.toml:5: evaluation.every is 0, but alpha_schedule.kind = \"released_empirical\" reads features while training",
    ),
    (
        "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'bayesian'\nalpha_schedule.kind = 'released_empirical'\nevaluation.every = 20\ntraining.epochs = 20",
        &[],
        "a.toml:5: evaluation.every is 20, after the last of 20 epochs that could use a measurement, but",
    ),
    (
        "data.dataset = 'ml-100kk'\nloss.kind = 'hard'",
        &[],
        "a.toml:1: data.dataset is \"ml-100kk\", but must be one of gowalla, ",
    ),
    (
        "data = {}\nloss.kind = 'hard'",
        &[],
        "a.toml:1: data names no data; set data.dataset",
    ),
    (
        "data.train = 'x'\nloss.kind = 'hard'",
        &[],
        "a.toml:1: data.train needs data.test beside it",
    ),
    (
        "data.dataset = 'ml-100k'\nloss.kind = 'hard'\ndata.file = 'x'",
        &[],
        "a.toml:3: data.file cannot be combined with data.dataset",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\ndata.min_rating = 4",
        &[],
        "a.toml:3: data.min_rating only works with a file or a data set",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\ndata.split.kind = 'leave_one_out'",
        &[],
        "data.split only works with a file or a data set",
    ),
    (
        "data.dataset = 'gowalla'\nloss.kind = 'hard'\ndata.split.kind = 'temporal'",
        &[],
        "a.toml:3: data.split.kind is a split by time, but gowalla is published as lists of items and has no timestamps; set data.split.kind",
    ),
    (
        "data.dataset = 'yelp2018'\nloss.kind = 'hard'\ndata.split.order = 'time'",
        &[],
        "a.toml:3: data.split.order is a split by time, but yelp2018",
    ),
    (
        "data.dataset = 'gowalla'\nloss.kind = 'hard'\ndata.min_user_interactions = 20",
        &[],
        "a.toml:3: data.min_user_interactions cannot be used with the published split of gowalla",
    ),
    (
        "data.dataset = 'ml-1m'\nloss.kind = 'hard'\ndata.split.test_ratio = 1.5",
        &[],
        "a.toml:3: data.split.test_ratio is 1.5, but must be in (0, 1)",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.files = ['y']",
        &[],
        "a.toml:3: data.files cannot be combined with data.file",
    ),
    (
        "data.files = []\nloss.kind = 'hard'",
        &[],
        "a.toml:1: data.files is empty; name at least one file",
    ),
    (
        "data.files = ['x', 'y', 'x']\nloss.kind = 'hard'",
        &[],
        "a.toml:1: data.files names x twice",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.split.kind = 'k_fold'",
        &[],
        "a.toml:3: data.split.kind is \"k_fold\", but must be one of \"ratio\", \"leave_one_out\", \"temporal\"",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.split.kind = 'leave_one_out'\ndata.split.test_ratio = 0.1",
        &[],
        "a.toml:4: data.split.test_ratio has no effect with data.split.kind = \"leave_one_out\"",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.split.kind = 'temporal'\ndata.split.order = 'time'",
        &[],
        "a.toml:4: data.split.order has no effect with data.split.kind = \"temporal\"",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.min_user_interactions = 0",
        &[],
        "a.toml:3: data.min_user_interactions is 0, but must be in [1, 1000000]",
    ),
    (
        "data.train = 'x'\ndata.test = 'y'\nloss.kind = 'hard'\ndata.min_item_interactions = 5",
        &[],
        "a.toml:4: data.min_item_interactions only works with data.file, data.files or data.dataset",
    ),
    (
        "data.dataset = 'gowalla'\nloss.kind = 'hard'\ndata.columns.user = 'who'",
        &[],
        "a.toml:3: data.columns only works with a file",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.columns = {user = 'who', item = 'who'}",
        &[],
        "a.toml:3: data.columns.item is `who`, as is data.columns.user",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.columns.user = 0",
        &[],
        "a.toml:3: data.columns.user",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.columns.usr = 'who'",
        &[],
        "a.toml:3: unknown key data.columns.usr; did you mean data.columns.user?",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.item_columns.id = 1",
        &[],
        "a.toml:3: data.item_columns only works with data.items",
    ),
    (
        "data.dataset = 'planted'\nloss.kind = 'hard'\ndata.items = 'x'",
        &[],
        "a.toml:3: data.items only works with items of files",
    ),
    (
        "data.file = 'x'\nloss.kind = 'hard'\ndata.planted.noise = 0.1",
        &[],
        "a.toml:3: data.planted only works with dataset = \"planted\"",
    ),
];

#[test]
fn a_bad_recipe_is_refused_with_line_key_value_and_remedy() {
    let mut wrong = Vec::new();
    for (text, flags, expected) in BAD {
        let changes: Vec<Override> = flags.iter().map(|flag| flag.parse().unwrap()).collect();
        let message = match Recipe::from_toml(text, "a.toml", &changes) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        // Errors are one line, so that they stay readable in logs.
        if !message.contains(expected) || message.contains('\n') {
            wrong.push(format!("{text} {flags:?}\nexpected: {expected}\nfound:    {message}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn read(text: &str, flags: &[&str]) -> (Result<Recipe, RecipeError>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    fs::write(&path, text).unwrap();
    let changes: Vec<Override> = flags.iter().map(|flag| flag.parse().unwrap()).collect();
    let mut dropped = Vec::new();
    let recipe = Recipe::read_noting(&RecipeSource::File(path), &changes, &mut dropped);
    let folder = format!("{}/", folder.path().display());
    (
        recipe,
        dropped
            .iter()
            .map(|dropped| dropped.to_string().replace(&folder, ""))
            .collect(),
    )
}

const BAYESIAN: &str =
    "data.dataset = 'planted'\n[loss]\nkind = 'bayesian'\ntemperature = 0.3\nalpha = 0.7\nbeta = 0.6\ntau_plus = 0.2\n";

#[test]
fn another_kind_keeps_common_keys_and_lists_dropped_ones() {
    let (recipe, dropped) = read(BAYESIAN, &["loss.kind=debiased"]);
    let loss = recipe
        .unwrap()
        .as_kind::<RecommenderRecipe>()
        .unwrap()
        .loss
        .without_data()
        .clone();
    let EstimatorConfig::Debiased(config) = loss else {
        panic!("{loss:?}")
    };
    assert_eq!((config.temperature, config.tau_plus), (0.3, 0.2));
    assert_eq!(
        dropped,
        ["--set loss.kind=debiased leaves out loss.alpha, loss.beta of a.toml: loss.kind \"debiased\" has no such key"]
    );

    // The same for every table with kinds, whether the file names the kind it changes from or not.
    let (recipe, dropped) = read(
        &format!(
            "{BAYESIAN}[encoder]\nkind = 'light_gcn'\ndim = 8\nlayers = 2\n[negatives]\nkind = 'popularity'\ncount = 9\nexponent = 0.5\n\
             [alpha_schedule]\nkind = 'linear'\nend = 0.8\n"
        ),
        &["encoder.kind=mf", "negatives.kind=uniform", "alpha_schedule.kind=constant"],
    );
    let recipe = recipe.unwrap();
    let recipe = recipe.as_kind::<RecommenderRecipe>().unwrap();
    assert_eq!((recipe.encoder.name(), recipe.negatives.count()), ("mf", Some(9)));
    assert_eq!(dropped.len(), 3, "{dropped:?}");
    for (note, key) in dropped
        .iter()
        .zip(["alpha_schedule.end", "encoder.layers", "negatives.exponent"])
    {
        assert!(note.contains(key), "{note}");
    }
    let (recipe, dropped) = read(&format!("{BAYESIAN}[negatives]\ncount = 9\n"), &["negatives.kind=in_batch"]);
    assert!(recipe.is_ok() && dropped[0].contains("negatives.count"), "{dropped:?}");
}

#[test]
fn a_misprint_and_a_flag_are_not_dropped_with_the_kind() {
    let refused = |text: &str, flags: &[&str]| match read(text, flags) {
        (Err(error), _) => error.to_string(),
        (Ok(_), dropped) => panic!("accepted, dropped {dropped:?}"),
    };
    let misprint = refused(&BAYESIAN.replace("beta", "betta"), &["loss.kind=debiased"]);
    assert!(misprint.contains("a.toml:6: unknown key loss.betta"), "{misprint}");
    let flag = refused(BAYESIAN, &["loss.kind=debiased", "loss.alpha=0.9"]);
    assert!(flag.starts_with("--set loss.alpha=0.9: unknown key loss.alpha"), "{flag}");
    let same = refused(&BAYESIAN.replace("beta", "betta"), &["loss.kind=bayesian"]);
    assert!(same.contains("did you mean loss.beta?"), "{same}");
}

#[test]
fn a_flag_that_names_other_data_makes_them_take_the_place_of_the_recipes() {
    let text = "[loss]\nkind = 'hard'\n[data]\ndataset = 'planted'\nmin_rating = 4\n[data.planted]\nnoise = 0.1";
    let data_of = |flags: &[&str]| {
        let flags: Vec<Override> = flags.iter().map(|flag| flag.parse().unwrap()).collect();
        let recipe: RecommenderRecipe = from_toml(text, "a.toml", &flags).unwrap();
        recipe.data
    };
    let named = data_of(&["data.dataset=ml-100k"]);
    assert_eq!(
        (named.dataset.as_deref(), named.min_rating, named.planted),
        (Some("ml-100k"), Some(4.0), None)
    );
    let of_file = data_of(&["data.file=mine.csv", "data.split.test_ratio=0.3"]);
    assert_eq!((of_file.dataset, of_file.min_rating, of_file.planted), (None, None, None));
}

/// The `[loss]` table of a resolved recipe.
fn loss_of(text: &str, flags: &[&str]) -> Result<toml::Table, String> {
    let flags: Vec<Override> = flags.iter().map(|flag| flag.parse().unwrap()).collect();
    let recipe = Recipe::from_toml(text, "a.toml", &flags).map_err(|error| error.to_string())?;
    assert_eq!(self::recipe(&recipe.to_toml()), recipe, "it is read back equal");
    let table: toml::Table = recipe.to_toml().parse().unwrap();
    Ok(table["loss"].as_table().unwrap().clone())
}

const SCHEDULED: &str = "data.dataset = 'planted'
[loss]
kind = 'bayesian'
beta = 0.7
temperature = { kind = 'cosine', start = 1.0, end = 0.1, period = 400 }
tau_plus = 'density'
";

#[test]
fn a_schedule_is_kept_as_it_is_given() {
    let loss = loss_of(SCHEDULED, &[]).unwrap();
    let expected = "kind = 'cosine'\nstart = 1.0\nend = 0.1\nperiod = 400";
    assert_eq!(loss["temperature"], expected.parse::<toml::Table>().unwrap().into());
    assert_eq!((&loss["beta"], loss["tau_plus"].as_str()), (&0.7.into(), Some("density")));
    assert_ne!(recipe(SCHEDULED).hash(), recipe(&SCHEDULED.replace("400", "40")).hash());
}

#[test]
fn flags_replace_a_schedule_or_one_of_its_keys() {
    let temperature = |flag: &str| loss_of(SCHEDULED, &[flag]).unwrap()["temperature"].clone();
    assert_eq!(temperature("loss.temperature=0.3"), 0.3.into());
    assert_eq!(temperature("loss.temperature.end=0.2")["end"], 0.2.into());
    // What the new kind does not have goes, as in every table.
    let linear = loss_of(SCHEDULED, &["loss.temperature.kind=linear", "loss.temperature.epochs=9"]).unwrap();
    assert_eq!(
        linear["temperature"],
        "kind = 'linear'\nstart = 1.0\nend = 0.1\nepochs = 9"
            .parse::<toml::Table>()
            .unwrap()
            .into()
    );
    let whole = temperature("loss.temperature={kind='learned',start=0.07}");
    assert_eq!(
        whole,
        "kind = 'learned'\nstart = 0.07\nleast = 0.01\nmost = 100.0"
            .parse::<toml::Table>()
            .unwrap()
            .into()
    );
    let other = loss_of(SCHEDULED, &["loss.beta={kind='constant',value=0.5}", "loss.kind=info_nce"]);
    let keys: Vec<String> = loss_of(SCHEDULED, &["loss.kind=info_nce"]).unwrap().keys().cloned().collect();
    assert_eq!(keys, ["kind", "temperature"]);
    assert!(other.unwrap_err().contains("unknown key loss.beta"));
}

#[test]
fn a_recipe_may_change_the_schedule_of_the_one_that_it_extends() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("parent.toml", SCHEDULED);
    write(
        "child.toml",
        "extends = 'parent.toml'\n[loss]\ntemperature = { kind = 'linear', end = 0.3, epochs = 5 }\nbeta = { kind = 'steps', values = [0.5, 0.9], epochs = [3] }",
    );
    let child = Recipe::from_file(folder.path().join("child.toml"), &[]).unwrap();
    let schedules = child.as_kind::<RecommenderRecipe>().unwrap().loss.schedules();
    assert_eq!(schedules.get("temperature").unwrap().to_string(), "1 to 0.3 (linear)");
    assert_eq!(schedules.get("beta").unwrap().to_string(), "0.5, 0.9 (steps)");
}

#[test]
fn schedules_are_refused_with_line_key_and_remedy() {
    let text = |temperature: &str| format!("data.dataset = 'planted'\n[loss]\nkind = 'bayesian'\n\ntemperature = {temperature}");
    for (temperature, expected) in [
        (
            "{ kind = 'cosine', start = 0.5, end = 0, epochs = 50 }",
            "a.toml:5: loss.temperature.end is 0, but must be in [1e-6, 1000000]",
        ),
        (
            "{ kind = 'cosin', start = 0.5, end = 0.1, epochs = 50 }",
            "a.toml:5: loss.temperature.kind is \"cosin\", but must be one of \"constant\", \"linear\", \"cosine\", \"harmonic\", \"steps\", \"learned\"; \
             did you mean cosine?",
        ),
        (
            "{ kind = 'linear', start = 0.5, end = 0.1, epoch = 50 }",
            "a.toml:5: unknown key loss.temperature.epoch; did you mean loss.temperature.epochs?; [loss.temperature] of kind \"linear\" has \
             kind, start, end, epochs, steps",
        ),
        (
            "{ kind = 'linear', start = 'warm', end = 0.1, epochs = 50 }",
            "a.toml:5: loss.temperature.start is the string \"warm\", but must be a number",
        ),
        (
            "{ kind = 'linear', start = 0.5, end = 0.1 }",
            "a.toml:5: loss.temperature.epochs is missing",
        ),
        (
            "{ start = 0.5, end = 0.1, epochs = 3 }",
            "a.toml:5: loss.temperature.kind is missing",
        ),
        (
            "{ kind = 'steps', values = [0.5, nan], epochs = [3] }",
            "a.toml:5: loss.temperature.values is NaN, but must be in [1e-6, 1000000]",
        ),
        (
            "{ kind = 'cosine', start = nan, end = nan, period = 3 }",
            "a.toml:5: loss.temperature.start is NaN",
        ),
        ("[0.5, 0.1]", "a.toml:5: loss.temperature is a list, but must be a number"),
    ] {
        let error = loss_of(&text(temperature), &[]).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    for (flags, expected) in [
        (
            &["loss.alpha={kind='constant',value=0.7}", "alpha_schedule.kind=label_free"][..],
            "--set alpha_schedule.kind=label_free: alpha_schedule.kind moves alpha, but so does the schedule in loss.alpha",
        ),
        (
            &["loss.beta={kind='learned',start=0.7}"],
            "loss.beta.kind is \"learned\", but only the temperature can be learned",
        ),
        (
            &[
                "loss.beta={kind='linear',start=0.5,end=1.0,epochs=4}",
                "alpha_schedule={kind='linear',end=1.0}",
            ],
            "alpha_schedule.end makes",
        ),
        (
            &["loss.normalised={kind='constant',value=1}"],
            "loss.normalised.value is 1.0, but must be true or false",
        ),
        (
            &["loss.temperature=0.5", "loss.temperature.end=0.1"],
            "loss.temperature is not a table",
        ),
    ] {
        let error = loss_of(LEAST, flags).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let images = "data.dataset = 'planted'\nencoder.kind = 'resnet'\nmethod.kind = 'simsiam'\n[loss]\nkind = 'info_nce'\n\
                  temperature = { kind = 'learned', start = 0.07 }";
    let error = loss_of(images, &[]).unwrap_err();
    assert!(error.contains("loss does not apply to method \"simsiam\""), "{error}");
}

#[test]
fn a_split_by_time_and_a_core_are_written_out_and_read_again() {
    let text = "loss.kind = 'hard'\n[data]\nfiles = ['a.csv', 'b.csv']\ncolumns = {user = 'who', item = 2}\nmin_user_interactions = 5\n\
                items = 'names.csv'\nitem_columns.title = 'label'\nsplit = {kind = 'ratio', order = 'time'}";
    let recipe: RecommenderRecipe = from_toml(text, "a.toml", &[]).unwrap();
    let written = recipe.to_toml();
    assert!(written.contains("test_ratio = 0.2"), "{written}");
    let again: RecommenderRecipe = from_toml(&written, "a.toml", &[]).unwrap();
    assert_eq!(again.data, recipe.data);

    let left: RecommenderRecipe = from_toml(text, "a.toml", &["data.split={kind='leave_one_out'}".parse().unwrap()]).unwrap();
    assert!(!left.to_toml().contains("test_ratio"));
}
