//! The verb `recommend`: best items for users, for new users, and beside other items.

use super::{
    bulk::{Lists, Names},
    id_list::{self, counted, unknown},
    recommendation::{Recommendation, Subject},
    saved::Saved,
};
use crate::{cli, error::Error, training::Stop};
use bcl_data::Interactions;
use bcl_eval::ranking::{EmbeddingScorer, RankedItem, TopItems};
use bcl_files::notice;
use bcl_files::printable;
use bcl_models::{Embeddings, Similarity};
use bcl_report::TextStyle;
use burn::tensor::Tensor;
use serde_json::json;
use std::{path::Path, time::Instant};

/// Does what the arguments ask for.
///
/// # Errors
/// Returns an error if an id is unknown, or a file cannot be read or written.
pub(super) fn recommend(saved: &Saved, args: &cli::Recommend, stop: &Stop) -> Result<(), Error> {
    match args {
        cli::Recommend { user: Some(user), .. } => to_user(saved, args, user),
        cli::Recommend { item: Some(item), .. } => similar_to(saved, args, item),
        cli::Recommend {
            users: Some(file),
            out: Some(out),
            ..
        } => to_users(saved, args, &listed_users(saved, file)?, out, stop),
        cli::Recommend {
            all: true,
            out: Some(out),
            ..
        } => to_users(saved, args, &trained_users(saved), out, stop),
        cli::Recommend {
            all_items: true,
            out: Some(out),
            ..
        } => similar_to_all(saved, args, out, stop),
        cli::Recommend {
            items_file: Some(file), ..
        } => to_new_user(saved, args, &items_of_file(saved, file)?),
        _ => to_new_user(saved, args, &items_of_flag(saved, &args.items)?),
    }
}

/// Ranks for one user of a scorer.
fn ranked(scorer: &EmbeddingScorer, seen: Option<&Interactions>, user: u32, top: u32) -> Result<Vec<RankedItem>, Error> {
    let mut best = Vec::new();
    let ranking = TopItems::new(scorer, top as usize);
    let ranking = match seen {
        Some(seen) => ranking.excluding(seen),
        None => ranking,
    };
    ranking.of_users(&[user], |_, list| {
        best = list.to_vec();
        Ok::<(), Error>(())
    })?;
    Ok(best)
}

fn to_user(saved: &Saved, args: &cli::Recommend, user: &str) -> Result<(), Error> {
    let data = &saved.data;
    let id = data
        .users
        .get(user)
        .ok_or_else(|| unknown("--user", user, &data.users, "users", &data.name))?;
    let seen = (!args.include_seen).then_some(&data.train);
    let list = ranked(&EmbeddingScorer::new(saved.embeddings.clone()), seen, id, args.top)?;
    print(&Recommendation::new(saved, Subject::of_user(data, id), &list), args);
    Ok(())
}

/// Prints a list with its notes.
fn print(recommendation: &Recommendation, args: &cli::Recommend) {
    if let Some(note) = recommendation.note() {
        notice::note(note);
    }
    if args.output.json {
        println!("{:#}", json!(recommendation));
    } else {
        print!("{}", recommendation.table().render(&TextStyle::of_stdout()));
    }
}

/// Users with a training interaction; a note counts the others.
fn trained_users(saved: &Saved) -> Vec<u32> {
    let train = &saved.data.train;
    let users: Vec<u32> = (0..train.num_users() as u32)
        .filter(|&user| !train.items_of(user).is_empty())
        .collect();
    let cold = train.num_users() - users.len();
    if cold > 0 {
        notice::note(format_args!(
            "left out: {} without training interactions, about which nothing was learned",
            counted(cold, "user")
        ));
    }
    users
}

/// The users of a file; a note counts those whose ranking is arbitrary.
fn listed_users(saved: &Saved, file: &Path) -> Result<Vec<u32>, Error> {
    let data = &saved.data;
    let mut users = Vec::new();
    for listed in id_list::read("--users", file)? {
        let flag = format!("--users {}:{}: user", file.display(), listed.line);
        let user = data.users.get(&listed.id);
        users.push(user.ok_or_else(|| unknown(&flag, &listed.id, &data.users, "users", &data.name))?);
    }
    let cold = users.iter().filter(|&&user| data.train.items_of(user).is_empty()).count();
    if cold > 0 {
        notice::note(format_args!(
            "{} of {} without training interactions: nothing was learned about them, so their rankings are arbitrary",
            counted(cold, "user"),
            file.display()
        ));
    }
    Ok(users)
}

fn to_users(saved: &Saved, args: &cli::Recommend, users: &[u32], out: &Path, stop: &Stop) -> Result<(), Error> {
    let scorer = EmbeddingScorer::new(saved.embeddings.clone());
    let ranking = TopItems::new(&scorer, args.top as usize);
    let ranking = if args.include_seen {
        ranking
    } else {
        ranking.excluding(&saved.data.train)
    };
    write(saved, "user", "item", ranking, users, out, stop)
}

