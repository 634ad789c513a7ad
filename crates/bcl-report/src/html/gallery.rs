//! Groups of pictures with captions, such as a picture and its nearest neighbours.

use crate::Thumbnail;
use crate::markup::{each, escape};
use crate::units::count;

/// Pictures under a heading.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureGroup {
    /// The heading, as text.
    pub heading: String,
    /// The pictures, in order.
    pub pictures: Vec<Picture>,
    /// Number of further pictures that are left out.
    pub more: usize,
}

/// A picture with its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The picture.
    pub image: Thumbnail,
    /// Name of its file.
    pub name: String,
    /// A short remark, such as its similarity; may be empty.
    pub remark: String,
    /// Whether the other pictures of the group belong to this one; it has a frame.
    pub is_query: bool,
}

/// The markup of all groups.
pub fn gallery(groups: &[PictureGroup]) -> String {
    each(groups, |group| {
        let more = match group.more {
            0 => String::new(),
            more => format!("<p class=\"intro\">and {} more</p>\n", count(more)),
        };
        format!(
            "<section>\n<h3>{}</h3>\n<ul class=\"gallery\">\n{}</ul>\n{more}</section>\n",
            escape(&group.heading),
            each(&group.pictures, item)
        )
    })
}

fn item(picture: &Picture) -> String {
    let name = escape(&picture.name);
    // A long path continues on the next line after a folder, not within the name of the file.
    let broken = name.replace('/', "/<wbr>");
    format!(
        "<li{}><img src=\"data:image/png;base64,{}\" alt=\"{name}\" title=\"{name}\"><b>{}</b><span>{broken}</span></li>\n",
        if picture.is_query { " class=\"query\"" } else { "" },
        escape(&picture.image.png),
        escape(&picture.remark),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_data_stay_text_and_what_is_left_out_is_counted() {
        let picture = Picture {
            image: Thumbnail::new(0, [1, 1], &[1, 2, 3]),
            name: "a/<script>\".jpg".into(),
            remark: "0.98".into(),
            is_query: true,
        };
        let group = PictureGroup {
            heading: "a & b".into(),
            pictures: vec![picture],
            more: 1200,
        };
        let html = gallery(&[group]);
        assert!(!html.contains("<script>") && html.contains("a &amp; b"), "{html}");
        assert!(html.contains("<span>a/<wbr>&lt;script"), "{html}");
        assert!(
            html.contains("and 1,200 more") && html.contains("class=\"query\"") && html.contains("data:image/png;base64,iVBOR"),
            "{html}"
        );
    }
}
