//! The verb `evaluate`.

use super::{
    metrics_table::metrics_table,
    recommend::counted,
    saved::{keep_inputs, print_metrics, working},
};
use crate::cli::{Evaluate, LabelFractions};
use bcl_backend::Backend;
use bcl_data::{DataError, Format, InteractionColumns, Interactions, KnownInteractions, ReadOptions};
use bcl_files::{notice, printable, refuse_overwriting};
use bcl_recipe::{GraphRecipe, ImageRecipe, RecommenderRecipe};
use bcl_report::{TextStyle, collapse::collapse};
use bcl_train::{
    error::Error,
    kinds::{
        Saved, SavedRun,
        graphs::TrainedGraphEncoder,
        images,
        interactions::{RankingOptions, TrainedRecommender},
    },
};
use serde_json::json;
use std::path::Path;

/// Evaluates the saved weights of a run on its test data and prints the metrics.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, or a flag does not apply to runs of its kind.
pub(crate) fn evaluate(args: &Evaluate, backend: &Backend) -> Result<(), Error> {
    if let Some(path) = &args.per_user {
        refuse_overwriting("--per-user", path, &["csv"])?;
    }
    let _working = working("evaluating", &args.run);
    let run = Saved::open(&args.run, args.compute.data.as_deref())?;
    if let Some(path) = &args.per_user {
        keep_inputs("--per-user", path, &run, [args.test.as_ref()])?;
    }
    if let (Some(flag), false) = (args.flag_of_recommenders(), matches!(run, Saved::Recommender(_))) {
        return Err(Error::Input(format!(
            "{flag} does not apply to {}, which trained no recommender; remove it",
            args.run.display()
        )));
    }
    if args.label_fractions.is_some() && !matches!(run, Saved::Images(_)) {
        return Err(Error::Input(format!(
            "--label-fractions does not apply to {}, which trained no encoder of images; remove it",
            args.run.display()
        )));
    }
    match run {
        Saved::Recommender(run) => recommender(*run, backend, args),
        Saved::Images(run) => encoder_of_images(*run, backend, args),
        Saved::Graphs(run) => encoder_of_graphs(*run, backend, args),
    }
}

fn encoder_of_graphs(run: SavedRun<GraphRecipe>, backend: &Backend, args: &Evaluate) -> Result<(), Error> {
    let path = run.folder.path().display().to_string();
    let trained = TrainedGraphEncoder::open(run, backend)?;
    let evaluation = trained.evaluate()?;
    if args.output.json {
        println!(
            "{:#}",
            json!({ "run": path, "metrics": evaluation.metrics, "folds": evaluation.folds })
        );
    } else {
        println!(
            "{} on {} graphs of {}, in {} folds",
            trained.recipe.name,
            trained.data.num_graphs(),
            printable(trained.data.name()),
            trained.recipe.evaluation.folds
        );
        print_metrics(&evaluation.metrics);
    }
    Ok(())
}

fn encoder_of_images(run: SavedRun<ImageRecipe>, backend: &Backend, args: &Evaluate) -> Result<(), Error> {
    let (path, name) = (run.folder.path().display().to_string(), run.recipe.name.clone());
    let fractions = args.label_fractions.as_ref().map(|LabelFractions(fractions)| &**fractions);
    let evaluation = images::evaluate(run, backend, fractions).map_err(|error| match error {
        Error::Unlabelled { data } => Error::Input(format!(
            "--label-fractions needs labelled test images, but {data} has none; remove it"
        )),
        other => other,
    })?;
    let metrics = &evaluation.metrics;
    if args.output.json {
        println!("{:#}", json!({ "run": path, "metrics": metrics }));
    } else {
        let part = if evaluation.are_training_images { "training" } else { "test" };
        println!(
            "{name} on {} {part} images of {}",
            evaluation.images,
            printable(&evaluation.data)
        );
        print_metrics(metrics);
    }
    if let Some(text) = collapse(metrics) {
        notice::warn(format_args!("the features {text}"));
    }
    Ok(())
}

fn recommender(run: SavedRun<RecommenderRecipe>, backend: &Backend, args: &Evaluate) -> Result<(), Error> {
    let trained = TrainedRecommender::open(run, backend)?;
    let options = RankingOptions {
        cutoffs: args.cutoffs.as_ref().map(|cutoffs| cutoffs.0.clone()),
        test: args.test.as_deref().map(|file| other_test(&trained, file)).transpose()?,
        fold_in: args.fold_in,
        per_user: args.per_user.is_some(),
    };
    let evaluation = trained.evaluate(options)?;
    if let (Some(file), Some(users)) = (&args.per_user, &evaluation.per_user) {
        bcl_files::write_whole(file, &users.to_csv())?;
        notice::status(format!("metrics of each user: {}", printable(file.display())));
    }
    let (users, metrics) = (evaluation.users, &evaluation.metrics);
    if args.output.json {
        let mut object = json!({ "run": trained.run.display().to_string(), "users": users, "metrics": metrics });
        if let Some(test) = &args.test {
            object["test"] = json!(test.display().to_string());
        }
        if args.fold_in {
            object["fold_in"] = json!(true);
        }
        println!("{object:#}");
    } else {
        let source = match &args.test {
            Some(file) => printable(file.display()),
            None => printable(&trained.data.name),
        };
        let how = if args.fold_in {
            ", folded in from their training items"
        } else {
            ""
        };
        println!("{} on {} of {source}{how}", trained.recipe.name, counted(users, "user"));
        match metrics_table(metrics) {
            Some(table) => print!("{}", table.render(&TextStyle::of_stdout())),
            None => print_metrics(metrics),
        }
    }
    Ok(())
}

/// Reads the file of `--test`. Its format is the recipe's, unless the ending of its name tells. Its columns have the names from the
/// recipe, or else their usual names. Without ratings, all of its interactions count.
fn read_test(saved: &TrainedRecommender, file: &Path) -> Result<KnownInteractions, DataError> {
    let (config, data) = (&saved.recipe.data, &saved.data);
    // Files of numbers do not tell their format.
    let format = match Format::of_ending(file) {
        None => config.format.unwrap_or_default(),
        Some(_) => Format::Auto,
    };
    let read_from = |columns, min_rating| {
        let options = ReadOptions {
            format,
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
fn other_test(saved: &TrainedRecommender, file: &Path) -> Result<Interactions, Error> {
    let data = &saved.data;
    let read = read_test(saved, file)?;
    let shown = file.display();
    if read.interactions.is_empty() {
        return Err(Error::Input(format!(
            "--test {shown}: none of its {} interactions has a user and an item that the run knows; known ids look like {} and {}",
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
            "{shown}: leaving out {} that the run was trained on",
            counted(trained, "interaction")
        ));
    }
    Ok(read.interactions)
}
