//! The `[method]` table of image recipes: numeric keys of every method with invalid values, and settings that do not fit together.

use super::{
    case::Case,
    keys::ZERO,
    recipes::{IMAGES, IMAGES_WITHOUT_LOSS, TRAIN},
};

const MOCO: &[&str] = &["method.kind=moco", "method.norm_groups=2"];
const NNCLR: &[&str] = &["method.kind=nnclr"];
const SIMSIAM: &[&str] = &["method.kind=simsiam"];
const BYOL: &[&str] = &["method.kind=byol"];
const BARLOW_TWINS: &[&str] = &["method.kind=barlow_twins"];
const VICREG: &[&str] = &["method.kind=vicreg"];
const SWAV: &[&str] = &["method.kind=swav"];
const DINO: &[&str] = &["method.kind=dino"];
/// What CMC needs beside its own table.
const CMC: &[&str] = &[
    "method.kind=cmc",
    "views.count=1",
    "views.colour=lab",
    "encoder.split_channels=1",
];

/// A recipe, settings applied first, the setting with `?` for the value, and the values of the list in `keys.rs` that are valid.
type Key = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

/// The numeric keys of all methods.
pub(crate) const NUMBERS: [Key; 37] = [
    (IMAGES, &["method.kind=simclr"], "method.views=?", &[]),
    (IMAGES, MOCO, "method.queue=?", &[]),
    (IMAGES, MOCO, "method.momentum=?", ZERO),
    (IMAGES, MOCO, "method.norm_groups=?", &[]),
    (IMAGES, MOCO, "method.synthetic={hardest=?}", &[]),
    (IMAGES, MOCO, "method.synthetic={mixed=?}", ZERO),
    (IMAGES, MOCO, "method.synthetic={with_query=?}", ZERO),
    (IMAGES, CMC, "method.negatives=?", &[]),
    (IMAGES, CMC, "method.bank_momentum=?", ZERO),
    (IMAGES, CMC, "method.temperature=?", &[]),
    (IMAGES, NNCLR, "method.support=?", &[]),
    (IMAGES, NNCLR, "method.hidden=?", &[]),
    (IMAGES_WITHOUT_LOSS, SIMSIAM, "method.hidden=?", &[]),
    (IMAGES_WITHOUT_LOSS, BYOL, "method.hidden=?", &[]),
    (IMAGES_WITHOUT_LOSS, BYOL, "method.momentum=?", ZERO),
    (IMAGES_WITHOUT_LOSS, BARLOW_TWINS, "method.lambda=?", ZERO),
    (IMAGES_WITHOUT_LOSS, BARLOW_TWINS, "method.scale=?", &[]),
    (IMAGES_WITHOUT_LOSS, BARLOW_TWINS, "method.epsilon=?", ZERO),
    (IMAGES_WITHOUT_LOSS, VICREG, "method.invariance=?", ZERO),
    (IMAGES_WITHOUT_LOSS, VICREG, "method.variance=?", ZERO),
    (IMAGES_WITHOUT_LOSS, VICREG, "method.covariance=?", ZERO),
    (IMAGES_WITHOUT_LOSS, VICREG, "method.epsilon=?", &[]),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.prototypes=?", &[]),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.temperature=?", &[]),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.epsilon=?", &[]),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.iterations=?", &[]),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.queue=?", ZERO),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.queue_from=?", ZERO),
    (IMAGES_WITHOUT_LOSS, SWAV, "method.frozen_steps=?", ZERO),
    (IMAGES_WITHOUT_LOSS, DINO, "method.prototypes=?", &[]),
    (IMAGES_WITHOUT_LOSS, DINO, "method.student_temperature=?", &[]),
    (IMAGES_WITHOUT_LOSS, DINO, "method.teacher_temperature=?", &[]),
    (IMAGES_WITHOUT_LOSS, DINO, "method.teacher_temperature_start=?", &[]),
    (IMAGES_WITHOUT_LOSS, DINO, "method.teacher_warmup_epochs=?", ZERO),
    (IMAGES_WITHOUT_LOSS, DINO, "method.center_momentum=?", ZERO),
    (IMAGES_WITHOUT_LOSS, DINO, "method.momentum=?", ZERO),
    (IMAGES_WITHOUT_LOSS, DINO, "method.frozen_epochs=?", ZERO),
];

