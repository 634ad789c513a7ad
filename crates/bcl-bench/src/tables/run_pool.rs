//! Computes several runs at a time, and shares them out over processes.

use bcl_backend::Backend;
use bcl_collective::Collective;
use bcl_files::notice;
use bcl_recipe::Recipe;
use bcl_train::{error::Error, processes, training::Stop};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
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
    /// Number of runs at a time, in each process.
    pub jobs: usize,
    /// Number of threads per run.
    pub threads: usize,
    /// Stops all runs after the current step.
    pub stop: Stop,
    /// Whether to print no progress.
    pub quiet: bool,
    /// The processes that split the runs of a table; each trains its runs by itself. All of them see the folder of the table. Process 0 writes the
    /// files that belong to no run.
    pub processes: Arc<dyn Collective>,
}

/// A run to compute.
pub(super) struct Task {
    /// What it is, for messages.
    pub(super) label: String,
    pub(super) recipe: Recipe,
    pub(super) folder: PathBuf,
}

impl RunPool {
    /// Works through tasks, [`jobs`](Self::jobs) at a time in each process, and returns all results in order. At the first error, all stop.
    ///
    /// `work` returns a result and a short message about it.
    ///
    /// A process whose work fails returns at once, without waiting for the others; [`processes::end`] then ends them.
    pub(super) fn each<T: Send + Serialize + DeserializeOwned>(
        &self,
        tasks: &[Task],
        work: impl Fn(&Task) -> Result<(T, String), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let size = self.processes.size();
        if size == 1 {
            return self.own(&tasks.iter().collect::<Vec<_>>(), work);
        }
        // A signal lets this process live until all have stopped: a launcher ends all of them at the first exit.
        let _registered = self.stop.register();
        // Neighbours are often equally long, such as the seeds of a row, so they go to different processes.
        let own: Vec<&Task> = tasks.iter().skip(self.processes.index()).step_by(size).collect();
        let finished = match self.own(&own, work) {
            Ok(results) => Some(results),
            Err(Error::Interrupted(_)) => None,
            Err(error) => return Err(error),
        };
        let all: Option<Vec<Vec<T>>> = self
            .processes
            .gather_results(&finished)
            .map_err(Error::Training)?
            .into_iter()
            .collect();
        let Some(all) = all else {
            self.stop.request();
            return Err(Error::Interrupted(PathBuf::new()));
        };
        let mut all: Vec<_> = all.into_iter().map(Vec::into_iter).collect();
        let in_order = (0..tasks.len()).map(|index| all[index % size].next().expect("a result of each task"));
        Ok(in_order.collect())
    }

    /// Runs `work` on process 0; see [`processes::on_first`].
    pub(super) fn on_first<T: Clone + Serialize + DeserializeOwned>(
        &self,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        processes::on_first(&*self.processes, work)
    }

    /// The tasks of this process.
    fn own<T: Send>(&self, tasks: &[&Task], work: impl Fn(&Task) -> Result<(T, String), Error> + Sync) -> Result<Vec<T>, Error> {
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
                    let Some(&task) = tasks.get(index) else { return };
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

#[cfg(test)]
mod tests;
