//! The arguments of `evaluate` and `recommend`.

use super::{ComputeArguments, Output};
use bcl_eval::{images::check_label_fractions, ranking::check_cutoffs};
use clap::{ArgGroup, Args};
use std::{path::PathBuf, str::FromStr};

/// Lengths of recommended lists, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cutoffs(pub Vec<usize>);

impl FromStr for Cutoffs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cutoffs = list(text, "a whole number", "5,10,50")?;
        check_cutoffs(&cutoffs)?;
        Ok(Self(cutoffs))
    }
}

/// Fractions of the training labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelFractions(pub Vec<f64>);

impl FromStr for LabelFractions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fractions = list(text, "a number", "0.01,0.1")?;
        check_label_fractions(&fractions)?;
        Ok(Self(fractions))
    }
}

/// Parses values that are separated by commas.
fn list<T: FromStr>(text: &str, what: &str, example: &str) -> Result<Vec<T>, String> {
    let values = text.split(',').map(str::trim);
    values
        .map(|value| {
            value
                .parse()
                .map_err(|_| format!("`{value}` is not {what}; write a list such as {example}"))
        })
        .collect()
}

/// Arguments of `evaluate`.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct Evaluate {
    /// Folder of the run.
    pub run: PathBuf,
    /// Lengths of the recommended lists, such as `5,10,50`, in place of the recipe's. Recommenders only.
    #[arg(long, value_name = "LIST")]
    pub cutoffs: Option<Cutoffs>,
    /// File of interactions to evaluate on in place of the run's test data, with the same ids, in any format that recipes can name. Users
    /// and items that the run does not know are counted and left out. Recommenders only.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// CSV file to write the metrics of each user to. Recommenders only.
    #[arg(long, value_name = "FILE")]
    pub per_user: Option<PathBuf>,
    /// Evaluate vectors that are computed from each user's training items, as `recommend --items` does for new users, in place of the trained
    /// ones. Recommenders only.
    #[arg(long)]
    pub fold_in: bool,
    /// Fractions of the training labels, such as `0.01,0.1`, to train the linear probe on again, in place of the recipe's. Images
    /// only.
    #[arg(long, value_name = "LIST")]
    pub label_fractions: Option<LabelFractions>,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

impl Evaluate {
    /// The first flag given that only recommenders have.
    pub(crate) fn flag_of_recommenders(&self) -> Option<&'static str> {
        let given = [
            ("--cutoffs", self.cutoffs.is_some()),
            ("--test", self.test.is_some()),
            ("--per-user", self.per_user.is_some()),
            ("--fold-in", self.fold_in),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// Arguments of `recommend`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(group(ArgGroup::new("whom").required(true).args(["user", "all", "users", "item", "all_items", "items", "items_file"])))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub(crate) struct Recommend {
    /// Folder of the run.
    pub run: PathBuf,
    /// User to recommend to, by the id in the data files.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub user: Option<String>,
    /// Recommend to every user with training interactions; needs --out.
    #[arg(long, requires = "out")]
    pub all: bool,
    /// Recommend to the users in FILE, one id per line; needs --out.
    #[arg(long, value_name = "FILE", requires = "out")]
    pub users: Option<PathBuf>,
    /// Show the items most similar to this one, by the cosine of their embeddings.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub item: Option<String>,
    /// Find the most similar items of every item with training interactions; needs --out.
    #[arg(long, requires = "out")]
    pub all_items: bool,
    /// Recommend to a new user who has these items; nothing is trained.
    #[arg(long, value_name = "ID,ID,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub items: Vec<String>,
    /// Like --items, with the ids from FILE, one per line. Items that the run does not know are counted and left out.
    #[arg(long, value_name = "FILE")]
    pub items_file: Option<PathBuf>,
    /// Number of items to recommend.
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub top: u32,
    /// File to write with --all, --users or --all-items: one row per item as .csv, or one line per user as .jsonl.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["user", "item", "items", "items_file", "json"])]
    pub out: Option<PathBuf>,
    /// Leave out the user's training items, or the items in --items (the default). Test items do not count as seen, so they are recommended.
    #[arg(long, conflicts_with = "include_seen")]
    pub exclude_seen: bool,
    /// Also recommend the user's training items, or the items in --items.
    #[arg(long, conflicts_with_all = ["item", "all_items"])]
    pub include_seen: bool,
    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,
    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}
