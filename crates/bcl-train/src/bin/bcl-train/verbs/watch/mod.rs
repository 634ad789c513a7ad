//! Serves the page of runs under way, on this machine alone.

mod request;
mod runs;
mod server;

use crate::cli;
use bcl_files::notice;
use bcl_report::live;
use bcl_train::error::Error;
use runs::Watched;
use serde_json::json;
use server::{Answer, Server};
use std::time::{Duration, Instant};

/// Time between two looks for requests.
const PAUSE: Duration = Duration::from_millis(20);
/// Time between two looks into the folders.
const REFRESH: Duration = Duration::from_secs(1);
/// How long the last state is served after all runs have finished, so that an open page shows it, and another run may follow.
const AFTERWARDS: Duration = Duration::from_secs(6);

/// Serves a page with the curves of runs until they have finished.
///
/// # Errors
/// Returns an error if there is no run, one cannot be read, or the port is not free.
pub(crate) fn watch(args: &cli::Watch) -> Result<(), Error> {
    let mut watched = Watched::find(&args.runs)?;
    let server = Server::bind(args.port)?;
    println!("{}", server.url());
    notice::status("the page follows the run and closes with it; Ctrl-C closes it now");
    let mut refreshed = Instant::now();
    let mut over_since = None;
    loop {
        server.answer(|path| answer(path, &watched));
        if refreshed.elapsed() >= REFRESH {
            watched = Watched::find(&args.runs)?;
            refreshed = Instant::now();
            over_since = watched.is_over().then(|| over_since.unwrap_or_else(Instant::now));
        }
        if over_since.is_some_and(|since| since.elapsed() >= AFTERWARDS) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    for page in watched.pages() {
        notice::status(format_args!("finished; report: {}", page.display()));
    }
    Ok(())
}

/// What a path shows; `None` for any other path.
fn answer(path: &str, watched: &Watched) -> Option<Answer> {
    let runs = watched.live();
    match path {
        "/" => Some(Answer {
            kind: "text/html; charset=utf-8",
            body: live::page(&runs),
        }),
        "/data.json" => {
            let of_run = |run: &live::LiveRun| {
                let last = run.records.last();
                json!({
                    "name": run.name,
                    "finished": run.finished,
                    "state": run.state(),
                    "epochs": run.records.len(),
                    "loss": last.map(|last| last.loss),
                })
            };
            let page = watched.pages().next().filter(|_| watched.is_over());
            let data = json!({
                "over": watched.is_over(),
                "page": page.map(|page| page.display().to_string()),
                "runs": runs.iter().map(of_run).collect::<Vec<_>>(),
                "content": live::content(&runs),
            });
            Some(Answer {
                kind: "application/json",
                body: data.to_string(),
            })
        }
        _ => None,
    }
}
