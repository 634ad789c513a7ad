//! What a detector of false negatives found: numbers of clusters, how reproducible and how right they are, and images of each.

use super::curves::{Value, over_epochs, over_seeds, several};
use super::figure::{self, Figure};
use super::view::{DataView, RecipeView};
use crate::chart::Shape;
use crate::markup::{each, escape};
use crate::result::DetectionRecord;
use crate::showcase::{Cluster, Showcase};
use crate::units::count;

/// The charts of the section, and the clusters of each recipe; empty if no run detects anything.
pub(super) fn section(view: &DataView, id: &str) -> String {
    let charts = [clusters(view, id), reliability(view, id), pairs(view, id)];
    let pictures = view.recipes.iter().filter_map(|recipe| {
        let showcase = recipe.runs[0].0.showcase.as_ref();
        showcase.and_then(|showcase| examples(recipe, showcase))
    });
    let intro = "Clusters of features that stand for classes. Pairs within one are left out of the negatives, or attracted.";
    let warnings = view.recipes.iter().flat_map(|recipe| &recipe.runs).filter_map(|(result, records)| {
        let [before, after] = DetectionRecord::rose_after_attraction(records)?;
        Some(format!(
            " The clusters of {}, seed {}, became reproducible only after they were attracted: stability {before:.2} before and {after:.2} at \
             the end. Attraction can cause that by itself.",
            result.name, result.seed
        ))
    });
    let intro = intro.to_owned() + &warnings.collect::<String>();
    let figures = charts.into_iter().flatten().chain(pictures);
    figure::section("Detected classes", &intro, &figure::legend_of(view), figures)
}

fn clusters(view: &DataView, id: &str) -> Option<Figure> {
    let chart = over_epochs("Clusters", "Number of clusters after each epoch; one line per recipe.", 0).with_series(over_seeds(
        view,
        RecipeView::shown_epochs,
        |record| Some(record.detection?.clusters as f64),
    ));
    let caption =
        "The largest number whose stability is at least half of the best one (finer), or three quarters of it (coarser).";
    Some(Figure::new("Clusters", chart.to_svg(&format!("{id}-clusters"))?, caption))
}

fn reliability(view: &DataView, id: &str) -> Option<Figure> {
    let kinds: [(Shape, &str, Value); 2] = [
        (Shape::Line, "strength", |record| Some(record.detection?.strength)),
        (Shape::Dots, "stability", |record| Some(record.detection?.stability)),
    ];
    let chart = over_epochs(
        "Stability and strength",
        "How far the clusters of two halves of the images agree, and the strength of the detection in the next epoch.",
        3,
    )
    .with_series(several(view, kinds));
    let caption = "Line: the strength of the detection in the next epoch. Points: stability, the adjusted Rand index of the clusters of two halves of \
                   the images. It says whether clusters are reproducible, not whether they are the classes. Attraction raises it, so trust what it \
                   was before.";
    let title = "Stability and strength";
    Some(Figure::new(title, chart.to_svg(&format!("{id}-stability"))?, caption))
}

fn pairs(view: &DataView, id: &str) -> Option<Figure> {
    let kinds: [(Shape, &str, Value); 3] = [
        (Shape::Line, "share of all pairs", |record| Some(record.detection?.detected)),
        (Shape::Dots, "precision", |record| record.detection?.precision),
        (Shape::Rings, "recall", |record| record.detection?.recall),
    ];
    let series = several(view, kinds);
    let is_known = series.iter().any(|series| series.shape == Shape::Dots);
    let chart = over_epochs(
        "Detected pairs",
        "Share of all pairs of training images that are in one cluster.",
        3,
    )
    .with_series(series);
    let mut caption = "Line: share of all pairs of training images that are in one cluster.".to_owned();
    if is_known {
        caption.push_str(
            " Points: share of these that are of one class. Rings: share of the pairs of one class that are in one cluster.",
        );
    }
    Some(Figure::new("Detected pairs", chart.to_svg(&format!("{id}-pairs"))?, &caption))
}

fn examples(recipe: &RecipeView, showcase: &Showcase) -> Option<Figure> {
    let title = format!("Clusters of {}", recipe.name);
    let rows = each(&showcase.clusters, |cluster| one_cluster(cluster, showcase));
    let caption = format!(
        "The largest clusters of the last detection, each with training images from all of it. Look for what the images of a row share: if it is the \
         background or the colour and not the class, do not attract them. Seed {}.",
        recipe.result().seed
    );
    (!showcase.clusters.is_empty()).then(|| Figure::new(&title, rows, &caption).wide())
}

fn one_cluster(cluster: &Cluster, showcase: &Showcase) -> String {
    let size = count(cluster.size);
    let heading = match cluster.most_frequent {
        Some((class, number)) => format!(
            "{size} images, {:.0} % of class {}",
            100.0 * number as f64 / cluster.size.max(1) as f64,
            escape(showcase.class(class))
        ),
        None => format!("{size} images"),
    };
    let images = each(&cluster.images, |image| {
        let text = match cluster.most_frequent {
            Some(_) => escape(showcase.class(image.class)),
            None => "training image".into(),
        };
        format!(
            "<li><img src=\"data:image/png;base64,{}\" alt=\"{text}\" title=\"{text}\"></li>\n",
            escape(&image.png)
        )
    });
    format!("<p class=\"near-to\">{heading}</p>\n<ul class=\"near\">\n{images}</ul>\n")
}
