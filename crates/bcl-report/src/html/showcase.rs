//! Pictures of what an encoder of images or graphs has learned: a map of their features, and the nearest training images of some test images.

use super::figure::{self, Figure};
use super::view::{DataView, RecipeView};
use crate::chart::FeatureMap;
use crate::markup::{each, escape};
use crate::result::DataSize;
use crate::showcase::{NeighbourRow, Showcase, Thumbnail};
use crate::units::count;

/// Up to two figures per recipe with a showcase.
pub(super) fn section(view: &DataView, id: &str) -> String {
    let figures = view.recipes.iter().flat_map(|recipe| {
        let (result, _) = recipe.runs[0];
        let of = |showcase: &Showcase| [map(recipe, showcase, id), neighbours(recipe, showcase)];
        result.showcase.as_ref().map(of).into_iter().flatten().flatten()
    });
    let samples = match view.data.size {
        DataSize::Graphs { .. } => "graphs",
        _ => "images",
    };
    let about = format!("Which {samples} the encoder considers similar.");
    figure::section("Features", &about, "", figures)
}

fn map(recipe: &RecipeView, showcase: &Showcase, id: &str) -> Option<Figure> {
    let title = format!("t-SNE of {}", recipe.name);
    let map = FeatureMap::of(showcase, &title);
    let svg = map.to_svg(&format!("{id}-t-sne-{}", recipe.colour))?;
    let caption = format!(
        "t-SNE of the features of {} {}: nearby points have similar features; sizes of groups and distances between them mean \
         little. Seed {}.",
        count(showcase.map.len()),
        showcase.samples(),
        recipe.result().seed
    );
    Some(Figure::new(&title, svg + &map.legend(), &caption))
}

fn neighbours(recipe: &RecipeView, showcase: &Showcase) -> Option<Figure> {
    let title = format!("Nearest neighbours of {}", recipe.name);
    let rows = each(&showcase.neighbours, |row| one_row(row, showcase));
    let all = || {
        let rows = showcase.neighbours.iter();
        rows.flat_map(|row| row.nearest.iter().map(|near| near.image.class == row.query.class))
    };
    let right = all().filter(|right| *right).count();
    let verdict = format!(
        " Solid frame: same class; dashed frame with a cross: another class. Here {} of {} have the same class.",
        count(right),
        count(all().count())
    );
    let caption = format!(
        "Each row: a {} image, then the training images with the highest cosine similarity of features.{}",
        showcase.kind(),
        if showcase.classes.is_empty() { "" } else { &verdict }
    );
    (all().count() > 0).then(|| Figure::new(&title, rows, &caption).wide())
}

fn one_row(row: &NeighbourRow, showcase: &Showcase) -> String {
    if showcase.classes.is_empty() {
        let query = picture(&row.query, &format!("{} image", showcase.kind()));
        let nearest = each(&row.nearest, |near| {
            format!(
                "<li>{}</li>\n",
                picture(&near.image, &format!("cosine {:.3}", near.similarity))
            )
        });
        return format!("<ul class=\"near\">\n<li class=\"query\">{query}</li>\n{nearest}</ul>\n");
    }
    let class = |index| escape(showcase.class(index));
    let query = picture(&row.query, &format!("{} image: {}", showcase.kind(), class(row.query.class)));
    let nearest = each(&row.nearest, |near| {
        let right = near.image.class == row.query.class;
        let (verdict, sign) = if right { ("right", "✓") } else { ("wrong", "✗") };
        let name = class(near.image.class);
        let text = format!("{name}, {verdict}, cosine {:.3}", near.similarity);
        format!(
            "<li class=\"{verdict}\">{}<span class=\"verdict\" aria-hidden=\"true\">{sign}<span> {name}</span></span></li>\n",
            picture(&near.image, &text)
        )
    });
    format!(
        "<p class=\"near-to\">{}</p>\n<ul class=\"near\">\n<li class=\"query\">{query}</li>\n{nearest}</ul>\n",
        class(row.query.class)
    )
}

/// An embedded image; `text` must already be escaped.
fn picture(image: &Thumbnail, text: &str) -> String {
    format!(
        "<img src=\"data:image/png;base64,{}\" alt=\"{text}\" title=\"{text}\">",
        escape(&image.png)
    )
}