/// Settings of an image recipe, and words of the error.
type Refusal = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Settings that do not fit together, or words that are not known.
const REFUSED: [Refusal; 38] = [
    (
        IMAGES,
        &["method.kind=mocha"],
        &[
            "method.kind",
            "mocha",
            "simclr",
            "moco",
            "cmc",
            "nnclr",
            "simsiam",
            "byol",
            "barlow_twins",
            "vicreg",
            "swav",
            "dino",
        ],
    ),
    (IMAGES, &["method.queue=5"], &["method.queue", "simclr"]),
    (IMAGES, &["method={kind='moco',support=5}"], &["method.support"]),
    (IMAGES, &["method={kind='moco',synthetic={hard=5}}"], &["synthetic", "hard"]),
    // Several views and labels of SimCLR.
    (
        IMAGES,
        &["views.count=3"],
        &["views.count is 3", "needs 2", "set method.views to the same number"],
    ),
    (IMAGES, &["method={kind='simclr',views=4}"], &["views.count is 2", "needs 4"]),
    (
        IMAGES,
        &["method={kind='simclr',labels='supcon'}"],
        &["loss.kind", "supcon", "decoupled", "positives"],
    ),
    (
        IMAGES,
        &[
            "method={kind='simclr',labels='positives'}",
            "loss={kind='augmented',running=0.1}",
        ],
        &["loss.running", "one positive", "method.views"],
    ),
    // The other views, colours and encoder of CMC.
    (IMAGES, &["views.count=1"], &["views.count", "simclr", "needs 2"]),
    (
        IMAGES,
        &["method.kind=moco", "views.count=3"],
        &["views.count", "moco", "needs 2"],
    ),
    (IMAGES, &["method.kind=cmc"], &["views.count", "cmc", "needs 1"]),
    (
        IMAGES,
        &["method.kind=cmc", "views.count=1", "encoder.split_channels=1"],
        &["views.colour", "cmc", "lab"],
    ),
    (
        IMAGES,
        &["method.kind=cmc", "views.count=1", "views.colour=lab"],
        &["encoder.split_channels", "cmc", "set it to 1"],
    ),
    (
        IMAGES,
        &[
            "method.kind=cmc",
            "views.count=1",
            "views.colour=lab",
            "encoder.split_channels=3",
        ],
        &["encoder", "split_channels"],
    ),
    (IMAGES, &["views.local={side=4}"], &["views.local", "simclr"]),
    (
        IMAGES,
        &["method.kind=moco", "views.local={side=4}"],
        &["views.local", "moco"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method.kind=byol", "views.local={side=4}"],
        &["views.local", "byol"],
    ),
    // Groups of batch normalisation need batches and parts of equal size.
    (
        IMAGES,
        &["method.kind=moco", "training.batch_size=12"],
        &["training.batch_size", "norm_groups = 8", "multiples of 8"],
    ),
    (
        IMAGES,
        &["method.kind=moco", "training={batch_size=16,gradient_cache=4,epochs=1}"],
        &["training.gradient_cache", "norm_groups = 8", "multiples of 8"],
    ),
    (
        IMAGES,
        &["method.kind=moco", "training.batch_size=8"],
        &["training.batch_size", "norm_groups = 8", "from 16 on"],
    ),
    (
        IMAGES,
        &[
            "method={kind='moco',norm_groups=4}",
            "training={batch_size=24,gradient_cache=16,epochs=1}",
        ],
        &["training.gradient_cache", "norm_groups = 4", "divide the batch"],
    ),
    (
        IMAGES,
        &["method={kind='moco',norm_groups=3}", "training.gradient_cache=3"],
        &["training.batch_size", "norm_groups = 3"],
    ),
    // A loss where the method has its own, and none where it has not.
    (IMAGES, &["method.kind=simsiam"], &["loss", "simsiam"]),
    (IMAGES, &["method.kind=byol"], &["loss", "byol"]),
    (IMAGES, &["method.kind=barlow_twins"], &["loss", "barlow_twins"]),
    (IMAGES, &["method.kind=vicreg"], &["loss", "vicreg"]),
    (IMAGES, &["method.kind=swav"], &["loss", "swav"]),
    (IMAGES, &["method.kind=dino"], &["loss", "dino"]),
    (
        IMAGES,
        &[
            "method={kind='cmc',form='nce'}",
            "views.count=1",
            "views.colour=lab",
            "encoder.split_channels=1",
        ],
        &["loss", "cmc"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='moco',norm_groups=2}"],
        &["loss.kind", "moco"],
    ),
    (IMAGES_WITHOUT_LOSS, &["method.kind=nnclr"], &["loss.kind", "nnclr"]),
    (
        IMAGES_WITHOUT_LOSS,
        &["method.kind=vicreg", "alpha_schedule={kind='label_free'}"],
        &["alpha_schedule", "vicreg"],
    ),
    // Words.
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='byol',momentum_schedule='linear'}"],
        &["method", "linear", "constant", "cosine"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='dino',momentum_schedule=3}"],
        &["method", "momentum_schedule"],
    ),
    (
        IMAGES,
        &["method={kind='nnclr',form='both'}"],
        &["method", "both", "cross", "ntxent"],
    ),
    (
        IMAGES,
        &[
            "method={kind='cmc',form='hard'}",
            "views.count=1",
            "views.colour=lab",
            "encoder.split_channels=1",
        ],
        &["method", "hard", "softmax", "nce"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='barlow_twins',deviation='none'}"],
        &["method", "none", "population", "sample"],
    ),
    (IMAGES, &["method={kind='moco',symmetric='yes'}"], &["method", "symmetric"]),
];

