//! HTML tables that scroll sideways if they do not fit.

use crate::markup::each;

/// Alignment of the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// Right-aligned numbers.
    Numbers,
    /// Left-aligned text.
    Text,
}

/// A whole table. `label` names it for screen readers; `head` and `body` are rows, made by [`head`] and [`row`].
pub fn table(label: &str, cells: Cells, head: &str, body: &str) -> String {
    let class = if cells == Cells::Text { " class=\"text\"" } else { "" };
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n<table{class}>\n<thead>\n{head}</thead>\n\
         <tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )
}

/// A row of column headers.
pub fn head(names: impl IntoIterator<Item = String>) -> String {
    format!("<tr>{}</tr>\n", each(names, |name| format!("<th scope=\"col\">{name}</th>")))
}

/// A row that begins with a header cell.
pub fn row(header: &str, cells: impl IntoIterator<Item = String>) -> String {
    let cells = each(cells, |cell| format!("<td>{cell}</td>"));
    format!("<tr><th scope=\"row\">{header}</th>{cells}</tr>\n")
}
