//! The commands and recipes in the documents for users work: programs, verbs and flags parse, and recipes, packages, data sets and files exist.

use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
    sync::LazyLock,
};
use whole_program_tests::{bcl_bench, bcl_train};

const PROGRAMS: [&str; 3] = ["cargo", "bcl-train", "bcl-bench"];

/// First words of lines that are not checked: shell syntax, and programs that the reader has built.
const OTHERS: [&str; 4] = ["for", "done", "./old", "./new"];

/// Folders of the repository. A word that begins with one of them is a path that must exist.
const FOLDERS: [&str; 5] = ["crates/", "datasets/", "docs/", "tests/", "xtask/"];

/// One recipe of each kind, and one with schedules. If a document names no recipe, one of them must accept the keys that it sets.
const RECIPES: [&str; 7] = [
    "quickstart/bayesian",
    "temperature/cifar10-cosine",
    "quickstart-images/bayesian",
    "quickstart-graphs/bayesian",
    "quickstart-graphs/graphcl",
    "quickstart-methods/moco",
    "quickstart-methods/cmc",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The commands of a text with their lines: in `sh` blocks, in indented blocks and in code in running text.
fn commands(markdown: &str) -> Vec<(usize, Vec<String>)> {
    let mut commands = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, text) in (1..).zip(markdown.lines()) {
        if let Some(language) = text.trim_start().strip_prefix("```") {
            fence = if fence.is_none() { Some(language) } else { None };
        } else if fence == Some("sh") || fence.is_none() && text.starts_with("    ") {
            // A description follows after two spaces or a `#`.
            let command = text.trim().split("  ").next().unwrap_or_default();
            let words = words(command.split(" #").next().unwrap_or_default());
            let first = words.first().map_or("", String::as_str);
            if !first.is_empty() && !first.starts_with('#') && !OTHERS.contains(&first) {
                commands.push((line, words));
            }
        } else if fence.is_none() {
            for words in text.split('`').skip(1).step_by(2).map(words) {
                // Without arguments, `cargo run` is mentioned, not used.
                let first = words.first().map_or("", String::as_str);
                let least = if first == "cargo" { 3 } else { 2 };
                if (PROGRAMS.contains(&first) || first == "--set") && words.len() >= least {
                    commands.push((line, words));
                }
            }
        }
    }
    commands
}

/// Splits a command at spaces outside quotes.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in command.chars() {
        match quote {
            None if c == ' ' => words.push(std::mem::take(&mut word)),
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(end) if c == end => quote = None,
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the reader must replace a word: `NAME`, `runs/NAME-SEED`, `my-recipe.toml`, `recipes/…`.
fn is_placeholder(word: &str) -> bool {
    let is_capital = |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase());
    let mut parts = word.split(|c: char| !c.is_alphanumeric());
    ["my-", "my.", "mine"].iter().any(|own| word.starts_with(own)) || word.contains('…') || parts.any(is_capital)
}

/// Says why a command would fail.
fn problem(words: &[String]) -> Option<String> {
    let missing = |word: &&String| {
        FOLDERS.iter().any(|folder| word.starts_with(folder)) && !is_placeholder(word) && !root().join(word).exists()
    };
    if let Some(word) = words.iter().find(missing) {
        return Some(format!("there is no {word}"));
    }
    match &*words[0] {
        "cargo" => cargo(&words[1..]),
        "bcl-train" => train(&words[1..]),
        "bcl-bench" => refused(bcl_bench().args(&words[1..]).arg("--help")),
        "--set" => some_recipe_accepts(words),
        other => Some(format!("`{other}` is not a program of this project")),
    }
}

