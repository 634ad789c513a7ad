//! What the page must and must not contain.

use super::super::sample;
use super::{render_html, write_html};
use crate::Cluster;
use crate::result::{DetectionRecord, EFFECTIVE_RANK, EpochRecord, FEATURE_STD, RunResult};

type Runs = Vec<(RunResult, Vec<EpochRecord>)>;

fn one_run() -> Runs {
    vec![sample::run("ml-100k/mf-bayesian", "bayesian", 0)]
}

/// Writes sample pages for a visual check: `BCL_REPORT_PAGES=DIR cargo test -p bcl-report pages_for_looking -- --ignored`.
#[test]
#[ignore = "needs BCL_REPORT_PAGES, a folder to write to"]
fn pages_for_looking() {
    let Some(dir) = std::env::var_os("BCL_REPORT_PAGES") else {
        eprintln!("BCL_REPORT_PAGES is not set: nothing written");
        return;
    };
    let dir = std::path::Path::new(&dir);
    write_html(&dir.join("one.html"), &one_run()).unwrap();
    write_html(&dir.join("comparison.html"), &sample::runs()).unwrap();
    write_html(&dir.join("images.html"), &one_image_run()).unwrap();
    write_html(&dir.join("images-comparison.html"), &image_runs()).unwrap();
}

