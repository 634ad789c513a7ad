//! Names of data sets in `data.dataset`.

use crate::{Refusal, nearest};
use bcl_data::{Manifest, manifest::Layout};

/// The name of generated data.
pub(super) const PLANTED: &str = "planted";

/// Checks that there is a data set of this name, with a layout that the recipe can be trained on.
pub(super) fn check_name(name: &str, fits: fn(&Layout) -> bool) -> Result<(), Refusal> {
    let known: Vec<&str> = Manifest::all()
        .iter()
        .filter(|manifest| fits(&manifest.layout))
        .map(|manifest| manifest.name.as_str())
        .chain([PLANTED])
        .collect();
    if known.contains(&name) {
        return Ok(());
    }
    let meant = nearest(name, known.iter().copied()).map_or(String::new(), |meant| format!("; did you mean \"{meant}\"?"));
    let problem = format!("is \"{name}\", but must be one of {}{meant}", known.join(", "));
    Err(Refusal::new("data.dataset", problem))
}