fn cargo(words: &[String]) -> Option<String> {
    let (own, rest) = match words.iter().position(|word| word == "--") {
        Some(end) => (&words[..end], &words[end + 1..]),
        None => (words, &[][..]),
    };
    let after = |names: [&str; 2]| {
        let place = own.iter().position(|word| names.contains(&&**word))?;
        own.get(place + 1).map(String::as_str)
    };
    let folder = match (after(["-p", "--package"]), after(["--path", "--path"])) {
        (Some("xtask"), _) => "xtask".to_owned(),
        (Some("whole-program-tests"), _) => "tests".to_owned(),
        (Some(package), _) => format!("crates/{package}"),
        (None, Some(path)) => path.to_owned(),
        (None, None) => String::new(),
    };
    let Ok(manifest) = fs::read_to_string(root().join(&folder).join("Cargo.toml")) else {
        return Some(format!("there is no {folder}"));
    };
    let lacks = |feature: &&str| !folder.is_empty() && !manifest.contains(&format!("\n{feature} = ["));
    if let Some(feature) = after(["--features", "-F"]).and_then(|features| features.split(',').find(lacks)) {
        return Some(format!("{folder} has no feature {feature}"));
    }
    if let Some(example) = after(["--example", "--example"]) {
        let file = format!("{folder}/examples/{example}.rs");
        return (!root().join(&file).exists()).then(|| format!("there is no {file}"));
    }
    match (&*own[0], &*folder) {
        ("xtask", _) => {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            refused(
                cargo
                    .args(["run", "--quiet", "--package", "xtask", "--"])
                    .args(&own[1..])
                    .arg("--help"),
            )
        }
        ("run", "crates/bcl-train") => train(rest),
        ("run", "crates/bcl-bench") => refused(bcl_bench().args(rest).arg("--help")),
        _ => None,
    }
}

/// The verbs of `bcl-train`, from its help.
static VERBS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let help = text(&bcl_train().arg("--help").output().expect("it starts").stdout);
    let verbs = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty());
    let verbs: Vec<String> = verbs
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    assert!(verbs.iter().any(|verb| verb == "data"), "{help}");
    verbs
});

/// The data sets that can be fetched.
static DATA: LazyLock<String> = LazyLock::new(|| text(&bcl_train().args(["data", "list"]).output().expect("it starts").stdout));

fn train(words: &[String]) -> Option<String> {
    if let [data, verb, names @ ..] = words
        && data == "data"
        && verb != "list"
    {
        let is_unknown = |name: &&String| !name.starts_with('-') && !is_placeholder(name) && !DATA.contains(&***name);
        if let Some(name) = names.iter().take_while(|name| !name.starts_with('-')).find(is_unknown) {
            return Some(format!("there is no data set {name}"));
        }
    }
    let is_verb = words.first().is_some_and(|first| VERBS.contains(first));
    let recipe = words.first().filter(|first| !first.starts_with('-') && !is_verb);
    if is_verb
        || words
            .iter()
            .any(|word| ["--resume", "--processes", "--help"].contains(&&**word))
    {
        return refused(bcl_train().args(words).arg("--help"));
    }
    match recipe {
        Some(recipe) if !is_placeholder(recipe) => {
            let more = (!words.iter().any(|word| word == "--print-recipe")).then_some("--print-recipe");
            refused(bcl_train().args(words).args(more))
        }
        _ => refused(bcl_train().args(words).arg("--help")).or_else(|| some_recipe_accepts(words)),
    }
}

/// Checks that a recipe of some kind accepts the keys.
fn some_recipe_accepts(words: &[String]) -> Option<String> {
    let set = |(index, word): (usize, &String)| (word == "--set").then(|| words.get(index + 1)).flatten();
    let sets: Vec<&String> = words
        .iter()
        .enumerate()
        .filter_map(set)
        .filter(|set| !is_placeholder(set))
        .collect();
    let mut last = None;
    for recipe in RECIPES {
        let mut command = bcl_train();
        command.args([recipe, "--print-recipe"]);
        command.args(sets.iter().flat_map(|set| ["--set", set.as_str()]));
        last = refused(&mut command);
        last.as_ref()?;
    }
    last
}

