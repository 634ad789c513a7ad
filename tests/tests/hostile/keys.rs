//! Every numeric key of a recipe, with invalid values.

use super::{
    case::Case,
    graphs, methods,
    recipes::{IMAGES, RECOMMENDER, TRAIN},
};

/// The values that each key is set to.
const VALUES: [&str; 8] = [
    "-1",
    "0",
    "1000000000000",
    "9223372036854775807",
    "1e308",
    "nan",
    "text",
    "[]",
];

/// A numeric key of a recipe.
struct Number {
    recipe: &'static str,
    /// Settings applied first.
    before: &'static [&'static str],
    /// The setting, with `?` for the value.
    change: &'static str,
    /// The word by which the error names the key.
    named: &'static str,
    /// The values that are valid for this key.
    accepted: &'static [&'static str],
}

impl Number {
    fn new(
        recipe: &'static str,
        before: &'static [&'static str],
        change: &'static str,
        accepted: &'static [&'static str],
    ) -> Self {
        Self {
            recipe,
            before,
            change,
            named: name_of(change),
            accepted,
        }
    }
}

const ANY_SEED: &[&str] = &["0", "1000000000000", "9223372036854775807"];
pub(crate) const ZERO: &[&str] = &["0"];

const SGD: &[&str] = &["optimizer.kind=sgd"];
const LARS: &[&str] = &["optimizer.kind=lars"];
/// No such file: settings are refused before anything is read.
const OF_FILE: &[&str] = &["data={file='none.csv'}"];
/// A detection within the training.
const DETECTED: &[&str] = &["recovery.warmup=1", "training.epochs=2"];
const DOT: &[&str] = &["encoder.similarity=dot"];

