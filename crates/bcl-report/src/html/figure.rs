//! Charts in a grid, with titles, captions and a legend.

use super::view::DataView;
use crate::chart::series_class;
use crate::markup::{each, escape};

/// A chart with its title and caption.
#[derive(Debug, Clone)]
pub struct Figure {
    title: String,
    /// An SVG chart or other markup.
    content: String,
    caption: String,
    wide: bool,
}

impl Figure {
    /// Creates a figure. `content` is an SVG chart or other markup; `title` and `caption` are text.
    pub fn new(title: &str, content: String, caption: &str) -> Self {
        Self {
            title: title.to_owned(),
            content,
            caption: caption.to_owned(),
            wide: false,
        }
    }

    /// Makes the figure span two columns if the page is wide enough.
    #[must_use]
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    fn html(&self) -> String {
        format!(
            "<figure{}>\n<h4>{}</h4>\n{}<figcaption>{}</figcaption>\n</figure>\n",
            if self.wide { " class=\"wide\"" } else { "" },
            escape(&self.title),
            self.content,
            escape(&self.caption)
        )
    }
}

/// A section of `figures` under a heading; empty if there are no figures. `intro` is text, `legend` is markup.
pub fn section(heading: &str, intro: &str, legend: &str, figures: impl Iterator<Item = Figure>) -> String {
    let figures: String = figures.map(|figure| figure.html()).collect();
    if figures.is_empty() {
        return String::new();
    }
    let intro = if intro.is_empty() {
        String::new()
    } else {
        format!("<p class=\"intro\">{}</p>\n", escape(intro))
    };
    format!(
        "<section>\n<h3>{}</h3>\n{intro}{legend}<div class=\"figures\">\n{figures}</div>\n</section>\n",
        escape(heading)
    )
}

/// The legend of the recipes; empty for a single recipe.
pub(super) fn legend_of(view: &DataView) -> String {
    if view.recipes.len() < 2 {
        return String::new();
    }
    legend(view.recipes.iter().map(|recipe| (recipe.colour, recipe.name.as_str())))
}

/// A legend of lines, given as colour number and name.
pub fn legend<'a>(lines: impl IntoIterator<Item = (usize, &'a str)>) -> String {
    let entries = each(lines, |(colour, name)| {
        format!("<li>{}<span>{}</span></li>\n", swatch(colour), escape(name))
    });
    format!("<ul class=\"legend\">\n{entries}</ul>\n")
}

/// A short line in the colour of a recipe.
pub(super) fn swatch(colour: usize) -> String {
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"line {}\" d=\"M1 4H27\"/></svg>",
        series_class(colour)
    )
}
