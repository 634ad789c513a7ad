//! Renders Markdown texts with their pictures.

use super::picture::address;
use bcl_report::Skipped;
use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html::push_html};
use std::path::{Path, PathBuf};

/// The text of the first heading.
pub(super) fn title(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim)
}

/// The files of the pictures in a text; `path` is where the text is.
pub(super) fn pictures(text: &str, path: &Path) -> Vec<PathBuf> {
    addresses(text).map(|url| beside(path, &url)).collect()
}

/// Pictures of a text that the page cannot include: missing files, or formats that pages do not support.
pub(super) fn missing_pictures(text: &str, path: &Path) -> Vec<Skipped> {
    addresses(text)
        .filter(|url| embedded(path, url).is_none())
        .map(|url| Skipped {
            path: beside(path, &url),
            reason: format!("{} shows it, but it cannot be read", path.display()),
        })
        .collect()
}

/// The addresses of the pictures in a text.
fn addresses(text: &str) -> impl Iterator<Item = CowStr<'_>> {
    parse(text).filter_map(|event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url),
        _ => None,
    })
}

/// Renders a text as HTML. Headings move down one level, since the page has its own; pictures are embedded; HTML in the text is
/// escaped.
pub(super) fn html(text: &str, path: &Path) -> String {
    let events = parse(text).map(|event| match event {
        Event::Start(mut tag) => {
            match &mut tag {
                Tag::Heading { level, .. } => *level = lower(*level),
                Tag::Image { dest_url, .. } => *dest_url = embedded(path, dest_url).unwrap_or_else(|| dest_url.clone()),
                _ => {}
            }
            Event::Start(tag)
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Html(markup) | Event::InlineHtml(markup) => Event::Text(markup),
        other => other,
    });
    let mut markup = String::new();
    push_html(&mut markup, events);
    // Wide tables scroll on their own, without the page.
    markup
        .replace("<table>", "<div class=\"scroll\"><table class=\"text\">")
        .replace("</table>", "</table></div>")
}

/// A part of a text, from one heading to the next.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) title: String,
    /// Addresses of its links, without fragments and without addresses of mail.
    pub(super) links: Vec<String>,
    /// The words of its paragraphs, items and cells, without code.
    pub(super) blocks: Vec<String>,
}

/// The sections of a text.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut is_title = false;
    let mut is_code = false;
    for event in parse(text) {
        if let Event::Start(Tag::Heading { .. }) = event {
            sections.push(Section::default());
        }
        let section = sections.last_mut().expect("one section or more");
        match event {
            Event::Start(Tag::Heading { .. }) => is_title = true,
            Event::End(TagEnd::Heading(_)) => is_title = false,
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Start(Tag::Link { link_type, dest_url, .. }) if link_type != LinkType::Email => {
                let (address, _) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
                section.links.push(address.to_owned());
            }
            Event::Text(words) if is_title => section.title.push_str(&words),
            Event::Start(Tag::Paragraph | Tag::Item | Tag::TableCell) => section.blocks.push(String::new()),
            Event::Text(words) if !is_code => match section.blocks.last_mut() {
                Some(block) => block.push_str(&words),
                None => section.blocks.push(words.into_string()),
            },
            Event::SoftBreak => section.blocks.last_mut().into_iter().for_each(|block| block.push(' ')),
            _ => {}
        }
    }
    sections
}

fn parse(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        _ => HeadingLevel::H4,
    }
}

pub(super) fn beside(path: &Path, relative: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(relative)
}

/// The data URL of a picture beside the text.
fn embedded(path: &Path, relative: &str) -> Option<CowStr<'static>> {
    let file = beside(path, relative);
    let kind = match file.extension()?.to_str()? {
        "svg" => "svg+xml",
        "png" => "png",
        "jpg" | "jpeg" => "jpeg",
        _ => return None,
    };
    // Reading a device or a pipe might never end.
    let bytes = file.is_file().then(|| std::fs::read(&file).ok())??;
    Some(address(&bytes, kind).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_tables_and_pictures_become_part_of_the_page() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.svg"), "<svg/>").unwrap();
        let text = "# Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n![of a](a.svg)\n";
        let markup = html(text, &folder.path().join("notes.md"));
        assert!(markup.contains("<h2>Title</h2>") && markup.contains("<div class=\"scroll\"><table"));
        assert!(markup.contains("src=\"data:image/svg+xml;base64,PHN2Zy8+\"") && markup.contains("alt=\"of a\""));
        assert_eq!(title(text), Some("Title"));
    }

    #[test]
    fn markup_in_a_text_stays_text() {
        let markup = html("<script>a()</script>\n\nb <img src=x>", Path::new("notes.md"));
        assert!(!markup.contains("<script") && !markup.contains("<img"), "{markup}");
    }
}
