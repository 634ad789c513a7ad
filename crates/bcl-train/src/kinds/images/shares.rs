//! The images of a batch that each of several processes encodes.

use bcl_collective::{Collective, share};
use bcl_core::gradient_cache::blocks;
use bcl_recipe::{ImageRecipe, Refusal};
use std::ops::Range;

/// The images of a batch that a process encodes: whole groups of batch normalisation.
pub(super) fn own_images(recipe: &ImageRecipe, processes: &dyn Collective) -> Range<usize> {
    images_of(recipe, processes.index(), processes.size())
}

fn images_of(recipe: &ImageRecipe, process: usize, size: usize) -> Range<usize> {
    let group = recipe.method.settings().needs().group;
    let groups = share(recipe.training.batch_size / group, process, size);
    groups.start * group..groups.end * group
}

/// The recipe with the largest share that one of several processes has of a batch, to estimate its memory.
pub(super) fn of_one_process(recipe: &ImageRecipe, size: usize) -> ImageRecipe {
    let mut own = recipe.clone();
    own.training.batch_size = recipe.training.batch_size.div_ceil(size);
    own
}

/// Synchronised batch normalisation needs all processes at each forward pass.
fn check_equal_parts<P: ExactSizeIterator>(recipe: &ImageRecipe, size: usize, parts: impl Fn(usize) -> P) -> Result<(), Refusal> {
    if !recipe.training.sync_batch_norm || (1..size).all(|process| parts(process).len() == parts(0).len()) {
        return Ok(());
    }
    Err(Refusal::new(
        "training.batch_size",
        format!(
            "is {}, of which some of {size} processes have one part of training.gradient_cache more than others, but \
             training.sync_batch_norm needs as many on each; use a multiple of {size}",
            recipe.training.batch_size
        ),
    ))
}

/// Checks that each process encodes enough images at a time for batch normalisation.
///
/// # Errors
/// Returns an error that names the key and the remedy if a process does not.
pub(super) fn check_shares(recipe: &ImageRecipe, size: usize) -> Result<(), Refusal> {
    if size == 1 {
        return Ok(());
    }
    let group = recipe.method.settings().needs().group;
    let (batch_size, at_most) = (
        recipe.training.batch_size,
        recipe.training.gradient_cache.unwrap_or(usize::MAX),
    );
    let fits = |part: usize| part >= 2 * group && part.is_multiple_of(group);
    let parts = |process| blocks(images_of(recipe, process, size).len(), at_most);
    if (0..size).all(|process| parts(process).len() > 0 && parts(process).all(|part| fits(part.len()))) {
        return check_equal_parts(recipe, size, parts);
    }
    let (images, of_groups) = match group {
        1 => ("two images".to_owned(), String::new()),
        _ => (
            format!("{} images, in multiples of {group}", 2 * group),
            ", or set method.norm_groups = 1".to_owned(),
        ),
    };
    Err(Refusal::new(
        "training.batch_size",
        format!(
            "is {batch_size}, which {size} processes share; each of them, and each of its parts with gradient caching, needs at least \
             {images} for batch normalisation; raise training.batch_size or start fewer processes{of_groups}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_methods::{MethodConfig, MoCoConfig};

    fn recipe(batch_size: usize, gradient_cache: Option<usize>, groups: usize) -> ImageRecipe {
        let found = bcl_recipe::find("quickstart-images/infonce").expect("a built-in recipe");
        let bcl_recipe::Recipe::Images(recipe) = bcl_recipe::Recipe::read(&found[0], &[]).expect("it reads") else {
            panic!("a recipe of images");
        };
        let mut recipe = *recipe;
        recipe.training.batch_size = batch_size;
        recipe.training.gradient_cache = gradient_cache;
        recipe.method = MethodConfig::MoCo(MoCoConfig {
            norm_groups: groups,
            ..MoCoConfig::default()
        });
        recipe
    }

    #[test]
    fn shares_are_whole_groups_and_cover_the_batch() {
        let of = |groups| {
            (0..3)
                .map(|process| images_of(&recipe(40, None, groups), process, 3))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(1), [0..14, 14..27, 27..40]);
        assert_eq!(of(4), [0..16, 16..28, 28..40]);
    }

    #[test]
    fn shares_that_are_too_small_are_refused() {
        let fits =
            |batch_size, gradient_cache, groups, size| check_shares(&recipe(batch_size, gradient_cache, groups), size).is_ok();
        assert!(fits(2, None, 1, 1) && fits(8, None, 1, 4) && fits(16, None, 4, 2) && fits(32, Some(8), 4, 2));
        assert!(!fits(7, None, 1, 4), "one process has a single image");
        assert!(!fits(10, Some(2), 1, 4), "one part has a single image");
        assert!(!fits(3, None, 1, 4), "one process has none");
        assert!(!fits(12, None, 4, 2), "one process has a single group of one image each");
        assert!(!fits(40, Some(16), 4, 2), "20 images in two parts of 12 and 8, or 10 each");
        let synchronised = |batch_size, gradient_cache| {
            let mut recipe = recipe(batch_size, gradient_cache, 1);
            recipe.training.sync_batch_norm = true;
            check_shares(&recipe, 3).is_ok()
        };
        assert!(synchronised(12, Some(4)) && synchronised(13, None));
        assert!(!synchronised(13, Some(4)), "5, 4 and 4 images are two parts, one and one");
        let message = check_shares(&recipe(12, None, 4), 2).unwrap_err().to_string();
        assert!(
            message.contains("12") && message.contains("8 images, in multiples of 4"),
            "{message}"
        );
    }
}
