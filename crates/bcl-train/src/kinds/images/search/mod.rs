//! Searches images with the encoder of a finished run: nearest neighbours, near-duplicates, a diverse subset.

mod cache;
mod contents;
mod folder;

pub use folder::SearchedImages;

use super::{super::SavedRun, evaluator, saved::encoder};
use crate::{
    error::Error,
    training::{Stop, folder::MODEL},
};
use bcl_backend::Backend;
use bcl_data::Seed;
use bcl_eval::{
    images::FeatureExtractor,
    search::{Cover, Duplicate, Near, UnitRows, farthest_first, medoid, near_duplicates, nearest, quotas},
};
use bcl_files::printable;
use bcl_files::{checksums, notice};
use bcl_images::{Collection, ImageData};
use bcl_models::vision::ImageEncoder;
use bcl_recipe::ImageRecipe;
use burn::tensor::Tensor;
use cache::Cache;
use rand::RngExt;
use std::path::{Path, PathBuf};

/// Which images are searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Folder or archive of images; the images of the run if absent.
    pub folder: Option<PathBuf>,
    /// Whether to leave out files that cannot be read as an image. Otherwise they are an error.
    pub skip_broken: bool,
    /// Folder that keeps the features for the next search; `features` in the run's folder if absent.
    pub cache: Option<PathBuf>,
}

/// How a diverse subset is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubsetOptions {
    /// Number of images to choose.
    pub count: usize,
    /// Whether to choose the same number of images of every class, as far as there are enough.
    pub balanced: bool,
    /// Seed of a random first image; without it, the first is the image that is most similar to all others.
    pub seed: Option<u64>,
    /// Images that are chosen already, ascending: the new ones are far from these, too.
    pub chosen: Vec<usize>,
}

/// Images that can be searched, their features, and what computed them.
#[derive(Debug)]
pub struct ImageIndex {
    /// Folder of the run.
    pub run: PathBuf,
    /// Name of the run's recipe.
    pub recipe: String,
    /// The images.
    pub images: SearchedImages,
    rows: UnitRows,
    encoder: ImageEncoder,
    extractor: FeatureExtractor,
}

impl ImageIndex {
    /// Opens the images, and loads their features from the cache if it has them. Images of a folder stay in their files.
    ///
    /// # Errors
    /// Returns an error if the run or the images cannot be read.
    pub fn open(run: SavedRun<ImageRecipe>, backend: &Backend, options: &SearchOptions) -> Result<Self, Error> {
        let encoder = encoder(&run, backend)?;
        let mut images = SearchedImages::open(options, &run)?;
        let path = run.folder.path().to_owned();
        let weights = bcl_files::sha256(&checksums::read(&path, MODEL)?);
        let cache = Cache {
            folder: options.cache.clone().unwrap_or_else(|| path.join("features")),
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

    /// The images that are most similar to each of some other images, best first. An image with the pixels of the query is the query itself, under
    /// whatever name, and is left out.
    ///
    /// # Errors
    /// Returns an error if the features of a query are not finite, or a file cannot be read any more.
    pub fn neighbours(&self, queries: &Collection, top: usize) -> Result<Vec<Vec<Near>>, Error> {
        let (values, dim) = host(self.extractor.encoded(queries, None, &self.encoder)?);
        let rows = UnitRows::new(values, dim).map_err(|error| not_finite(queries.name(error.row), &self.run))?;
        let mut at_most = top + 1;
        loop {
            let all = nearest(&self.rows, &rows, at_most);
            let mut others = Vec::with_capacity(all.len());
            for (query, found) in all.into_iter().enumerate() {
                others.push(self.without_copies(queries, query, found)?);
            }
            // Copies have displaced others only if the list was not long enough for both.
            if at_most >= self.images.len() || others.iter().all(|found| found.len() >= top) {
                for found in &mut others {
                    found.truncate(top);
                }
                return Ok(others);
            }
            at_most *= 2;
        }
    }

    /// Leaves out the images that have the pixels of a query.
    fn without_copies(&self, queries: &Collection, query: usize, found: Vec<Near>) -> Result<Vec<Near>, Error> {
        /// Equal images have equal features up to rounding, so only images above this need be compared.
        const ALMOST_EQUAL: f32 = 0.9999;
        let mut others = Vec::with_capacity(found.len());
        for near in found {
            let may_be_equal = near.similarity > ALMOST_EQUAL && self.images.size(near.row) == queries.size(query);
            if !(may_be_equal && self.images.image(near.row)?.as_image() == queries.get(query)) {
                others.push(near);
            }
        }
        Ok(others)
    }

    /// Groups of images with a cosine similarity of at least `threshold`, largest first. The search is exact.
    pub fn near_duplicates(&self, threshold: f32) -> Vec<Vec<Duplicate>> {
        near_duplicates(&self.rows, threshold)
    }

    /// Chooses images that are far from each other: each is the one that is farthest from all chosen before it.
    ///
    /// # Panics
    /// Panics if more images are asked for than can be chosen, or classes are balanced and an image has none.
    pub fn diverse_subset(&self, options: &SubsetOptions) -> Cover {
        if !options.balanced {
            let all: Vec<usize> = (0..self.images.len()).collect();
            return self.cover(options.seed, &all, &options.chosen, options.count);
        }
        // Images that are chosen already count for their class.
        let of_class = self.by_class(0..self.images.len());
        let given_of_class = self.by_class(options.chosen.iter().copied());
        let parts = || of_class.iter().zip(&given_of_class);
        let sizes: Vec<usize> = parts().map(|(all, given)| all.len() - given.len()).collect();
        let with_count = parts().zip(quotas(&sizes, options.count)).filter(|(_, count)| *count > 0);
        let chosen_of_class = with_count.map(|((rows, given), count)| self.cover(options.seed, rows, given, count).chosen);
        let chosen = in_turns(chosen_of_class.collect());
        // An image may be near one of another class, and no image of a class may have been chosen.
        let all: Vec<usize> = (0..self.images.len()).collect();
        let in_subset = [&options.chosen[..], &chosen].concat();
        Cover {
            least_similarity: farthest_first(&self.rows, &all, &in_subset, 0, 0).least_similarity,
            chosen,
        }
    }

    fn by_class(&self, rows: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut of_class = vec![Vec::new(); self.images.classes().len()];
        for row in rows {
            let label = self.images.label(row).expect("balanced classes need a class for every image");
            of_class[label as usize].push(row);
        }
        of_class
    }

    fn cover(&self, seed: Option<u64>, candidates: &[usize], given: &[usize], count: usize) -> Cover {
        let start = match seed {
            Some(seed) => Some(candidates[Seed(seed).named("subset").rng().random_range(0..candidates.len())]),
            None => medoid(&self.rows, candidates),
        };
        farthest_first(&self.rows, candidates, given, count, start.unwrap_or_default())
    }
}

/// The first choice of each class, then the second of each, and so on: then a list begins with the lists of smaller subsets.
fn in_turns(of_class: Vec<Vec<usize>>) -> Vec<usize> {
    let ranked = of_class.into_iter().flat_map(|chosen| chosen.into_iter().enumerate());
    let mut ranked: Vec<(usize, usize)> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, row)| row).collect()
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
    images: &SearchedImages,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choices_of_classes_take_turns() {
        assert_eq!(in_turns(vec![vec![5, 1, 3], vec![], vec![9], vec![8, 7]]), [5, 9, 8, 1, 7, 3]);
    }
}
