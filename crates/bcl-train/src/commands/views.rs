//! Draws example views as a picture.

use crate::{error::Error, memory, recipe::Recipe, training::images::batch::epoch_order};
use bcl_data::{SearchPath, Seed, printable};
use bcl_report::files::{refuse_overwriting, write_whole};
use std::path::Path;

/// Number of images in the picture.
const ROWS: usize = 12;

/// Draws the first training images of a recipe, each with its two views of the first epoch, as a PNG file.
///
/// # Errors
/// Returns an error if there is not exactly one recipe, it is not one on images, the images cannot be read, or the file cannot
/// be written.
pub fn dump_views(recipes: &[Recipe], data_dir: &Path, picture: &Path) -> Result<(), Error> {
    let is_png = picture
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    if !is_png {
        return Err(Error::Input(format!(
            "--dump-views {}: the file must be a PNG; use a name such as views.png",
            picture.display()
        )));
    }
    refuse_overwriting("--dump-views", picture, &["png"])?;
    let recipe = match recipes {
        [Recipe::Images(recipe)] => recipe,
        [Recipe::Recommender(recipe)] => {
            return Err(Error::Input(format!(
                "--dump-views: {} trains a recommender, which has no images; name a recipe on images, such as \
                 quickstart-images/bayesian",
                recipe.name
            )));
        }
        _ => {
            let names: Vec<&str> = recipes.iter().map(Recipe::name).collect();
            return Err(Error::Input(format!(
                "--dump-views draws the views of one recipe, but {} were given: {}; name one of them",
                names.len(),
                names.join(", ")
            )));
        }
    };
    memory::of_data(&recipes[0]).check()?;
    let images = recipe.data.load(&SearchPath::new(recipe.folder.as_deref(), data_dir))?.train;
    let seed = Seed(recipe.seed);
    let mut shown = epoch_order(images.len(), seed, 0);
    shown.truncate(ROWS);

    memory::images::views(shown.len(), recipe.views.side).check()?;
    let views = recipe.views.init();
    let mut pixels = Vec::new();
    views.batch(&images, &shown, 0, seed, &mut pixels);
    write_whole(picture, &views.contact_sheet(&images, &shown, &pixels))?;
    println!("{}", printable(picture.display()));
    Ok(())
}
