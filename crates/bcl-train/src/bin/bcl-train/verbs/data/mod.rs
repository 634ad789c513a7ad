//! `data`: lists, fetches and checks the data sets that recipes know by name.

mod progress;

use super::print_rows;
use crate::cli::{CheckData, Data, FetchData, ListData};
use bcl_data::{
    Manifest,
    download::{self, Observer, Silent},
    graphs::GraphOptions,
    manifest::Contents,
};
use bcl_files::notice;
use bcl_report::Column;
use bcl_train::{error::Error, training::Stop};
use progress::Progress;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs a verb of `data`. An interrupted download keeps what has arrived, and `stop` advises to run the command again.
///
/// # Errors
/// Returns an error if a name is unknown, or if a data set cannot be downloaded, is missing, or differs from its manifest.
pub(crate) fn data(verb: &Data, stop: &Stop) -> Result<(), Error> {
    match verb {
        Data::List(args) => {
            list(args);
            Ok(())
        }
        Data::Fetch(args) => fetch(args, stop),
        Data::Check(args) => check(args),
    }
}

fn list(args: &ListData) {
    let manifests = Manifest::all();
    if args.output.json {
        let entries: Vec<Value> = manifests.iter().map(|manifest| described(manifest, &args.data)).collect();
        println!("{:#}", json!(entries));
        return;
    }
    let rows = manifests.iter().flat_map(|manifest| {
        let found = files(manifest, &args.data)
            .into_iter()
            .map(|path| format!("found at {}", path.display()));
        let sources = manifest.sources.iter().map(|source| format!("from {}", source.url));
        let access = manifest.access.iter().map(|access| access.trim().to_owned());
        let more = found.chain(sources).chain(access).map(|line| [String::new(), line]);
        std::iter::once([manifest.name.clone(), manifest.title.clone()]).chain(more)
    });
    print_rows([Column::verbatim(""), Column::verbatim("")], rows);
}

fn described(manifest: &Manifest, dir: &Path) -> Value {
    let found = files(manifest, dir).into_iter();
    let found: Vec<String> = found.map(|path| path.display().to_string()).collect();
    json!({
        "name": manifest.name,
        "title": manifest.title,
        "kind": manifest.layout.contents().name(),
        "homepage": manifest.homepage,
        "licence": manifest.licence,
        "sources": manifest.sources,
        "access": manifest.access.as_deref().map(str::trim),
        "files": found,
    })
}

/// The files of a data set; empty if it is not in `dir`.
fn files(manifest: &Manifest, dir: &Path) -> Vec<PathBuf> {
    manifest.files_in(dir).unwrap_or_default()
}

fn fetch(args: &FetchData, stop: &Stop) -> Result<(), Error> {
    let manifests = found(&args.names)?;
    stop.advise(Some("run the same command again to continue the download".to_owned()));
    let mut observer = observer(args.quiet);
    for manifest in manifests {
        download::fetch(manifest, &args.data, args.url_base.as_deref(), &mut *observer)?;
        let folder = args.data.join(&manifest.name);
        println!("{} is in {}; licence: {}", manifest.name, folder.display(), manifest.licence);
    }
    Ok(())
}

/// Checks all named data sets, and returns the last error.
fn check(args: &CheckData) -> Result<(), Error> {
    let mut observer = observer(args.quiet);
    let mut failure = None;
    for manifest in found(&args.names)? {
        match check_one(manifest, &args.data, &mut *observer) {
            Ok(contents) => println!("{}: {contents}, matching its manifest", manifest.name),
            Err(error) => {
                if let Some(earlier) = failure.replace(error) {
                    notice::error(&earlier);
                }
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Checks the checksums and counts of a data set, and describes its contents.
fn check_one(manifest: &Manifest, dir: &Path, observer: &mut dyn Observer) -> Result<String, Error> {
    for (path, verified) in download::check(manifest, dir)? {
        observer.say(&format!("{}: {verified}", path.display()));
    }
    Ok(match manifest.layout.contents() {
        Contents::Interactions => {
            let data = manifest.load(&manifest.locate(dir)?)?;
            let (users, items) = (data.users.len(), data.items.len());
            let (train, test) = (data.train.len(), data.test.len());
            format!("{train} + {test} interactions of {users} users with {items} items")
        }
        Contents::Images => {
            let data = bcl_images::load_manifest(manifest, dir)?;
            let (train, test) = (data.train.len(), data.test.len());
            let classes = data.train.classes().len();
            format!("{train} + {test} images of {classes} classes")
        }
        Contents::Graphs => {
            let (data, _) = manifest.load_graphs(&manifest.locate_graphs(dir)?, &GraphOptions::default())?;
            let [graphs, nodes, classes] = [data.num_graphs(), data.num_nodes(), data.num_classes()];
            format!("{graphs} graphs with {nodes} nodes of {classes} classes")
        }
    })
}

/// Finds all manifests at once, so that a typo in the last name is reported before the first download.
fn found(names: &[String]) -> Result<Vec<&'static Manifest>, Error> {
    Ok(names.iter().map(|name| Manifest::find(name)).collect::<Result<_, _>>()?)
}

fn observer(quiet: bool) -> Box<dyn Observer> {
    if quiet {
        Box::new(Silent)
    } else {
        Box::new(Progress::default())
    }
}
