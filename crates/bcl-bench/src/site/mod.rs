//! The results page: everything in a folder on one self-contained page.
//!
//! | found | shown as |
//! | --- | --- |
//! | `table.json` | the verdict, a plot, the table, its settings, trials, paired comparisons and deviations from the paper |
//! | `sensitivity.json` | one curve per estimator, and the table at each value |
//! | `*.md` | text, with its pictures |
//! | `*.svg` that no text includes | pictures |
//!
//! The page loads nothing: pictures are embedded. Tables come first, then curves, then texts, the newest (by name) first.

mod check;
mod collect;
mod curves;
mod forest;
mod markdown;
mod picture;
mod quoted;
mod table;

pub use collect::Collection;

use bcl_report::page::{self, Figure, escape};

impl Collection {
    /// Renders the page.
    pub fn to_html(&self, title: &str) -> String {
        let tables = page::each(self.tables.iter().enumerate(), |(index, (_, result))| {
            table::html(result, &format!("table{index}"))
        });
        let curves = page::each(self.sensitivities.iter().enumerate(), |(index, (_, curves))| {
            curves::html(curves, &format!("curves{index}"))
        });
        let texts = page::each(self.texts.iter().rev().enumerate(), |(index, (path, text))| {
            format!("<section id=\"text{index}\">\n{}</section>\n", markdown::html(text, path))
        });
        let pictures = self.pictures.iter().map(|(path, svg)| {
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .replace(['-', '_'], " ");
            Figure::new(&name, picture::inline(svg.as_bytes(), "svg+xml", &name), "")
        });
        let pictures = page::section("Pictures", "", "", pictures);
        let body = [self.overview(), tables, curves, texts, pictures].concat();
        page::document("bcl-bench report", &escape(title), "", &body)
    }

    /// The verdict of every table, with links.
    fn overview(&self) -> String {
        let item = |link: String, title: &str, text: &str| format!("<a href=\"#{link}\">{}</a> {}", escape(title), escape(text));
        let verdict = |link: String, title: &str, verdict: &[String]| item(link, &format!("{title}."), &verdict.join(" "));
        let tables = self.tables.iter().enumerate();
        let tables = tables.map(|(index, (_, table))| verdict(format!("table{index}"), &table.title, &table.verdict));
        let curves = self.sensitivities.iter().enumerate();
        let curves = curves.map(|(index, (_, curves))| verdict(format!("curves{index}"), &curves.title, &curves.verdict()));
        let texts = self.texts.iter().rev().enumerate().map(|(index, (path, text))| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            item(format!("text{index}"), markdown::title(text).unwrap_or(&name), "")
        });
        let items: Vec<String> = tables.chain(curves).chain(texts).collect();
        if items.is_empty() {
            return String::new();
        }
        format!("<section>\n<h2>What was found</h2>\n{}</section>\n", page::notes(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_inside_a_figure_that_limits_its_size() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("error.svg"),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"560\"/>",
        )
        .unwrap();
        let page = Collection::read(folder.path()).unwrap().to_html("Results");
        let figure = page.split("<figure>").nth(1).unwrap();
        assert!(
            figure.starts_with("\n<h4>error</h4>\n<img src=\"data:image/svg+xml;base64,"),
            "{figure}"
        );
        assert!(page.contains("\nimg { max-width: 100%; height: auto; }\n"));
    }
}
