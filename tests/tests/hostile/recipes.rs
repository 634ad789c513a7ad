//! Tiny valid recipes, and broken ones.

use super::case::{Case, Content};

/// A tiny recommender on synthetic data. Tables are written out, so that keys can be added to them.
pub(crate) const RECOMMENDER: &str = r#"
name = "tiny"
[data]
dataset = "planted"
planted = { num_users = 24, num_items = 48, num_communities = 2, interactions_per_user = 8 }
[encoder]
kind = "mf"
dim = 4
[negatives]
kind = "uniform"
count = 4
[loss]
kind = "bayesian"
[training]
batch_size = 64
epochs = 1
patience = 1
[evaluation]
cutoffs = [5, 20]
"#;

/// A tiny image encoder on synthetic images, with a `[loss]` table or none.
macro_rules! images {
    ($loss:literal) => {
        concat!(
            "name = \"tiny\"\n",
            $loss,
            r#"
[data]
dataset = "planted"
planted = { train = 32, test = 20, side = 16, classes = 2 }
[views]
side = 8
[encoder]
kind = "resnet"
trunk = { depth = 18, stem = "imagenet", width = 2 }
head = { hidden = 4, out = 4 }
[training]
batch_size = 8
epochs = 1
[evaluation]
every = 0
probe.epochs = 1
"#
        )
    };
}

/// A tiny image encoder.
pub(crate) const IMAGES: &str = images!("[loss]\nkind = \"bayesian\"\n");

/// The same for methods with a loss of their own.
pub(crate) const IMAGES_WITHOUT_LOSS: &str = images!("");

/// The arguments of every training command.
pub(crate) const TRAIN: [&str; 4] = ["tiny.toml", "--quiet", "--threads", "2"];

