//! A trained recommender.

use super::super::{
    SavedRun,
    saved::{vectors_as_csv, write_files},
};
use crate::error::Error;
use bcl_backend::Backend;
use bcl_data::{InteractionData, ItemNames};
use bcl_files::notice;
use bcl_models::{Embeddings, Recommender};
use bcl_recipe::{LossConfig, RecommenderRecipe, RunRecipe};
use bcl_report::{npy, read_run, result::EpochRecord};
use burn::tensor::Tensor;
use safetensors::{Dtype, tensor::TensorView};
use std::path::{Path, PathBuf};

/// A trained recommender: a finished run, loaded.
#[derive(Debug)]
pub struct TrainedRecommender {
    /// Folder of the run.
    pub run: PathBuf,
    /// The recipe of the run.
    pub recipe: RecommenderRecipe,
    /// The data of the run.
    pub data: InteractionData,
    /// The titles of the items, if the recipe names a file of them that can be read.
    pub names: Option<ItemNames>,
    /// Vectors of all users and items.
    pub embeddings: Embeddings,
    encoder: Recommender,
    /// The temperature of the loss in the last epoch.
    temperature: f64,
    recipe_hash: String,
}

impl TrainedRecommender {
    /// Loads the data and the saved weights of a run. Without its file of titles, a note says why.
    ///
    /// # Errors
    /// Returns an error if the run or its data cannot be read, or the data have changed.
    pub fn open(run: SavedRun<RecommenderRecipe>, backend: &Backend) -> Result<Self, Error> {
        let data = run.data()?;
        let encoder = super::trained(&run.recipe, &data, &run.folder, &backend.device())?;
        let names = run.recipe.data.load_item_names(&run.search, &data.items);
        let names = names.unwrap_or_else(|error| {
            notice::note(format_args!("items are shown without their titles: {error}"));
            None
        });
        Ok(Self {
            temperature: trained_temperature(&run)?,
            run: run.folder.path().to_owned(),
            embeddings: encoder.embeddings(),
            encoder,
            recipe: run.recipe,
            recipe_hash: run.recipe_hash,
            data,
            names,
        })
    }

    /// The title of an item, if it has one.
    pub fn title(&self, item: u32) -> Option<&str> {
        self.names.as_ref().and_then(|names| names.title(item))
    }

    /// Vectors of new users from their items, a block of users at a time.
    ///
    /// # Shapes
    /// - output: `[histories.len(), dim]`
    pub fn fold_in(&self, histories: &[&[u32]]) -> Tensor<2> {
        const BLOCK_BYTES: usize = 32 << 20;
        let block = (BLOCK_BYTES / size_of::<f32>() / self.data.items.len().max(1)).max(1);
        let blocks = histories.chunks(block);
        Tensor::cat(blocks.map(|block| self.encoder.fold_in(block, self.temperature)).collect(), 0)
    }

    /// Writes the embeddings of users and of items into a folder, as CSV, `id,0,1,…`, and as NumPy arrays with the rows in the same order. Returns the files.
    ///
    /// # Errors
    /// Returns an error if the files cannot be written.
    pub fn embed(&self, out: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        bcl_files::create_folder(out)?;
        let tables = [
            ("users", self.embeddings.users.clone(), &self.data.users),
            ("items", self.embeddings.items.clone(), &self.data.items),
        ];
        for (name, table, ids) in tables {
            let [num, dim] = table.dims();
            let values: Vec<f32> = table.into_data().iter::<f32>().collect();
            let rows = ids.iter().map(|id| [id.to_owned()]).zip(values.chunks(dim));
            let written = [
                (format!("{name}.csv"), vectors_as_csv(["id"], rows, dim)),
                (format!("{name}.npy"), npy::of_floats(&values, [num, dim])),
            ];
            files.extend(write_files(out, written)?);
        }
        Ok(files)
    }

    /// Writes the trained embedding tables of a run as a safetensors file, before any propagation or normalisation.
    /// `embedding_user.weight` and `embedding_item.weight` are the names in the usual `LightGCN` code.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn export(&self, out: &Path) -> Result<(), Error> {
        let tables = self.encoder.tables();
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
            ("recipe", self.recipe.to_toml()),
            ("recipe_hash", self.recipe_hash.clone()),
            ("seed", self.recipe.seed.to_string()),
        ];
        let about = about.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let bytes = safetensors::serialize(views, Some(about)).map_err(|error| Error::Training(error.to_string()))?;
        Ok(bcl_files::write_whole(out, &bytes)?)
    }
}

/// The temperature with which the saved encoder was trained in its last epoch. Records are read only if they have it.
fn trained_temperature(run: &SavedRun<RecommenderRecipe>) -> Result<f64, Error> {
    let loss = &run.recipe.loss;
    if loss.schedules().get("temperature").is_none() {
        return Ok(loss.without_data().temperature());
    }
    let (result, records) = read_run(run.folder.path())?;
    Ok(last_temperature(loss, result.validation.epoch, &records))
}

/// The temperature of an epoch of the last phase: a schedule ends elsewhere than it starts, and a temperature can be learned.
fn last_temperature(loss: &LossConfig, epoch: usize, records: &[EpochRecord]) -> f64 {
    let last = records.iter().rev().find(|record| record.epoch == epoch);
    let scheduled = last.and_then(|record| record.scheduled.get("temperature").copied());
    scheduled.unwrap_or_else(|| loss.without_data().temperature())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_report::result::Phase;

    #[test]
    fn the_temperature_is_the_one_of_the_saved_epoch() {
        let record = |phase, epoch, temperature| -> EpochRecord {
            let record = serde_json::json!({
                "phase": phase, "epoch": epoch, "loss": 1.0, "omega_quantiles": [], "train_seconds": 1, "evaluation_seconds": 1,
                "scheduled": { "temperature": temperature },
            });
            serde_json::from_value(record).unwrap()
        };
        let records = [
            record(Phase::Selection, 1, 0.5),
            record(Phase::Selection, 2, 0.2),
            record(Phase::Refit, 1, 0.4),
            record(Phase::Refit, 2, 0.3),
            record(Phase::Refit, 3, 0.1),
        ];
        let loss: LossConfig = toml::from_str("kind = 'info_nce'\ntemperature = 0.7").unwrap();
        assert_eq!(last_temperature(&loss, 2, &records), 0.3);
        assert_eq!(
            last_temperature(&loss, 4, &records),
            0.7,
            "without a schedule, no record has it"
        );
    }
}
