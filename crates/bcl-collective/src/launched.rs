//! How many processes a launcher says that it started.

use std::fmt;

/// What a launcher, such as `mpirun` or `srun`, tells a process about the group that it was started in.
///
/// A program that was built for another MPI, or without any, does not find the others: then every process would believe to be alone, and all
/// would train the same model into the same folder. So compare this with [`size`](crate::Collective::size) before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// The environment variable that says so.
    pub variable: &'static str,
    /// Number of processes in the group.
    pub size: usize,
    /// The number of this process among them, if the launcher tells it.
    pub process: Option<usize>,
}

/// The variables that hold the number of processes and the index of this one: for Open MPI and PRRTE; for MPICH, Intel MPI and their
/// relatives; for MVAPICH.
const LAUNCHERS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
];

/// Set by `srun` for each step of a job. A job script itself runs in no step, although `SLURM_NTASKS` tells it how many tasks it may start.
const STEP: &str = "SLURM_STEP_ID";
const TASKS_OF_STEP: [(&str, &str); 2] = [("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"), ("SLURM_NTASKS", "SLURM_PROCID")];

impl Launched {
    /// Reads the environment of this process; `None` if no launcher started it.
    pub fn from_environment() -> Option<Self> {
        Self::find(|name| std::env::var(name).ok())
    }

    /// Reads an environment. `mpirun` comes before Slurm, because within a job it starts its own processes as a step.
    fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let read = |(of_size, of_process): (&'static str, &str)| {
            Some(Self {
                variable: of_size,
                size: number(of_size)?,
                process: number(of_process),
            })
        };
        LAUNCHERS.into_iter().find_map(read).or_else(|| {
            variable(STEP)?;
            TASKS_OF_STEP.into_iter().find_map(read)
        })
    }

    /// Whether this process is the first, or may be.
    pub fn is_first(&self) -> bool {
        self.process.unwrap_or(0) == 0
    }
}

impl fmt::Display for Launched {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}={}", self.variable, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<String> {
        let value = |name: &str| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        Launched::find(value).map(|launched| launched.to_string())
    }

    #[test]
    fn launchers_are_recognised() {
        assert_eq!(
            found(&[("OMPI_COMM_WORLD_SIZE", "4")]).as_deref(),
            Some("OMPI_COMM_WORLD_SIZE=4")
        );
        assert_eq!(found(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]).as_deref(), Some("PMI_SIZE=2"));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "many")]), None);
    }

    #[test]
    fn one_process_is_the_first() {
        let of_process = |process: &str| {
            Launched::find(|name| match name {
                "PMI_SIZE" => Some("4".to_owned()),
                "PMI_RANK" => Some(process.to_owned()),
                _ => None,
            })
        };
        assert!(of_process("0").unwrap().is_first());
        assert!(!of_process("3").unwrap().is_first());
    }

    #[test]
    fn a_job_script_is_one_process_and_a_step_is_as_many_as_its_tasks() {
        let script = [("SLURM_JOB_ID", "1"), ("SLURM_NTASKS", "8")];
        assert_eq!(found(&script), None);
        let step = [script[0], script[1], ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(found(&step).as_deref(), Some("SLURM_STEP_NUM_TASKS=4"));
        // Within a job, mpirun starts one daemon per machine as a step, and each of them starts the processes.
        let daemon = [step[2], ("SLURM_STEP_NUM_TASKS", "2"), ("OMPI_COMM_WORLD_SIZE", "8")];
        assert_eq!(found(&daemon).as_deref(), Some("OMPI_COMM_WORLD_SIZE=8"));
    }
}
