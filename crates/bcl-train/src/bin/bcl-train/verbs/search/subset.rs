//! A diverse subset of a folder.

use super::page as pages;
use crate::cli::Subset;
use bcl_eval::search::Cover;
use bcl_files::{input, notice, write_whole};
use bcl_report::page::PictureGroup;
use bcl_train::{
    error::Error,
    kinds::images::search::{ImageIndex, SearchedImages, SubsetOptions},
};
use serde_json::json;
use std::path::Path;

/// Pictures on the page.
const PICTURES: usize = 500;

pub(super) fn answer(index: &ImageIndex, args: &Subset) -> Result<(), Error> {
    let given = match &args.chosen {
        Some(list) => chosen_already(&index.images, list)?,
        None => Vec::new(),
    };
    let open = index.images.len() - given.len();
    let count = args.count as usize;
    if count > open {
        return Err(Error::Input(format!(
            "--count {count}: {} has only {open} images to choose from; lower the number",
            index.images.described()
        )));
    }
    if args.balanced {
        check_classes(&index.images)?;
    }
    let cover = index.diverse_subset(&SubsetOptions {
        count,
        balanced: args.balanced,
        seed: args.seed,
        chosen: given,
    });
    print(index, args, &cover)?;
    let summary = format!(
        "{} of {} images; every image has a cosine of at least {:.3} with a chosen one",
        cover.chosen.len(),
        index.images.len(),
        cover.least_similarity
    );
    notice::status(&summary);
    page(index, args, &cover, &summary)
}

/// Checks that every image has a class.
fn check_classes(images: &SearchedImages) -> Result<(), Error> {
    match (0..images.len()).find(|&row| images.label(row).is_none()) {
        None => Ok(()),
        Some(row) => Err(Error::Input(format!(
            "--balanced needs a class for every image, and {} of {} has none; put images into folders CLASS/, or remove --balanced",
            images.name(row),
            images.described()
        ))),
    }
}

/// Reads a list of images, such as one that this verb wrote.
fn chosen_already(images: &SearchedImages, list: &Path) -> Result<Vec<usize>, Error> {
    let refused = |line: usize, problem: &str| Err(Error::Input(format!("--chosen {}: line {line}: {problem}", list.display())));
    let text = input::read_text(list, input::MOST_WHOLE).map_err(|error| {
        Error::Input(format!(
            "--chosen {}: cannot be read: {error}; name a list of paths",
            list.display()
        ))
    })?;
    let indices = images.indices();
    let mut rows = Vec::new();
    for (line, name) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if name.is_empty() {
            continue;
        }
        let Some(&row) = indices.get(name) else {
            let example = images.name(0);
            let folder = images.described();
            return refused(
                line,
                &format!("`{name}` is not an image of {folder}; paths are relative to it, such as {example}"),
            );
        };
        rows.push(row);
    }
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

/// Writes or prints the list.
fn print(index: &ImageIndex, args: &Subset, cover: &Cover) -> Result<(), Error> {
    let names: Vec<String> = cover.chosen.iter().map(|&row| index.images.name(row)).collect();
    if let Some(bad) = names.iter().find(|name| name.contains(['\n', '\r'])) {
        return Err(Error::Input(format!(
            "{bad:?} has a line break in its name, which a list of lines cannot hold; rename the file"
        )));
    }
    let list: String = names.iter().flat_map(|name| [name, "\n"]).collect();
    if let Some(out) = &args.out {
        write_whole(out, list.as_bytes())?;
        notice::status(format!("list: {}", out.display()));
    }
    if args.output.json {
        println!(
            "{:#}",
            json!({
                "run": index.run.display().to_string(),
                "images": index.images.len(),
                "least_similarity": cover.least_similarity,
                "files": names,
            })
        );
    } else if args.out.is_none() {
        print!("{}", bcl_files::printable_lines(&list));
    }
    Ok(())
}

fn page(index: &ImageIndex, args: &Subset, cover: &Cover, summary: &str) -> Result<(), Error> {
    let shown = (1..).zip(&cover.chosen).take(PICTURES);
    let shown = shown.map(|(rank, &row): (usize, _)| (row, rank.to_string()));
    let group = PictureGroup {
        heading: "In the order in which they were chosen".to_owned(),
        pictures: pages::pictures(index, shown.collect())?,
        more: cover.chosen.len().saturating_sub(PICTURES),
    };
    let intro = format!("{summary}. Each image is the one that is farthest from all chosen before it.");
    pages::write_page(
        index,
        "subset",
        args.searched.page.as_ref(),
        ("Diverse subset", &intro),
        &[group],
    )
}
