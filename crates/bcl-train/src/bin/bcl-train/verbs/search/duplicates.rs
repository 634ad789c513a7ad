//! The near-duplicates of a folder.

use super::page as pages;
use crate::cli::Duplicates;
use bcl_eval::search::Duplicate;
use bcl_files::notice;
use bcl_report::{Column, Table, TextStyle, page::PictureGroup};
use bcl_train::{error::Error, kinds::images::search::ImageIndex};
use serde_json::{Value, json};

/// Groups on the page, and pictures per group: a page of tens of thousands of pictures does not open.
const GROUPS: usize = 100;
const PICTURES: usize = 24;

/// Searching more images than this takes minutes, so the command says what it does.
const MANY: usize = 100_000;

pub(super) fn answer(index: &ImageIndex, args: &Duplicates) -> Result<(), Error> {
    if index.images.len() > MANY {
        notice::status(format!(
            "searching {} images for near-duplicates; the index is exact and misses none",
            index.images.len()
        ));
    }
    let groups = index.near_duplicates(args.threshold);
    if args.csv {
        print!("{}", String::from_utf8_lossy(&csv(index, &groups)));
    } else if args.output.json {
        println!("{:#}", as_json(index, args, &groups));
    } else {
        print!("{}", table(index, &groups).render(&TextStyle::of_stdout()));
    }
    let redundant: usize = groups.iter().map(|group| group.len() - 1).sum();
    let summary = format!(
        "{} groups of near-duplicates (cosine at least {}) among {} images; {redundant} images are redundant if one per group is kept",
        groups.len(),
        args.threshold,
        index.images.len()
    );
    notice::status(&summary);
    page(index, args, &groups, &summary)
}

fn as_json(index: &ImageIndex, args: &Duplicates, groups: &[Vec<Duplicate>]) -> Value {
    let member = |member: &Duplicate| {
        json!({
            "file": index.images.name(member.row),
            "similarity": member.similarity,
            "nearest": index.images.name(member.nearest),
        })
    };
    let groups: Vec<Vec<Value>> = groups.iter().map(|group| group.iter().map(member).collect()).collect();
    json!({
        "run": index.run.display().to_string(),
        "images": index.images.len(),
        "threshold": args.threshold,
        "groups": groups,
    })
}

/// One row per image that has a near-duplicate.
fn csv(index: &ImageIndex, groups: &[Vec<Duplicate>]) -> Vec<u8> {
    const IN_MEMORY: &str = "writing to memory cannot fail";
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(["group", "file", "similarity", "nearest"])
        .expect(IN_MEMORY);
    for row in rows(index, groups) {
        writer.write_record(row).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

fn table(index: &ImageIndex, groups: &[Vec<Duplicate>]) -> Table {
    let columns = [
        Column::number("group"),
        Column::verbatim("file"),
        Column::number("cosine"),
        Column::verbatim("nearest"),
    ];
    Table::new(columns, rows(index, groups))
}

/// Group, file, cosine with the nearest file, nearest file. Groups are numbered from 1.
fn rows(index: &ImageIndex, groups: &[Vec<Duplicate>]) -> impl Iterator<Item = [String; 4]> {
    groups.iter().enumerate().flat_map(move |(number, group)| {
        group.iter().map(move |member| {
            [
                (number + 1).to_string(),
                index.images.name(member.row),
                format!("{:.4}", member.similarity),
                index.images.name(member.nearest),
            ]
        })
    })
}

fn page(index: &ImageIndex, args: &Duplicates, groups: &[Vec<Duplicate>], summary: &str) -> Result<(), Error> {
    let shown = groups.iter().take(GROUPS).enumerate();
    let pictures = shown.map(|(number, group)| {
        let members = group.iter().take(PICTURES);
        let members = members.map(|member| (member.row, format!("{:.3}", member.similarity)));
        Ok(PictureGroup {
            heading: format!("Group {}: {} images", number + 1, group.len()),
            pictures: pages::pictures(index, members.collect())?,
            more: group.len().saturating_sub(PICTURES),
        })
    });
    let pictures: Vec<PictureGroup> = pictures.collect::<Result<_, Error>>()?;
    let left_out = match groups.len().saturating_sub(GROUPS) {
        0 => String::new(),
        more => format!(" The page shows the {GROUPS} largest groups; {more} more are in the output of --csv."),
    };
    let intro = format!("{summary}. The number is the cosine with the most similar image of the group.{left_out}");
    pages::write_page(
        index,
        "duplicates",
        args.searched.page.as_ref(),
        ("Near-duplicates", &intro),
        &pictures,
    )
}
