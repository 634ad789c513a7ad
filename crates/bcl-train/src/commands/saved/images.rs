//! What can be done with a trained encoder of images.

use super::SavedRun;
use crate::{
    backend::Backend,
    error::Error,
    files, npy,
    recipe::ImageRecipe,
    training::{
        folder::load_kept,
        images::{model::ContrastiveImages, run::judge, start::untrained},
    },
};
use bcl_images::{Collection, ImageData};
use bcl_models::vision::{ImageEncoder, weights::to_safetensors};
use serde_json::json;
use std::{fmt::Write, path::Path, sync::Arc};

/// Loads the kept weights of a run.
fn encoder(run: &SavedRun<ImageRecipe>, backend: &Backend) -> Result<ImageEncoder, Error> {
    let encoder = untrained(&run.recipe, &backend.device());
    Ok(load_kept(ContrastiveImages::from(encoder), &run.folder)?.encoder)
}

pub(super) fn evaluate(run: SavedRun<ImageRecipe>, backend: &Backend, json: bool) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let data = Arc::new(run.recipe.data.load(&run.data_dir)?);
    let metrics = judge(&run.recipe, &data, backend).encoder(&encoder)?;
    if json {
        println!("{:#}", json!({ "run": run.folder.path(), "metrics": metrics }));
    } else {
        println!("{} on {} test images of {}", run.recipe.name, data.test.len(), data.name);
        for (name, value) in &metrics {
            println!("{name:>20}  {value:.4}");
        }
    }
    Ok(())
}

/// Writes `train` and `test` as NumPy arrays of features and labels, and as CSV `label,class,0,1,…`.
pub(super) fn embed(run: SavedRun<ImageRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let data = Arc::new(run.recipe.data.load(&run.data_dir)?);
    files::create_folder(out)?;
    let ImageData { train, test, .. } = &*data;
    let shown = judge(&run.recipe, &data, backend).shown;
    for (name, images) in [("train", train), ("test", test)] {
        let features = shown.encoded(images, None, &encoder.trunk)?;
        let [rows, dim] = features.dims();
        let values: Vec<f32> = features.into_data().iter::<f32>().collect();
        let labels: Vec<i64> = images.labels().iter().map(|label| label.map_or(-1, i64::from)).collect();
        let written = [
            (format!("{name}.npy"), npy::of_floats(&values, [rows, dim])),
            (format!("{name}_labels.npy"), npy::of_integers(&labels)),
            (format!("{name}.csv"), csv(images, &values, dim).into_bytes()),
        ];
        for (file, bytes) in written {
            files::write_whole(&out.join(&file), &bytes)?;
            println!("{}", out.join(file).display());
        }
    }
    Ok(())
}

/// A line an image; what has no class has the label -1 and no name.
fn csv(images: &Collection, values: &[f32], dim: usize) -> String {
    let mut text = "label,class".to_owned();
    for column in 0..dim {
        let _ = write!(text, ",{column}");
    }
    text.push('\n');
    for (row, label) in values.chunks(dim).zip(images.labels()) {
        match label {
            Some(label) => {
                let class = images.classes()[*label as usize].replace('"', "\"\"");
                let _ = write!(text, "{label},\"{class}\"");
            }
            None => text.push_str("-1,"),
        }
        for value in row {
            let _ = write!(text, ",{value}");
        }
        text.push('\n');
    }
    text
}

/// Writes the residual network under torchvision's names, without the head.
pub(super) fn export(run: SavedRun<ImageRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let bytes = to_safetensors(&encoder.trunk).map_err(|error| Error::Training(error.to_string()))?;
    files::write_whole(out, &bytes)?;
    println!("{}", out.display());
    Ok(())
}
