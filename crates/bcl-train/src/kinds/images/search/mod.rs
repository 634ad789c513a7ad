//! Searches a folder of images with the encoder of a finished run: nearest neighbours, near-duplicates, a diverse subset.

mod cache;
mod contents;
mod duplicates;
mod folder;
mod neighbours;
mod page;
mod subset;

use super::{
    super::{SavedRun, Search},
    evaluator,
    saved::encoder,
};
use crate::{
    error::Error,
    training::{Stop, folder::MODEL},
};
use bcl_backend::Backend;
use bcl_eval::{images::FeatureExtractor, search::UnitRows};
use bcl_files::printable;
use bcl_files::{checksums, notice};
use bcl_images::{Collection, ImageData};
use bcl_models::vision::ImageEncoder;
use bcl_recipe::ImageRecipe;
use burn::tensor::Tensor;
use cache::Cache;
use folder::Folder;
use std::path::{Path, PathBuf};

/// The images that are searched, their features, and what computed them.
struct Index {
    /// Folder of the run.
    run: PathBuf,
    /// Name of the run's recipe.
    recipe: String,
    images: Folder,
    rows: UnitRows,
    encoder: ImageEncoder,
    extractor: FeatureExtractor,
}

pub(super) fn search(run: SavedRun<ImageRecipe>, backend: &Backend, search: &Search<'_>) -> Result<(), Error> {
    // What is refused is refused before minutes of work.
    match search {
        Search::Neighbours(args) => {
            let queries = neighbours::read(&args.queries)?;
            neighbours::answer(&Index::open(run, backend, search)?, args, &queries)
        }
        Search::Duplicates(args) => duplicates::answer(&Index::open(run, backend, search)?, args),
        Search::Subset(args) => subset::answer(&Index::open(run, backend, search)?, args),
    }
}

impl Index {
    /// Opens the images, and loads their features from the cache if it has them. Images of a folder stay in their files.
    fn open(run: SavedRun<ImageRecipe>, backend: &Backend, search: &Search<'_>) -> Result<Self, Error> {
        let encoder = encoder(&run, backend)?;
        let searched = search.searched();
        let mut images = Folder::open(searched, &run)?;
        let path = run.folder.path().to_owned();
        let weights = bcl_files::sha256(&checksums::read(&path, MODEL)?);
        let cache = Cache {
            folder: searched.cache.clone().unwrap_or_else(|| path.join("features")),
            key: cache::key(&images.checksum()?, &weights, &run.recipe_hash),
        };
        let cached = cache.read(images.len());
        let unreadable = match &cached {
            Some(features) => images.data().unreadable_among(features.left_out.iter().copied())?,
            None => images.data().unreadable()?,
        };
        let left_out = unreadable.iter().map(|(number, _)| *number).collect();
        images.leave_out(unreadable)?;
        let extractor = evaluator(&run.recipe, images.data(), backend, Stop::new()).extractor;
        let features = match cached {
            Some(features) => features,
            None => computed(&images, left_out, &extractor, &encoder, &cache)?,
        };
        let rows = UnitRows::new(features.values, features.dim);
        let rows = rows.map_err(|error| not_finite(&images.name(error.row), &path))?;
        Ok(Self {
            run: path,
            recipe: run.recipe.name.clone(),
            images,
            rows,
            encoder,
            extractor,
        })
    }

    /// Unit features of further images.
    fn features_of(&self, images: &Collection) -> Result<UnitRows, Error> {
        let (values, dim) = host(self.extractor.encoded(images, None, &self.encoder)?);
        UnitRows::new(values, dim).map_err(|error| not_finite(images.name(error.row), &self.run))
    }
}

/// Features in memory, row-major.
#[derive(Debug, Clone, Default, PartialEq)]
struct Features {
    values: Vec<f32>,
    dim: usize,
    /// The numbers of the images without features, because their files cannot be decoded; ascending.
    left_out: Vec<usize>,
}

fn host(features: Tensor<2>) -> (Vec<f32>, usize) {
    let [_, dim] = features.dims();
    (features.into_data().iter::<f32>().collect(), dim)
}

/// Encodes all images and fills the cache. A cache that cannot be written only costs time, so it is no error.
fn computed(
    images: &Folder,
    left_out: Vec<usize>,
    extractor: &FeatureExtractor,
    encoder: &ImageEncoder,
    cache: &Cache,
) -> Result<Features, Error> {
    notice::status(format!("computing the features of {} images", images.len()));
    let ImageData { train, test, .. } = &**images.data();
    let mut features = Features {
        left_out,
        ..Features::default()
    };
    for part in [train, test] {
        let numbers: Vec<usize> = (0..part.len()).collect();
        // Block by block, so that the images of one block are in memory at a time.
        for block in numbers.chunks(FeatureExtractor::BLOCK) {
            let (values, dim) = host(extractor.encoded(part, Some(block), encoder)?);
            features.values.extend(values);
            features.dim = dim;
        }
    }
    match cache.write(&features) {
        Ok(file) => notice::status(format!("features: {}", file.display())),
        Err(error) => notice::warn(format_args!("the features are not kept for the next search: {error}")),
    }
    Ok(features)
}

fn not_finite(name: &str, run: &Path) -> Error {
    Error::Input(format!(
        "{}: its features of {} are not finite, so its training has diverged; train again with a lower optimizer.learning_rate",
        run.display(),
        printable(name)
    ))
}
