//! The images of a folder that are most similar to given ones.

use super::page::{self, LONGEST};
use crate::cli::Neighbours;
use bcl_eval::{images::thumbnail, search::Near};
use bcl_images::{Collection, Decoding, read_files};
use bcl_report::{
    Column, Table, TextStyle,
    page::{Picture, PictureGroup},
};
use bcl_train::{error::Error, kinds::images::search::ImageIndex};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Reads the query images.
pub(super) fn read(queries: &[PathBuf], decoding: Decoding) -> Result<Collection, Error> {
    for query in queries {
        let problem = match query.metadata() {
            Err(_) => "no such file; correct the path",
            Ok(about) if about.is_dir() => "is a folder; name image files, and the folder to search with --in",
            Ok(_) => continue,
        };
        return Err(Error::Input(format!("{}: {problem}", query.display())));
    }
    Ok(read_files(queries, decoding)?)
}

pub(super) fn answer(index: &ImageIndex, args: &Neighbours, queries: &Collection) -> Result<(), Error> {
    let found = index.neighbours(queries, args.top as usize)?;
    if args.output.json {
        let of = |(query, found): (usize, &Vec<Near>)| {
            let near: Vec<Value> = found.iter().map(|near| as_json(index, *near)).collect();
            json!({ "query": queries.name(query), "neighbours": near })
        };
        let queries: Vec<Value> = found.iter().enumerate().map(of).collect();
        println!(
            "{:#}",
            json!({ "run": index.run.display().to_string(), "images": index.images.len(), "queries": queries })
        );
    } else {
        print!("{}", table(index, queries, &found).render(&TextStyle::of_stdout()));
    }
    let groups = found.iter().enumerate();
    let groups = groups.map(|(query, found)| group(index, queries, query, found));
    let groups: Vec<PictureGroup> = groups.collect::<Result<_, _>>()?;
    let title = match queries.len() {
        1 => "Nearest neighbours of one image".to_owned(),
        many => format!("Nearest neighbours of {many} images"),
    };
    let intro = "Each query, framed, is followed by the most similar images. The number is the cosine similarity of their features: 1 for equal features, \
                 about 0 for unrelated ones.";
    page::write_page(index, "neighbours", args.searched.page.as_ref(), (&title, intro), &groups)
}

fn as_json(index: &ImageIndex, near: Near) -> Value {
    json!({
        "file": index.images.name(near.row),
        "class": index.images.class(near.row),
        "similarity": near.similarity,
    })
}

fn table(index: &ImageIndex, queries: &Collection, found: &[Vec<Near>]) -> Table {
    let has_classes = !index.images.classes().is_empty();
    let rows = found.iter().enumerate().flat_map(|(query, found)| {
        found.iter().enumerate().map(move |(rank, near)| {
            let query = if rank == 0 {
                queries.name(query).to_owned()
            } else {
                String::new()
            };
            let mut row = vec![
                query,
                (rank + 1).to_string(),
                format!("{:.4}", near.similarity),
                index.images.name(near.row),
            ];
            row.extend(has_classes.then(|| index.images.class(near.row).unwrap_or_default().to_owned()));
            row
        })
    });
    let mut columns = vec![
        Column::verbatim("query"),
        Column::number("rank"),
        Column::number("cosine"),
        Column::verbatim("file"),
    ];
    columns.extend(has_classes.then(|| Column::text("class")));
    Table::new(columns, rows)
}

fn group(index: &ImageIndex, queries: &Collection, query: usize, found: &[Near]) -> Result<PictureGroup, Error> {
    let first = Picture {
        image: thumbnail(queries.get(query), LONGEST, 0),
        name: queries.name(query).to_owned(),
        remark: "query".to_owned(),
        is_query: true,
    };
    let near = found.iter().map(|near| (near.row, format!("{:.3}", near.similarity)));
    let near = page::pictures(index, near.collect())?;
    Ok(PictureGroup {
        heading: queries.name(query).to_owned(),
        pictures: std::iter::once(first).chain(near).collect(),
        more: 0,
    })
}
