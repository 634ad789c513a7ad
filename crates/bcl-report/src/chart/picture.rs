//! Wraps a drawing as an SVG with title and description, for a page or as a standalone file.

use super::{PALETTE, STYLE};
use crate::markup::escape;
use bcl_files::{FileError, write_whole};
use std::path::Path;

/// A drawing of `width` by `height` units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picture<'a> {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// SVG elements.
    pub(super) body: &'a str,
}

impl Picture<'_> {
    /// SVG for a page, which provides the colours. `id` must be unique in the page.
    pub(super) fn to_svg(self, id: &str) -> String {
        self.element(id, "", "")
    }

    /// A standalone SVG file, with a size and with colours that follow the reader's light or dark theme.
    pub(super) fn to_file(self) -> String {
        let attributes = format!(
            " xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\"",
            self.width, self.height
        );
        let style = format!("<style>\n{PALETTE}{STYLE}svg {{ background: var(--card); }}\n</style>\n");
        self.element("chart", &attributes, &style)
    }

    fn element(self, id: &str, attributes: &str, style: &str) -> String {
        format!(
            "<svg{attributes} viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{style}{}</svg>\n",
            self.width,
            self.height,
            escape(self.title),
            escape(self.description),
            self.body
        )
    }
}

/// Writes a chart made by [`LineChart::to_file`](super::LineChart::to_file). A file that is already at `path` is replaced only once
/// the new one is complete.
///
/// # Errors
/// Returns an error that names the file if it cannot be written.
pub fn write(path: &Path, svg: &str) -> Result<(), FileError> {
    write_whole(path, svg.as_bytes())
}
