//! Computes several runs at a time.

use bcl_backend::Backend;
use bcl_report::notice;
use bcl_train::{error::Error, recipe::Recipe, training::Stop};
use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Where and how runs are computed.
#[derive(Debug)]
pub struct RunPool {
    /// The device that computes.
    pub backend: Backend,
    /// Folder to search for data files.
    pub data_dir: PathBuf,
    /// Number of runs at a time.
    pub jobs: usize,
    /// Number of threads per run.
    pub threads: usize,
    /// Stops all runs after the current step.
    pub stop: Stop,
    /// Whether to print no progress.
    pub quiet: bool,
}

/// A run to compute.
pub(super) struct Task {
    /// What it is, for messages.
    pub(super) label: String,
    pub(super) recipe: Recipe,
    pub(super) folder: PathBuf,
}

impl RunPool {
    /// Works through tasks, [`jobs`](Self::jobs) at a time, and returns their results in order. At the first error, all stop.
    ///
    /// `work` returns a result and a short message about it.
    pub(super) fn each<T: Send>(
        &self,
        tasks: &[Task],
        work: impl Fn(&Task) -> Result<(T, String), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let progress = |done: usize| format!("{done}/{} runs done", tasks.len());
        let working = (!self.quiet).then(|| notice::working_with_updates(progress(0)));
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<T>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let worker = || {
            // Each worker has its own pool: runs that share one wait for each other's work.
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .build()
                .expect("threads start");
            pool.install(|| {
                while !self.stop.is_requested() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { return };
                    match work(task) {
                        Ok((result, said)) => {
                            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                            if let Some(working) = &working {
                                notice::status(format!("{done}/{} {}: {said}", tasks.len(), task.label));
                                working.update(progress(done));
                                working.said();
                            }
                            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                        }
                        Err(error) => {
                            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                            // The first error is the cause; the others were interrupted because of it.
                            failure.get_or_insert(error);
                            self.stop.request();
                        }
                    }
                }
            });
        };
        thread::scope(|scope| {
            for _ in 0..self.jobs.min(tasks.len()) {
                scope.spawn(worker);
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let finished: Option<Vec<T>> = results
            .into_iter()
            .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        finished.ok_or_else(|| Error::Interrupted(PathBuf::new()))
    }
}