#[test]
fn the_page_of_a_run_holds_every_part() {
    let page = render_html(&one_run());
    for part in [
        "<h1>ml-100k/mf-bayesian</h1>",
        "<h3>Results</h3>",
        "<h4>Training loss</h4>",
        "<h4>ndcg@20 on the validation set</h4>",
        "<h4>ndcg@20 on the test set</h4>",
        "<h4>Effective sample size</h4>",
        "<h4>α and the encoder&#39;s AUC</h4>",
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
fn the_loss_chart_mentions_anchors_without_negatives() {
    let mut runs = one_run();
    let told = "had no negatives and are left out";
    assert!(!render_html(&runs).contains(told));
    let record = runs[0].1.last_mut().expect("epochs");
    record.anchors_without_negatives = 3;
    assert!(render_html(&runs).contains("Up to 3 anchors per epoch had no negatives and are left out."));
}

#[test]
fn a_parameter_with_a_schedule_has_a_curve() {
    let mut runs = one_run();
    let heading = "<h4>temperature</h4>";
    assert!(!render_html(&runs).contains(heading));
    for record in &mut runs[0].1 {
        let temperature = 0.5 / record.epoch as f64;
        record.scheduled = [("temperature", temperature), ("alpha", 0.9)]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
    }
    let page = render_html(&runs);
    assert!(page.contains(heading) && !page.contains("<h4>alpha</h4>"));
}

#[test]
fn a_loss_with_a_floor_has_a_curve_of_the_anchors_there() {
    let heading = "<h4>Anchors at the floor</h4>";
    assert!(!render_html(&one_run()).contains(heading));
    let hard = vec![sample::run("ml-100k/mf-hard", "hard", 0)];
    assert!(render_html(&hard).contains(heading));
}

/// The run of images with a detection after each epoch, whose stability is this.
fn detecting(stability: impl Fn(usize) -> f64, attract: f64) -> Runs {
    let mut runs = one_image_run();
    let (result, records) = &mut runs[0];
    for record in &mut *records {
        let stability = stability(record.epoch);
        record.detection = Some(DetectionRecord {
            clusters: 9,
            stability,
            gate: ((stability - 0.15) / 0.15).clamp(0.0, 1.0),
            strength: ((stability - 0.15) / 0.15).clamp(0.0, 1.0),
            attract,
            detected: 0.12,
            precision: Some(0.4),
            recall: Some(0.5),
        });
    }
    let showcase = result.showcase.as_mut().expect("images have one");
    let images = vec![showcase.neighbours[0].query.clone()];
    showcase.clusters = vec![Cluster {
        size: 1200,
        most_frequent: Some((0, 300)),
        images,
    }];
    runs
}

#[test]
fn detected_classes_have_curves_and_images() {
    let heading = "<h3>Detected classes</h3>";
    assert!(!render_html(&one_image_run()).contains(heading));
    let page = render_html(&detecting(|_| 0.5, 0.0));
    for part in [
        heading,
        "<h4>Clusters</h4>",
        "<h4>Stability and strength</h4>",
        "<h4>Detected pairs</h4>",
        "<h4>Clusters of planted/bayesian</h4>",
        "1,200 images, 25 % of class ",
        "Points: share of these that are of one class.",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn clusters_that_only_attraction_made_reproducible_are_told() {
    let told = "became reproducible only after they were attracted: stability 0.20 before and 0.80 at the end.";
    let rising = |epoch: usize| if epoch < 5 { 0.2 } else { 0.8 };
    assert!(render_html(&detecting(rising, 0.5)).contains(told));
    for others in [
        detecting(rising, 0.0),
        detecting(|epoch| 0.4 + 0.01 * epoch as f64, 0.5),
        detecting(|_| 0.2, 0.5),
    ] {
        assert!(!render_html(&others).contains("became reproducible only"));
    }
}

fn one_image_run() -> Runs {
    vec![sample::image_run("planted/bayesian", "bayesian", 0)]
}

#[test]
fn the_page_says_which_encoders_have_collapsed() {
    let mut runs = image_runs();
    let told = "have collapsed to a line";
    for (seed, (run, _)) in (0..).zip(&mut runs) {
        run.validation.metrics.insert(FEATURE_STD.to_owned(), 0.6);
        run.validation
            .metrics
            .insert(EFFECTIVE_RANK.to_owned(), 30.0 + f64::from(seed));
    }
    assert!(!render_html(&runs).contains(told));
    let (last, _) = runs.last_mut().expect("runs");
    last.validation.metrics.insert(EFFECTIVE_RANK.to_owned(), 1.04);
    let page = render_html(&runs);
    assert_eq!(page.matches(told).count(), 1);
    assert!(page.contains("The features of <strong>planted/bayesian</strong> have collapsed"));
    assert!(page.contains("effective_rank 1.04, below 1.5) (seed 1)."));
}

fn image_runs() -> Runs {
    let names = [("planted/info-nce", "info_nce"), ("planted/bayesian", "bayesian")];
    let runs = names.map(|(name, loss)| [0, 1].map(|seed| sample::image_run(name, loss, seed)));
    runs.into_iter().flatten().collect()
}

#[test]
fn the_page_of_an_image_run_holds_its_parts_and_that_of_a_recommender_none_of_them() {
    let (of_images, of_recommender) = (render_html(&one_image_run()), render_html(&one_run()));
    for part in [
        "<h4>Probes</h4>",
        "<h3>Features</h3>",
        "<h4>t-SNE of planted/bayesian</h4>",
        "<h4>Nearest neighbours of planted/bayesian</h4>",
        "<h4>knn_top1 on the test set</h4>",
        "probe_top1 <strong class=\"figure\">0.5500</strong> on the test set, after the last epoch.",
        "<th scope=\"colgroup\" colspan=\"2\">two views</th>",
        "<th scope=\"col\">calibration_error</th>",
        "P(TN|x) calibration error",
        "<img ",
    ] {
        assert!(of_images.contains(part), "{part}");
        assert!(!of_recommender.contains(part), "{part}");
    }
    for part in [
        "<h4>Gradient on false negatives</h4>",
        "<h4>Histogram of ω of planted/bayesian</h4>",
        "<h4>P(TN|x) of planted/bayesian</h4>",
        "<h4>α and the encoder&#39;s AUC</h4>",
        "expected calibration error",
    ] {
        assert!(of_images.contains(part), "{part}");
    }
    assert!(!of_images.contains("chosen on the validation set"));
    // 64 neighbours, eight per row; each row has one of another class, at rank 4.
    assert_eq!(
        of_images.matches("<li class=\"right\">").count() + of_images.matches("<li class=\"wrong\">").count(),
        64
    );
    assert!(of_images.contains("cross: another class. Here 56 of 64 have the same class."));
}

#[test]
fn figures_that_only_one_estimator_has_are_not_compared() {
    let page = render_html(&image_runs());
    let differences = page.split("Difference from planted/info-nce").nth(1).unwrap();
    let table = differences.split("</table>").next().unwrap();
    assert!(
        table.contains("probe_top1") && !table.contains("calibration_error"),
        "{table}"
    );
}

#[test]
fn pictures_are_embedded_and_text_in_their_files_is_escaped() {
    let mut runs = one_image_run();
    let showcase = runs[0].0.showcase.as_mut().unwrap();
    showcase.classes[0] = "<b>\"".to_owned();
    showcase.neighbours[0].query.png = "\" onerror=\"x".to_owned();
    showcase.neighbours[1].query.class = 99;
    showcase.map[0].x = f64::NAN;
    let page = render_html(&runs);
    for source in page.split("src=\"").skip(1) {
        assert!(source.starts_with("data:image/png;base64,"));
    }
    assert!(page.contains("&lt;b&gt;&quot;") && !page.contains("<b>") && !page.contains("onerror=\""));
    assert!(page.contains("unknown class") && !page.contains("NaN"));
    for forbidden in ["http:", "https:", "href=", "url(", "@import", "<script", "<link", "<iframe"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_page_of_images_without_a_showcase_has_no_features() {
    let mut runs = one_image_run();
    runs[0].0.showcase = None;
    assert!(!render_html(&runs).contains("<h3>Features</h3>"));
}

#[test]
fn curves_show_the_figure_that_chose_the_epoch() {
    let mut runs = one_run();
    runs[0].0.recipe["selection"]["metric"] = "recall@10".into();
    let page = render_html(&runs);
    assert!(page.contains("<h4>recall@10 on the test set</h4>") && !page.contains("<h4>ndcg@20 on the test set</h4>"));
}

#[test]
fn a_comparison_has_a_legend_differences_and_the_settings_that_differ() {
    let page = render_html(&sample::runs());
    assert!(page.contains("<h1>Comparison of 3 recipes</h1>"));
    assert!(page.contains("<ul class=\"legend\">"));
    assert!(page.contains("Difference from ml-100k/mf-info-nce, paired by seed"));
    assert!(page.contains("<tr><th scope=\"row\">loss.kind</th><td>info_nce</td><td>debiased</td><td>bayesian</td></tr>"));
    assert!(page.contains("Best of 3 recipes: <strong>ml-100k/mf-bayesian</strong>"));
    assert!(page.contains("ml-100k/mf-info-nce and ml-100k/mf-debiased give every negative weight 1."));
}

#[test]
fn the_page_loads_nothing_and_a_single_run_runs_nothing() {
    assert!(!render_html(&one_run()).contains("<script"));
    let page = render_html(&sample::runs());
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the values of all runs, and the controls of their table"
    );
    for forbidden in [
        "http:", "https:", "src=", "href=", "url(", "@import", "import(", "fetch(", "<link", "<img", "<iframe",
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
        result.recipe["selection"]["metric"] = attack.into();
        result.recipe_hash = format!("<i>{}", result.recipe_hash);
        result.validation.metrics.insert(attack.to_owned(), 0.5);
        let figures = result.baselines["ease"].clone();
        result.baselines.insert(attack.to_owned(), figures);
    }
    let page = render_html(&runs);
    assert!(!page.contains("<script>alert") && !page.contains("<i>") && !page.contains("alert(\"x\")"));
    assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;"));
}

#[test]
fn identifiers_are_unique_and_every_chart_is_named() {
    let mut runs = sample::runs();
    let mut elsewhere = sample::run("ml-100k/mf-bayesian", "bayesian", 0);
    elsewhere.0.data.name = "gowalla".to_owned();
    runs.push(elsewhere);
    runs.extend(image_runs());
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
    let void = ["meta", "wbr", "img", "!DOCTYPE"];
    let page = render_html(&[sample::runs(), image_runs()].concat());
    let mut open = Vec::new();
    for tag in page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.split([' ', '\n']).next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !void.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_page_of_several_kinds_has_the_tables_of_the_page_of_each() {
    let tables = |runs: &Runs| -> Vec<String> {
        let page = render_html(runs);
        let rest = page.split("<table>").skip(1);
        rest.map(|rest| rest.split("</table>").next().unwrap().to_owned()).collect()
    };
    let graph_runs = vec![sample::graph_run("ptc-mr/infonce", "info_nce", 0)];
    let kinds = [sample::runs(), image_runs(), graph_runs];
    let of_each: Vec<String> = kinds.iter().flat_map(tables).collect();
    assert_eq!(tables(&kinds.concat()), of_each);
    for part in ["ndcg@20", "probe_top1", "rbf_svm"] {
        assert!(of_each.iter().any(|table| table.contains(part)), "{part}");
    }
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
    assert!(page.contains("popularity (-3.0000) is outside the plotted range."));
    assert!(!render_html(&one_run()).contains("outside the plotted range"));
}

#[test]
fn a_gpu_warns_that_sums_have_no_fixed_order() {
    let mut runs = one_run();
    assert!(!render_html(&runs).contains("no fixed order"));
    runs[0].0.environment.backend = "cuda".to_owned();
    assert!(render_html(&runs).contains("no fixed order"));
}

#[test]
fn an_interval_that_includes_zero_is_a_tie() {
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
    let text = error.to_string();
    assert!(
        text.contains("cannot write") && text.contains("missing/report.html"),
        "{text}"
    );
}

/// The declarations of the first rule with exactly this selector.
fn rule<'a>(page: &'a str, selector: &str) -> &'a str {
    let start = page
        .find(&format!("\n{selector} {{"))
        .unwrap_or_else(|| panic!("no rule for {selector}"));
    page[start..].split('}').next().unwrap_or_default()
}

#[test]
fn pictures_shrink_to_their_cards_and_cards_to_the_page() {
    // Without these rules a picture of 560 pixels in a card of 370 would cover the next card and make the page scroll sideways.
    let page = render_html(&one_image_run());
    for declaration in ["max-width: 100%", "height: auto"] {
        assert!(rule(&page, "img").contains(declaration), "{}", rule(&page, "img"));
    }
    assert!(rule(&page, "figure").contains("min-width: 0"));
    assert!(rule(&page, "figure svg").contains("width: 100%"));
    // Pictures contain text, which cards of the charts' width would shrink to seven pixels.
    assert!(rule(&page, ".figures:has(> figure > img)").contains("minmax(min(100%, 480px), 1fr)"));
}

#[test]
fn the_identity_of_a_page_depends_on_its_results_only() {
    let identity = |runs: &Runs| {
        let page = render_html(runs);
        page.lines()
            .find(|line| line.contains("bcl-page"))
            .expect("every page has one")
            .to_owned()
    };
    let mut runs = image_runs();
    let first = identity(&runs);
    runs.reverse();
    assert_eq!(
        identity(&runs),
        first,
        "the order of the runs must not change a page's identity"
    );
    runs[0].0.wall_seconds += 1.0;
    assert_ne!(identity(&runs), first, "training the same recipe again is another result");
}

#[test]
fn a_page_on_graphs_has_folds_a_map_and_both_columns() {
    let runs: Vec<_> = (0..2)
        .map(|seed| sample::graph_run("ptc-mr/infonce", "info_nce", seed))
        .collect();
    let page = render_html(&runs);
    for text in [
        "Accuracy by fold",
        "ptc-mr/infonce, seed 1: rbf_svm_raw",
        "Which graphs the encoder considers similar.",
        "features of 600 graphs",
        "344, 4,915 nodes, 5,054 edges",
        "weisfeiler_lehman",
        "last epoch",
        "oracle",
        "only with the supervised loss",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Folds 0.52, 0.57, 0.62, … of a mean of 0.57 and some scatter.
    let (run, _) = &runs[0];
    let folds = &run.folds["rbf_svm"];
    let mean = folds.iter().sum::<f64>() / 10.0;
    assert!(page.contains(&format!("<td>{mean:.3} ± ")), "{mean}");
    assert!(!render_html(&image_runs()).contains("Accuracy by fold"));
}

/// `cargo test -p bcl-report --lib -- --ignored --nocapture a_page_of_250_runs` writes a page, to be opened in a browser.
#[test]
#[ignore = "writes a large page for a browser"]
fn a_page_of_250_runs() {
    let path = std::env::temp_dir().join("bcl-250-runs.html");
    let page = render_html(&many_runs());
    std::fs::write(&path, &page).unwrap();
    eprintln!("{}: {} bytes", path.display(), page.len());
}

/// Fifty recipes with five seeds each.
fn many_runs() -> Runs {
    let losses = ["info_nce", "debiased", "hard", "bayesian", "ring"];
    let settings = (0..10).flat_map(|index| losses.map(|loss| (index, loss)));
    let runs = settings.flat_map(|(index, loss)| {
        (0..5).map(move |seed| {
            let (mut result, records) = sample::run(&format!("sweep/{loss}-{index}"), loss, seed);
            result.recipe["loss"]["temperature"] = (0.05 * f64::from(index + 1)).into();
            result.recipe["negatives"]["count"] = (16 << (index % 5)).into();
            (result, records)
        })
    });
    runs.collect()
}

#[test]
fn a_page_of_many_runs_stays_small() {
    let runs = many_runs();
    assert_eq!(runs.len(), 250);
    let page = render_html(&runs);
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    assert!(page.contains("Drawn for the first 8 recipes; the reports of the other 42 have theirs."));
    assert!(
        page.contains("<th scope=\"row\">sweep/<wbr>ring-9</th>"),
        "all runs are in the table"
    );
}