/// What a program says if it does not end well.
fn refused(command: &mut Command) -> Option<String> {
    let Output { status, stderr, .. } = command.current_dir(root()).output().expect("it starts");
    (!status.success()).then(|| text(&stderr))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn problems(markdown: &str) -> Vec<String> {
    let commands = commands(markdown).into_iter();
    commands
        .filter_map(|(line, words)| Some(format!("line {line}: {}: {}", words.join(" "), problem(&words)?)))
        .collect()
}

/// The documents for users, and the fewest commands that each shows.
fn documents() -> Vec<(String, usize)> {
    let guide = fs::read_dir(root().join("docs/guide")).expect("the guide");
    let pages = guide.map(|entry| entry.expect("a page").file_name().into_string().expect("a plain name"));
    let pages = pages.filter(|page| Path::new(page).extension().is_some_and(|extension| extension == "md"));
    let mut documents: Vec<_> = pages.map(|page| (format!("docs/guide/{page}"), 1)).collect();
    assert!(documents.len() > 5, "{documents:?}");
    documents
        .extend(["README.md", "CONTRIBUTING.md", "recipes/README.md", "datasets/README.md"].map(|name| (name.to_owned(), 3)));
    documents
}

#[test]
fn every_command_of_the_documents_would_run() {
    let mut wrong = Vec::new();
    for (document, fewest) in documents() {
        let text = fs::read_to_string(root().join(&document)).expect("a document");
        wrong.extend(problems(&text).iter().map(|problem| format!("{document}: {problem}")));
        let found = commands(&text).len();
        if found < fewest {
            wrong.push(format!("{document} has {found} commands, expected at least {fewest}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recipe_of_the_documents_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("my-recipe.toml");
    let mut read = 0;
    for (document, _) in documents() {
        let text = fs::read_to_string(root().join(&document)).expect("a document");
        let blocks = text.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
        // Other blocks are excerpts or not recipes.
        let is_recipe = |block: &&str| {
            let minimises = block.contains("[loss]") || block.contains("[method]");
            minimises && (block.contains("[data]") || block.contains("extends"))
        };
        for recipe in blocks.filter(is_recipe) {
            fs::write(&path, recipe).expect("a written file");
            let refusal = refused(bcl_train().arg(&path).arg("--print-recipe"));
            assert_eq!(refusal, None, "{document}\n{recipe}");
            read += 1;
        }
    }
    assert!(read >= 4, "only {read} recipes found");
}

#[test]
fn every_command_of_the_papers_would_run() {
    let output = bcl_bench().args(["papers", "--json"]).output().expect("it starts");
    let papers: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let entries = ["bcl", "pucl", "bda"]
        .into_iter()
        .flat_map(|paper| papers[paper].as_array().expect("a list"));
    let commands: Vec<&str> = entries.filter_map(|entry| entry["command"].as_str()).collect();
    assert!(commands.len() > 10, "{commands:?}");
    let wrong = problems(&format!("```sh\n{}\n```\n", commands.join("\n")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_that_would_not_run_are_reported() {
    for (command, problem) in [
        ("cargo run -p bcl-train -- quickstart --sed 3", "unexpected argument '--sed'"),
        ("cargo run -p bcl-train -- table10/ml-100k/mf", "no such recipe"),
        ("cargo run -p bcl-train --features parkett -- my.toml", "no feature parkett"),
        (
            "cargo run -p bcl-train -- quickstart --set loss.bta=1",
            "unknown key loss.bta",
        ),
        ("cargo run -p bcl-train -- my.toml --set loss.bta=1", "unknown key loss.bta"),
        ("bcl-train data fetch ml-10k", "no data set ml-10k"),
        ("bcl-bench tables 10", "unrecognized subcommand 'tables'"),
        ("bcl-bench report docs/result", "there is no docs/result"),
        ("cargo run -p bcl-core --example loop", "examples/loop.rs"),
        ("cargo doc -p bcl-cores", "there is no"),
        ("cargo install --path crates/bcl-train --features opencl", "no feature opencl"),
        ("cargo xtask datasets list", "unrecognized subcommand 'datasets'"),
        ("make all", "not a program of this project"),
    ] {
        let problems = problems(&format!("    {command}\n"));
        assert!(
            problems.len() == 1 && problems[0].contains(problem),
            "{command}: {problem}: {problems:?}"
        );
    }
}

#[test]
fn commands_are_found_in_blocks_and_in_running_text() {
    let text = "Run `cargo test --workspace`, not `rm -rf`, `cargo test` or `--set`.\n\n```sh\n\
                cargo run -p bcl-train -- my.toml   # as it is\nbcl-train --set 'loss={kind=\"hard\"}'\n```\n\n```toml\ncargo = 1\n```\n\n    \
                cargo xtask ci --fast         formatting\n    for x in 1 2; do\n";
    let found: Vec<_> = commands(text)
        .into_iter()
        .map(|(line, words)| (line, words.join(" ")))
        .collect();
    let expected = [
        (1, "cargo test --workspace"),
        (4, "cargo run -p bcl-train -- my.toml"),
        (5, "bcl-train --set loss={kind=\"hard\"}"),
        (12, "cargo xtask ci --fast"),
    ];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
}
