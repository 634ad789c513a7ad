//! The pictures of a report on an image encoder: maps of test images, and their nearest training images. Training images replace test
//! images if there are none. Without labels, nothing is coloured by class.

use super::{ImageEvaluator, features::rows};
use crate::EvaluationError;
use crate::map::{Cosines, points, tsne};
use crate::probe::Labelled;
use bcl_core::{Similarity, matmul};
use bcl_data::Seed;
use bcl_images::{Collection, Image, ViewsError, views::resize::shrunk};
use bcl_report::{Cluster, NearImage, NeighbourRow, Showcase, Thumbnail};
use burn::tensor::Tensor;
use rand::seq::SliceRandom;
use std::{cmp::Reverse, collections::BTreeMap};

/// Maximum number of images on a map: enough to show groups, few enough to distinguish points.
const MOST_MAPPED: usize = 1000;
/// Number of test images whose neighbours are shown.
const QUERIES: usize = 8;
/// Number of neighbours per test image.
const NEIGHBOURS: usize = 8;
/// Maximum number of clusters that are shown.
const CLUSTERS: usize = 12;
/// Maximum number of images per cluster.
const OF_CLUSTER: usize = 9;
/// Number of training images that are compared at a time.
const BLOCK: usize = 4096;
/// Maximum length of the longer side of a thumbnail, in pixels.
const LONGEST: usize = 64;

/// Makes the showcase of features that an evaluator computed. The seed determines which images are shown.
///
/// # Errors
/// Returns an error if an image cannot be read from its file.
pub fn showcase(evaluator: &ImageEvaluator, [train, test]: &[Labelled; 2], seed: Seed) -> Result<Showcase, EvaluationError> {
    let [num_test, _] = test.features.dims();
    let mut order: Vec<usize> = (0..num_test).collect();
    order.shuffle(&mut seed.named("showcase").rng());
    let mut mapped = order[..order.len().min(MOST_MAPPED)].to_vec();
    mapped.sort_unstable();
    let cosines = Cosines::of(rows(&test.features, &mapped));
    let classes: Vec<u32> = mapped.iter().map(|&row| class(&test.labels, row)).collect();
    let [train_images, test_images] = evaluator.images();
    let queries = queries(&order, &test.labels);
    // A training image is its own nearest neighbour.
    let found = nearest(&train.features, &rows(&test.features, &queries))
        .into_iter()
        .zip(&queries);
    let found = found.map(|(mut found, query)| {
        found.retain(|(row, _)| !(evaluator.uses_train_as_test() && row == query));
        found.truncate(NEIGHBOURS);
        found
    });
    let near = |(row, similarity): (usize, f32)| {
        Ok(NearImage {
            image: picture(train_images, row, &train.labels)?,
            similarity: (f64::from(similarity) * 1000.0).round() / 1000.0,
        })
    };
    let row = |(row, found): (&usize, Vec<(usize, f32)>)| {
        Ok(NeighbourRow {
            query: picture(test_images, *row, &test.labels)?,
            nearest: found.into_iter().map(near).collect::<Result<_, EvaluationError>>()?,
        })
    };
    Ok(Showcase {
        classes: if test.labels.is_empty() || train.labels.is_empty() {
            Vec::new()
        } else {
            train_images.0.classes().to_vec()
        },
        of_train: evaluator.uses_train_as_test(),
        of_graphs: false,
        map: points(cosines.as_ref().and_then(tsne), &classes),
        clusters: Vec::new(),
        neighbours: queries.iter().zip(found).map(row).collect::<Result<_, EvaluationError>>()?,
    })
}

/// The largest clusters of images, given the cluster of each, with some images of each: those at equal distances in the order of the data.
///
/// # Errors
/// Returns an error if an image cannot be read from its file.
///
/// # Panics
/// Panics if there are fewer images than clusters are given.
pub fn clusters(images: &Collection, of_images: &[u32]) -> Result<Vec<Cluster>, EvaluationError> {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (image, &cluster) in of_images.iter().enumerate() {
        members.entry(cluster).or_default().push(image);
    }
    let mut members: Vec<Vec<usize>> = members.into_values().collect();
    members.sort_by_key(|members| Reverse(members.len()));
    members.truncate(CLUSTERS);
    let labels = images.labels();
    let shown = |members: Vec<usize>| {
        let mut classes: BTreeMap<u32, usize> = BTreeMap::new();
        for class in members.iter().filter_map(|&image| labels[image]) {
            *classes.entry(class).or_default() += 1;
        }
        let number = members.len().min(OF_CLUSTER);
        let picked = (0..number).map(|place| members[place * members.len() / number]);
        let thumbnail = |image: usize| {
            let loaded = images.read(image).map_err(ViewsError::from)?;
            Ok(thumbnail(loaded.as_image(), LONGEST, labels[image].unwrap_or_default()))
        };
        Ok(Cluster {
            size: members.len(),
            most_frequent: classes.into_iter().max_by_key(|&(class, number)| (number, Reverse(class))),
            images: picked.map(thumbnail).collect::<Result<_, EvaluationError>>()?,
        })
    };
    members.into_iter().map(shown).collect()
}