fn numbers() -> Vec<Number> {
    let plain = |recipe: &'static str, changes: &[(&'static str, &'static [&'static str])]| -> Vec<Number> {
        let with = |&(change, accepted): &(&'static str, _)| Number::new(recipe, &[][..], change, accepted);
        changes.iter().map(with).collect()
    };
    let mut numbers = plain(
        RECOMMENDER,
        &[
            ("seed=?", ANY_SEED),
            ("data.planted.num_users=?", &[]),
            ("data.planted.num_items=?", &[]),
            ("data.planted.num_communities=?", &[]),
            ("data.planted.interactions_per_user=?", &[]),
            ("data.planted.skew=?", ZERO),
            ("data.planted.noise=?", ZERO),
            ("data.planted.test_ratio=?", &[]),
            ("data.planted.seed=?", ANY_SEED),
            ("encoder.dim=?", &[]),
            ("encoder.init_std=?", &[]),
            ("encoder={kind='light_gcn',dim=4,layers=?}", &[]),
            ("encoder={kind='light_gcn',dim=?}", &[]),
            ("encoder={kind='light_gcn',init_std=?}", &[]),
            ("negatives.count=?", &[]),
            ("logging.every=?", ZERO),
            ("negatives={kind='uniform_all',count=?}", &[]),
            ("negatives={kind='popularity',count=?}", &[]),
            ("negatives={kind='popularity',exponent=?}", ZERO),
            ("optimizer.learning_rate=?", &["1000000000000", "9223372036854775807"]),
            ("optimizer.weight_decay=?", ZERO),
            ("optimizer.l2=?", ZERO),
            ("training.batch_size=?", &[]),
            ("training.gradient_cache=?", &[]),
            ("training.epochs=?", &[]),
            ("training.patience=?", &[]),
            ("selection.held_out=?", &[]),
            ("evaluation.cutoffs=[?]", &[]),
            ("evaluation.ease_lambda=?", &["1000000000000"]),
            ("evaluation.knn_neighbours=?", &[]),
            ("evaluation.knn_shrinkage=?", ZERO),
            ("alpha_schedule={kind='linear',epochs=?}", &[]),
            ("alpha_schedule={kind='linear',start=?}", &[]),
            ("alpha_schedule={kind='linear',end=?}", &[]),
            ("alpha_schedule={kind='released_steps',steps=?}", &[]),
            ("alpha_schedule={kind='released_steps',every=?}", &[]),
            ("alpha_schedule={kind='label_free',smoothing=?}", ZERO),
            ("loss={kind='info_nce',temperature=?}", &[]),
            ("loss={kind='decoupled',temperature=?}", &[]),
            ("loss={kind='decoupled',sigma=?}", &[]),
            ("loss={kind='debiased',tau_plus=?}", ZERO),
            ("loss={kind='hard',beta=?}", ZERO),
            ("loss={kind='bayesian',tau_plus=?}", ZERO),
            ("loss={kind='bayesian',alpha=?}", &[]),
            ("loss={kind='bayesian',beta=?}", ZERO),
            ("loss={kind='positive_unlabelled',class_prior=?}", ZERO),
            ("loss={kind='positive_unlabelled',label_frequency=?}", ZERO),
            ("loss={kind='ring',upper=?}", &[]),
            ("loss={kind='ring',lower=?}", ZERO),
            ("loss={kind='adnce',mu=?}", &["-1", "0"]),
            ("loss={kind='adnce',sigma=?}", &[]),
            ("loss={kind='progcl',initial_share=?}", &[]),
            ("loss={kind='progcl',strength=?}", ZERO),
            ("loss={kind='augmented',lambda=?}", ZERO),
            ("loss.temperature={kind='constant',value=?}", &[]),
            ("loss.temperature={kind='linear',start=?,end=0.5,epochs=3}", &[]),
            ("loss.temperature={kind='linear',end=?,start=0.5,epochs=3}", &[]),
            ("loss.temperature={kind='linear',epochs=?,start=0.5,end=0.1}", &[]),
            ("loss.temperature={kind='cosine',epochs=?,start=0.5,end=0.1}", &[]),
            ("loss.temperature={kind='cosine',period=?,start=0.5,end=0.1}", &[]),
            ("loss.temperature={kind='linear',steps=?,start=0.5,end=0.1}", &[]),
            ("loss.temperature={kind='harmonic',epochs=1,start=?,end=0.1}", &[]),
            ("loss.temperature={kind='harmonic',steps=?,start=0.5,end=0.1}", &[]),
            ("loss={kind='debiased',num_negatives=?}", &[]),
            ("loss.temperature={kind='steps',values=[0.5,?],epochs=[3]}", &[]),
            ("loss.temperature={kind='steps',epochs=[?],values=[0.5,0.1]}", &[]),
            ("loss.temperature={kind='learned',start=?}", &[]),
            ("loss.temperature={kind='learned',least=?,start=0.5}", &[]),
            ("loss.temperature={kind='learned',most=?,start=0.5}", &[]),
        ],
    );
    numbers.extend(plain(
        IMAGES,
        &[
            ("data.two_random_classes=?", ANY_SEED),
            ("logging.every=?", ZERO),
            ("loss={kind='augmented',running=?}", &[]),
            ("data.planted.classes=?", &[]),
            ("data.planted.train=?", &[]),
            ("data.planted.test=?", &[]),
            ("data.planted.side=?", &[]),
            ("data.planted.noise=?", ZERO),
            ("data.planted.tint=?", ZERO),
            ("views.side=?", &[]),
            ("views.flip=?", ZERO),
            ("views.grayscale=?", ZERO),
            ("views.crop.scale=[?,1.0]", &[]),
            ("views.crop.ratio=[1.0,?]", &[]),
            ("views.jitter.brightness=?", ZERO),
            ("views.jitter.contrast=?", ZERO),
            ("views.jitter.saturation=?", ZERO),
            ("views.jitter.hue=?", ZERO),
            ("views.jitter.probability=?", ZERO),
            ("views.blur.kernel_fraction=?", ZERO),
            ("views.blur.sigma=[0.1,?]", &[]),
            ("views.blur.probability=?", ZERO),
            ("views.mean=[?,0.5,0.5]", ZERO),
            ("views.std=[?,0.5,0.5]", &[]),
            ("views.count=?", &[]),
            ("views.solarise.threshold=?", ZERO),
            ("views.solarise.probability=?", ZERO),
            ("views.second.crop.scale=[?,1.0]", &[]),
            ("views.second.crop.ratio=[1.0,?]", &[]),
            ("views.second.jitter.brightness=?", ZERO),
            ("views.second.jitter.contrast=?", ZERO),
            ("views.second.jitter.saturation=?", ZERO),
            ("views.second.jitter.hue=?", ZERO),
            ("views.second.jitter.probability=?", ZERO),
            ("views.second.grayscale=?", ZERO),
            ("views.second.blur.kernel_fraction=?", ZERO),
            ("views.second.blur.sigma=[0.1,?]", &[]),
            ("views.second.blur.probability=?", ZERO),
            ("views.second.solarise.threshold=?", ZERO),
            ("views.second.solarise.probability=?", ZERO),
            ("views.local={side=8,count=?}", &[]),
            ("views.local={side=?}", &[]),
            ("views.local={side=8,scale=[?,1.0]}", &[]),
            ("encoder.trunk.width=?", &[]),
            ("encoder.trunk.depth=?", &[]),
            ("encoder.head.hidden=?", &[]),
            ("encoder.head.out=?", &[]),
            ("encoder.head.layers=?", &[]),
            ("encoder.split_channels=?", &[]),
            ("optimizer.learning_rate=?", &[]),
            ("optimizer.weight_decay=?", ZERO),
            ("optimizer.momentum=?", ZERO),
            ("optimizer.trust_coefficient=?", &[]),
            ("optimizer.warmup_epochs=?", ZERO),
            ("optimizer.clip_norm=?", ZERO),
            ("optimizer.clip_global_norm=?", ZERO),
            ("training.batch_size=?", &[]),
            ("training.gradient_cache=?", &[]),
            ("training.epochs=?", ZERO),
            ("training.sync_batch_norm=?", &[]),
            ("recovery.warmup=?", &[]),
            ("recovery.ramp=?", &[]),
            ("recovery.every=?", &[]),
            ("recovery.components=?", &[]),
            ("evaluation.every=?", ZERO),
            ("evaluation.side=?", &[]),
            ("evaluation.label_fractions=[?]", &[]),
            ("evaluation.label_fractions=[0.5,?]", &[]),
            ("evaluation.probe.epochs=?", &[]),
            ("evaluation.probe.learning_rate=?", &["1000000000000", "9223372036854775807"]),
            ("evaluation.probe.weight_decay=?", ZERO),
            ("evaluation.probe.batch_size=?", &[]),
            ("evaluation.knn.k=?", &[]),
            ("evaluation.knn.temperature=?", &[]),
        ],
    ));
    numbers.extend([
        Number::new(IMAGES, SGD, "optimizer.learning_rate=?", &[]),
        Number::new(IMAGES, DETECTED, "recovery.attract=?", ZERO),
        Number::new(IMAGES, LARS, "optimizer.learning_rate=?", &[]),
        Number::new(IMAGES, LARS, "optimizer.trust_coefficient=?", &[]),
        Number::new(RECOMMENDER, DOT, "encoder.init_std=?", &[]),
        Number::new(RECOMMENDER, OF_FILE, "data.min_user_interactions=?", &[]),
        Number::new(RECOMMENDER, OF_FILE, "data.min_item_interactions=?", &[]),
        Number::new(RECOMMENDER, OF_FILE, "data.split.test_ratio=?", &[]),
        Number::new(RECOMMENDER, OF_FILE, "data.split={kind='temporal',test_ratio=?}", &[]),
        Number::new(RECOMMENDER, OF_FILE, "data.split={kind='leave_one_out',seed='?'}", &[]),
    ]);
    numbers.extend(plain(graphs::GRAPHS, &graphs::NUMBERS));
    numbers.push(Number::new(graphs::GRAPHS, graphs::GRAPHCL, "method.views.ratio=?", ZERO));
    numbers.extend(
        methods::NUMBERS
            .iter()
            .map(|&(recipe, before, change, accepted)| Number::new(recipe, before, change, accepted)),
    );
    numbers
}