pub(crate) fn cases() -> Vec<Case> {
    let recipe = |name: &str, content: Content, words: &[&str]| {
        let words = [&["tiny.toml"][..], words].concat();
        Case::refused(format!("recipe: {name}"), &TRAIN, &words).with("tiny.toml", content)
    };
    let text = |name: &str, text: &str, words: &[&str]| recipe(name, text.into(), words);
    let many = |line: &dyn Fn(usize) -> String| -> String { (0..40_000).map(line).collect() };
    let mut cases = vec![
        text("empty", "", &["data is missing"]),
        text("blank", "\n\n   \n", &["data is missing"]),
        text("no loss", "data.dataset = 'planted'", &["loss is missing"]),
        text("not TOML", "this is no recipe", &["not TOML"]),
        text("JSON", "{\"data\": {}}", &["not TOML"]),
        text("key twice", "seed = 1\nseed = 2", &["not TOML", "2"]),
        text("unclosed text", "name = 'a", &["not TOML"]),
        text("unclosed table", "[data\ndataset = 'planted'", &["not TOML"]),
        text("deep table", &format!("[{}]", vec!["a"; 60_000].join(".")), &["not TOML"]),
        text("deep key", &format!("{} = 1", vec!["a"; 60_000].join(".")), &["not TOML"]),
        text(
            "deep list",
            &format!("x = {}{}", "[".repeat(60_000), "]".repeat(60_000)),
            &["not TOML"],
        ),
        text(
            "deep inline table",
            &format!("x = {}1{}", "{a=".repeat(20_000), "}".repeat(20_000)),
            &["not TOML"],
        ),
        text("40,000 tables", &many(&|i| format!("[a{i}]\n")), &["a0"]),
        text("40,000 keys", &many(&|i| format!("a{i} = 1\n")), &["a0"]),
        text(
            "40,000 keys in a table with a kind",
            &format!("{RECOMMENDER}[optimizer]\n{}", many(&|i| format!("a{i} = 1\n"))),
            &["optimizer.a0"],
        ),
        text(
            "two megabytes",
            &format!("# {}\n{RECOMMENDER}", "x".repeat(2 << 20)),
            &["more than 1048576 bytes"],
        ),
        text("huge whole number", "seed = 99999999999999999999", &["1"]),
        text("a date", "seed = 1979-05-27", &["seed"]),
        text(
            "a name that leaves its folder",
            &RECOMMENDER.replace("\"tiny\"", "\"../tiny\""),
            &["name"],
        ),
        text("an absolute name", &RECOMMENDER.replace("\"tiny\"", "\"/tiny\""), &["name"]),
        text("an empty name", &RECOMMENDER.replace("\"tiny\"", "\"\""), &["name"]),
        text(
            "a name with an escape",
            &RECOMMENDER.replace("\"tiny\"", "\"\\u001b[31m\""),
            &["name"],
        ),
        text(
            "a long name",
            &RECOMMENDER.replace("\"tiny\"", &format!("\"{}\"", "x".repeat(5000))),
            &["name has 5000"],
        ),
        text(
            "a name of many folders",
            &RECOMMENDER.replace("\"tiny\"", &format!("\"{}a\"", "a/".repeat(2000))),
            &["name has 4001"],
        ),
        recipe("not UTF-8", Content::Bytes(b"name = '\xff'".to_vec()), &["UTF-8"]),
        recipe("zeros", Content::Bytes(vec![0; 100]), &["not TOML"]),
        recipe(
            "a picture",
            Content::Bytes(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\xff".to_vec()),
            &["UTF-8"],
        ),
        recipe("/dev/zero", Content::Link("/dev/zero".into()), &["a device"]),
        recipe("/dev/urandom", Content::Link("/dev/urandom".into()), &["a device"]),
        recipe("a pipe", Content::Pipe, &["a pipe"]),
        recipe("an empty folder", Content::Folder, &["has no recipe"]),
        recipe("a link to nothing", Content::Link("nowhere.toml".into()), &["no such recipe"]),
        recipe("a link to itself", Content::Link("tiny.toml".into()), &["tiny.toml"]),
    ];
    // Parents.
    let child = |name: &str, parent: &str, content: Content, words: &[&str]| {
        Case::refused(format!("recipe: extends {name}"), &TRAIN, words)
            .with("tiny.toml", format!("extends = '{parent}'\n"))
            .with("base.toml", content)
    };
    cases.extend([
        child(
            "a circle",
            "base.toml",
            "extends = 'tiny.toml'".into(),
            &["base.toml:1", "circle"],
        ),
        child(
            "a circle by a link",
            "base.toml",
            Content::Link("tiny.toml".into()),
            &["tiny.toml:1", "the recipe itself"],
        ),
        child("a missing file", "gone.toml", "".into(), &["tiny.toml:1", "gone.toml"]),
        child(
            "a link to nothing",
            "base.toml",
            Content::Link("gone.toml".into()),
            &["base.toml"],
        ),
        child("a folder", "base.toml", Content::Folder, &["tiny.toml:1", "cannot be read"]),
        child("/dev/zero", "/dev/zero", "".into(), &["tiny.toml:1", "a device"]),
        child(
            "a link to /dev/zero",
            "base.toml",
            Content::Link("/dev/zero".into()),
            &["a device"],
        ),
        child("a pipe", "base.toml", Content::Pipe, &["a pipe"]),
        child("what is not UTF-8", "base.toml", Content::Bytes(vec![0xff; 100]), &["UTF-8"]),
        child("what is not TOML", "base.toml", "\n]".into(), &["base.toml:2", "not TOML"]),
        child(
            "two megabytes",
            "base.toml",
            "#".repeat(2 << 20).into(),
            &["more than 1048576 bytes"],
        ),
        child(
            "40,000 keys",
            "base.toml",
            many(&|i| format!("a{i} = 1\n")).into(),
            &["base.toml", "a0"],
        ),
        text("extends a list", "extends = ['a.toml', 'b.toml']", &["tiny.toml:1", "a list"]),
        text("extends an escape", "extends = \"\\u001b[31m\\u0000\"", &["\\u{1b}"]),
        text("extends a long name", &format!("extends = '{}'", "x".repeat(500)), &["xxx"]),
    ]);
    let chain = |length: usize, last: &str| {
        let start = Case::refused(
            format!("recipe: a chain of {length}"),
            &TRAIN,
            &["32 recipes at most", "tiny.toml"],
        );
        let start = start
            .with("tiny.toml", "extends = '1.toml'")
            .with(&format!("{length}.toml"), last);
        (1..length).fold(start, |case, i| {
            case.with(&format!("{i}.toml"), format!("extends = '{}.toml'", i + 1))
        })
    };
    cases.push(chain(1000, RECOMMENDER));
    for (table, known) in [
        ("data", "dataset"),
        ("encoder", "dim"),
        ("negatives", "count"),
        ("loss", "temperature"),
        ("training", "epochs"),
        ("evaluation", "cutoffs"),
    ] {
        let unknown = RECOMMENDER.replace(&format!("[{table}]"), &format!("[{table}]\nno_such_key = 1"));
        cases.push(text(&format!("unknown key in {table}"), &unknown, &["no_such_key"]));
        let flag = format!("{table}=3");
        let arguments = [&TRAIN[..], &["--set", flag.as_str()]].concat();
        let name = format!("recipe: {table} is no table");
        cases.push(Case::refused(name, &arguments, &[table]).with("tiny.toml", RECOMMENDER));
        let flag = format!("{table}.{known}={{}}");
        let arguments = [&TRAIN[..], &["--set", flag.as_str()]].concat();
        let name = format!("recipe: {table}.{known} is a table");
        cases.push(Case::refused(name, &arguments, &[known]).with("tiny.toml", RECOMMENDER));
    }
    cases
}
