//! The verb `evaluate` for recommenders.

use super::{
    super::SavedRun, super::saved::print_metrics, id_list::counted, metrics_table::metrics_table, recommend::folded_users,
    saved::Saved,
};
use crate::{cli, error::Error};
use bcl_backend::Backend;
use bcl_data::{DataError, InteractionColumns, InteractionData, Interactions, KnownInteractions, ReadOptions};
use bcl_eval::ranking::{EmbeddingScorer, RankingEvaluator};
use bcl_files::notice;
use bcl_files::printable;
use bcl_models::Embeddings;
use bcl_recipe::RecommenderRecipe;
use bcl_report::{TextStyle, UserMetrics};
use serde_json::json;
use std::path::Path;

/// Evaluates the saved weights of a run and prints the metrics.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, or a file cannot be read or written.
pub(super) fn evaluate(run: SavedRun<RecommenderRecipe>, backend: &Backend, args: &cli::Evaluate) -> Result<(), Error> {
    let saved = Saved::open(run, backend)?;
    let data = &saved.data;
    let other = args.test.as_deref().map(|file| other_test(&saved, file)).transpose()?;
    let cutoffs = args
        .cutoffs
        .as_ref()
        .map_or(&saved.recipe.evaluation.cutoffs, |cutoffs| &cutoffs.0);
    let tested = match other {
        Some(test) => InteractionData { test, ..data.clone() }.trained_test(),
        None => data.trained_test(),
    };
    let evaluator = RankingEvaluator::new(cutoffs, &data.train, &tested);
    let users = if args.fold_in {
        folded_users(&saved)
    } else {
        saved.embeddings.users.clone()
    };
    let scorer = EmbeddingScorer::new(Embeddings {
        users,
        items: saved.embeddings.items.clone(),
    });
    let metrics = evaluator.evaluate(&scorer)?;
    if let Some(file) = &args.per_user {
        let users = UserMetrics {
            users: evaluator
                .users()
                .iter()
                .map(|&user| data.users.raw(user).to_owned())
                .collect(),
            metrics: evaluator.evaluate_users(&scorer)?,
        };
        bcl_files::write_whole(file, &users.to_csv())?;
        notice::status(format!("metrics of each user: {}", printable(file.display())));
    }
    let users = evaluator.num_evaluated_users();
    if args.output.json {
        let mut object = json!({ "run": saved.run, "users": users, "metrics": metrics });
        if let Some(test) = &args.test {
            object["test"] = json!(test);
        }
        if args.fold_in {
            object["fold_in"] = json!(true);
        }
        println!("{object:#}");
    } else {
        let source = match &args.test {
            Some(file) => printable(file.display()),
            None => printable(&data.name),
        };
        let how = if args.fold_in {
            ", folded in from their training items"
        } else {
            ""
        };
        println!("{} on {} of {source}{how}", saved.recipe.name, counted(users, "user"));
        match metrics_table(&metrics) {
            Some(table) => print!("{}", table.render(&TextStyle::of_stdout())),
            None => print_metrics(&metrics),
        }
    }
    Ok(())
}

/// Reads the file of `--test`. Its columns have the names from the recipe, or else their usual names. Without ratings, all of its
/// interactions count.
fn read_test(saved: &Saved, file: &Path) -> Result<KnownInteractions, DataError> {
    let (config, data) = (&saved.recipe.data, &saved.data);
    let read_from = |columns, min_rating| {
        let options = ReadOptions {
            columns,
            min_rating,
            ..ReadOptions::default()
        };
        KnownInteractions::read(file, &options, &data.users, &data.items)
    };
    let read = |columns: InteractionColumns| match read_from(columns.clone(), config.min_rating) {
        Err(DataError::NoRatings { min_rating, .. }) => {
            notice::note(format_args!(
                "{} has no ratings, so data.min_rating = {min_rating} leaves out none of its interactions",
                file.display()
            ));
            let columns = InteractionColumns { rating: None, ..columns };
            read_from(columns, None)
        }
        read => read,
    };
    let own = InteractionColumns {
        timestamp: None,
        ..config.columns.clone().unwrap_or_default()
    };
    let unrated = InteractionColumns {
        rating: None,
        ..own.clone()
    };
    match read(own) {
        Err(DataError::MissingColumn { .. }) => {}
        read => return read,
    }
    match read(unrated) {
        Err(missing @ DataError::MissingColumn { .. }) => read(InteractionColumns::default()).map_err(|_| missing),
        read => read,
    }
}

/// Reads the interactions of `--test` and says what was left out.
fn other_test(saved: &Saved, file: &Path) -> Result<Interactions, Error> {
    let data = &saved.data;
    let read = read_test(saved, file)?;
    let shown = file.display();
    if read.interactions.is_empty() {
        return Err(Error::Input(format!(
            "--test {shown}: none of its {} interactions is of a user and an item that the run knows; their ids look like {} and {}",
            read.unknown_rows,
            data.users.iter().next().unwrap_or_default(),
            data.items.iter().next().unwrap_or_default()
        )));
    }
    if read.unknown_rows > 0 {
        notice::note(format_args!(
            "{shown}: leaving out {} with a user ({}) or an item ({}) that the run does not know",
            counted(read.unknown_rows, "interaction"),
            read.unknown_users,
            read.unknown_items
        ));
    }
    let trained = read
        .interactions
        .pairs()
        .filter(|&(user, item)| data.train.contains(user, item))
        .count();
    if trained == read.interactions.len() {
        return Err(Error::Input(format!(
            "--test {shown}: all of its interactions are training interactions of the run, so there is nothing to evaluate"
        )));
    }
    if trained > 0 {
        notice::note(format_args!(
            "{shown}: leaving out {} on which the run was trained",
            counted(trained, "interaction")
        ));
    }
    Ok(read.interactions)
}