/// The class of a row; 0 if classes are not known.
fn class(labels: &[u32], row: usize) -> u32 {
    labels.get(row).copied().unwrap_or_default()
}

/// The rows of the test images to show: as many classes as possible, with equal numbers of images.
fn queries(order: &[usize], labels: &[u32]) -> Vec<usize> {
    let mut seen = vec![0usize; labels.iter().max().map_or(1, |&most| most as usize + 1)];
    let mut by_turn: Vec<(usize, usize)> = order
        .iter()
        .map(|&row| {
            let turn = &mut seen[class(labels, row) as usize];
            *turn += 1;
            (*turn, row)
        })
        .collect();
    by_turn.sort_by_key(|&(turn, _)| turn);
    let mut chosen: Vec<usize> = by_turn.into_iter().take(QUERIES).map(|(_, row)| row).collect();
    chosen.sort_by_key(|&row| (class(labels, row), row));
    chosen
}

/// The training rows with the largest cosine to each query, largest first, ties in order.
fn nearest(train: &Tensor<2>, queries: &Tensor<2>) -> Vec<Vec<(usize, f32)>> {
    let [num_queries, _] = queries.dims();
    let queries = Similarity::Cosine.prepare(queries.clone().detach());
    let mut best: Vec<Vec<(usize, f32)>> = vec![Vec::new(); num_queries];
    let [num_images, _] = train.dims();
    for start in (0..num_images).step_by(BLOCK) {
        let length = BLOCK.min(num_images - start);
        let block = Similarity::Cosine.prepare(train.clone().detach().narrow(0, start, length));
        let cosines: Vec<f32> = matmul(queries.clone(), block.transpose()).into_data().iter::<f32>().collect();
        for (best, cosines) in best.iter_mut().zip(cosines.chunks(length)) {
            best.extend(cosines.iter().enumerate().map(|(i, &cosine)| (start + i, cosine)));
            best.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            // One more, in case the query is among them.
            best.truncate(NEIGHBOURS + 1);
        }
    }
    best
}

/// The thumbnail of a row's image.
fn picture((images, labelled): (&Collection, &[usize]), row: usize, labels: &[u32]) -> Result<Thumbnail, EvaluationError> {
    let loaded = images.read(labelled[row]).map_err(ViewsError::from)?;
    Ok(thumbnail(loaded.as_image(), LONGEST, class(labels, row)))
}

