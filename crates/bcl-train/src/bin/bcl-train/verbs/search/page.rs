//! Pages with pictures.

use bcl_eval::images::thumbnail;
use bcl_files::{notice, sha256, write_whole};
use bcl_report::page::{Picture, PictureGroup, document_of, each, escape, free_path, gallery};
use bcl_train::{error::Error, kinds::images::search::ImageIndex};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Longest side of a picture in pixels.
pub(super) const LONGEST: usize = 128;

/// The pictures of some images, each with a remark such as its similarity, and its class if known. They are read in parallel.
pub(super) fn pictures(index: &ImageIndex, shown: Vec<(usize, String)>) -> Result<Vec<Picture>, Error> {
    shown
        .into_par_iter()
        .map(|(row, remark)| picture(index, row, &remark))
        .collect()
}

fn picture(index: &ImageIndex, row: usize, remark: &str) -> Result<Picture, Error> {
    let class = index.images.class(row).map(|class| format!("{class}, "));
    Ok(Picture {
        image: thumbnail(index.images.image(row)?.as_image(), LONGEST, 0),
        name: index.images.name(row),
        remark: class.filter(|_| !remark.is_empty()).unwrap_or_default() + remark,
        is_query: false,
    })
}

/// Writes a page and prints its path.
pub(super) fn write_page(
    index: &ImageIndex,
    verb: &str,
    wanted: Option<&PathBuf>,
    (title, intro): (&str, &str),
    groups: &[PictureGroup],
) -> Result<(), Error> {
    let facts = [
        ("images", format!("{} in {}", index.images.len(), index.images.described())),
        ("encoder", format!("{} ({})", index.recipe, index.run.display())),
    ];
    let facts = each(facts, |(name, text)| {
        format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(&text))
    });
    let facts = format!("<dl class=\"facts\">\n{facts}</dl>\n");
    let body = format!("<p class=\"intro\">{}</p>\n{}", escape(intro), gallery(groups));
    let kind = format!("bcl-train {verb}");
    let shows = sha256([&*facts, &*body].concat().as_bytes());
    let html = document_of(&shows, &kind, &escape(title), &facts, &body);
    let path = match wanted {
        Some(path) => path.clone(),
        None => free_path(&Path::new(verb).with_extension("html"), &html),
    };
    write_whole(&path, html.as_bytes())?;
    notice::status(format!("page: {}", path.display()));
    Ok(())
}