/// Writes the lists of users, or of items as users of themselves, and prints the rate.
fn write(
    saved: &Saved,
    key: &'static str,
    value: &'static str,
    ranking: TopItems<'_>,
    ids: &[u32],
    out: &Path,
    stop: &Stop,
) -> Result<(), Error> {
    // A signal during the work removes the unfinished file.
    let _registration = stop.register();
    let stopped = stop.clone();
    let data = &saved.data;
    let raw = if key == "user" { &data.users } else { &data.items };
    let titles = saved.names.is_some();
    let mut lists = Lists::create(out, Names { key, value, titles })?;
    let started = Instant::now();
    ranking
        .with_interrupt(move || stopped.is_requested())
        .of_users(ids, |id, list| {
            lists.add(raw.raw(id), list, |item| (data.items.raw(item), saved.title(item)))
        })?;
    lists.finish()?;
    let seconds = started.elapsed().as_secs_f64();
    notice::status(format!(
        "{}: lists of {} {key}s in {seconds:.2} s ({:.0} {key}s per second)",
        printable(out.display()),
        ids.len(),
        ids.len() as f64 / seconds.max(1e-9)
    ));
    Ok(())
}

/// Scores items as neighbours of items: the cosine of their embeddings.
fn cosines(saved: &Saved) -> EmbeddingScorer {
    let items = Similarity::Cosine.prepare(saved.embeddings.items.clone());
    EmbeddingScorer::new(Embeddings {
        users: items.clone(),
        items,
    })
}

/// Each item as its own only item, to leave it out of its neighbours.
fn itself(num_items: usize) -> Interactions {
    Interactions::from_pairs(num_items, num_items, (0..num_items as u32).map(|item| (item, item)))
}

fn similar_to(saved: &Saved, args: &cli::Recommend, item: &str) -> Result<(), Error> {
    let data = &saved.data;
    let id = data
        .items
        .get(item)
        .ok_or_else(|| unknown("--item", item, &data.items, "items", &data.name))?;
    let list = ranked(&cosines(saved), Some(&itself(data.items.len())), id, args.top)?;
    print(&Recommendation::new(saved, Subject::of_item(saved, id), &list), args);
    Ok(())
}

fn similar_to_all(saved: &Saved, args: &cli::Recommend, out: &Path, stop: &Stop) -> Result<(), Error> {
    let (scorer, itself) = (cosines(saved), itself(saved.data.items.len()));
    let counts = saved.data.train.item_counts();
    let items: Vec<u32> = (0..)
        .zip(&counts)
        .filter(|(_, count)| **count > 0)
        .map(|(item, _)| item)
        .collect();
    if items.len() < counts.len() {
        notice::note(format_args!(
            "left out: {} without training interactions, about which nothing was learned",
            counted(counts.len() - items.len(), "item")
        ));
    }
    let ranking = TopItems::new(&scorer, args.top as usize).excluding(&itself);
    write(saved, "item", "similar", ranking, &items, out, stop)
}

/// The items of `--items`, of which each must be known.
fn items_of_flag(saved: &Saved, ids: &[String]) -> Result<Vec<u32>, Error> {
    let data = &saved.data;
    ids.iter()
        .map(|id| {
            let id = id.trim();
            let item = data.items.get(id);
            item.ok_or_else(|| unknown("--items", id, &data.items, "items", &data.name))
        })
        .collect()
}

/// The known items of a file; a note counts the others.
fn items_of_file(saved: &Saved, file: &Path) -> Result<Vec<u32>, Error> {
    let data = &saved.data;
    let listed = id_list::read("--items-file", file)?;
    let items: Vec<u32> = listed.iter().filter_map(|listed| data.items.get(&listed.id)).collect();
    if items.is_empty() {
        let flag = format!("--items-file {}:{}: item", file.display(), listed[0].line);
        return Err(unknown(&flag, &listed[0].id, &data.items, "items", &data.name));
    }
    if items.len() < listed.len() {
        notice::note(format_args!(
            "left out: {} of {} in {} that the run does not know",
            listed.len() - items.len(),
            counted(listed.len(), "item"),
            file.display()
        ));
    }
    Ok(items)
}

/// Recommends by a vector computed from the items.
fn to_new_user(saved: &Saved, args: &cli::Recommend, items: &[u32]) -> Result<(), Error> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    let scorer = EmbeddingScorer::new(Embeddings {
        users: saved.fold_in(&[&items]),
        items: saved.embeddings.items.clone(),
    });
    let seen = Interactions::from_pairs(1, saved.data.items.len(), items.iter().map(|&item| (0, item)));
    let list = ranked(&scorer, (!args.include_seen).then_some(&seen), 0, args.top)?;
    print(&Recommendation::new(saved, Subject::of_new_user(saved, &items), &list), args);
    Ok(())
}

/// The vectors of users as if they were new: from their training items. Users without any get zeros.
pub(super) fn folded_users(saved: &Saved) -> Tensor<2> {
    let train = &saved.data.train;
    let histories: Vec<&[u32]> = (0..train.num_users() as u32).map(|user| train.items_of(user)).collect();
    let trained: Vec<&[u32]> = histories.iter().copied().filter(|items| !items.is_empty()).collect();
    let [_, dim] = saved.embeddings.items.dims();
    let device = saved.embeddings.items.device();
    let folded: Vec<f32> = saved.fold_in(&trained).into_data().iter::<f32>().collect();
    let mut rows = folded.chunks(dim);
    let zeros = vec![0.0; dim];
    let all: Vec<f32> = histories
        .iter()
        .flat_map(|items| {
            if items.is_empty() {
                &zeros[..]
            } else {
                rows.next().unwrap_or(&zeros)
            }
        })
        .copied()
        .collect();
    Tensor::from_data(burn::tensor::TensorData::new(all, [histories.len(), dim]), &device)
}
