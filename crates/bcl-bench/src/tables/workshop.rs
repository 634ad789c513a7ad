//! Several runs at a time.

use bcl_train::{backend::Backend, error::Error, notice, recipe::Recipe, training::Stop};
use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Where and how runs are made.
#[derive(Debug)]
pub struct Workshop {
    /// Where to compute.
    pub backend: Backend,
    /// Where data files are looked for.
    pub data_dir: PathBuf,
    /// Runs at a time.
    pub jobs: usize,
    /// Threads a run.
    pub threads: usize,
    /// Stops all runs after the step under way.
    pub stop: Stop,
    /// Whether to say nothing of progress.
    pub quiet: bool,
}

/// A run to be made.
pub(super) struct Task {
    /// What it is, for people.
    pub(super) label: String,
    pub(super) recipe: Recipe,
    pub(super) folder: PathBuf,
}

impl Workshop {
    /// Works tasks off, [`jobs`](Self::jobs) at a time, and returns what came of each, in their order. At the first error all stop.
    ///
    /// `work` returns a result and a few words about it.
    pub(super) fn each<T: Send>(
        &self,
        tasks: &[Task],
        work: impl Fn(&Task) -> Result<(T, String), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let progress = |done: usize| format!("{done}/{} runs are done", tasks.len());
        let working = (!self.quiet).then(|| notice::working_with_updates(progress(0)));
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<T>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let worker = || {
            // A pool of its own: runs that share one wait for each other's work.
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
                            // The first one is the cause; the others were interrupted for it.
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
