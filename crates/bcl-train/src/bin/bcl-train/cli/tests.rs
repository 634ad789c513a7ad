//! What the command line accepts, and its errors for everything else.

use super::*;
use bcl_backend::BackendChoice;
use bcl_core::EstimatorConfig;

fn parsed(line: &str) -> Result<Command, clap::Error> {
    parse_from(std::iter::once("bcl-train").chain(line.split_whitespace()))
}

fn train(line: &str) -> Train {
    match parsed(line) {
        Ok(Command::Train(train)) => train,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_definition_is_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn train_is_the_default_verb() {
    for line in [
        "",
        "--backend cuda",
        "quickstart/bayesian --data DIR --seed 3 --set loss.beta=0.8",
        "--seed 3 quickstart/bayesian",
        "a.toml b.toml --json --quiet --threads 2",
        "--resume runs/x-0 --backend wgpu",
    ] {
        assert_eq!(train(line), train(&format!("train {line}")), "{line}");
    }
}

#[test]
fn ids_may_begin_with_a_dash() {
    for line in ["--user -4Anv", "--item -4Anv", "--items -4Anv"] {
        let Ok(Command::Recommend(recommend)) = parsed(&format!("recommend runs/a-0 {line} --top 3")) else {
            panic!("{line} is refused");
        };
        let ids = recommend
            .user
            .iter()
            .chain(&recommend.item)
            .chain(&recommend.items)
            .map(String::as_str);
        assert_eq!((ids.collect::<Vec<_>>(), recommend.top), (vec!["-4Anv"], 3), "{line}");
    }
}

#[test]
fn without_a_recipe_the_quickstart_runs() {
    let names: Vec<String> = train("")
        .load()
        .unwrap()
        .into_iter()
        .map(|recipe| recipe.name().to_owned())
        .collect();
    assert_eq!(names, ["quickstart/bayesian", "quickstart/infonce"]);
}

#[test]
fn defaults_are_what_the_help_says() {
    let train = train("");
    assert_eq!(
        train.compute,
        ComputeArguments {
            backend: BackendChoice::Flex,
            device: None,
            data: None,
            threads: None
        }
    );
    assert_eq!(train.compute.data_dir(), Path::new("data"));
    assert_eq!((train.out(), train.output), (Path::new("runs"), Output::default()));
}

#[test]
fn flags_reach_the_recipe() {
    let runs = train("quickstart/bayesian --set loss.beta=0.7 --set encoder.kind=light_gcn --seed 3 --epochs 4")
        .load()
        .unwrap();
    let recipe = runs[0]
        .as_kind::<bcl_recipe::RecommenderRecipe>()
        .expect("the quickstart recommends");
    assert_eq!(
        (recipe.seed, recipe.training.epochs, recipe.encoder.name()),
        (3, 4, "light_gcn")
    );
    let EstimatorConfig::Bayesian(config) = recipe.loss.without_data() else {
        panic!("{recipe:?}")
    };
    assert_eq!((config.alpha, config.beta), (0.9, 0.7));
}

#[test]
fn every_recipe_runs_with_every_seed() {
    let runs = train("quickstart --seeds 4,5").load().unwrap();
    let runs: Vec<(&str, u64)> = runs.iter().map(|run| (run.name(), run.seed())).collect();
    let (bayesian, infonce) = ("quickstart/bayesian", "quickstart/infonce");
    assert_eq!(runs, [(bayesian, 4), (bayesian, 5), (infonce, 4), (infonce, 5)]);
}

#[test]
fn two_runs_of_one_folder_are_refused() {
    let error = train("quickstart quickstart/bayesian").load().unwrap_err().to_string();
    assert!(error.contains("two runs would be called quickstart/bayesian-0"), "{error}");
}

#[test]
fn the_error_for_a_flag_names_the_flag() {
    let text = |line: &str| train(line).load().unwrap_err().to_string();
    assert!(
        text("quickstart/bayesian --set loss.bta=1")
            .starts_with("--set loss.bta=1: unknown key loss.bta; did you mean loss.beta?")
    );
    assert!(text("nonsense.toml").contains("nonsense.toml: no such recipe"));
    // A misspelt recipe is not reported as a verb.
    assert!(
        text("quickstat").contains("did you mean quickstart/"),
        "{}",
        text("quickstat")
    );
}

#[test]
fn verbs_have_their_arguments() {
    let Ok(Command::Recommend(recommend)) = parsed("recommend runs/x --user ann --top 3 --data d") else {
        panic!()
    };
    assert_eq!(
        (recommend.user.as_deref(), recommend.top, recommend.compute.data),
        (Some("ann"), 3, Some("d".into()))
    );

    let Ok(Command::Report(report)) = parsed("report a b --metric ndcg@5 --metric recall@5 --csv --out r.html") else {
        panic!()
    };
    assert_eq!(
        (report.runs.len(), report.metrics.len(), report.csv, report.out),
        (2, 2, true, Some("r.html".into()))
    );

    assert!(matches!(parsed("evaluate runs/x --backend auto"), Ok(Command::Evaluate(_))));
    assert!(matches!(parsed("embed runs/x --out e"), Ok(Command::Embed(_))));
    assert!(matches!(parsed("export runs/x"), Ok(Command::Export(_))));
    assert!(matches!(parsed("recipes --json"), Ok(Command::Recipes(_))));
    assert!(matches!(parsed("devices"), Ok(Command::Devices(_))));
}

#[test]
fn bad_lines_are_refused_with_exit_code_2_and_the_reason() {
    for (line, problem) in [
        ("--backend gpu", "possible values: flex, auto, wgpu, vulkan, metal, cuda"),
        ("--seeds 3..1", "the range `3..1` is empty"),
        ("--seeds 1,1", "seed 1 is listed twice"),
        ("--seed -1", "unexpected argument"),
        ("--seed=-1", "`-1` is not a whole number"),
        ("--seed 1 --seeds 1,2", "cannot be used with"),
        ("--set loss.beta", "`loss.beta` has no `=`"),
        ("--set =3", "has an empty key"),
        (
            "--seed abc",
            "'abc' for '--seed <N>': `abc` is not a whole number from 0 to 9223372036854775807\n",
        ),
        ("--seed 0..3", "9223372036854775807; for several seeds write --seeds 0..3"),
        (
            "recommand runs/x --user 3",
            "error: `recommand` is neither a verb nor a recipe; did you mean `bcl-train recommend`?",
        ),
        ("reprot runs/x", "did you mean `bcl-train report`?"),
        ("--epochs some", "invalid digit"),
        ("--threads 0", "0 is not in 1..=1024"),
        ("--resume runs/x --seeds 1,2", "cannot be used with"),
        ("--dump-views", "a value is required"),
        ("--dump-views v.png --print-recipe", "cannot be used with"),
        ("--resume runs/x --dump-views v.png", "cannot be used with"),
        ("--resume runs/x --set a=b", "remove --set and --seed"),
        ("--resume runs/x --seed 1", "remove --set and --seed"),
        ("--sed 3", "--seed"),
        ("evaluate", "<RUN>"),
        ("report", "<RUN>"),
        ("recommend runs/x", "--user <ID>"),
        ("recommend runs/x --user 1 --top 0", "0 is not in 1.."),
        ("report a --json --csv", "cannot be used with"),
        ("completions tcl", "possible values: bash"),
        ("--json devices", "the verb `devices` must come first"),
    ] {
        match parsed(line) {
            Ok(command) => panic!("{line}: accepted as {command:?}"),
            Err(error) => {
                assert!(error.to_string().contains(problem), "{line}: {error}");
                assert_eq!(error.exit_code(), 2, "{line}");
            }
        }
    }
}

#[test]
fn help_has_examples_and_every_verb_and_exits_with_0() {
    let help = parsed("--help").unwrap_err();
    assert_eq!(help.exit_code(), 0);
    for text in [
        "Examples:",
        "evaluate",
        "recommend",
        "completions",
        "--print-recipe",
        "--resume",
        "Exit codes",
    ] {
        assert!(help.to_string().contains(text), "{text} is not in\n{help}");
    }
    let version = parsed("--version").unwrap_err();
    assert_eq!(version.exit_code(), 0);
    assert!(
        version
            .to_string()
            .starts_with(concat!("bcl-train ", env!("CARGO_PKG_VERSION"))),
        "{version}"
    );
}

#[test]
fn completions_know_the_verbs() {
    use clap::ValueEnum;
    for shell in clap_complete::Shell::value_variants() {
        let mut script = Vec::new();
        Completions { shell: *shell }.write(&mut script).unwrap();
        let script = String::from_utf8(script).unwrap();
        assert!(script.contains("recommend") && script.contains("print-recipe"), "{shell}");
    }
}
