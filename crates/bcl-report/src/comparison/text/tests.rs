//! Terminal output, character by character.

use crate::{Comparison, TextStyle, result::RunResult, sample};

/// Two recipes, one with two seeds and one with a single seed.
fn comparison() -> Comparison {
    let figures = [
        ("ml/info-nce", "info_nce", 0, 0.42),
        ("ml/info-nce", "info_nce", 1, 0.44),
        ("ml/bcl", "bayesian", 1, 0.455),
    ];
    let runs: Vec<RunResult> = figures
        .into_iter()
        .map(|(name, loss, seed, ndcg)| {
            let (mut run, _) = sample::run(name, loss, seed);
            run.validation.metrics.insert("ndcg@20".to_owned(), ndcg);
            run.oracle = None;
            run
        })
        .collect();
    Comparison::new(&runs, &["ndcg@20".to_owned()])
}

#[test]
fn a_table_reads_as_expected() {
    let expected = "\
ml-100k-authors: 943 users, 1,682 items, 80,000 training and 20,000 test interactions

                         validation
recipe       seeds          ndcg@20
───────────────────────────────────
ml/info-nce      2  0.4300 ± 0.1271
ml/bcl           1  0.4550
ease                0.4498
popularity          0.2214

Difference from ml/info-nce, paired by seed

               validation
recipe  seeds     ndcg@20
─────────────────────────
ml/bcl      1     +0.0150

";
    let text = comparison().to_text(&TextStyle::PLAIN);
    let rest = text.strip_prefix(expected);
    assert!(
        rest.is_some_and(|legend| legend.starts_with("validation: test metrics")),
        "{text}"
    );
}

#[test]
fn the_best_mean_is_bold_only_where_the_style_allows() {
    let bold = comparison().to_text(&TextStyle { width: None, bold: true });
    assert_eq!(bold.matches("\u{1b}[1m").count(), 1);
    assert!(bold.contains("\u{1b}[1m0.4550\u{1b}[0m"), "{bold}");
    assert!(!comparison().to_text(&TextStyle::PLAIN).contains('\u{1b}'));
}

#[test]
fn every_line_fits_the_terminal_and_no_figure_is_lost() {
    let runs: Vec<RunResult> = sample::runs().into_iter().map(|(run, _)| run).collect();
    let metrics = crate::all_metrics(&runs);
    let comparison = Comparison::new(&runs, &metrics);
    let words = |text: &str| text.split_whitespace().filter(|word| word.starts_with("0.")).count();
    let plain = comparison.to_text(&TextStyle::PLAIN);
    for width in [40, 60, 80, 100, 137, 200] {
        let text = comparison.to_text(&TextStyle {
            width: Some(width),
            bold: false,
        });
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line:?}");
        }
        assert_eq!(words(&text), words(&plain));
    }
}

#[test]
fn long_names_are_wrapped() {
    let name = "a-very-long-folder-name/a-very-long-recipe-name";
    let (run, _) = sample::run(name, "info_nce", 0);
    let comparison = Comparison::new([&run], &["ndcg@20".to_owned()]);
    let text = comparison.to_text(&TextStyle {
        width: Some(40),
        bold: false,
    });
    assert!(
        text.lines()
            .all(|line| line.chars().count() <= 40 || line.starts_with("validation")),
        "{text}"
    );
    assert!(!text.contains(name) && text.contains("a-very-long-folder"), "{text}");
    assert!(comparison.to_text(&TextStyle::PLAIN).contains(name));
}

#[test]
fn an_escape_sequence_in_a_name_is_defused() {
    let (run, _) = sample::run("\u{1b}[2Jname", "info_nce", 0);
    let text = Comparison::new([&run], &["ndcg@20".to_owned()]).to_text(&TextStyle::PLAIN);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn without_runs_the_error_says_so() {
    assert_eq!(Comparison::new([], &[]).to_text(&TextStyle::PLAIN), "No runs.\n");
}
