//! What the page holds, and what it must not.

use super::super::sample;
use super::{render_html, write_html};
use crate::result::{EpochRecord, RunResult};

type Runs = Vec<(RunResult, Vec<EpochRecord>)>;

fn one_run() -> Runs {
    vec![sample::run("ml-100k/mf-bayesian", "bayesian", 0)]
}

/// Writes the pages for looking at: `BCL_REPORT_PAGES=DIR cargo test -p bcl-train --lib pages_for_looking`.
#[test]
#[ignore = "needs BCL_REPORT_PAGES, a folder to write into"]
fn pages_for_looking() {
    let Some(dir) = std::env::var_os("BCL_REPORT_PAGES") else {
        eprintln!("BCL_REPORT_PAGES is not set: nothing written");
        return;
    };
    let dir = std::path::Path::new(&dir);
    write_html(&dir.join("one.html"), &one_run()).unwrap();
    write_html(&dir.join("comparison.html"), &sample::runs()).unwrap();
}

#[test]
fn the_page_of_a_run_holds_every_part() {
    let page = render_html(&one_run());
    for part in [
        "<h1>ml-100k/mf-bayesian</h1>",
        "<h3>Results</h3>",
        "<h4>Training loss</h4>",
        "<h4>ndcg@20 on validation</h4>",
        "<h4>ndcg@20 on test</h4>",
        "<h4>Effective sample size</h4>",
        "<h4>α, the encoder&#39;s AUC</h4>",
        "<h4>Weights ω of ml-100k/mf-bayesian</h4>",
        "<h4>P(TN|x) of ml-100k/mf-bayesian</h4>",
        "<h2>Environment</h2>",
        "[negatives]\ncount = 128",
        "<th scope=\"row\"><span class=\"baseline\">ease</span></th>",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn curves_show_the_figure_that_chose_the_epoch() {
    let mut runs = one_run();
    runs[0].0.recipe["evaluation"]["select_by"] = "recall@10".into();
    let page = render_html(&runs);
    assert!(page.contains("<h4>recall@10 on test</h4>") && !page.contains("<h4>ndcg@20 on test</h4>"));
}

#[test]
fn a_comparison_has_a_legend_differences_and_the_settings_that_differ() {
    let page = render_html(&sample::runs());
    assert!(page.contains("<h1>Comparison of 3 recipes</h1>"));
    assert!(page.contains("<ul class=\"legend\">"));
    assert!(page.contains("Difference from ml-100k/mf-info-nce, seed by seed"));
    assert!(page.contains("<tr><th scope=\"row\">loss.kind</th><td>info_nce</td><td>debiased</td><td>bayesian</td></tr>"));
    assert!(page.contains("Best of 3 recipes: <strong>ml-100k/mf-bayesian</strong>"));
    assert!(page.contains("ml-100k/mf-info-nce and ml-100k/mf-debiased weigh every negative by 1."));
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let page = render_html(&sample::runs());
    for forbidden in [
        "http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<img", "<iframe",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn names_and_recipes_are_escaped_wherever_they_appear() {
    let attack = "<script>alert(\"x\")</script>'&";
    let mut runs = vec![sample::run(attack, "bayesian", 0), sample::run("b", "info_nce", 0)];
    for (result, _) in &mut runs {
        result.data.name = attack.to_owned();
        result.environment.device = attack.to_owned();
        result.recipe[attack] = attack.into();
        result.recipe["evaluation"]["select_by"] = attack.into();
        result.recipe_hash = format!("<i>{}", result.recipe_hash);
        result.validation.metrics.insert(attack.to_owned(), 0.5);
        let figures = result.baselines["ease"].clone();
        result.baselines.insert(attack.to_owned(), figures);
    }
    let page = render_html(&runs);
    assert!(!page.contains("<script") && !page.contains("<i>") && !page.contains("alert(\"x\")"));
    assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;"));
}

#[test]
fn identifiers_are_unique_and_every_chart_is_named() {
    let mut runs = sample::runs();
    let mut elsewhere = sample::run("ml-100k/mf-bayesian", "bayesian", 0);
    elsewhere.0.data.name = "gowalla".to_owned();
    runs.push(elsewhere);
    let page = render_html(&runs);
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len());
    for reference in page.split("aria-labelledby=\"").skip(1) {
        for id in reference.split('"').next().unwrap().split(' ') {
            assert!(ids.contains(&id), "{id}");
        }
    }
    assert_eq!(page.matches("role=\"img\"").count(), page.matches("aria-labelledby").count());
}

#[test]
fn elements_are_closed_in_order() {
    let void = ["meta", "wbr", "path", "rect", "circle", "!DOCTYPE"];
    let page = render_html(&sample::runs());
    let mut open = Vec::new();
    for tag in page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.split([' ', '\n']).next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !void.contains(&name) || (name == "rect" || name == "circle") && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn runs_without_epochs_baselines_or_figures_still_make_a_page() {
    let (mut result, mut records) = sample::run("bare", "info_nce", 0);
    result.baselines.clear();
    result.oracle = None;
    result.peak_memory_bytes = None;
    result.environment.git_revision = None;
    assert!(render_html(&[(result.clone(), Vec::new())]).contains("<h3>Results</h3>"));
    result.validation.metrics.clear();
    for record in &mut records {
        record.loss = f64::NAN;
        record.omega_quantiles.clear();
        (record.validation, record.test, record.alpha, record.alpha_hat) = (None, None, None, None);
    }
    let page = render_html(&[(result, records)]);
    assert!(page.contains("<h4>Effective sample size</h4>") && !page.contains("<h4>Training loss</h4>"));
    assert!(!page.contains("=\"NaN") && !page.contains("=\"inf"));
    assert!(render_html(&[]).contains("No runs."));
}

#[test]
fn a_baseline_far_from_the_curve_is_named_below_it() {
    let mut runs = one_run();
    runs[0]
        .0
        .baselines
        .get_mut("popularity")
        .unwrap()
        .insert("ndcg@20".to_owned(), -3.0);
    let page = render_html(&runs);
    assert!(page.contains("popularity (-3.0000) lies outside the frame."));
    assert!(!render_html(&one_run()).contains("outside the frame"));
}

#[test]
fn a_gpu_is_said_to_sum_in_no_fixed_order() {
    let mut runs = one_run();
    assert!(!render_html(&runs).contains("no fixed order"));
    runs[0].0.environment.backend = "cuda".to_owned();
    assert!(render_html(&runs).contains("no fixed order"));
}

#[test]
fn an_interval_that_includes_zero_is_no_victory() {
    let mut runs: Runs = Vec::new();
    for (seed, difference) in [(0, 0.02), (1, -0.015), (2, 0.004)] {
        for (name, loss, extra) in [("reference", "info_nce", 0.0), ("other", "bayesian", difference)] {
            let mut run = sample::run(name, loss, seed);
            run.0.validation.metrics.insert("ndcg@20".to_owned(), 0.44 + extra);
            runs.push(run);
        }
    }
    assert!(render_html(&runs).contains("these seeds cannot tell the two apart"));
}

#[test]
fn writing_leaves_no_second_file_and_names_a_path_it_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    write_html(&path, &one_run()).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), render_html(&one_run()));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);

    let error = write_html(&dir.path().join("missing/report.html"), &one_run()).unwrap_err();
    assert!(error.to_string().contains("report.html: cannot be written"), "{error}");
}
