//! The commands on a run of a graph encoder: evaluate, embed, export.

use super::{
    super::{
        SavedRun,
        saved::{print_metrics, vectors_as_csv},
    },
    evaluation::EncodedGraphs,
};
use crate::{error::Error, training::folder::load_model};
use bcl_backend::Backend;
use bcl_data::graphs::GraphData;
use bcl_eval::{Interrupt, graphs::Vectors};
use bcl_files::printable;
use bcl_models::graphs::{Gin, to_safetensors};
use bcl_recipe::GraphRecipe;
use bcl_report::npy;
use serde_json::json;
use std::{path::Path, sync::Arc};

/// A finished run, loaded.
struct Saved {
    recipe: GraphRecipe,
    data: Arc<GraphData>,
    encoder: Gin,
    graphs: EncodedGraphs,
}

impl Saved {
    /// Loads the data and the saved weights of a run.
    fn open(run: SavedRun<GraphRecipe>, backend: &Backend) -> Result<Self, Error> {
        let data = run.data()?;
        let encoder = load_model(super::untrained(&run.recipe, &data, &backend.device()), &run.folder)?;
        Ok(Self {
            graphs: EncodedGraphs::on(&run.recipe, &data, backend.device(), Interrupt::default())?,
            encoder,
            recipe: run.recipe,
            data,
        })
    }

    fn vectors(&self) -> Result<Vectors, Error> {
        Ok(self.graphs.vectors(&self.encoder)?)
    }
}

pub(super) fn evaluate(run: SavedRun<GraphRecipe>, backend: &Backend, json: bool) -> Result<(), Error> {
    let path = run.folder.path().to_owned();
    let saved = Saved::open(run, backend)?;
    let evaluation = saved.graphs.evaluate(&saved.vectors()?)?;
    if json {
        println!(
            "{:#}",
            json!({ "run": path, "metrics": evaluation.metrics, "folds": evaluation.folds })
        );
    } else {
        println!(
            "{} on {} graphs of {}, in {} folds",
            saved.recipe.name,
            saved.data.num_graphs(),
            printable(saved.data.name()),
            saved.recipe.evaluation.folds
        );
        print_metrics(&evaluation.metrics);
    }
    Ok(())
}

/// Writes the vectors and labels of all graphs as NumPy arrays, and as CSV `graph,label,class,0,1,…`, in the order of the data. Graphs are
/// numbered from 1, as in the files of the TU collection.
pub(super) fn embed(run: SavedRun<GraphRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let saved = Saved::open(run, backend)?;
    bcl_files::create_folder(out)?;
    let vectors = saved.vectors()?;
    let dim = vectors.dim();
    let values: Vec<f32> = vectors.rows().flatten().map(|&value| value as f32).collect();
    let labels: Vec<i64> = saved.data.labels().iter().map(|&label| label.into()).collect();
    let rows = labels
        .iter()
        .zip(values.chunks(dim))
        .zip(1..)
        .map(|((&label, values), graph): (_, usize)| {
            let class = saved.data.classes()[label as usize].clone();
            ([graph.to_string(), label.to_string(), class], values)
        });
    let written = [
        ("graphs.npy", npy::of_floats(&values, [labels.len(), dim])),
        ("graphs_labels.npy", npy::of_integers(&labels)),
        ("graphs.csv", vectors_as_csv(["graph", "label", "class"], rows, dim)),
    ];
    for (file, bytes) in written {
        bcl_files::write_whole(&out.join(file), &bytes)?;
        println!("{}", printable(out.join(file).display()));
    }
    Ok(())
}

/// Writes the encoder without the heads.
pub(super) fn export(run: SavedRun<GraphRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let saved = Saved::open(run, backend)?;
    let bytes = to_safetensors(&saved.encoder).map_err(|error| Error::Training(error.to_string()))?;
    bcl_files::write_whole(out, &bytes)?;
    println!("{}", printable(out.display()));
    Ok(())
}