/// A small copy of an image, whose longer side has at most `longest` pixels; smaller images keep their size.
pub fn thumbnail(image: Image<'_>, longest: usize, class: u32) -> Thumbnail {
    let (size, pixels) = shrunk(image, longest);
    Thumbnail::new(class, size.map(|length| length as u32), &pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Interrupt,
        images::{FeatureExtractor, ImageEvaluationConfig},
    };
    use base64::{Engine, engine::general_purpose::STANDARD};
    use bcl_images::{ImageData, ViewsConfig};
    use burn::tensor::{Device, Int};
    use image::RgbImage;
    use std::sync::Arc;

    /// Two classes and images without a class, some larger than a thumbnail; features are one-hot in the class.
    fn evaluated() -> (ImageEvaluator, [Labelled; 2]) {
        let mut images = Collection::new(vec!["dark".into(), "light".into()]);
        let mut labels = Vec::new();
        for i in 0..30u32 {
            let label = (i % 3 < 2).then_some(i % 3);
            labels.extend(label);
            let (width, height) = if i % 2 == 0 { (4, 4) } else { (200, 100) };
            let pixels = vec![i as u8; width * height * 3];
            let image = Image {
                width,
                height,
                pixels: &pixels,
            };
            images.push(image, label);
        }
        let rows: Vec<f32> = labels.iter().flat_map(|&label| [label as f32, 1.0 - label as f32]).collect();
        let features = Tensor::<1>::from_data(rows.as_slice(), &Device::flex()).reshape([labels.len(), 2]);
        let labelled = Labelled { features, labels };
        let views = ViewsConfig::default().init();
        let extractor = FeatureExtractor {
            side: views.config().side,
            views,
            device: Device::flex(),
            interrupt: Interrupt::default(),
        };
        let data = ImageData {
            name: "grey".into(),
            train: images.clone(),
            test: images,
            skipped: Vec::new(),
            notes: Vec::new(),
        };
        let evaluator = ImageEvaluator::new(Arc::new(data), extractor, ImageEvaluationConfig::default(), Seed(1));
        (evaluator, [labelled.clone(), labelled])
    }

    fn decoded(picture: &Thumbnail) -> RgbImage {
        let png = STANDARD.decode(&picture.png).unwrap();
        image::load_from_memory(&png).unwrap().to_rgb8()
    }

    #[test]
    fn the_same_seed_shows_the_same_and_another_seed_other_images() {
        let (evaluator, features) = evaluated();
        let shown = showcase(&evaluator, &features, Seed(1)).unwrap();
        assert_eq!(shown, showcase(&evaluator, &features, Seed(1)).unwrap());
        assert_ne!(shown.neighbours, showcase(&evaluator, &features, Seed(2)).unwrap().neighbours);
    }

    #[test]
    fn thumbnails_have_their_labels_and_images_without_a_class_are_left_out() {
        let (evaluator, features) = evaluated();
        let shown = showcase(&evaluator, &features, Seed(1)).unwrap();
        assert_eq!((shown.map.len(), shown.neighbours.len()), (20, QUERIES));
        let right = |row: &NeighbourRow| row.nearest.iter().all(|near| near.image.class == row.query.class);
        assert!(shown.neighbours.iter().all(right), "features are equal within a class");
        let [(images, labelled), _] = evaluator.images();
        for (row, label) in features[0].labels.iter().enumerate() {
            let image = picture((images, labelled), row, &features[0].labels).unwrap();
            let grey = usize::from(decoded(&image).get_pixel(0, 0)[0]);
            assert_eq!(grey, labelled[row], "every image has its own shade of grey");
            assert_eq!(Some(image.class), images.labels()[labelled[row]]);
            assert_eq!(image.class, *label);
        }
    }

    #[test]
    fn the_largest_clusters_come_first_with_images_from_all_of_them() {
        let (evaluator, _) = evaluated();
        let [(images, _), _] = evaluator.images();
        // One cluster for the first ten images, one for the others.
        let of_images: Vec<u32> = (0..30).map(|image| u32::from(image < 10)).collect();
        let shown = clusters(images, &of_images).unwrap();
        assert_eq!(shown.iter().map(|cluster| cluster.size).collect::<Vec<_>>(), [20, 10]);
        let greys = |cluster: &Cluster| {
            cluster
                .images
                .iter()
                .map(|image| decoded(image).get_pixel(0, 0)[0])
                .collect::<Vec<_>>()
        };
        assert_eq!(greys(&shown[0]), [10, 12, 14, 16, 18, 21, 23, 25, 27]);
        // Images 0 to 9 have the classes 0, 1, none, 0, 1, none, 0, 1, none, 0.
        assert_eq!(shown[1].most_frequent, Some((0, 4)));
    }

    #[test]
    fn large_images_become_thumbnails_of_the_same_shape() {
        let (evaluator, features) = evaluated();
        let [(images, labelled), _] = evaluator.images();
        let large = labelled.iter().position(|&image| images.get(image).width == 200).unwrap();
        let read = decoded(&picture((images, labelled), large, &features[0].labels).unwrap());
        assert_eq!((read.width(), read.height()), (64, 32));
    }

    #[test]
    fn queries_cover_all_classes_before_repeating_one() {
        let labels = [0, 0, 0, 1, 2, 1, 0];
        let order = [6, 0, 1, 2, 3, 4, 5];
        let chosen = queries(&order, &labels);
        assert_eq!(chosen.len(), 7);
        let many: Vec<u32> = (0..40).map(|i| i % 20).collect();
        let order: Vec<usize> = (0..40).collect();
        let classes: Vec<u32> = queries(&order, &many).iter().map(|&row| many[row]).collect();
        assert_eq!(classes, [0, 1, 2, 3, 4, 5, 6, 7]);
        let two: Vec<u32> = (0..40).map(|i| u32::from(i > 30)).collect();
        let classes: Vec<u32> = queries(&order, &two).iter().map(|&row| two[row]).collect();
        assert_eq!(classes, [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn nearest_compares_directions_and_not_lengths() {
        let device = Device::flex();
        let train = Tensor::<2>::from_data([[0.0, 9.0], [0.1, 0.0], [1.0, 1.0], [-5.0, 0.0]], &device);
        let found = nearest(&train, &Tensor::from_data([[3.0, 0.3]], &device));
        let order: Vec<usize> = found[0].iter().map(|(row, _)| *row).collect();
        assert_eq!(order, [1, 2, 0, 3]);
    }

    #[test]
    fn the_nearest_are_found_across_blocks() {
        let device = Device::flex();
        let count = BLOCK + 3;
        let angles = Tensor::<1, Int>::arange(0..count as i64, &device).float() * -0.0003;
        let train = Tensor::stack::<2>(vec![angles.clone().cos(), angles.sin()], 1);
        let last = train.clone().narrow(0, count - 1, 1);
        let indices: Vec<usize> = nearest(&train, &last)[0].iter().map(|(row, _)| *row).collect();
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        assert!(sorted.contains(&(count - 1)) && sorted.contains(&(BLOCK - 1)), "{indices:?}");
    }
}