/// The last part of the key that is set.
fn name_of(change: &'static str) -> &'static str {
    let before = &change[..change.find('?').expect("a place for the value")];
    let key = before.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // In a list, the value may follow others.
    let key = key.split("=[").next().expect("a part");
    // For a value of the wrong type, the error names the surrounding table.
    if ["encoder.trunk", "encoder.head", "encoder.split_channels"]
        .iter()
        .any(|of_images| key.contains(of_images))
    {
        return "encoder";
    }
    let start = key.rfind(['.', ',', '{']).map_or(0, |dot| dot + 1);
    &key[start..]
}

/// Settings that are each in range, but together do not fit into memory.
const TOO_LARGE: [(&str, &[&str], &str); 10] = [
    (
        RECOMMENDER,
        &["encoder.dim=65536", "data.planted.num_users=20000"],
        "encoder.dim",
    ),
    (
        RECOMMENDER,
        &[
            "negatives.count=1000000",
            "data.planted.num_users=2000",
            "training.batch_size=100000",
        ],
        "negatives.count",
    ),
    (
        RECOMMENDER,
        &[
            "negatives={kind='in_batch'}",
            "data.planted.num_users=20000",
            "training.batch_size=1000000",
        ],
        "training.batch_size",
    ),
    (
        RECOMMENDER,
        &[
            "data.planted.num_users=10000000",
            "data.planted.num_items=200000",
            "data.planted.interactions_per_user=1000",
        ],
        "data.planted.num_users",
    ),
    (
        IMAGES,
        &["views.side=4096", "data.planted.train=64", "training.batch_size=64"],
        "views.side",
    ),
    (IMAGES, &["encoder.trunk.width=4096"], "encoder.trunk.width"),
    (
        IMAGES,
        &["encoder.head.hidden=65536", "encoder.head.out=65536"],
        "encoder.head.hidden",
    ),
    (IMAGES, &["evaluation.side=4096", "data.planted.train=200"], "evaluation.side"),
    (
        IMAGES,
        &["data.planted.train=40000", "data.planted.side=256"],
        "data.planted.train",
    ),
    (
        IMAGES,
        &["training.epochs=0", "encoder.trunk.width=4096", "encoder.trunk.depth=50"],
        "encoder.trunk.width",
    ),
];

/// Ends of ranges at which a tiny run must train.
const ENDS: [(&str, &[&str]); 16] = [
    (IMAGES, &["loss={kind='augmented',running=1}"]),
    (IMAGES, &["loss={kind='augmented',running=1e-300,rate='negatives'}"]),
    (RECOMMENDER, &["encoder.init_std=1000"]),
    (RECOMMENDER, &["encoder.init_std=1e-6"]),
    (
        RECOMMENDER,
        &["encoder.similarity=dot", "encoder.init_std=1000", "evaluation.baselines=[]"],
    ),
    (RECOMMENDER, &["encoder={kind='light_gcn',dim=4,layers=100}"]),
    (RECOMMENDER, &["loss.temperature=1e-6"]),
    (RECOMMENDER, &["loss.temperature=1e6"]),
    (RECOMMENDER, &["training.batch_size=10000000", "training.patience=1000000"]),
    (RECOMMENDER, &["optimizer.l2=1e6"]),
    (
        IMAGES,
        &[
            "views.std=[1e5,1e-5,1]",
            "views.jitter.brightness=100",
            "views.jitter.contrast=100",
        ],
    ),
    (IMAGES, &["views.crop.ratio=[1e-3,1e3]", "views.crop.scale=[1e-6,1.0]"]),
    (
        IMAGES,
        &[
            "views.blur.sigma=[1e-3,1e3]",
            "views.blur.kernel_fraction=1",
            "views.blur.probability=1",
        ],
    ),
    (
        IMAGES,
        &[
            "views.solarise={threshold=255,probability=1}",
            "views.second.solarise.threshold=0",
        ],
    ),
    (
        IMAGES,
        &["views.colour=lab", "views.second={grayscale=1,crop={scale=[1e-6,1e-6]}}"],
    ),
    (
        IMAGES,
        &[
            "evaluation.knn={k=1000000,temperature=1e-6}",
            "evaluation.probe.batch_size=10000000",
        ],
    ),
];

pub(crate) fn cases() -> Vec<Case> {
    let changed = |changes: &[&str]| -> Vec<String> {
        let flags = changes.iter().flat_map(|change| ["--set", change]);
        TRAIN.into_iter().chain(flags).map(str::to_owned).collect()
    };
    let mut cases = Vec::new();
    for number in numbers() {
        for value in VALUES {
            let change = number.change.replace('?', value);
            let kind = match number.recipe {
                RECOMMENDER => "recommender",
                graphs::GRAPHS => "graphs",
                _ => "images",
            };
            let name = format!("{kind}: {} {change}", number.before.join(" "));
            let arguments = changed(&[number.before, &[change.as_str()]].concat());
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let case = if number.accepted.contains(&value) {
                Case::fine(name, &arguments)
            } else {
                Case::refused(name, &arguments, &[number.named])
            };
            cases.push(case.with("tiny.toml", number.recipe));
        }
    }
    for (recipe, changes, key) in TOO_LARGE {
        let arguments = changed(changes);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let name = format!("too large: {}", changes.join(" "));
        let words = ["needs at least", "are free", key];
        cases.push(Case::refused(name, &arguments, &words).with("tiny.toml", recipe));
    }
    for (recipe, changes) in ENDS {
        let arguments = changed(changes);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        cases.push(Case::fine(format!("end of a range: {}", changes.join(" ")), &arguments).with("tiny.toml", recipe));
    }
    cases
}
