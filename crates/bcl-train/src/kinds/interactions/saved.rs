//! The commands on a run of a recommender: evaluate, recommend, embed, export.

use super::{
    super::{
        SavedRun,
        saved::{print_metrics, vectors_as_csv},
    },
    recommendation::Recommendation,
};
use crate::{
    error::Error,
    recipe::{RecommenderRecipe, RunRecipe},
};
use bcl_backend::Backend;
use bcl_data::{InteractionData, printable};
use bcl_eval::ranking::{EmbeddingScorer, top_items};
use bcl_models::{Embeddings, Recommender};
use bcl_report::{TextStyle, files, notice, npy};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::json;
use std::path::Path;

/// A finished run, loaded.
struct Saved {
    recipe: RecommenderRecipe,
    data: InteractionData,
    encoder: Recommender,
    embeddings: Embeddings,
}

impl Saved {
    /// Loads the data and the saved weights of a run.
    fn open(run: SavedRun<RecommenderRecipe>, backend: &Backend) -> Result<Self, Error> {
        let data = run.data()?;
        let encoder = run.recipe.trained(&data, &run.folder, &backend.device())?;
        Ok(Self {
            embeddings: encoder.embeddings(),
            encoder,
            recipe: run.recipe,
            data,
        })
    }
}

/// Evaluates the saved weights of a run on its test interactions and prints the metrics.
///
/// # Errors
/// Returns an error if the run or its data cannot be read.
pub(super) fn evaluate(run: SavedRun<RecommenderRecipe>, backend: &Backend, json: bool) -> Result<(), Error> {
    let path = run.folder.path().to_owned();
    let saved = Saved::open(run, backend)?;
    let data = &saved.data;
    let evaluator = saved.recipe.evaluator(data);
    let metrics = evaluator.evaluate(&EmbeddingScorer::new(saved.embeddings))?;
    if json {
        println!(
            "{:#}",
            json!({ "run": path, "users": evaluator.num_evaluated_users(), "metrics": metrics })
        );
    } else {
        println!(
            "{} on {} users of {}",
            saved.recipe.name,
            evaluator.num_evaluated_users(),
            printable(&data.name)
        );
        print_metrics(&metrics);
    }
    Ok(())
}

/// Prints the best items for a user, by the ids of the data files, without the items of the user's training data.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, or the user is unknown.
pub(super) fn recommend(
    run: SavedRun<RecommenderRecipe>,
    backend: &Backend,
    user: &str,
    top: usize,
    json: bool,
) -> Result<(), Error> {
    let folder = run.folder.path().to_owned();
    let saved = Saved::open(run, backend)?;
    let data = &saved.data;
    let id = data.users.get(user).ok_or_else(|| {
        let examples: Vec<&str> = (0..data.users.len().min(3) as u32).map(|id| data.users.raw(id)).collect();
        Error::Input(format!(
            "--user {user} is not among the {} users of {}; their ids look like {}",
            data.users.len(),
            data.name,
            examples.join(", ")
        ))
    })?;
    let ranked = top_items(&EmbeddingScorer::new(saved.embeddings), &data.train, id, top)?;
    let recommendation = Recommendation::new(folder, data, id, &ranked);
    if let Some(note) = recommendation.note() {
        notice::note(note);
    }
    if json {
        println!("{:#}", json!(recommendation));
    } else {
        print!("{}", recommendation.table().render(&TextStyle::of_stdout()));
    }
    Ok(())
}

/// Writes the embeddings of users and of items into a folder, as CSV, `id,0,1,…`, and as NumPy arrays with the rows in the same order.
///
/// # Errors
/// Returns an error if the run cannot be read or the files cannot be written.
pub(super) fn embed(run: SavedRun<RecommenderRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let saved = Saved::open(run, backend)?;
    files::create_folder(out)?;
    let tables = [
        ("users", saved.embeddings.users, &saved.data.users),
        ("items", saved.embeddings.items, &saved.data.items),
    ];
    for (name, table, ids) in tables {
        let [num, dim] = table.dims();
        let values: Vec<f32> = table.into_data().iter::<f32>().collect();
        let rows = ids.iter().map(|id| [id.to_owned()]).zip(values.chunks(dim));
        let written = [
            (format!("{name}.csv"), vectors_as_csv(["id"], rows, dim)),
            (format!("{name}.npy"), npy::of_floats(&values, [num, dim])),
        ];
        for (file, bytes) in written {
            files::write_whole(&out.join(&file), &bytes)?;
            println!("{}", printable(out.join(file).display()));
        }
    }
    Ok(())
}

/// Writes the trained embedding tables of a run as a safetensors file, before any propagation or normalisation.
/// `embedding_user.weight` and `embedding_item.weight` are the names in the usual `LightGCN` code.
///
/// # Errors
/// Returns an error if the run cannot be read or the file cannot be written.
pub(super) fn export(run: SavedRun<RecommenderRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let recipe = run.recipe.to_toml();
    let hash = run.recipe_hash.clone();
    let saved = Saved::open(run, backend)?;
    let tables = saved.encoder.tables();
    let views: Vec<(&str, [usize; 2], Vec<u8>)> = [
        ("embedding_user.weight", tables.users.val()),
        ("embedding_item.weight", tables.items.val()),
    ]
    .into_iter()
    .map(|(name, table)| {
        (
            name,
            table.dims(),
            table.into_data().iter::<f32>().flat_map(f32::to_le_bytes).collect(),
        )
    })
    .collect();
    let views = views.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.to_vec(), bytes).expect("the bytes fill the shape");
        (*name, view)
    });
    let about = [
        ("recipe", recipe),
        ("recipe_hash", hash),
        ("seed", saved.recipe.seed.to_string()),
    ];
    let about = about.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let bytes = safetensors::serialize(views, Some(about)).map_err(|error| Error::Training(error.to_string()))?;
    files::write_whole(out, &bytes)?;
    println!("{}", printable(out.display()));
    Ok(())
}
