//! What a run prints when it starts: data, model, loss, device and folder, and warnings.

use bcl_backend::Backend;
use bcl_files::notice;
use bcl_recipe::RunRecipe;
use std::{fmt::Display, path::Path};

/// The lines that a run prints when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// Lines of `name: value`.
    pub lines: Vec<String>,
    /// Sentences for [`notice::warn`].
    pub warnings: Vec<String>,
}

impl RunSummary {
    /// Summarises a run, given one line each about data, model and loss.
    pub fn new(recipe: &impl RunRecipe, [data, model, loss]: [String; 3], backend: &Backend, folder: &Path) -> Self {
        let threads = rayon::current_num_threads();
        let line = |name: &str, value: &dyn Display| format!("  {name:7} {value}");
        let lines = vec![
            format!("{}, seed {}, in {}", recipe.name(), recipe.seed(), folder.display()),
            line("data", &data),
            line("model", &model),
            line("loss", &loss),
            line("epochs", &epochs(recipe)),
            line(
                "device",
                &format_args!("{}, {} ({threads} threads)", backend.name(), backend.info().name),
            ),
        ];
        Self {
            lines,
            warnings: Vec::new(),
        }
    }

    /// The same summary with warnings.
    pub fn with_warnings(self, warnings: impl IntoIterator<Item = String>) -> Self {
        Self {
            warnings: warnings.into_iter().collect(),
            ..self
        }
    }

    /// The same summary with further lines about the data, as pairs of a name and a value.
    pub fn with_data_lines(mut self, more: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        // After the name of the run and the line on data.
        let at = self.lines.len().min(2);
        let more = more.into_iter().map(|(name, value)| format!("  {name:7} {value}"));
        self.lines.splice(at..at, more);
        self
    }

    /// Prints lines and warnings to stderr.
    pub fn print(&self) {
        self.lines.iter().for_each(notice::status);
        self.warnings.iter().for_each(notice::warn);
    }
}

/// The number of epochs, and how it is chosen.
fn epochs(recipe: &impl RunRecipe) -> String {
    let training = recipe.training();
    match training.patience {
        _ if recipe.selection().held_out == 0.0 => training.epochs.to_string(),
        Some(patience) => format!("at most {}, patience {patience}", training.epochs),
        None => format!("at most {}", training.epochs),
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"].map(str::to_owned)
        );
    }
}