/// Settings that are each in range, but together do not fit into memory, and the key to lower.
const TOO_LARGE: [Refusal; 5] = [
    (
        IMAGES,
        &["method={kind='moco',queue=16777216,norm_groups=2}", "encoder.head.out=65536"],
        &["method.queue"],
    ),
    (
        IMAGES,
        &[
            "method={kind='moco',norm_groups=2,queue=1,synthetic={mixed=65536}}",
            "encoder.head.out=65536",
        ],
        &["mixtures of negatives", "method.synthetic"],
    ),
    (
        IMAGES,
        &["method={kind='nnclr',support=16777216}", "encoder.head.out=65536"],
        &["method.support"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='swav',prototypes=262144}", "encoder.head.out=65536"],
        &["method.prototypes"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='byol',hidden=65536}", "encoder.head.out=65536"],
        &["method.hidden"],
    ),
];

/// Tiny runs that must train: parts of the smallest size that groups allow, and ends of ranges.
const FINE: [(&str, &[&str]); 9] = [
    (
        IMAGES,
        &["method={kind='moco',norm_groups=2,queue=1}", "training.gradient_cache=4"],
    ),
    (
        IMAGES,
        &[
            "method={kind='moco',norm_groups=4}",
            "training={batch_size=16,gradient_cache=8,epochs=1}",
        ],
    ),
    (
        IMAGES,
        &[
            "method={kind='moco',norm_groups=2,synthetic={hardest=65536,mixed=1,with_query=0}}",
            "training={batch_size=8,epochs=2}",
        ],
    ),
    (
        IMAGES,
        &[
            "method={kind='cmc',negatives=1}",
            "views={side=8,count=1,colour='ycbcr'}",
            "encoder.split_channels=2",
            "training.gradient_cache=3",
        ],
    ),
    (IMAGES, &["method={kind='nnclr',support=1,hidden=1,form='ntxent'}"]),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='byol',momentum=1,hidden=1}", "training.gradient_cache=3"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &["method={kind='vicreg',epsilon=1e-12}", "training.gradient_cache=3"],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &[
            "method={kind='swav',prototypes=2,epsilon=1e-6,temperature=1e-6,iterations=1000}",
            "views.local={side=4}",
        ],
    ),
    (
        IMAGES_WITHOUT_LOSS,
        &[
            "method={kind='dino',prototypes=2,student_temperature=1e6,teacher_temperature=1e-6,center_momentum=1}",
            "views.local={side=4}",
        ],
    ),
];

pub(crate) fn cases() -> Vec<Case> {
    let arguments = |changes: &[&'static str]| -> Vec<&'static str> {
        let flags = changes.iter().flat_map(|change| ["--set", change]);
        TRAIN.into_iter().chain(flags).collect()
    };
    let named = |recipe: &str, changes: &[&str]| {
        let loss = if recipe == IMAGES { "a loss and " } else { "" };
        format!("methods: {loss}{}", changes.join(" "))
    };
    let refused = |&(recipe, changes, words): &Refusal| {
        Case::refused(named(recipe, changes), &arguments(changes), words).with("tiny.toml", recipe)
    };
    let too_large = |&(recipe, changes, words): &Refusal| {
        let words = [&["needs at least", "are free"][..], words].concat();
        Case::refused(named(recipe, changes), &arguments(changes), &words).with("tiny.toml", recipe)
    };
    let fine = |&(recipe, changes): &(&'static str, _)| {
        Case::fine(named(recipe, changes), &arguments(changes)).with("tiny.toml", recipe)
    };
    let refused = REFUSED.iter().map(refused);
    refused
        .chain(TOO_LARGE.iter().map(too_large))
        .chain(FINE.iter().map(fine))
        .collect()
}
