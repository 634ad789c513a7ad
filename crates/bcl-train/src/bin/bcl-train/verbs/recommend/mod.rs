//! The verb `recommend`: best items for users, for new users, and beside other items.

mod id_list;
mod lists;
mod table;

pub(super) use id_list::counted;

use super::saved::{keep_inputs, working};
use crate::cli::Recommend;
use bcl_backend::Backend;
use bcl_eval::ranking::RankedItem;
use bcl_files::{notice, printable, refuse_overwriting};
use bcl_report::TextStyle;
use bcl_train::{
    error::Error,
    kinds::{
        Saved,
        interactions::{ListOptions, Recommendations, TrainedRecommender},
    },
    training::Stop,
};
use id_list::unknown;
use lists::{ListFormat, Lists, Names};
use serde_json::json;
use std::{path::Path, time::Instant};

/// Checks the flags of `recommend` before anything is opened.
///
/// # Errors
/// Returns an error if the file of `--out` is of no known format, or must not be overwritten.
pub(crate) fn check_recommend(args: &Recommend) -> Result<(), Error> {
    let Some(out) = &args.out else { return Ok(()) };
    ListFormat::of(out)?;
    Ok(refuse_overwriting("--out", out, &["csv", "jsonl"])?)
}

/// Prints or writes the best items for users, for new users, or beside items, by the ids of the data files.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, the run is not one of a recommender, or a user or an item is unknown.
pub(crate) fn recommend(args: &Recommend, backend: &Backend, stop: &Stop) -> Result<(), Error> {
    let _working = working("ranking the items of", &args.run);
    let saved = Saved::open(&args.run, args.compute.data.as_deref())?;
    if let Some(out) = &args.out {
        keep_inputs("--out", out, &saved, [args.users.as_ref(), args.items_file.as_ref()])?;
    }
    let trained = match saved {
        Saved::Recommender(run) => TrainedRecommender::open(*run, backend)?,
        other => {
            return Err(Error::Input(format!(
                "{} trained an encoder of {}, which cannot recommend; use `embed` for its features",
                other.path().display(),
                other.samples()
            )));
        }
    };
    let trained = &trained;
    let (users, items) = (&trained.data.users, &trained.data.items);
    let name = &trained.data.name;
    let options = ListOptions {
        top: args.top as usize,
        include_seen: args.include_seen,
    };
    let known_user = |user: &str| users.get(user).ok_or_else(|| unknown("--user", user, users, "users", name));
    let known_item = |item: &str| items.get(item).ok_or_else(|| unknown("--item", item, items, "items", name));
    match args {
        Recommend { user: Some(user), .. } => print(trained.recommend(known_user(user)?, options)?, args),
        Recommend { item: Some(item), .. } => print(trained.similar(known_item(item)?, options.top)?, args),
        Recommend {
            users: Some(file),
            out: Some(out),
            ..
        } => write_users(trained, options, &listed_users(trained, file)?, out, stop)?,
        Recommend {
            all: true,
            out: Some(out),
            ..
        } => write_users(trained, options, &trained_users(trained), out, stop)?,
        Recommend {
            all_items: true,
            out: Some(out),
            ..
        } => write_items(trained, options.top, out, stop)?,
        Recommend {
            items_file: Some(file), ..
        } => print(trained.recommend_to_new(&items_of_file(trained, file)?, options)?, args),
        _ => print(
            trained.recommend_to_new(&items_of_flag(trained, &args.items)?, options)?,
            args,
        ),
    }
    Ok(())
}

/// Prints a list with its notes.
fn print(mut recommendation: Recommendations, args: &Recommend) {
    if let Some(note) = recommendation.note() {
        notice::note(note);
    }
    if args.output.json {
        // JSON cannot hold a path that is not UTF-8.
        recommendation.run = recommendation.run.display().to_string().into();
        println!("{:#}", json!(recommendation));
    } else if recommendation.items.is_empty() {
        println!("No item is left to recommend.");
    } else {
        print!("{}", table::of(&recommendation).render(&TextStyle::of_stdout()));
    }
}

/// Users with a training interaction; a note counts the others.
fn trained_users(trained: &TrainedRecommender) -> Vec<u32> {
    let train = &trained.data.train;
    let users: Vec<u32> = (0..train.num_users() as u32)
        .filter(|&user| !train.items_of(user).is_empty())
        .collect();
    note_untrained(train.num_users() - users.len(), "user");
    users
}

/// The users of a file; a note counts those whose ranking is arbitrary.
fn listed_users(trained: &TrainedRecommender, file: &Path) -> Result<Vec<u32>, Error> {
    let data = &trained.data;
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

fn note_untrained(number: usize, noun: &str) {
    if number > 0 {
        notice::note(format_args!(
            "left out: {} without training interactions, about which nothing was learned",
            counted(number, noun)
        ));
    }
}

fn write_users(trained: &TrainedRecommender, options: ListOptions, users: &[u32], out: &Path, stop: &Stop) -> Result<(), Error> {
    let ids = &trained.data.users;
    write(trained, ["user", "item"], users.len(), out, stop, |add| {
        trained.recommend_each(users, options, stop, |user, list| add(ids.raw(user), list))
    })
}

fn write_items(trained: &TrainedRecommender, top: usize, out: &Path, stop: &Stop) -> Result<(), Error> {
    let counts = trained.data.train.item_counts();
    let items: Vec<u32> = (0..)
        .zip(&counts)
        .filter(|(_, count)| **count > 0)
        .map(|(item, _)| item)
        .collect();
    note_untrained(counts.len() - items.len(), "item");
    let ids = &trained.data.items;
    write(trained, ["item", "similar"], items.len(), out, stop, |add| {
        trained.similar_each(&items, top, stop, |item, list| add(ids.raw(item), list))
    })
}

/// Writes the lists that `each` adds, with the id that each is for, and prints the rate.
fn write(
    trained: &TrainedRecommender,
    [key, value]: [&'static str; 2],
    number: usize,
    out: &Path,
    stop: &Stop,
    each: impl FnOnce(&mut dyn FnMut(&str, &[RankedItem]) -> Result<(), Error>) -> Result<(), Error>,
) -> Result<(), Error> {
    // A signal during the work removes the unfinished file.
    let _registration = stop.register();
    let titles = trained.names.is_some();
    let mut lists = Lists::create(out, Names { key, value, titles })?;
    let started = Instant::now();
    each(&mut |id, list| lists.add(id, list, |item| (trained.data.items.raw(item), trained.title(item))))?;
    lists.finish()?;
    let seconds = started.elapsed().as_secs_f64();
    notice::status(format!(
        "{}: lists of {number} {key}s in {seconds:.2} s ({:.0} {key}s per second)",
        printable(out.display()),
        number as f64 / seconds.max(1e-9)
    ));
    Ok(())
}

/// The items of `--items`, of which each must be known.
fn items_of_flag(trained: &TrainedRecommender, ids: &[String]) -> Result<Vec<u32>, Error> {
    let data = &trained.data;
    ids.iter()
        .map(|id| {
            let id = id.trim();
            let item = data.items.get(id);
            item.ok_or_else(|| unknown("--items", id, &data.items, "items", &data.name))
        })
        .collect()
}

/// The known items of a file; a note counts the others.
fn items_of_file(trained: &TrainedRecommender, file: &Path) -> Result<Vec<u32>, Error> {
    let data = &trained.data;
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
