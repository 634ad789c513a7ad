//! A trained encoder of graphs.

use super::{
    super::{
        SavedRun,
        saved::{vectors_as_csv, write_files},
    },
    evaluation::EncodedGraphs,
};
use crate::{error::Error, training::folder::load_model};
use bcl_backend::Backend;
use bcl_data::graphs::GraphData;
use bcl_eval::{
    Interrupt,
    graphs::{GraphEvaluation, Vectors},
};
use bcl_models::graphs::{Gin, to_safetensors};
use bcl_recipe::GraphRecipe;
use bcl_report::npy;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A trained encoder of graphs: a finished run, loaded.
#[derive(Debug)]
pub struct TrainedGraphEncoder {
    /// The recipe of the run.
    pub recipe: GraphRecipe,
    /// The data of the run.
    pub data: Arc<GraphData>,
    encoder: Gin,
    graphs: EncodedGraphs,
}

impl TrainedGraphEncoder {
    /// Loads the data and the saved weights of a run.
    ///
    /// # Errors
    /// Returns an error if the run or its data cannot be read, or the data have changed.
    pub fn open(run: SavedRun<GraphRecipe>, backend: &Backend) -> Result<Self, Error> {
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

    /// Cross-validates classifiers on the vectors of all graphs.
    ///
    /// # Errors
    /// Returns an error if the graphs have no labels, or a vector is not finite.
    pub fn evaluate(&self) -> Result<GraphEvaluation, Error> {
        if !self.data.is_labelled() {
            return Err(Error::Input(format!(
                "{} has no graph labels, so there is nothing to evaluate; to compare graphs, write their vectors with `bcl-train embed`, or add \
                 a file …_graph_labels.txt and train again",
                self.data.name()
            )));
        }
        Ok(self.graphs.evaluate(&self.vectors()?)?)
    }

    /// Writes the vectors and labels of all graphs as NumPy arrays, and as CSV `graph,label,class,0,1,…`, in the order of the data. Graphs are
    /// numbered from 1, as in the files of the TU collection. Without graph labels, the label is -1 and the class empty. Returns the files.
    ///
    /// # Errors
    /// Returns an error if the files cannot be written.
    pub fn embed(&self, out: &Path) -> Result<Vec<PathBuf>, Error> {
        bcl_files::create_folder(out)?;
        let vectors = self.vectors()?;
        let dim = vectors.dim();
        let values: Vec<f32> = vectors.rows().flatten().map(|&value| value as f32).collect();
        let class = |graph: usize| self.data.labels().get(graph).copied();
        let labels: Vec<i64> = (0..vectors.len()).map(|graph| class(graph).map_or(-1, i64::from)).collect();
        let rows = labels
            .iter()
            .zip(values.chunks(dim))
            .zip(1..)
            .map(|((&label, values), graph): (_, usize)| {
                let class = class(graph - 1).map(|class| self.data.classes()[class as usize].clone());
                let class = class.unwrap_or_default();
                ([graph.to_string(), label.to_string(), class], values)
            });
        let written = [
            ("graphs.npy".to_owned(), npy::of_floats(&values, [labels.len(), dim])),
            ("graphs_labels.npy".to_owned(), npy::of_integers(&labels)),
            (
                "graphs.csv".to_owned(),
                vectors_as_csv(["graph", "label", "class"], rows, dim),
            ),
        ];
        write_files(out, written)
    }

    /// Writes the weights of the encoder, without the heads, as a safetensors file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn export(&self, out: &Path) -> Result<(), Error> {
        let bytes = to_safetensors(&self.encoder).map_err(|error| Error::Training(error.to_string()))?;
        Ok(bcl_files::write_whole(out, &bytes)?)
    }
}
