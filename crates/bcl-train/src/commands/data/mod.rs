//! `data`: lists, fetches and checks the data sets that recipes know by name.

mod progress;

use crate::{
    cli::{CheckData, Data, FetchData, ListData},
    error::Error,
    training::Stop,
};
use bcl_data::{
    Manifest,
    download::{self, Observer, Silent},
    printable_lines,
};
use progress::Progress;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs a verb of `data`. An interrupted download keeps what has arrived, and `stop` advises to run the command again.
///
/// # Errors
/// Returns an error if a name is unknown, or if a data set cannot be downloaded, is missing, or differs from its manifest.
pub fn data(verb: &Data, stop: &Stop) -> Result<(), Error> {
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
    let width = manifests.iter().map(|manifest| manifest.name.len()).max().unwrap_or(0);
    for manifest in manifests {
        println!("{:width$}  {}", manifest.name, manifest.title);
        for path in files(manifest, &args.data) {
            println!("{:width$}  found at {}", "", path.display());
        }
        for source in &manifest.sources {
            println!("{:width$}  from {}", "", source.url);
        }
        if let Some(access) = &manifest.access {
            println!("{:width$}  {}", "", access.trim());
        }
    }
}

fn described(manifest: &Manifest, dir: &Path) -> Value {
    json!({
        "name": manifest.name,
        "title": manifest.title,
        "kind": if manifest.is_images() { "images" } else { "interactions" },
        "homepage": manifest.homepage,
        "licence": manifest.licence,
        "sources": manifest.sources,
        "access": manifest.access.as_deref().map(str::trim),
        "files": files(manifest, dir),
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
                    eprintln!("error: {}", printable_lines(&earlier));
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
    if manifest.is_images() {
        let data = bcl_images::load_manifest(manifest, dir)?;
        let (train, test) = (data.train.len(), data.test.len());
        let classes = data.train.classes().len();
        return Ok(format!("{train} + {test} images of {classes} classes"));
    }
    let data = manifest.load(&manifest.locate(dir)?)?;
    let (users, items) = (data.users.len(), data.items.len());
    let (train, test) = (data.train.len(), data.test.len());
    Ok(format!("{train} + {test} interactions of {users} users with {items} items"))
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
