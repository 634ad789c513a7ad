//! Draws example views as a picture.

use bcl_files::{printable, refuse_overwriting, write_whole};
use bcl_recipe::{Recipe, RunRecipe, of_kind};
use bcl_train::{
    error::Error,
    kinds::{Kind, images::pictured_views},
};
use std::path::Path;

/// Draws the first training samples of a recipe, each with its views of the first epoch, as a PNG file.
///
/// # Errors
/// Returns an error if there is not exactly one recipe, its samples have no views, they cannot be read, or the file cannot be written.
pub(crate) fn dump_views(recipes: &[Recipe], data_dir: &Path, picture: &Path) -> Result<(), Error> {
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
    let [recipe] = recipes else {
        let names: Vec<&str> = recipes.iter().map(Recipe::name).collect();
        return Err(Error::Input(format!(
            "--dump-views draws the views of one recipe, but {} were given: {}; name one of them",
            names.len(),
            names.join(", ")
        )));
    };
    let Recipe::Images(images) = recipe else {
        return Err(Error::Input(format!(
            "--dump-views: {} trains on {}, which have no views; name a recipe on images, such as quickstart-images/bayesian",
            recipe.name(),
            of_kind!(recipe, recipe => samples(&**recipe))
        )));
    };
    images.memory_of_data().check()?;
    let data = images.data.load(&recipe.search_path(data_dir))?;
    write_whole(picture, &pictured_views(images, &data.train)?)?;
    println!("{}", printable(picture.display()));
    Ok(())
}

fn samples<R: RunRecipe>(_: &R) -> &'static str {
    R::SAMPLES
}
