//! Charts in a grid, with titles, captions and a legend.

use super::view::DataView;
use crate::chart::series_class;
use crate::markup::{each, escape};

/// A chart with its title and caption.
#[derive(Debug, Clone)]
pub struct Figure {
    title: String,
    /// A chart as SVG, or other markup.
    content: String,
    caption: String,
    wide: bool,
}

impl Figure {
    /// A chart as SVG, or other markup, with its title and caption.
    pub fn new(title: &str, content: String, caption: &str) -> Self {
        Self {
            title: title.to_owned(),
            content,
            caption: caption.to_owned(),
            wide: false,
        }
    }

    /// The same over two columns, where there are as many.
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

/// A section of `figures` under a heading; empty without figures. `intro` is text, `legend` markup.
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

/// Which line is which recipe; one recipe needs none.
pub(super) fn legend_of(view: &DataView) -> String {
    if view.recipes.len() < 2 {
        return String::new();
    }
    legend(view.recipes.iter().map(|recipe| (recipe.colour, recipe.name.as_str())))
}

/// Which line is which, by the numbers of their colours.
pub fn legend<'a>(lines: impl IntoIterator<Item = (usize, &'a str)>) -> String {
    let entries = each(lines, |(colour, name)| {
        format!("<li>{}<span>{}</span></li>\n", swatch(colour), escape(name))
    });
    format!("<ul class=\"legend\">\n{entries}</ul>\n")
}

/// A short piece of the line of a recipe.
pub(super) fn swatch(colour: usize) -> String {
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"line {}\" d=\"M1 4H27\"/></svg>",
        series_class(colour)
    )
}
